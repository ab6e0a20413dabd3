/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_RANDOM_H
#define FABRICBED_BALANCE_RANDOM_H

/* Packet by packet, a port at random, whatever the queues hold. */
#include <fabricbed/policy.h>

POLICY(random)
{
	return policy_scale((__u32)(p->random >> 32), p->count);
}

#endif
