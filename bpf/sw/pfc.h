/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_PFC_H
#define FABRICBED_SW_PFC_H

/*
 * Priority-based flow control (IEEE 802.1Q, clause 36; the frame: 802.3, annex 31D): a frame that has come pauses this
 * port's own egress queues; one that is to be made says what the ingress accounting calls for.
 */
#include "sw/context.h"
#include "lib/buffer.h"
#include "lib/pause.h"

/* Needs the Ethernet header. */
static __always_inline enum sw_step sw_pfc(struct sw_ctx *c)
{
	const struct pfc_hdr *h;
	__u32 class;

	if (sw_likely(c->eth->type != be16(ETHERTYPE_MAC)))
		return SW_NEXT;
	h = cursor_pull(&c->cursor, sizeof(*h));
	if (!h || h->opcode != be16(PFC_OPCODE))
		return sw_drop(c, c->in_id, DROP_MALFORMED);
	sw_unroll for (class = 0; class < CLASSES; class ++)
	{
		struct ingress *in;
		struct queue *q;

		if (!(be16(h->classes) >> class & 1))
			continue;
		q = table_queues(c->t, c->in_id * CLASSES + class);
		in = table_ingresses(c->t, c->in_id * CLASSES + class);
		if (!q || !in)
			continue;
		pause_set(q, be16(h->quanta[class]), c->in->quantum, c->hop.now_ps,
			table_config(c->t)->response_ps, table_config(c->t)->watchdog_ps);
		in->pauses_received++;
	}
	return sw_done(c, VERDICT_END);
}

/* What a class is to be told: quanta, or -1 for nothing. */
static __always_inline int sw_pfc_quanta(
	struct sw_ctx *c, const struct switch_state *sw, struct ingress *in)
{
	if (!in->paused)
		return -1;
	if (ingress_may_resume(in, sw)) {
		in->paused = 0;
		in->resumes_sent++;
		return 0;
	}
	in->pauses_sent++;
	return table_config(c->t)->quanta;
}

/* HOP_MAKE_PFC, HOP_MAKE_STORM: writes the frame, whose room is there. */
static __always_inline enum sw_step sw_pfc_make(struct sw_ctx *c)
{
	static const __u8 control[6] = MAC_CONTROL_BYTES;
	struct switch_state *sw = table_switches(c->t, c->in->switch_id);
	struct pfc_hdr *h;
	__u16 classes = 0;
	__u32 class;

	c->eth = cursor_pull(&c->cursor, sizeof(*c->eth));
	h = cursor_pull(&c->cursor, sizeof(*h));
	if (!c->eth || !h)
		return sw_done(c, VERDICT_NOTHING);
	__builtin_memcpy(c->eth->dst, control, 6);
	__builtin_memcpy(c->eth->src, c->in->mac, 6);
	c->eth->type = be16(ETHERTYPE_MAC);
	__builtin_memset(h, 0, sizeof(*h));
	h->opcode = be16(PFC_OPCODE);
	sw_unroll for (class = 0; class < CLASSES; class ++)
	{
		struct ingress *in = table_ingresses(c->t, c->in_id * CLASSES + class);
		int quanta = 0xffff;

		if (!in || !(c->hop.classes >> class & 1))
			continue;
		if (c->hop.flags & HOP_MAKE_PFC)
			quanta = sw ? sw_pfc_quanta(c, sw, in) : -1;
		else
			in->pauses_sent++;
		if (quanta < 0)
			continue;
		classes |= (__u16)(1 << class);
		h->quanta[class] = be16(quanta);
	}
	if (!classes)
		return sw_done(c, VERDICT_NOTHING);
	h->classes = be16(classes);
	c->hop.length = PFC_FRAME;
	c->out_id = c->in_id;
	c->queue = QUEUE_CONTROL;
	return sw_done(c, VERDICT_FORWARD);
}

#endif
