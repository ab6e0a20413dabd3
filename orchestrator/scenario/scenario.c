/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include "base/balance_name.h"
#include "scenario/schema_use.h"

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

uint32_t balance_policy(const struct balance_spec *b)
{
	uint32_t i = BALANCE_ECMP;

	while (b->policy.path && balance_names[i] && strcasecmp(b->policy.path, balance_names[i]))
		i++;
	return balance_names[i] ? i : BALANCE_FILE;
}

const struct file_text *balance_file(const struct balances_spec *b)
{
	for (size_t i = 0; i <= BALANCE_TIERS; i++) {
		const struct balance_spec *of = i ? b->tiers[i - 1] : &b->all;

		if (of && balance_policy(of) == BALANCE_FILE)
			return &of->policy;
	}
	return NULL;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	map_release(&scenario_map, s);
	free(s->path);
	free(s);
}
