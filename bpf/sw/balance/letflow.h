/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_LETFLOW_H
#define FABRICBED_BALANCE_LETFLOW_H

/*
 * LetFlow: as flowlet, but each flowlet takes a port at random; flowlets are longer where there is
 * no congestion (Vanini, Pan, Alizadeh, Taheri, Edsall, Let It Flow: Resilient Asymmetric Load
 * Balancing with Flowlet Switching, NSDI 2017).
 */
#include <fabricbed/policy.h>

struct letflow_flow {
	__u64 last_ps; /* of its latest packet */
	struct policy_choice choice;
};

POLICY(letflow)
{
	struct letflow_flow *f = POLICY_FLOW(struct letflow_flow);
	__u32 pick = policy_kept(p, &f->choice);

	if (pick == POLICY_NONE || p->now_ps - f->last_ps > p->gap_ps)
		pick = policy_keep(p, &f->choice, policy_scale((__u32)(p->random >> 32), p->count));
	f->last_ps = p->now_ps;
	return pick;
}

#endif
