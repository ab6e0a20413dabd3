/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_ECMP_ADAPTIVE_H
#define FABRICBED_BALANCE_ECMP_ADAPTIVE_H

/*
 * A flow's first packet takes the port of its hash, or, if more than the threshold waits there or
 * the link is down, the shortest queue. The flow stays where its first packet went ("ECMP AR" of
 * Load Balancing for AI Training Workloads, table 1).
 */
#include <fabricbed/policy.h>

POLICY(ecmp_adaptive)
{
	struct policy_choice *choice = POLICY_FLOW(struct policy_choice);
	__u32 pick = policy_kept(p, choice);

	if (pick != POLICY_NONE)
		return pick;
	pick = policy_scale(p->hash, p->count);
	if (policy_depth(p, pick) > p->threshold_bytes || !policy_up(p, pick))
		pick = policy_shortest(p, pick);
	return policy_keep(p, choice, pick);
}

#endif
