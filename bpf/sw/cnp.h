/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_CNP_H
#define FABRICBED_SW_CNP_H

/*
 * Supplemental congestion notification (IEEE 802 Nendica, Intelligent Lossless Data Center
 * Networks, figure 30): where the egress queue is severely congested, packets that arrive marked
 * reach the receiver late, and its CNPs the sender later still. The switch records such flows. If
 * their marked packets are further apart than the interval in which DCQCN's sender raises its rate,
 * the sender would raise it in between, and the switch sends a CNP itself. If they are closer, the
 * receiver's own CNPs suffice.
 */
#include "sw/context.h"
#include "lib/hash.h"
#include "lib/ip.h"

#define CNP_TTL    64
#define CNP_MEMORY 8 /* marks further apart than so many intervals are not of one congestion */

static __always_inline __u32 sw_bth_psn(const struct bth_hdr *bth)
{
	return be32(bth->psn) & BTH_MASK_24;
}

/*
 * Needs a parsed frame. Sets VERDICT_ASK_CNP on what arrived marked: the engine asks for a CNP if
 * the egress queue is past kmax as the frame arrives. Nothing here depends on the queues, so that
 * this may run ahead of time.
 */
static __always_inline enum sw_step sw_cnp_ask(struct sw_ctx *c)
{
	if (!(c->flags & VERDICT_RETURNED) && c->udp && c->udp->dst == be16(UDP_PORT_ROCE) &&
		(ip_tos(c->ip4, c->ip6) & 3) == ECN_CE)
		c->flags |= VERDICT_ASK_CNP;
	return SW_NEXT;
}

/*
 * HOP_MAKE_CNP: whether to notify the flow of the copy, which went to hop.out_port. Needs it
 * parsed; SW_DONE: no.
 */
static __always_inline enum sw_step sw_cnp_due(struct sw_ctx *c)
{
	const struct queue *q = table_queues(c->t, c->hop.out_port * CLASSES + c->queue);
	__u64 key = hash_key(c->addresses, c->ports), now = c->hop.now_ps;
	const struct bth_hdr *bth = (const struct bth_hdr *)c->cursor.pos;
	struct flow_mark *f;
	__u32 psn;
	__u64 gap;

	f = table_flows(c->t, c->in->switch_id * FLOW_SLOTS + (__u32)(key >> 32) % FLOW_SLOTS);
	if (!q || !f || !q->kmax_bytes || q->depth_bytes <= q->kmax_bytes ||
		(void *)(bth + 1) > c->cursor.end)
		return sw_done(c, VERDICT_NOTHING);
	psn = sw_bth_psn(bth);
	if (f->key != key ||
		now - f->marked_ps > CNP_MEMORY * table_config(c->t)->cnp_interval_ps) {
		*f = (struct flow_mark){.key = key, .marked_ps = now, .psn = psn};
		return sw_done(c, VERDICT_NOTHING);
	}
	/* what is sent again says nothing new */
	if (((psn - f->psn) & BTH_MASK_24) - 1 >= BTH_MASK_24 / 2)
		return sw_done(c, VERDICT_NOTHING);
	gap = now - f->marked_ps;
	f->psn = psn;
	f->marked_ps = now;
	return gap > table_config(c->t)->cnp_interval_ps ? SW_NEXT : sw_done(c, VERDICT_NOTHING);
}

/*
 * HOP_MAKE_CNP: turns the copy of a data packet into a CNP for its sender (annex A17.9), to be
 * submitted again. A packet does not carry its sender's queue pair; that it differs from the
 * receiver's in the lowest bit is fabricbed's own convention.
 */
static __always_inline enum sw_step sw_cnp_make(struct sw_ctx *c)
{
	__u32 above =
		sizeof(struct udp_hdr) + sizeof(struct bth_hdr) + CNP_RESERVED_BYTES + ICRC_BYTES;
	struct bth_hdr *bth = cursor_pull(&c->cursor, sizeof(*bth));
	__u8 *rest;

	if (!bth || !c->udp)
		return sw_done(c, VERDICT_NOTHING);
	rest = cursor_pull(&c->cursor, CNP_RESERVED_BYTES);
	if (!rest)
		return sw_done(c, VERDICT_NOTHING);
	bth->opcode = ROCE_CNP;
	bth->flags = 0;
	bth->qp = be32(((be32(bth->qp) & BTH_MASK_24) ^ 1) | BTH_BECN);
	bth->psn = 0;
	__builtin_memset(rest, 0, CNP_RESERVED_BYTES);
	c->udp->length = be16(above);
	ip_set_length(c->ip4, c->ip6, (__u16)above);
	ip_set_tos(c->ip4, c->ip6, (__u8)(table_config(c->t)->cnp_dscp << 2));
	ip_set_ttl(c->ip4, c->ip6, CNP_TTL);
	ip_turn(c->ip4, c->ip6);
	c->hop.length = sizeof(struct eth_hdr) + above +
			(c->ip4 ? sizeof(struct ip4_hdr) : sizeof(struct ip6_hdr));
	return SW_NEXT;
}

#endif
