/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_FLOWLET_H
#define FABRICBED_BALANCE_FLOWLET_H

/*
 * Flowlets: packets of a flow that follow each other within the gap stay on one port; after a
 * longer gap the flow takes the shortest queue (Sinha, Kandula, Katabi, Harnessing TCP's Burstiness
 * with Flowlet Switching, HotNets 2004; "flowlet AR" of Load Balancing for AI Training Workloads).
 */
#include <fabricbed/policy.h>

struct flowlet_flow {
	__u64 last_ps; /* of its latest packet */
	struct policy_choice choice;
};

POLICY(flowlet)
{
	struct flowlet_flow *f = POLICY_FLOW(struct flowlet_flow);
	__u32 pick = policy_kept(p, &f->choice);

	if (pick == POLICY_NONE || p->now_ps - f->last_ps > p->gap_ps)
		pick = policy_keep(p, &f->choice,
			policy_shortest(p, policy_scale((__u32)(p->random >> 32), p->count)));
	f->last_ps = p->now_ps;
	return pick;
}

#endif
