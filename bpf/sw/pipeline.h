/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_PIPELINE_H
#define FABRICBED_SW_PIPELINE_H

/* A switch port and a host port on one screen: the order of the stages, and nothing else. */
#include "sw/admit.h"
#include "sw/balance.h"
#include "sw/cnp.h"
#include "sw/forward.h"
#include "sw/mark.h"
#include "sw/parse.h"
#include "sw/pfc.h"
#include "sw/roles.h"
#include "sw/route.h"
#include "sw/trim.h"
#include "sw/wire.h"

#define SW_STAGE(stage)                                                                            \
	do {                                                                                       \
		enum sw_step step_ = stage(c);                                                     \
		if (sw_unlikely(step_ != SW_NEXT))                                                 \
			return step_;                                                              \
	} while (0)

#define SW_STAGE_IF(feature, stage)                                                                \
	do {                                                                                       \
		if (sw_has(c, feature))                                                            \
			SW_STAGE(stage);                                                           \
	} while (0)

/* From the cable to a parsed packet; a frame for the port itself is settled on the way. */
static __always_inline enum sw_step sw_enter(struct sw_ctx *c)
{
	c->in->rx_frames++;
	SW_STAGE(sw_wire);
	SW_STAGE(sw_parse_eth);
	SW_STAGE_IF(SW_CONTROL, sw_pfc);
	SW_STAGE_IF(SW_CONTROL, sw_lldp);
	SW_STAGE(sw_parse);
	SW_STAGE(sw_mark);
	return SW_NEXT;
}

/* From a parsed packet to room at an egress. */
static __always_inline enum sw_step sw_place(struct sw_ctx *c)
{
	SW_STAGE(sw_route);
	SW_STAGE(sw_balance);
	SW_STAGE_IF(SW_ROLES, sw_remap);
	return sw_admit(c);
}

/* There is no room: counted at the egress, or, for a headroom, at the ingress that it belongs to. */
static __always_inline enum sw_step sw_refuse(struct sw_ctx *c)
{
	return sw_drop(
		c, c->reason == DROP_HEADROOM ? c->in_id : c->out_id, (enum drop_reason)c->reason);
}

/* Headers back to where they came from. */
static __always_inline enum sw_step sw_place_returned(struct sw_ctx *c)
{
	sw_return(c);
	SW_STAGE(sw_parse);
	SW_STAGE(sw_route);
	SW_STAGE(sw_balance);
	return sw_admit(c);
}

/* A packet that found no room: its headers may. */
static __always_inline enum sw_step sw_place_trimmed(struct sw_ctx *c)
{
	int back = table_config(c->t)->trim_to_sender;
	int was_trimmed = sw_is_trimmed(c), was_returned = sw_is_returned(c);
	enum sw_step step = sw_trim(c);

	if (step != SW_NEXT && !was_trimmed && !was_returned)
		return SW_FULL;
	if (step == SW_NEXT)
		c->out->trimmed_frames++;
	if (step == SW_NEXT && !back)
		step = sw_admit(c);
	if (step != SW_NEXT && !was_returned && table_config(c->t)->trim_or_return)
		back = 1;
	if (back && !was_returned)
		step = sw_place_returned(c);
	if (step == SW_FULL)
		c->reason = DROP_HEADERS;
	return step;
}

/* A frame that arrives at a switch: decided, rewritten, its buffer space taken. */
static __always_inline enum sw_step sw_switch(struct sw_ctx *c)
{
	enum sw_step step;

	SW_STAGE(sw_enter);
	sw_join(c);
	SW_STAGE(sw_forward_check);
	step = sw_place(c);
	if (sw_has(c, SW_TRIM) && sw_unlikely(step == SW_FULL))
		step = sw_place_trimmed(c);
	if (sw_unlikely(step == SW_FULL))
		return sw_refuse(c);
	if (sw_unlikely(step != SW_NEXT))
		return step;
	c->reason = DROP_NONE;
	sw_join(c);
	SW_STAGE_IF(SW_CNP, sw_cnp_ask);
	sw_forward(c);
	return SW_NEXT;
}

static __always_inline enum sw_step sw_mine(struct sw_ctx *c)
{
	return c->dst_host == c->in->host ? SW_NEXT : sw_drop(c, c->in_id, DROP_NOT_MINE);
}

/* Whether a packet is a program's and not the transport's. */
static __always_inline enum sw_step sw_steer(struct sw_ctx *c)
{
	if (c->udp && c->udp->dst == be16(UDP_PORT_ROCE))
		return SW_NEXT;
	return sw_done(c, VERDICT_STACK);
}

/* A frame that arrives at a host. */
static __always_inline enum sw_step sw_host(struct sw_ctx *c)
{
	SW_STAGE(sw_enter);
	SW_STAGE(sw_mine);
	SW_STAGE_IF(SW_STACK, sw_steer);
	return SW_NEXT;
}

/* A CNP of the switch's own, if it is due, out of a copy of the packet that asks for it. */
static __always_inline enum sw_step sw_make_cnp(struct sw_ctx *c)
{
	enum sw_step step;

	SW_STAGE(sw_parse_eth);
	SW_STAGE(sw_parse);
	SW_STAGE(sw_route);
	SW_STAGE(sw_balance);
	SW_STAGE(sw_cnp_due);
	SW_STAGE(sw_cnp_make);
	SW_STAGE(sw_parse);
	SW_STAGE(sw_route);
	SW_STAGE(sw_balance);
	step = sw_admit(c);
	if (step == SW_FULL)
		return sw_refuse(c);
	sw_forward(c);
	return step;
}

/* Whether nothing has arrived, and a frame is asked for. */
static __always_inline int sw_makes(const struct sw_ctx *c)
{
	return sw_has(c, SW_CONTROL | SW_CNP) && c->hop.flags & HOP_MAKE;
}

/* A frame that the engine asks for. */
static __always_inline enum sw_step sw_make(struct sw_ctx *c)
{
	if (sw_has(c, SW_CONTROL) && c->hop.flags & (HOP_MAKE_PFC | HOP_MAKE_STORM))
		return sw_pfc_make(c);
	if (sw_has(c, SW_CNP) && c->hop.flags & HOP_MAKE_CNP)
		return sw_make_cnp(c);
	return sw_done(c, VERDICT_NOTHING);
}

#endif
