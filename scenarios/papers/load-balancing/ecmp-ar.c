/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ECMP with adaptive routing, for each packet: it takes the port of its flow's hash, or, every
 * second time that more than the threshold waits there, the shortest queue.
 */
#include <fabricbed/policy.h>

POLICY(ecmp_ar)
{
	__u32 pick = policy_scale(p->hash, p->count);

	if (policy_up(p, pick) && (!(p->random & 1) || policy_depth(p, pick) <= p->threshold_bytes))
		return pick;
	return policy_shortest(p, pick);
}
