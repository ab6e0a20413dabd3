/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/scenario.h"

#include <stdlib.h>

static void free_topology(struct topology_spec *t)
{
	for (size_t i = 0; i < t->host_count; i++)
		free(t->hosts[i].name);
	for (size_t i = 0; i < t->switch_count; i++)
		free(t->switches[i].name);
	for (size_t i = 0; i < t->link_count; i++) {
		free(t->links[i].a);
		free(t->links[i].b);
	}
	for (size_t i = 0; i < t->override_count; i++)
		free(t->overrides[i].match);
	free(t->hosts);
	free(t->switches);
	free(t->links);
	free(t->overrides);
}

static void free_workload(struct workload_spec *w)
{
	for (size_t i = 0; i < w->pair_count; i++) {
		free(w->from[i]);
		free(w->pair_to[i]);
	}
	free(w->from);
	free(w->pair_to);
	free(w->to);
}

uint32_t scenario_class_of(const struct switch_spec *sw, uint32_t dscp)
{
	uint32_t lowest = SCENARIO_CLASSES;

	for (uint32_t i = SCENARIO_CLASSES; i-- > 0;) {
		if (!sw->classes[i].used)
			continue;
		if (sw->classes[i].dscp >> dscp & 1)
			return i;
		lowest = i;
	}
	return lowest;
}

static void free_variant(struct variant_spec *v)
{
	for (size_t i = 0; i < v->set_count; i++)
		free(v->sets[i]);
	free(v->sets);
	free(v->name);
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	free_topology(&s->topology);
	for (size_t i = 0; i < s->workload_count; i++)
		free_workload(&s->workloads[i]);
	for (size_t i = 0; i < s->fault_count; i++)
		free(s->faults[i].target);
	for (size_t i = 0; i < s->expect_count; i++)
		free(s->expects[i].metric);
	free(s->workloads);
	free(s->faults);
	for (size_t i = 0; i < s->variant_count; i++)
		free_variant(&s->variants[i]);
	free(s->variants);
	free(s->expects);
	free(s->path);
	free(s->name);
	free(s->about);
	free(s);
}
