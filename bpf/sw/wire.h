/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_WIRE_H
#define FABRICBED_SW_WIRE_H

/*
 * What befalls a frame on its cable. A cut takes what is on the wire at that moment, even if the
 * link is up again when the last bit would have arrived. Reads the ingress port, writes nothing.
 */
#include "sw/context.h"

static __always_inline enum sw_step sw_wire(struct sw_ctx *c)
{
	const struct port *in = c->in;

	if (sw_likely(in->up && in->went_down_ps <= c->hop.started_ps))
		return SW_NEXT;
	return sw_drop(c, c->in_id, DROP_LINK_DOWN);
}

#endif
