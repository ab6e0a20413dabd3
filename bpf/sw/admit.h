/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_ADMIT_H
#define FABRICBED_SW_ADMIT_H

/*
 * Room for the frame: in its egress queue, or, in a lossless class, at its ingress, where passing
 * the threshold asks for a PFC frame. An admitted frame takes its space here; the engine releases
 * it when the last bit has left. Needs sw and out.
 */
#include "sw/context.h"
#include "lib/buffer.h"

static __always_inline enum sw_step sw_full(struct sw_ctx *c, enum drop_reason reason)
{
	c->reason = (__u8)reason;
	return SW_FULL;
}

static __always_inline enum sw_step sw_admit_lossless(struct sw_ctx *c, struct ingress *in)
{
	enum ingress_fit fit;

	c->flags |= VERDICT_LOSSLESS;
	if (c->hop.flags & HOP_ROOM)
		return SW_NEXT;
	fit = ingress_fit(in, c->sw, c->in_queue, c->hop.length);
	if (sw_unlikely(fit != INGRESS_BELOW) && sw_has(c, SW_PFC) && !in->paused) {
		in->paused = 1;
		c->flags |= VERDICT_ASK_PFC;
	}
	if (sw_unlikely(fit == INGRESS_FULL))
		return sw_full(c, DROP_HEADROOM);
	ingress_take(in, c->sw, c->in_queue, c->hop.length, fit);
	return SW_NEXT;
}

/* The watchdog has closed the queue, and its peer has not relented yet. */
static __always_inline int sw_stormed(const struct sw_ctx *c, struct queue *q)
{
	if (sw_likely(!q->stormed))
		return 0;
	if (c->hop.now_ps <= q->paused_since_ps + table_config(c->t)->watchdog_ps)
		return 1;
	q->stormed = 0;
	return 0;
}

static __always_inline enum sw_step sw_admit(struct sw_ctx *c)
{
	struct queue *q = table_queues(c->t, c->out_id * CLASSES + c->queue);
	struct ingress *in = 0;

	if (sw_unlikely(!q))
		return sw_full(c, DROP_BUFFER);
	if (sw_has(c, SW_PFC) && sw_stormed(c, q))
		return sw_full(c, DROP_WATCHDOG);
	if (sw_has(c, SW_BUFFERS))
		in = table_ingresses(c->t, c->in_id * CLASSES + c->in_queue);
	if (in && in->lossless) {
		if (sw_admit_lossless(c, in) == SW_FULL)
			return SW_FULL;
	} else if (!(c->hop.flags & HOP_ROOM) &&
		   sw_unlikely(!queue_has_room(q, c->sw, c->hop.length))) {
		return sw_full(c, DROP_BUFFER);
	}
	if (!(c->hop.flags & HOP_ROOM))
		queue_take(q, c->sw, c->hop.length);
	return SW_NEXT;
}

/* What found no room is counted at the egress, or, for want of headroom, at its ingress. */
static __always_inline enum sw_step sw_refuse(struct sw_ctx *c)
{
	return sw_drop(
		c, c->reason == DROP_HEADROOM ? c->in_id : c->out_id, (enum drop_reason)c->reason);
}

#endif
