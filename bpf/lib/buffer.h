/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_BUFFER_H
#define FABRICBED_LIB_BUFFER_H

/* The space of an egress queue: taken when a frame is admitted, given back when its last bit has left. */
#include "abi/state.h"
#include "lib/compiler.h"

static __always_inline void buffer_take(struct port *out, __u32 length)
{
	__u32 depth = out->depth_bytes + length;

	out->depth_bytes = depth;
	out->depth_frames++;
	if (depth > out->max_depth_bytes)
		out->max_depth_bytes = depth;
}

static __always_inline void buffer_give(struct port *out, __u32 length)
{
	out->depth_bytes -= length;
	out->depth_frames--;
}

#endif
