/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_WIRE_H
#define FABRICBED_SW_WIRE_H

/*
 * What befalls a frame on its cable. It needs the link from its first bit to its last: a cut takes
 * what is on the wire, and what starts into a dead link is lost even if it would arrive after the
 * repair. Reads the ingress port, writes nothing.
 */
#include "sw/context.h"

static __always_inline enum sw_step sw_wire(struct sw_ctx *c)
{
	const struct port *in = c->in;

	if (sw_likely(in->up && in->up_since_ps <= c->hop.started_ps))
		return SW_NEXT;
	return sw_drop(c, c->in_id, DROP_LINK_DOWN);
}

#endif
