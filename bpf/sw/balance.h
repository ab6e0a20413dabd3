/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_BALANCE_H
#define FABRICBED_SW_BALANCE_H

/*
 * One port of the group, by the fabric's policy. Needs sw and group; sets out_id and out. Where
 * switches reroute by themselves, a frame goes back out of its ingress port only if there is no
 * other: the group's next port takes it.
 */
#include "abi/policies.h"
#include "balance/ecmp.h"
#include "sw/context.h"

/* A number from 0 to count - 1; only one policy is in a loaded program. */
static __always_inline __u32 sw_balance_pick(struct sw_ctx *c)
{
	if (BALANCE_COUNT > 1 && sw_has(c, SW_BALANCE(~0u)))
		switch (SW_BALANCE_OF(sw_has(c, SW_BALANCE(~0u)))) {
#define X(symbol, word, ahead, meaning)                                                            \
	case symbol:                                                                               \
		return balance_##word(c);
			BALANCES(X)
#undef X
		}
	return balance_ecmp(c);
}

static __always_inline enum sw_step sw_group_port(struct sw_ctx *c, __u32 pick)
{
	sw_opaque(pick);
	if (pick >= GROUP_PORTS)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	c->out_id = c->sw->first_port + c->group->port[pick];
	return SW_NEXT;
}

static __always_inline enum sw_step sw_balance(struct sw_ctx *c)
{
	__u32 pick = 0;

	if (c->group->count > 1)
		pick = sw_balance_pick(c);
	if (sw_group_port(c, pick) != SW_NEXT)
		return SW_END;
	if (sw_has(c, SW_DETOUR) && c->out_id == c->in_id && !c->turned) {
		if (sw_group_port(c, pick + 1 < c->group->count ? pick + 1 : 0) != SW_NEXT)
			return SW_END;
	}
	c->out = table_ports(c->t, c->out_id);
	if (!c->out)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	return SW_NEXT;
}

#endif
