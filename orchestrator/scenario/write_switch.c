/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/write.h"

static void write_buffer(FILE *out, const struct switch_spec *s)
{
	if (!s->buffer.shared) {
		write_quantity(out, "  buffer: {per_port", &s->buffer.per_port);
		fputs("}\n", out);
		return;
	}
	write_quantity(out, "  buffer: {shared", &s->buffer.pool);
	fputs(", alpha: ", out);
	write_number(out, s->buffer.alpha);
	write_quantity(out, ", reserve", &s->buffer.reserve);
	fputs("}\n", out);
}

static void write_ecn(FILE *out, const struct ecn_spec *e)
{
	if (e->kmax.value == 0) {
		fputs("ecn: off", out);
		return;
	}
	write_quantity(out, "ecn: {kmin", &e->kmin);
	write_quantity(out, ", kmax", &e->kmax);
	fputs(", pmax: ", out);
	write_number(out, e->pmax);
	if (e->average)
		fprintf(out, ", average: %u}", e->average);
	else
		fputs(", average: off}", out);
}

static void write_dscps(FILE *out, uint64_t mask)
{
	const char *between = "";

	fputs("dscp: [", out);
	for (uint32_t i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		fprintf(out, "%s%u", between, i);
		between = ", ";
	}
	fputc(']', out);
}

static void write_class(FILE *out, const struct switch_spec *s, uint32_t number)
{
	const struct class_spec *class = &s->classes[number];
	bool headers = s->trim.to != TRIM_OFF && number == s->trim.class;

	fprintf(out, "    - {class: %u, ", number);
	write_dscps(out, class->dscp);
	fprintf(out, ", lossless: %s, schedule: ", class->lossless ? "yes" : "no");
	if (class->share > 0)
		write_percent(out, class->share);
	else
		fputs("strict", out);
	fputs(",\n       ", out);
	/* a pool and switch.trim.queue leave no say in it */
	if (!s->buffer.shared && !headers) {
		write_quantity(out, "buffer", &class->buffer);
		fputs(", ", out);
	}
	write_ecn(out, &class->ecn);
	if (class->lossless) {
		write_quantity(out, ",\n       xoff", &class->xoff);
		write_quantity(out, ", xon", &class->xon);
		write_quantity(out, ", headroom", &class->headroom);
	}
	fputs("}\n", out);
}

static void write_trim(FILE *out, const struct switch_spec *s)
{
	if (s->trim.to == TRIM_OFF) {
		fputs("  trim: off\n", out);
		return;
	}
	fprintf(out, "  trim: {to: %s, overflow: %s, class: %u, dscp: %u, return_dscp: %u, ",
		s->trim.to == TRIM_SENDER ? "sender" : "receiver",
		s->trim.or_return ? "return" : "drop", s->trim.class, s->trim.dscp,
		s->trim.return_dscp);
	write_quantity(out, "queue", &s->trim.queue);
	fputs("}\n", out);
}

static void write_pfc(FILE *out, const struct switch_spec *s)
{
	if (!s->pfc.on) {
		fputs("  pfc: off\n", out);
		return;
	}
	fprintf(out, "  pfc: {quanta: %u", s->pfc.quanta);
	write_time(out, ", response", s->pfc.response_ps, 0, NULL);
	write_time(out, ", watchdog", s->pfc.watchdog_ps, 0, "off");
	fputs("}\n", out);
}

static void write_roles(FILE *out, const struct switch_spec *s)
{
	const char *between = "";

	if (!s->roles.on) {
		fputs("  roles: off\n", out);
		return;
	}
	fputs("  roles: {remap: {", out);
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		if (s->roles.to[i] == i)
			continue;
		fprintf(out, "%s%u: %u", between, i, s->roles.to[i]);
		between = ", ";
	}
	fputs("}}\n", out);
}

static void write_every(FILE *out, const char *key, uint64_t ps)
{
	if (!ps) {
		fprintf(out, "  %s: off\n", key);
		return;
	}
	fprintf(out, "  %s: {", key);
	write_time(out, "every", ps, 0, NULL);
	fputs("}\n", out);
}

void write_switch(FILE *out, const struct switch_spec *s)
{
	uint32_t first = 0;

	while (!s->classes[first].used)
		first++;
	fputs("\nswitch:\n", out);
	write_buffer(out, s);
	fputs("  ", out);
	write_ecn(out, &s->classes[first].ecn);
	fputs("\n  classes:\n", out);
	for (uint32_t i = first; i < SCENARIO_CLASSES; i++)
		if (s->classes[i].used)
			write_class(out, s, i);
	fputs("  balance: ecmp\n", out);
	write_trim(out, s);
	write_pfc(out, s);
	write_roles(out, s);
	write_every(out, "lldp", s->lldp_ps);
	write_every(out, "cnp", s->cnp_ps);
	write_time(out, "  reroute: {after", s->reroute_ps, 0, NULL);
	fprintf(out, ", mode: %s}\n", s->reroute_mode == REROUTE_LOCAL ? "local" : "global");
}
