/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_GENERATE_H
#define FABRICBED_SW_GENERATE_H

/* HOP_MAKE_*: nothing has arrived; the engine asks the port for a frame of its own. */
#include "sw/cnp.h"
#include "sw/forward.h"
#include "sw/pfc.h"
#include "sw/resubmit.h"

static __always_inline int sw_is_asked(const struct sw_ctx *c)
{
	return sw_has(c, SW_CONTROL | SW_CNP) && c->hop.flags & HOP_MAKE;
}

/* A CNP of the switch's own, if it is due, out of a copy of the packet that asks for it. */
static __always_inline enum sw_step sw_generate_cnp(struct sw_ctx *c)
{
	enum sw_step step;

	SW_STAGE(sw_parse_eth);
	SW_STAGE(sw_parse);
	SW_STAGE(sw_cnp_due);
	SW_STAGE(sw_cnp_make);
	step = sw_resubmit(c);
	if (step == SW_FULL)
		return sw_refuse(c);
	if (step == SW_NEXT)
		sw_forward(c);
	return step;
}

static __always_inline enum sw_step sw_generate(struct sw_ctx *c)
{
	if (sw_has(c, SW_CONTROL) && c->hop.flags & (HOP_MAKE_PFC | HOP_MAKE_STORM))
		return sw_pfc_make(c);
	if (sw_has(c, SW_CNP) && c->hop.flags & HOP_MAKE_CNP)
		return sw_generate_cnp(c);
	return sw_done(c, VERDICT_NOTHING);
}

#endif
