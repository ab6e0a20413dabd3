/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/units.h"
#include "topology/explain_parts.h"

#define QUEUE_USUAL (1u << 20) /* host.stack.queue */

static void write_clock(const struct clock_spec *c, FILE *out)
{
	if (!c->wall)
		return;
	if (c->slowdown > 0)
		fprintf(out, "  clock             the wall's, slowdown %.6g\n", c->slowdown);
	else
		fputs("  clock             the wall's, slowdown as this box needs it\n", out);
}

static void write_rules(const struct explain *e, FILE *out)
{
	for (size_t i = 0; i < e->stack->class_count; i++) {
		const struct stack_class *rule = &e->stack->classes[i];

		if (rule->cgroup)
			fprintf(out, "  host stack        cgroup %s", rule->cgroup);
		else
			fprintf(out, "  host stack        port %u", rule->port);
		fprintf(out, ": DSCP %u, class %u\n", rule->dscp,
			e->switching.config.class_of[rule->dscp]);
	}
}

static void write_stack(const struct explain *e, FILE *out)
{
	const struct stack_spec *s = e->stack;
	char text[UNITS_TEXT];

	write_rules(e, out);
	if (s->ecn)
		fputs("  host stack        TCP asks for ECN\n", out);
	if (s->ect)
		fputs("  host stack        what is not ECN-capable becomes ECT(0)\n", out);
	if (s->entropy == ENTROPY_FLOWLET)
		fprintf(out,
			"  host stack        a path a flowlet, which a gap of %s begins; of IPv6 alone, by its flow label\n",
			format_time(text, s->flowlet_ps));
	else if (s->entropy == ENTROPY_PACKET)
		fputs("  host stack        a path a packet; of IPv6 alone, by its flow label\n",
			out);
	if (s->queue_bytes != QUEUE_USUAL)
		fprintf(out, "  host stack        up to %s wait for the line\n",
			format_bytes(text, s->queue_bytes));
}

static void write_external(const struct external_spec *x, FILE *out)
{
	if (!x->node)
		return;
	fprintf(out, "  external          %s, on bridge %s", x->node, x->bridge);
	if (x->address)
		fprintf(out, ", %s", x->address);
	if (x->address6)
		fprintf(out, ", %s", x->address6);
	fputc('\n', out);
}

void explain_write_live(const struct explain *e, FILE *out)
{
	write_clock(&e->clock, out);
	write_stack(e, out);
	write_external(e->external, out);
}

json_t *explain_clock_json(const struct explain *e)
{
	if (!e->clock.wall)
		return json_pack("{s:s}", "follows", "stepped");
	return json_pack("{s:s, s:o}", "follows", "wall", "slowdown",
		e->clock.slowdown > 0 ? json_real(e->clock.slowdown) : json_string("auto"));
}

static json_t *rules_json(const struct explain *e)
{
	json_t *array = json_array();

	for (size_t i = 0; i < e->stack->class_count; i++) {
		const struct stack_class *rule = &e->stack->classes[i];

		json_array_append_new(array,
			json_pack("{s:o, s:s?, s:I, s:I}", "port",
				rule->cgroup ? json_null() : json_integer(rule->port), "cgroup",
				rule->cgroup, "dscp", (json_int_t)rule->dscp, "class",
				(json_int_t)e->switching.config.class_of[rule->dscp]));
	}
	return array;
}

json_t *explain_stack_json(const struct explain *e)
{
	static const char *const entropies[] = {
		[ENTROPY_FLOW] = "flow",
		[ENTROPY_FLOWLET] = "flowlet",
		[ENTROPY_PACKET] = "packet",
	};
	const struct stack_spec *s = e->stack;
	bool flowlets = s->entropy == ENTROPY_FLOWLET;

	return json_pack("{s:o, s:b, s:b, s:s, s:o, s:I}", "classes", rules_json(e), "ect", s->ect,
		"ecn", s->ecn, "entropy", entropies[s->entropy], "flowlet_us",
		flowlets ? json_real((double)s->flowlet_ps / PS_PER_US) : json_null(),
		"queue_bytes", (json_int_t)s->queue_bytes);
}

json_t *explain_external_json(const struct explain *e)
{
	const struct external_spec *x = e->external;

	if (!x->node)
		return json_null();
	return json_pack("{s:s, s:s, s:s?, s:s?}", "node", x->node, "bridge", x->bridge, "address",
		x->address, "address6", x->address6);
}
