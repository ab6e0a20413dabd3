/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What faults pick of what their patterns match, group by group. */
#include "report/fabric_report_parts.h"
#include "topology/pick.h"
#include "topology/targets.h"

static json_t *list_names(const struct fabric *f, const struct fault_spec *fault,
	const struct pick *p, const struct pick_group *g)
{
	json_t *names = json_array();
	char name[LINK_NAME];

	for (size_t i = g->taken; i < g->taken_end; i++)
		json_array_append_new(names,
			json_string(fault_target_name(f, fault->on, p->items[i].target, name)));
	return names;
}

static json_t *report_groups(
	const struct fabric *f, const struct fault_spec *fault, const struct pick *p)
{
	json_t *groups = json_array();
	struct pick_group g;
	char name[POD_NAME];

	for (size_t i = 0; i < p->count; i = g.end) {
		bool named = fault->pick.per != PICK_OF_ALL;

		g = pick_group(p, fault, i);
		json_array_append_new(
			groups, json_pack("{s:o, s:I, s:o}", "of",
					named ? json_string(pick_group_name(
							f, p, fault, p->items[i].group, name))
					      : json_null(),
					"matching", (json_int_t)(g.end - g.first), "picked",
					list_names(f, fault, p, &g)));
	}
	return groups;
}

json_t *report_picked(const struct fabric *f, const struct scenario *s)
{
	static const char *const kinds[FAULT_TARGETS] = {"links", "switches", "hosts"};
	json_t *array = json_array();

	for (size_t i = 0; i < s->fault_count; i++) {
		const struct fault_spec *fault = &s->faults[i];
		char text[PICK_TEXT];
		struct pick p;

		if (fault->pick.per == PICK_ALL)
			continue;
		if (pick_init(&p, f, s->seed, fault) < 0) {
			json_decref(array);
			return NULL;
		}
		json_array_append_new(array,
			json_pack("{s:I, s:s, s:I, s:s, s:s, s:o}", "fault", (json_int_t)i, "pick",
				fault_pick_text(&fault->pick, text), "skip",
				(json_int_t)fault->pick.skip, "kind", kinds[fault->on], "pattern",
				fault->target, "groups", report_groups(f, fault, &p)));
		pick_release(&p);
	}
	return array;
}
