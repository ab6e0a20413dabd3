/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RoCEv2 as a transport: the table of operations. */
#include "transport/roce_receiver.h"
#include "transport/roce_sender.h"

static size_t roce_size(const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	uint32_t qps = flow_qps(env, flow->bytes);

	return sender ? roce_sender_size(qps) : roce_receiver_size(qps);
}

static void roce_open(struct endpoint *ep, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint64_t now)
{
	ep->ops = &roce_transport;
	roce_flow_open((struct roce_flow *)ep, env, flow, sender);
	if (sender)
		roce_sender_open((struct roce_sender *)ep, flow, now);
	else
		roce_receiver_open((struct roce_receiver *)ep, flow);
}

static unsigned roce_release(struct endpoint *ep, uint32_t messages, uint64_t now)
{
	struct roce_sender *s = (struct roce_sender *)ep;

	(void)now;
	for (uint32_t i = 0; i < s->flow.qps; i++)
		s->qps[i].released = messages * s->qps[i].part.each;
	return TRANSPORT_WAKE;
}

static unsigned roce_on_packet(
	struct endpoint *ep, const struct rx_frame *rx, struct tx_frame *reply, uint64_t now)
{
	struct bth bth;

	/*
	 * Go-back-N asks for what is missing by itself, and in order: headers alone tell it
	 * nothing.
	 */
	ep->stats.trimmed += rx->trimmed;
	ep->stats.returned += rx->returned;
	if (rx->trimmed || rx->returned || !headers_read_bth(rx, &bth))
		return 0;
	if (((struct roce_flow *)ep)->sender)
		return roce_sender_on_packet((struct roce_sender *)ep, rx, &bth, now);
	return roce_receiver_on_packet((struct roce_receiver *)ep, rx, &bth, reply, now);
}

static unsigned roce_on_timer(struct endpoint *ep, struct tx_frame *reply, uint64_t now)
{
	if (((struct roce_flow *)ep)->sender)
		return roce_sender_on_timer((struct roce_sender *)ep, now);
	return roce_receiver_on_timer((struct roce_receiver *)ep, reply, now);
}

static bool roce_next_packet(struct endpoint *ep, struct tx_frame *tx, uint64_t now)
{
	return ((struct roce_flow *)ep)->sender &&
	       roce_sender_next_packet((struct roce_sender *)ep, tx, now);
}

static void roce_sender_state_of(const struct endpoint *ep, uint64_t now, struct sender_state *ret)
{
	roce_sender_state((const struct roce_sender *)ep, now, ret);
}

/* A packet's place in the message follows from its queue pair and its number. */
static bool roce_payload(const struct endpoint *ep, const struct rx_frame *rx, uint64_t *ret_offset,
	uint32_t *ret_start, uint32_t *ret_length)
{
	const struct roce_flow *f = (const struct roce_flow *)ep;
	struct roce_packet p;
	uint32_t qp, n;
	struct bth bth;

	if (f->sender || !headers_read_bth(rx, &bth) ||
		!roce_receiver_find((const struct roce_receiver *)ep, &bth, &qp, &n, &p))
		return false;
	*ret_offset = p.offset;
	*ret_start = rx->transport_offset + (uint32_t)sizeof(struct bth_hdr) + roce_extension(&p);
	*ret_length = p.payload;
	return true;
}

const struct transport_ops roce_transport = {
	.size = roce_size,
	.open = roce_open,
	.release = roce_release,
	.on_packet = roce_on_packet,
	.on_timer = roce_on_timer,
	.payload = roce_payload,
	.next_packet = roce_next_packet,
	.sender_state = roce_sender_state_of,
};
