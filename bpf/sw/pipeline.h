/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_PIPELINE_H
#define FABRICBED_SW_PIPELINE_H

/* A switch port and a host port on one screen: the order of the stages, and nothing else. */
#include "sw/admit.h"
#include "sw/balance.h"
#include "sw/forward.h"
#include "sw/mark.h"
#include "sw/parse.h"
#include "sw/route.h"
#include "sw/wire.h"

#define SW_STAGE(stage)                                                                            \
	do {                                                                                       \
		if (sw_unlikely(stage(c) == SW_END))                                               \
			return SW_END;                                                             \
	} while (0)

/* A frame that arrives at a switch: decided, rewritten, its buffer space taken. */
static __always_inline enum sw_step sw_switch(struct sw_ctx *c)
{
	c->in->rx_frames++;
	SW_STAGE(sw_wire);
	SW_STAGE(sw_parse);
	SW_STAGE(sw_mark);
	SW_STAGE(sw_forward_check);
	SW_STAGE(sw_route);
	SW_STAGE(sw_balance);
	SW_STAGE(sw_admit);
	sw_forward(c);
	return SW_NEXT;
}

static __always_inline enum sw_step sw_mine(struct sw_ctx *c)
{
	return c->dst_host == c->in->host ? SW_NEXT : sw_drop(c, c->in_id, DROP_NOT_MINE);
}

/* A frame that arrives at a host. */
static __always_inline enum sw_step sw_host(struct sw_ctx *c)
{
	c->in->rx_frames++;
	SW_STAGE(sw_wire);
	SW_STAGE(sw_parse);
	SW_STAGE(sw_mark);
	SW_STAGE(sw_mine);
	return SW_NEXT;
}

#endif
