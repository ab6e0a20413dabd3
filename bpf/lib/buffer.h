/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_BUFFER_H
#define FABRICBED_LIB_BUFFER_H

/*
 * A switch's memory: taken when a frame is admitted, released when its last bit has left. A lossy
 * frame is counted in its egress queue, a lossless one at its ingress (and in the queue's depth,
 * which ECN uses). Either has a reserve; beyond that it may take alpha times the free bytes of the
 * switch's pool (Choudhury and Hahne: Dynamic Queue Length Thresholds for Shared-Memory Packet
 * Switches, 1998).
 */
#include "abi/shared_state.h"
#include "lib/compiler.h"

/* What one that holds `own` bytes for itself may hold at most now. */
static __always_inline __u64 buffer_threshold(const struct switch_state *sw, __u32 own, __u32 alpha)
{
	__u64 available = 0;

	if (!alpha)
		return own;
	if (sw->pool_used < sw->pool_bytes)
		available = sw->pool_bytes - sw->pool_used;
	return own + (available * alpha >> 8);
}

/* What of `bytes` comes out of the pool. */
static __always_inline __u64 buffer_shared(__u32 bytes, __u32 own, __u32 alpha)
{
	return alpha && bytes > own ? bytes - own : 0;
}

/* Whether `held` may grow by `length`. */
static __always_inline int buffer_has_room(
	const struct switch_state *sw, __u32 held, __u32 own, __u32 alpha, __u32 length)
{
	__u64 after = (__u64)held + length, grows;

	if (after <= own)
		return 1;
	if (!alpha || after > buffer_threshold(sw, own, alpha))
		return 0;
	grows = after - (held > own ? held : own);
	return sw->pool_used + grows <= sw->pool_bytes;
}

static __always_inline void buffer_hold(
	struct switch_state *sw, __u32 *held, __u32 own, __u32 alpha, __u32 length)
{
	__u64 before = buffer_shared(*held, own, alpha);

	*held += length;
	if (!alpha)
		return;
	sw->pool_used += buffer_shared(*held, own, alpha) - before;
	if (sw->pool_used > sw->pool_max)
		sw->pool_max = sw->pool_used;
}

static __always_inline void buffer_release(
	struct switch_state *sw, __u32 *held, __u32 own, __u32 alpha, __u32 length)
{
	__u64 before = buffer_shared(*held, own, alpha);

	*held -= length;
	if (alpha)
		sw->pool_used -= before - buffer_shared(*held, own, alpha);
}

/* Of a queue. sw may be NULL where no queue has an alpha. */
static __always_inline int queue_has_room(
	const struct queue *q, const struct switch_state *sw, __u32 length)
{
	return buffer_has_room(sw, q->depth_bytes, q->limit_bytes, q->alpha, length);
}

static __always_inline void queue_take(struct queue *q, struct switch_state *sw, __u32 length)
{
	buffer_hold(sw, &q->depth_bytes, q->limit_bytes, q->alpha, length);
	q->depth_frames++;
	if (q->depth_bytes > q->max_depth_bytes)
		q->max_depth_bytes = q->depth_bytes;
}

static __always_inline void queue_give(struct queue *q, struct switch_state *sw, __u32 length)
{
	buffer_release(sw, &q->depth_bytes, q->limit_bytes, q->alpha, length);
	q->depth_frames--;
}

/* What becomes of a frame of a lossless class at its ingress. */
enum ingress_fit {
	INGRESS_BELOW,    /* it stays below XOFF */
	INGRESS_HEADROOM, /* it needs the headroom: XOFF is due */
	INGRESS_FULL,     /* lost: the headroom was too small, or the peer does not obey */
};

/* The headroom is used to the end before anything below XOFF is taken again. */
static __always_inline enum ingress_fit ingress_fit(
	const struct ingress *in, const struct switch_state *sw, __u32 class, __u32 length)
{
	class &= CLASSES - 1;
	if (!in->headroom_bytes &&
		buffer_has_room(sw, in->bytes, in->xoff_bytes, in->alpha, length))
		return INGRESS_BELOW;
	if ((__u64)in->headroom_bytes + length > in->headroom_limit ||
		(__u64)sw->headroom_used[class] + length > sw->headroom_bytes[class])
		return INGRESS_FULL;
	return INGRESS_HEADROOM;
}

static __always_inline void ingress_take(struct ingress *in, struct switch_state *sw, __u32 class,
	__u32 length, enum ingress_fit fit)
{
	if (fit == INGRESS_BELOW) {
		buffer_hold(sw, &in->bytes, in->xoff_bytes, in->alpha, length);
	} else {
		in->headroom_bytes += length;
		sw->headroom_used[class & (CLASSES - 1)] += length;
	}
	if (in->bytes + in->headroom_bytes > in->max_bytes)
		in->max_bytes = in->bytes + in->headroom_bytes;
}

static __always_inline void ingress_give(
	struct ingress *in, struct switch_state *sw, __u32 class, __u32 length)
{
	__u32 above = in->headroom_bytes < length ? in->headroom_bytes : length;

	in->headroom_bytes -= above;
	sw->headroom_used[class & (CLASSES - 1)] -= above;
	buffer_release(sw, &in->bytes, in->xoff_bytes, in->alpha, length - above);
}

/* Whether the peer may go on: the threshold, which moves if it is dynamic, is far enough away. */
static __always_inline int ingress_may_resume(
	const struct ingress *in, const struct switch_state *sw)
{
	if (in->headroom_bytes)
		return 0;
	return !in->bytes ||
	       in->bytes + (__u64)in->xon_bytes <= buffer_threshold(sw, in->xoff_bytes, in->alpha);
}

#endif
