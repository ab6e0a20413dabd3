/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that nodes send by themselves. XDP can't make a frame, so the engine submits an empty one,
 * or a copy, and the program writes it and says where it goes.
 */
#include "engine/internal.h"

/* A packet whose frame is zeroed up to `captured` bytes; PACKET_NONE: the engine has failed. */
static uint32_t make_packet(
	struct engine *e, struct engine_node *n, uint32_t length, uint32_t captured)
{
	uint32_t packet = packet_alloc(&e->pool);
	struct packet *k;

	if (packet == PACKET_NONE || captured > e->frame_capacity) {
		e->failed = packet == PACKET_NONE ? -ENOBUFS : -EMSGSIZE;
		return PACKET_NONE;
	}
	k = packet_get(&e->pool, packet);
	k->id = (uint64_t)node_index(e, n) << 32 | n->packets_made++;
	k->length = length;
	k->captured = (uint16_t)captured;
	k->queue = QUEUE_CONTROL;
	k->in_queue = 0;
	k->in_port = 0;
	__builtin_memset(packet_frame(&e->pool, packet)->bytes, 0, captured);
	if (length > e->longest_frame)
		e->longest_frame = length;
	return packet;
}

/* Submits it to the program and sends the result where the program says; false: nowhere. */
static bool make_submit(struct engine *e, uint32_t port, uint32_t packet, uint16_t kind,
	uint8_t classes, uint32_t out, uint64_t now)
{
	struct frame *frame = packet_frame(&e->pool, packet);
	struct packet *k = packet_get(&e->pool, packet);
	struct frame_ref ref = {frame, k->captured};
	const struct verdict *v = &frame->verdict;
	uint8_t class;
	bool asks;
	int r;

	frame->hop = (struct hop){
		.magic = HOP_MAGIC,
		.length = k->length,
		.now_ps = now,
		.started_ps = now,
		.out_port = out,
		.flags = kind,
		.classes = classes,
	};
	r = e->dp->ops->submit(e->dp, port, &ref, 1);
	if (r < 0) {
		e->failed = r;
		packet_free(&e->pool, packet);
		return false;
	}
	if (v->action == VERDICT_NOTHING) {
		packet_free(&e->pool, packet);
		return false;
	}
	e->stats.made++;
	k->length = v->length;
	k->queue = v->queue;
	k->in_port = port;
	k->in_queue = v->in_queue | (v->flags & VERDICT_LOSSLESS ? PACKET_LOSSLESS : 0);
	asks = v->flags & VERDICT_ASK_PFC;
	class = v->in_queue;
	if (v->action == VERDICT_FORWARD) {
		line_enqueue(e, v->port, packet, now);
		if (asks) /* it has itself filled its ingress */
			make_pfc(e, port, HOP_MAKE_PFC, (uint8_t)(1u << class), now);
		return true;
	}
	engine_drop(e, engine_drop_port(v, port), packet, (enum drop_reason)v->reason, now);
	return false;
}

void make_pfc(struct engine *e, uint32_t port, uint16_t kind, uint8_t classes, uint64_t now)
{
	struct engine_node *n = &e->nodes[e->ports[port].node];
	uint32_t packet = make_packet(e, n, PFC_FRAME, PFC_FRAME);

	if (packet != PACKET_NONE)
		make_submit(e, port, packet, kind, classes, 0, now);
	if (!e->failed && kind == HOP_MAKE_PFC)
		pause_sent(e, port, classes, now);
}

void make_cnp(struct engine *e, uint32_t port, uint32_t data, uint32_t out, uint64_t now)
{
	struct engine_node *n = &e->nodes[e->ports[port].node];
	const struct packet *like = packet_get(&e->pool, data);
	const uint8_t *from = packet_frame(&e->pool, data)->bytes;
	bool six = ((const struct eth_hdr *)from)->type == be16(ETHERTYPE_IP6);
	uint32_t bytes = sizeof(struct eth_hdr) + sizeof(struct udp_hdr) + sizeof(struct bth_hdr) +
			 CNP_RESERVED_BYTES +
			 (six ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr));
	uint32_t packet = make_packet(e, n, like->length, bytes);

	if (packet == PACKET_NONE)
		return;
	like = packet_get(&e->pool, data);
	__builtin_memcpy(packet_frame(&e->pool, packet)->bytes, from,
		like->captured < bytes ? like->captured : bytes);
	e->stats.notified += make_submit(e, port, packet, HOP_MAKE_CNP, 0, out, now);
}

int engine_send_control(
	struct engine *e, uint32_t port, const uint8_t *bytes, uint32_t length, uint64_t now_ps)
{
	uint32_t packet;

	if (length > e->frame_capacity)
		return -EMSGSIZE;
	packet = make_packet(e, &e->nodes[e->ports[port].node], length, length);
	if (packet == PACKET_NONE)
		return e->failed;
	__builtin_memcpy(packet_frame(&e->pool, packet)->bytes, bytes, length);
	e->stats.made++;
	line_enqueue(e, port, packet, now_ps);
	return e->failed;
}
