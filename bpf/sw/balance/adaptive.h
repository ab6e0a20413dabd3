/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_ADAPTIVE_H
#define FABRICBED_BALANCE_ADAPTIVE_H

/*
 * Packet by packet: a port at random, unless its queue is longer than the shortest by more than the
 * threshold; then the shortest. A difference of less than a packet only tells how far the frame on
 * the line is. Where hosts send at the same rate, a policy that goes by it always finds the port
 * free that the flow's own last packet has just left: each flow would stay on one path.
 */
#include <fabricbed/policy.h>

POLICY(adaptive)
{
	__u32 any = policy_scale((__u32)(p->random >> 32), p->count);
	__u32 shortest = policy_shortest(p, any);

	if (policy_up(p, any) &&
		policy_depth(p, any) <= (__u64)policy_depth(p, shortest) + p->threshold_bytes)
		return any;
	return shortest;
}

#endif
