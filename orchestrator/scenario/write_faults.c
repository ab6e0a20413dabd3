/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/write.h"

/* A bare 1 is not read. */
static void write_chance(FILE *out, double chance)
{
	if (chance == 1)
		write_percent(out, chance);
	else
		write_number(out, chance);
}

static void write_gilbert(FILE *out, const struct fault_spec *f)
{
	fputs("{gilbert: {enter: ", out);
	write_chance(out, f->gilbert.enter);
	fputs(", leave: ", out);
	write_chance(out, f->gilbert.leave);
	fputs(", lost: ", out);
	write_chance(out, f->gilbert.lost_bad);
	fputs(", lost_good: ", out);
	write_chance(out, f->gilbert.lost_good);
	fputs("}}", out);
}

static void write_flaky(FILE *out, const struct fault_spec *f)
{
	write_time(out, "{flaky: {every", f->flaky.every_ps, 0, NULL);
	write_time(out, ", last", f->flaky.last_ps, 0, NULL);
	fputs("}}", out);
}

static void write_chance_of(FILE *out, const char *key, double chance)
{
	fprintf(out, "{%s: ", key);
	write_chance(out, chance);
	fputc('}', out);
}

static void write_deed(FILE *out, const struct fault_spec *f)
{
	switch (f->kind) {
	case FAULT_LINK_DOWN:
	case FAULT_SWITCH_DOWN:
		fputs("down", out);
		break;
	case FAULT_LINK_RATE:
		fputs("{rate: ", out);
		write_percent(out, f->share);
		fputc('}', out);
		break;
	case FAULT_LINK_DELAY:
		write_time(out, "{delay", f->delay_ps, 0, NULL);
		fputc('}', out);
		break;
	case FAULT_LINK_LOSS:
		write_chance_of(out, "loss", f->loss);
		break;
	case FAULT_LINK_ERRORS:
		write_chance_of(out, "errors", f->bit_errors);
		break;
	case FAULT_LINK_GILBERT:
		write_gilbert(out, f);
		break;
	case FAULT_LINK_FLAKY:
		write_flaky(out, f);
		break;
	case FAULT_HOST_STORM:
		fprintf(out, "{pause: %u}", f->class);
		break;
	}
}

void write_faults(FILE *out, const struct fault_spec *faults, size_t count)
{
	static const char *const targets[] = {
		[TARGET_LINK] = "link", [TARGET_SWITCH] = "switch", [TARGET_HOST] = "host"};
	fprintf(out, "\nfaults:%s\n", count ? "" : " []");
	for (size_t i = 0; i < count; i++) {
		const struct fault_spec *f = &faults[i];

		write_time(out, "  - {at", f->at_ps, 0, NULL);
		write_time(out, ", until", f->until_ps, UINT64_MAX, "never");
		fprintf(out, ", %s: ", targets[fault_target(f->kind)]);
		write_quoted(out, f->target);
		fputs(", do: ", out);
		write_deed(out, f);
		fputs("}\n", out);
	}
}
