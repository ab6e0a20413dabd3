/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_ADMIT_H
#define FABRICBED_SW_ADMIT_H

/*
 * Room in the egress queue: tail drop. What is admitted takes its space here; the engine gives
 * it back when the frame's last bit has left. Needs out; writes its depth.
 */
#include "sw/context.h"

static __always_inline enum sw_step sw_admit(struct sw_ctx *c)
{
	struct port *out = c->out;
	__u64 depth = (__u64)out->depth_bytes + c->hop.length;

	if (sw_unlikely(depth > out->buffer_bytes))
		return sw_drop(c, c->out_id, DROP_BUFFER);
	out->depth_bytes = (__u32)depth;
	out->depth_frames++;
	if (depth > out->max_depth_bytes)
		out->max_depth_bytes = (__u32)depth;
	return SW_NEXT;
}

#endif
