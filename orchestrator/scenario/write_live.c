/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/write.h"

#include "base/units.h"

void write_clock(FILE *out, const struct clock_spec *c)
{
	if (!c->wall) {
		fputs("clock: stepped\n", out);
		return;
	}
	fputs("clock: {wall: {slowdown: ", out);
	if (c->slowdown > 0)
		write_number(out, c->slowdown);
	else
		fputs("auto", out);
	fputs("}}\n", out);
}

static void write_rule(FILE *out, const struct stack_class *rule)
{
	if (rule->cgroup) {
		fputs("      - {cgroup: ", out);
		write_quoted(out, rule->cgroup);
	} else {
		fprintf(out, "      - {port: %u", rule->port);
	}
	fprintf(out, ", dscp: %u}\n", rule->dscp);
}

static void write_entropy(FILE *out, const struct stack_spec *s)
{
	switch (s->entropy) {
	case ENTROPY_FLOW:
		fputs("    entropy: flow\n", out);
		break;
	case ENTROPY_FLOWLET:
		write_time(out, "    entropy: {flowlet", s->flowlet_ps, 0, NULL);
		fputs("}\n", out);
		break;
	case ENTROPY_PACKET:
		fputs("    entropy: packet\n", out);
		break;
	}
}

void write_stack(FILE *out, const struct stack_spec *s)
{
	char text[UNITS_TEXT];

	fprintf(out, "  stack:\n    classes:%s\n", s->class_count ? "" : " []");
	for (size_t i = 0; i < s->class_count; i++)
		write_rule(out, &s->classes[i]);
	fprintf(out, "    ect: %s\n    ecn: %s\n", s->ect ? "on" : "off", s->ecn ? "on" : "off");
	write_entropy(out, s);
	fprintf(out, "    queue: %s\n", format_bytes(text, s->queue_bytes));
}

void write_external(FILE *out, const struct external_spec *e)
{
	if (!e->node) {
		fputs("external: off\n", out);
		return;
	}
	fputs("external: {node: ", out);
	write_name(out, e->node);
	fputs(", bridge: ", out);
	write_quoted(out, e->bridge);
	if (e->address)
		fprintf(out, ", address: %s", e->address);
	if (e->address6) {
		fputs(", address6: ", out);
		write_quoted(out, e->address6);
	}
	fputs("}\n", out);
}
