/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_SPRAY_H
#define FABRICBED_BALANCE_SPRAY_H

/* Packet by packet, round robin over each set of equal-cost ports. */
#include <fabricbed/policy.h>

#define SPRAY_GROUPS 256

struct spray_switch {
	__u16 next[SPRAY_GROUPS];
};

POLICY(spray)
{
	struct spray_switch *m = POLICY_SWITCH(struct spray_switch);
	__u16 *next = &m->next[p->group % SPRAY_GROUPS];
	__u32 pick = *next < p->count ? *next : 0;

	*next = (__u16)(pick + 1);
	return pick;
}

#endif
