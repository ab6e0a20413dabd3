/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_BALANCE_H
#define FABRICBED_SW_BALANCE_H

/*
 * One port of the group: ECMP, by the flow's hash under this switch's seed (RFC 2992, hash-threshold).
 * Needs sw and group; sets out_id and out.
 */
#include "sw/context.h"
#include "lib/hash.h"

static __always_inline enum sw_step sw_balance(struct sw_ctx *c)
{
	__u32 pick = 0;

	if (c->group->count > 1)
		pick = hash_pick(
			hash_flow(c->sw->hash_seed, c->addresses, c->ports), c->group->count);
	sw_opaque(pick);
	if (pick >= GROUP_PORTS)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	c->out_id = c->sw->first_port + c->group->port[pick];
	c->out = table_ports(c->t, c->out_id);
	if (!c->out)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	return SW_NEXT;
}

#endif
