/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_MARK_H
#define FABRICBED_SW_MARK_H

/*
 * Egress ECN (RFC 3168; RED's line between kmin and kmax): the mark that the queue at the other end
 * of the cable sets on a frame as it leaves, by the depth behind it, or by its moving average
 * (Floyd and Jacobson: Random Early Detection Gateways, 1993, section 4). Needs a parsed frame.
 */
#include "sw/context.h"
#include "lib/ip.h"
#include "lib/rng.h"

/* Whether the depth behind the frame says to mark it. */
static __always_inline int sw_mark_due(struct port *in, const struct queue *from, __u32 depth)
{
	__u64 share;

	if (sw_likely(depth <= from->kmin_bytes || !from->kmax_bytes))
		return 0;
	if (depth >= from->kmax_bytes)
		return 1;
	/* pmax * (depth - kmin) / (kmax - kmin), against 16 random bits */
	share = (__u64)from->pmax * (depth - from->kmin_bytes) /
		(from->kmax_bytes - from->kmin_bytes);
	return (rng_next(&in->rng) >> 48) < share;
}

static __always_inline __u32 sw_mark_average(struct queue *from, __u32 behind)
{
	__u32 shift = from->average_shift & 15;

	if (!shift)
		return behind;
	from->average_bytes =
		(__u32)(from->average_bytes +
			((((__s64)behind - from->average_bytes) + (1 << shift) - 1) >> shift));
	return from->average_bytes;
}

static __always_inline enum sw_step sw_mark(struct sw_ctx *c)
{
	__u32 depth = c->hop.behind_bytes;
	struct queue *from;
	__u8 tos;

	/* nothing behind it never marks; the queue need not be looked at */
	if (!depth && !sw_has(c, SW_AVERAGE))
		return SW_NEXT;
	from = table_queues(c->t, c->in->peer * CLASSES + (c->hop.queue & (CLASSES - 1)));
	if (!from)
		return SW_NEXT;
	if (sw_has(c, SW_AVERAGE))
		depth = sw_mark_average(from, depth);
	if (!sw_mark_due(c->in, from, depth))
		return SW_NEXT;
	tos = ip_tos(c->ip4, c->ip6);
	if ((tos & 3) == ECN_NOT_ECT || (tos & 3) == ECN_CE)
		return SW_NEXT;
	ip_set_tos(c->ip4, c->ip6, tos | ECN_CE);
	c->flags |= VERDICT_MARKED;
	c->in->marked_frames++;
	return SW_NEXT;
}

#endif
