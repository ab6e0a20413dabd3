/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_MARK_H
#define FABRICBED_SW_MARK_H

/*
 * Egress ECN (RFC 3168; RED's line between kmin and kmax): the mark that the queue at the other end
 * of the cable puts on a frame as it leaves, by what waits behind it. Needs a parsed frame.
 */
#include "sw/context.h"
#include "lib/rng.h"

/* Whether the depth behind the frame says to mark it. */
static __always_inline int sw_mark_due(struct port *in, __u32 behind)
{
	__u64 share;

	if (sw_likely(behind <= in->kmin_bytes || !in->kmax_bytes))
		return 0;
	if (behind >= in->kmax_bytes)
		return 1;
	/* pmax * (behind - kmin) / (kmax - kmin), against 16 random bits */
	share = (__u64)in->pmax * (behind - in->kmin_bytes) / (in->kmax_bytes - in->kmin_bytes);
	return (rng_next(&in->rng) >> 48) < share;
}

static __always_inline enum sw_step sw_mark(struct sw_ctx *c)
{
	if (!sw_mark_due(c->in, c->hop.behind_bytes))
		return SW_NEXT;
	if (c->ip4) {
		__u8 tos = c->ip4->tos;

		if ((tos & 3) == ECN_NOT_ECT || (tos & 3) == ECN_CE)
			return SW_NEXT;
		c->ip4->tos = tos | ECN_CE;
		c->ip4->checksum =
			checksum_replace(c->ip4->checksum, be16(tos), be16(tos | ECN_CE));
	} else if (c->ip6) {
		__u32 word = be32(c->ip6->version_class_flow);
		__u32 ecn = word >> 20 & 3;

		if (ecn == ECN_NOT_ECT || ecn == ECN_CE)
			return SW_NEXT;
		c->ip6->version_class_flow = be32(word | ECN_CE << 20);
	}
	c->flags |= VERDICT_MARKED;
	c->in->marked_frames++;
	return SW_NEXT;
}

#endif
