/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_ADAPTIVE_H
#define FABRICBED_BALANCE_ADAPTIVE_H

/* Packet by packet, the port with the shortest queue; of several, in turn. */
#include <fabricbed/policy.h>

#define ADAPTIVE_GROUPS 256

struct adaptive_switch {
	__u16 next[ADAPTIVE_GROUPS]; /* where the search begins */
};

POLICY(adaptive)
{
	struct adaptive_switch *m = POLICY_SWITCH(struct adaptive_switch);
	__u16 *next = &m->next[p->group % ADAPTIVE_GROUPS];
	__u32 pick = policy_shortest(p, *next < p->count ? *next : 0);

	*next = (__u16)(pick + 1);
	return pick;
}

#endif
