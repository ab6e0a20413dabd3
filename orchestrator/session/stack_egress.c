/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/stack_egress.h"

#include <errno.h>
#include <string.h>
#include "base/units.h"
#include "io/cgroup.h"
#include "scenario/scenario.h"

bool stack_has_egress(const struct stack_spec *s)
{
	return s->class_count || s->ect || s->entropy != ENTROPY_FLOW;
}

static int fill_rule(struct egress_rule *ret, const struct stack_class *c, struct error *why)
{
	uint64_t cgroup = 0;
	int r = c->cgroup ? cgroup_id(&cgroup, c->cgroup, why) : 0;

	if (r < 0)
		return r;
	ret->cgroup = cgroup;
	ret->port = (uint16_t)c->port;
	ret->dscp = (uint8_t)c->dscp;
	return 0;
}

int stack_egress(
	struct egress_config *ret, const struct stack_spec *s, double slowdown, struct error *why)
{
	static const enum egress_entropy entropy[] = {
		[ENTROPY_FLOW] = EGRESS_FLOW,
		[ENTROPY_FLOWLET] = EGRESS_FLOWLET,
		[ENTROPY_PACKET] = EGRESS_PACKET,
	};
	struct egress_config config;
	int r = 0;

	/* with its padding: it becomes a part of the loaded program */
	memset(&config, 0, sizeof(config));
	for (size_t i = 0; r == 0 && i < s->class_count; i++)
		r = fill_rule(&config.rules[i], &s->classes[i], why);
	if (r < 0)
		return r;
	config.rule_count = (uint8_t)s->class_count;
	config.ect = s->ect;
	config.entropy = (uint8_t)entropy[s->entropy];
	/* the program knows the real clock only */
	config.flowlet_ns = (uint64_t)((double)s->flowlet_ps * slowdown / PS_PER_NS);
	*ret = config;
	return 0;
}
