/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_PFC_H
#define FABRICBED_SW_PFC_H

/*
 * Priority-based flow control (IEEE 802.1Q, clause 36; the frame: 802.3, annex 31D): a received
 * frame pauses this port's own egress queues; a generated one follows from the ingress accounting.
 */
#include "sw/context.h"
#include "lib/buffer.h"
#include "lib/pause.h"

/* A class of a port is to pause for so many quanta, or to go on. */
SW_GLOBAL int pfc_hear(
	const struct sw_tables *t, __u32 index, __u32 quanta, __u64 quantum, __u64 now)
{
	struct ingress *in = table_ingresses(t, index);
	struct queue *q = table_queues(t, index);

	if (!q || !in)
		return 0;
	pause_set(q, quanta, quantum, now, table_config(t)->response_ps,
		table_config(t)->watchdog_ps);
	in->pauses_received++;
	return 0;
}

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
		if (be16(h->classes) >> class & 1)
			pfc_hear(c->t, c->in_id * CLASSES + class, be16(h->quanta[class]),
				c->in->quantum, c->hop.now_ps);
	}
	return sw_done(c, VERDICT_END);
}

/* The quanta to send for a class; -1: none. */
SW_GLOBAL int pfc_quanta(const struct sw_tables *t, __u32 index, __u32 switch_id, __u32 flags)
{
	const struct switch_state *sw = table_switches(t, switch_id);
	struct ingress *in = table_ingresses(t, index);

	if (!in)
		return -1;
	if (!(flags & HOP_MAKE_PFC)) {
		in->pauses_sent++;
		return PFC_QUANTA_MAX;
	}
	if (!sw || !in->paused)
		return -1;
	if (ingress_may_resume(in, sw)) {
		in->paused = 0;
		in->resumes_sent++;
		return 0;
	}
	in->pauses_sent++;
	return table_config(t)->quanta;
}

/* HOP_MAKE_PFC, HOP_MAKE_STORM: writes the frame, whose room is there. */
static __always_inline enum sw_step sw_pfc_make(struct sw_ctx *c)
{
	static const __u8 control[6] = MAC_CONTROL_BYTES;
	struct pfc_hdr *h;
	__u16 classes = 0;
	__u32 class;

	c->eth = cursor_pull(&c->cursor, sizeof(*c->eth));
	if (!c->eth)
		return sw_done(c, VERDICT_NOTHING);
	h = cursor_pull(&c->cursor, sizeof(*h));
	if (!h)
		return sw_done(c, VERDICT_NOTHING);
	__builtin_memcpy(c->eth->dst, control, 6);
	__builtin_memcpy(c->eth->src, c->in->mac, 6);
	c->eth->type = be16(ETHERTYPE_MAC);
	__builtin_memset(h, 0, sizeof(*h));
	h->opcode = be16(PFC_OPCODE);
	sw_unroll for (class = 0; class < CLASSES; class ++)
	{
		int quanta = -1;

		if (c->hop.classes >> class & 1)
			quanta = pfc_quanta(
				c->t, c->in_id * CLASSES + class, c->in->switch_id, c->hop.flags);
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
