/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/scenario.h"

#include <errno.h>
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

static void free_names(struct host_names *h)
{
	for (size_t i = 0; i < h->count; i++)
		free(h->names[i]);
	free(h->names);
}

void workload_spec_release(struct workload_spec *w)
{
	free_names(&w->from);
	free_names(&w->receivers);
	free(w->to);
	*w = (struct workload_spec){0};
}

void fault_spec_release(struct fault_spec *f)
{
	free(f->target);
	f->target = NULL;
}

int scenario_add_fault(struct scenario *s, const struct fault_spec *f)
{
	struct fault_spec *grown = reallocarray(s->faults, s->fault_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	s->faults = grown;
	s->faults[s->fault_count++] = *f;
	return 0;
}

int scenario_add_workload(struct scenario *s, const struct workload_spec *w)
{
	struct workload_spec *grown =
		reallocarray(s->workloads, s->workload_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	s->workloads = grown;
	s->workloads[s->workload_count++] = *w;
	return 0;
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
		workload_spec_release(&s->workloads[i]);
	for (size_t i = 0; i < s->fault_count; i++)
		fault_spec_release(&s->faults[i]);
	for (size_t i = 0; i < s->expect_count; i++)
		free(s->expects[i].metric);
	free(s->workloads);
	free(s->faults);
	for (size_t i = 0; i < s->variant_count; i++)
		free_variant(&s->variants[i]);
	free(s->variants);
	free(s->expects);
	for (size_t i = 0; i < s->host.stack.class_count; i++)
		free(s->host.stack.classes[i].cgroup);
	free(s->external.node);
	free(s->external.bridge);
	free(s->external.address);
	free(s->external.address6);
	free(s->path);
	free(s->name);
	free(s->about);
	free(s);
}
