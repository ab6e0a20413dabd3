/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port's line: the egress queue, the frame that is being serialised, and the wire that it then
 * travels. A wire's delay is constant, so it is first in, first out, and only its head is armed.
 */
#include "engine/internal.h"

void line_start(struct engine *e, uint32_t port, uint32_t packet, uint64_t now)
{
	struct engine_port *p = &e->ports[port], *far = &e->ports[p->peer];
	struct packet *k = packet_get(&e->pool, packet);
	uint32_t depth = p->shared->depth_bytes;
	uint64_t done = now + port_serialise(p, k->length);

	k->time_ps = done + p->delay_ps;
	packet_frame(&e->pool, packet)->hop = (struct hop){
		.magic = HOP_MAGIC,
		.length = k->length,
		.now_ps = k->time_ps,
		.started_ps = now,
		/* a host's own frames are not admitted anywhere: its depth stays 0 */
		.behind_bytes = depth > k->length ? depth - k->length : 0,
	};
	p->serving_bytes = k->length;
	engine_arm(e, &e->nodes[p->node], done, EVENT_TX_DONE, p->local);
	if (packet_fifo_empty(&far->wire))
		engine_arm(e, &e->nodes[far->node], k->time_ps, EVENT_ARRIVE, far->local);
	packet_fifo_push(&e->pool, &far->wire, packet);
}

void line_enqueue(struct engine *e, uint32_t port, uint32_t packet, uint64_t now)
{
	struct engine_port *p = &e->ports[port];

	if (!p->serving_bytes) {
		line_start(e, port, packet, now);
		return;
	}
	packet_get(&e->pool, packet)->time_ps = now;
	packet_fifo_push(&e->pool, &p->queue, packet);
}

/* Gives back the buffer space of the frame that has left. */
static void line_release(struct engine_port *p)
{
	struct port *shared = p->shared;

	shared->tx_frames++;
	shared->tx_bytes += p->serving_bytes;
	if (shared->kind == PORT_SWITCH) {
		shared->depth_bytes -= p->serving_bytes;
		shared->depth_frames--;
	}
	p->serving_bytes = 0;
}

void line_done(struct engine *e, struct engine_node *n, uint32_t port, uint64_t now)
{
	struct engine_port *p = &e->ports[port];
	uint64_t waited;
	uint32_t packet;

	line_release(p);
	if (n->is_host) {
		host_line_free(e, n, now);
		return;
	}
	if (packet_fifo_empty(&p->queue))
		return;
	packet = packet_fifo_pop(&e->pool, &p->queue);
	/* the next to start is read and written when this one is done */
	if (!packet_fifo_empty(&p->queue)) {
		__builtin_prefetch(packet_get(&e->pool, p->queue.head), 1);
		__builtin_prefetch(packet_frame(&e->pool, p->queue.head), 1);
	}
	waited = now - packet_get(&e->pool, packet)->time_ps;
	if (waited > e->stats.max_queue_delay_ps)
		e->stats.max_queue_delay_ps = waited;
	line_start(e, port, packet, now);
}

uint32_t line_take_arrival(struct engine *e, struct engine_node *n, uint32_t port)
{
	struct engine_port *p = &e->ports[port];
	uint32_t packet = packet_fifo_pop(&e->pool, &p->wire);

	if (!packet_fifo_empty(&p->wire)) {
		uint32_t next = p->wire.head;
		struct packet *k = packet_get(&e->pool, next);

		engine_arm(e, n, k->time_ps, EVENT_ARRIVE, p->local);
		/* what this wire needs from memory at its next arrival, and the one after */
		packet_prefetch_frame(&e->pool, next);
		if (k->next != PACKET_NONE)
			__builtin_prefetch(packet_get(&e->pool, k->next));
	}
	return packet;
}
