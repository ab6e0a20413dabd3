/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_ADMIT_H
#define FABRICBED_SW_ADMIT_H

/*
 * Room in the egress queue: tail drop. What is admitted takes its space here; the engine gives
 * it back when the frame's last bit has left. Needs out; writes its depth.
 */
#include "sw/context.h"
#include "lib/buffer.h"

static __always_inline enum sw_step sw_admit(struct sw_ctx *c)
{
	if (c->hop.flags & HOP_ROOM)
		return SW_NEXT;
	if (sw_unlikely((__u64)c->out->depth_bytes + c->hop.length > c->out->buffer_bytes))
		return sw_drop(c, c->out_id, DROP_BUFFER);
	buffer_take(c->out, c->hop.length);
	return SW_NEXT;
}

#endif
