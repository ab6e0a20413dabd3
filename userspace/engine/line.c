/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port's line: the egress queue, the frame that is being serialised, and the wire that it then
 * travels. A wire's delay is constant, so it is first in, first out, and only its head is armed.
 */
#include "engine/internal.h"
#include "lib/buffer.h"

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
	if (shared->kind == PORT_SWITCH)
		buffer_give(shared, p->serving_bytes);
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

/*
 * Runs the program over the wire's first packet, and over all that will arrive in this window where
 * no verdict depends on what happens in between: at a host, which has no state that it would, and at
 * a switch whose queues have room for whatever comes.
 */
static void line_run_program(struct engine *e, const struct engine_node *n, uint32_t port)
{
	struct engine_port *p = &e->ports[port];
	struct frame_ref refs[LINE_BATCH];
	uint32_t limit = n->is_host || n->has_room ? LINE_BATCH : 1, count = 0;
	uint32_t packet = p->wire.head;
	int r;

	if (limit > e->dp->max_batch)
		limit = e->dp->max_batch;
	while (packet != PACKET_NONE && count < limit) {
		struct packet *k = packet_get(&e->pool, packet);

		if (count && k->time_ps >= e->window_end_ps)
			break;
		packet_prefetch_frame(&e->pool, packet);
		if (k->next != PACKET_NONE)
			__builtin_prefetch(packet_get(&e->pool, k->next));
		refs[count] = (struct frame_ref){packet_frame(&e->pool, packet), k->captured};
		if (n->has_room)
			refs[count].frame->hop.flags = HOP_ROOM;
		count++;
		packet = k->next;
	}
	r = e->dp->ops->submit(e->dp, port, refs, count);
	if (sw_unlikely(r < 0))
		e->failed = r;
	else
		p->ready = count;
}

uint32_t line_take_arrival(struct engine *e, struct engine_node *n, uint32_t port)
{
	struct engine_port *p = &e->ports[port];
	uint32_t packet;

	if (!p->ready)
		line_run_program(e, n, port);
	if (sw_unlikely(e->failed))
		return PACKET_NONE;
	p->ready--;
	packet = packet_fifo_pop(&e->pool, &p->wire);
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
