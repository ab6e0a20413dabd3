/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_BALANCE_ECMP_H
#define FABRICBED_BALANCE_ECMP_H

/* ECMP: by the flow's hash under this switch's seed (RFC 2992, hash-threshold). */
#include "sw/context.h"
#include "lib/hash.h"

static __always_inline __u32 balance_ecmp(struct sw_ctx *c)
{
	__u32 hash = hash_flow(c->sw->hash_seed, c->addresses, c->ports);

	return hash_pick(hash, c->group->count);
}

#endif
