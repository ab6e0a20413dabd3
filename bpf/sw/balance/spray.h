/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_SPRAY_H
#define FABRICBED_BALANCE_SPRAY_H

/*
 * Packet by packet, round robin over each set of equal-cost ports. Each round begins at a port at
 * random: with a fixed order, hosts that send at the same rate would meet the same port each round,
 * and each flow would stay on one path.
 */
#include <fabricbed/policy.h>

#define SPRAY_GROUPS 256

struct spray_switch {
	struct spray_round {
		__u8 first; /* the port at which the round began */
		__u8 sent;  /* packets of this round */
	} round[SPRAY_GROUPS];
};

POLICY(spray)
{
	struct spray_switch *m = POLICY_SWITCH(struct spray_switch);
	struct spray_round *r = &m->round[p->group % SPRAY_GROUPS];

	if (r->sent == 0 || r->sent >= p->count) {
		r->first = (__u8)policy_scale((__u32)(p->random >> 32), p->count);
		r->sent = 0;
	}
	return (r->first + r->sent++) % p->count;
}

#endif
