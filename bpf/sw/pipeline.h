/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_PIPELINE_H
#define FABRICBED_SW_PIPELINE_H

/* A switch port and a host port on one screen: the order of the stages, and nothing else. */
#include "sw/admit.h"
#include "sw/balance.h"
#include "sw/cnp.h"
#include "sw/forward.h"
#include "sw/generate.h"
#include "sw/host.h"
#include "sw/lldp.h"
#include "sw/mark.h"
#include "sw/parse.h"
#include "sw/pfc.h"
#include "sw/roles.h"
#include "sw/route.h"
#include "sw/trim.h"
#include "sw/cable.h"

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

/* A frame that arrives at a host. */
static __always_inline enum sw_step sw_host(struct sw_ctx *c)
{
	SW_STAGE(sw_enter);
	SW_STAGE(sw_mine);
	SW_STAGE_IF(SW_STACK, sw_stack);
	return SW_NEXT;
}

/* The program of a port of this kind: writes the verdict in the hop header's place. */
static __always_inline void sw_run(struct sw_ctx *c, struct verdict *v, enum port_kind kind)
{
	if (sw_is_asked(c))
		sw_verdict(c, v, sw_generate(c), VERDICT_FORWARD);
	else if (kind == PORT_SWITCH)
		sw_verdict(c, v, sw_switch(c), VERDICT_FORWARD);
	else
		sw_verdict(c, v, sw_host(c), VERDICT_DELIVER);
}

#endif
