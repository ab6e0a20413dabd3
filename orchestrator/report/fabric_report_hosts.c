/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/units.h"
#include "report/fabric_report_parts.h"

json_t *report_clock(const struct scenario *s)
{
	if (!s->clock.wall)
		return json_pack("{s:s}", "follows", "stepped");
	return json_pack("{s:s, s:o}", "follows", "wall", "slowdown",
		s->clock.slowdown > 0 ? json_real(s->clock.slowdown) : json_string("auto"));
}

static json_t *report_rules(const struct fabric *f, const struct stack_spec *s)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->class_count; i++) {
		const struct stack_class *rule = &s->classes[i];

		json_array_append_new(array,
			json_pack("{s:o, s:s?, s:I, s:I}", "port",
				rule->cgroup ? json_null() : json_integer(rule->port), "cgroup",
				rule->cgroup, "dscp", (json_int_t)rule->dscp, "class",
				(json_int_t)f->switching.config.class_of[rule->dscp]));
	}
	return array;
}

json_t *report_stack(const struct fabric *f, const struct scenario *scenario)
{
	static const char *const entropies[] = {
		[ENTROPY_FLOW] = "flow",
		[ENTROPY_FLOWLET] = "flowlet",
		[ENTROPY_PACKET] = "packet",
	};
	const struct stack_spec *s = &scenario->host.stack;
	bool flowlets = s->entropy == ENTROPY_FLOWLET;

	return json_pack("{s:o, s:b, s:b, s:s, s:o, s:I}", "classes", report_rules(f, s), "ect",
		s->ect, "ecn", s->ecn, "entropy", entropies[s->entropy], "flowlet_us",
		flowlets ? json_real((double)s->flowlet_ps / PS_PER_US) : json_null(),
		"queue_bytes", (json_int_t)s->queue_bytes);
}

json_t *report_external(const struct scenario *s)
{
	const struct external_spec *x = &s->external;

	if (!x->node)
		return json_null();
	return json_pack("{s:s, s:s, s:s?, s:s?}", "node", x->node, "bridge", x->bridge, "address",
		x->address, "address6", x->address6);
}
