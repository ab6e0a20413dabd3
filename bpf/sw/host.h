/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_HOST_H
#define FABRICBED_SW_HOST_H

/* Which frames a host takes, and for whom. Both stages need a parsed frame. */
#include "sw/context.h"

static __always_inline enum sw_step sw_mine(struct sw_ctx *c)
{
	return c->dst_host == c->in->host ? SW_NEXT : sw_drop(c, c->in_id, DROP_NOT_MINE);
}

/* Packets that are not the transport's belong to the host's kernel stack. */
static __always_inline enum sw_step sw_stack(struct sw_ctx *c)
{
	if (c->udp && c->udp->dst == be16(UDP_PORT_ROCE))
		return SW_NEXT;
	return sw_done(c, VERDICT_STACK);
}

#endif
