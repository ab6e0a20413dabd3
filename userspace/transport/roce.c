/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RoCEv2 as a transport: the table of operations, and how a message is split over queue pairs. */
#include "transport/roce_receiver.h"
#include "transport/roce_sender.h"

uint32_t roce_qps(const struct transport_env *env, uint64_t bytes)
{
	uint64_t packets = (bytes + env->mtu - 1) / env->mtu;

	return packets < env->qps ? (uint32_t)packets : env->qps;
}

void roce_flow_open(struct roce_flow *f, const struct transport_env *env,
	const struct flow_spec *flow, bool sender)
{
	f->ep.ops = &roce_transport;
	f->env = env;
	f->options = env->options;
	f->id = flow->id;
	f->bytes = flow->bytes;
	f->packets = (uint32_t)((flow->bytes + env->mtu - 1) / env->mtu);
	f->last_bytes = (uint32_t)(flow->bytes - (uint64_t)(f->packets - 1) * env->mtu);
	f->write_packets = ROCE_WRITE_MAX / env->mtu;
	f->qps = roce_qps(env, flow->bytes);
	f->sender = sender;
}

struct roce_part roce_part(const struct roce_flow *f, uint32_t i)
{
	uint32_t least = f->packets / f->qps, longer = f->packets % f->qps;

	return (struct roce_part){
		.first = i * least + (i < longer ? i : longer),
		.packets = least + (i < longer),
	};
}

/* Payload bytes of the message from packet n to before packet end. */
static uint64_t bytes_between(const struct roce_flow *f, uint32_t n, uint32_t end)
{
	return (uint64_t)(end - n) * f->env->mtu -
	       (end == f->packets ? f->env->mtu - f->last_bytes : 0);
}

void roce_packet(const struct roce_flow *f, const struct roce_part *part, uint32_t n,
	struct roce_packet *ret)
{
	static const uint8_t opcodes[2][2] = {
		{RC_WRITE_MIDDLE, RC_WRITE_LAST}, {RC_WRITE_FIRST, RC_WRITE_ONLY}};
	uint32_t start = n - n % f->write_packets;
	uint32_t end =
		part->packets - start > f->write_packets ? start + f->write_packets : part->packets;

	ret->reth = n == start;
	ret->opcode = opcodes[ret->reth][n + 1 == end];
	ret->payload = (uint32_t)bytes_between(f, part->first + n, part->first + n + 1);
	ret->offset = (uint64_t)(part->first + n) * f->env->mtu;
	ret->write_bytes = (uint32_t)bytes_between(f, part->first + start, part->first + end);
}

bool roce_flow_qp(const struct roce_flow *f, uint32_t qp, uint32_t *ret)
{
	uint32_t i = qp_index(f->env, qp);

	if (i >= f->qps || (flow_qp(f->env, f->id, i, f->sender) & BTH_MASK_24) != qp)
		return false;
	*ret = i;
	return true;
}

static size_t roce_size(const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	uint32_t qps = roce_qps(env, flow->bytes);

	return sender ? roce_sender_size(qps) : roce_receiver_size(qps);
}

static void roce_open(struct endpoint *ep, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint64_t now)
{
	roce_flow_open((struct roce_flow *)ep, env, flow, sender);
	if (sender)
		roce_sender_open((struct roce_sender *)ep, flow, now);
	else
		roce_receiver_open((struct roce_receiver *)ep, flow);
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
	.on_packet = roce_on_packet,
	.on_timer = roce_on_timer,
	.payload = roce_payload,
	.next_packet = roce_next_packet,
};
