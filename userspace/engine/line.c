/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port's line: the frame that is being serialised, and the wire that it then travels. A wire's
 * delay is constant, or changes so that nothing is overtaken: it is a FIFO, and only its head is
 * armed. A switch's latency is part of the wire. Frames for the port itself skip it (PFC, LLDP: the
 * MAC has them at once), and so overtake others.
 */
#include "engine/internal.h"
#include "lib/buffer.h"

/* Onto the wire towards a port, behind all that arrives no later. */
static void wire_insert(struct engine *e, uint32_t port, uint32_t packet)
{
	struct packet_fifo *wire = &e->ports[port].wire;
	struct packet *k = packet_get(&e->pool, packet);
	uint32_t *at = &wire->head;

	while (*at != PACKET_NONE && packet_get(&e->pool, *at)->time_ps <= k->time_ps)
		at = &packet_get(&e->pool, *at)->next;
	k->next = *at;
	*at = packet;
	if (k->next == PACKET_NONE)
		wire->tail = packet;
}

void line_start(struct engine *e, uint32_t port, uint32_t packet, uint64_t now)
{
	struct engine_port *p = &e->ports[port], *far = &e->ports[p->peer];
	struct packet *k = packet_get(&e->pool, packet);
	uint32_t depth = 0;
	uint64_t done = now + port_serialise(e, port, k->length);

	/* a host's own frames are not admitted anywhere: its depth stays 0 */
	if (sw_likely(k->queue < CLASSES))
		depth = e->dp->tables.queues[port * CLASSES + k->queue].depth_bytes;
	k->time_ps = done + p->delay_ps;
	if (sw_unlikely(k->time_ps < p->last_arrival_ps)) {
		k->time_ps = p->last_arrival_ps;
		if (e->nodes[far->node].bunched_until_ps < k->time_ps)
			e->nodes[far->node].bunched_until_ps = k->time_ps;
	}
	p->last_arrival_ps = k->time_ps;
	if (sw_unlikely(k->queue >= CLASSES))
		k->time_ps -= e->links[port].latency_ps;
	packet_frame(&e->pool, packet)->hop = (struct hop){
		.magic = HOP_MAGIC,
		.length = k->length,
		.now_ps = k->time_ps,
		.started_ps = now,
		.behind_bytes = depth > k->length ? depth - k->length : 0,
		.queue = k->queue,
	};
	if (sw_unlikely(e->observer.sent != NULL))
		e->observer.sent(e->observer.arg, now, port, packet_frame(&e->pool, packet)->bytes,
			k->captured, k->length);
	p->shared->tx_busy_ps += done - now;
	p->shared->tx_until_ps = done;
	p->serving_bytes = k->length;
	p->serving_port = k->in_port;
	p->serving_queue = k->queue;
	p->serving_in = k->in_queue;
	engine_arm(e, &e->nodes[p->node], done, EVENT_TX_DONE, port_local(e, port));
	if (sw_unlikely(k->queue >= CLASSES && e->overtakes))
		wire_insert(e, p->peer, packet);
	else
		packet_fifo_push(&e->pool, &far->wire, packet);
	if (far->wire.head == packet)
		engine_arm(
			e, &e->nodes[far->node], k->time_ps, EVENT_ARRIVE, port_local(e, p->peer));
}

void line_enqueue(struct engine *e, uint32_t port, uint32_t packet, uint64_t now)
{
	struct engine_port *p = &e->ports[port];
	struct packet *k = packet_get(&e->pool, packet);

	if (!p->serving_bytes && !(k->queue < CLASSES && p->paused >> k->queue & 1)) {
		line_start(e, port, packet, now);
		return;
	}
	k->time_ps = now;
	egress_push(e, port, packet);
}

inline void line_give(struct engine *e, uint32_t port, uint32_t length, uint32_t in_port,
	uint8_t queue, uint8_t in_queue, uint64_t now)
{
	struct sw_tables *t = &e->dp->tables;
	struct switch_state *sw = port_switch(e, &e->ports[port]);
	uint32_t class = in_queue & (CLASSES - 1);

	if (queue >= CLASSES)
		return;
	queue_give(&t->queues[port * CLASSES + queue], sw, length);
	if (sw_likely(!(in_queue & PACKET_LOSSLESS)))
		return;
	ingress_give(&t->ingresses[in_port * CLASSES + class], sw, class, length);
	pause_check_resume(e, in_port, class, now);
}

/* The frame has left: its place is free. */
static void line_release(struct engine *e, uint32_t port, uint64_t now)
{
	struct engine_port *p = &e->ports[port];
	struct port *shared = p->shared;
	uint32_t bytes = p->serving_bytes;

	shared->tx_frames++;
	shared->tx_bytes += bytes;
	if (sw_unlikely(p->serving_queue >= CLASSES))
		shared->tx_control_bytes += bytes;
	p->serving_bytes = 0;
	if (shared->kind == PORT_SWITCH)
		line_give(e, port, bytes, p->serving_port, p->serving_queue, p->serving_in, now);
}

static void line_next(struct engine *e, uint32_t port, uint64_t now)
{
	uint32_t packet = egress_next(e, port);
	struct packet *k;

	if (packet == PACKET_NONE)
		return;
	k = packet_get(&e->pool, packet);
	if (sw_likely(k->queue < CLASSES)) {
		uint64_t waited = now - k->time_ps;
		uint32_t head = port_queue(e, port, k->queue)->packets.head;

		if (waited > e->stats.max_queue_delay_ps)
			e->stats.max_queue_delay_ps = waited;
		/* the next to start is read and written when this one is done */
		if (e->ports[port].waiting >> k->queue & 1) {
			__builtin_prefetch(packet_get(&e->pool, head), 1);
			__builtin_prefetch(packet_frame(&e->pool, head), 1);
		}
	}
	line_start(e, port, packet, now);
}

void line_kick(struct engine *e, uint32_t port, uint64_t now)
{
	struct engine_node *n = &e->nodes[e->ports[port].node];

	if (e->ports[port].serving_bytes)
		return;
	if (n->is_host)
		host_line_free(e, n, now);
	else
		line_next(e, port, now);
}

void line_done(struct engine *e, struct engine_node *n, uint32_t port, uint64_t now)
{
	line_release(e, port, now);
	if (n->is_host)
		host_line_free(e, n, now);
	else if (!e->ports[port].serving_bytes) /* a PFC frame may have gone out already */
		line_next(e, port, now);
}

/* Whether what becomes of the packet does not depend on what happens before it arrives. */
static bool runs_ahead(
	const struct engine *e, const struct engine_node *n, uint32_t port, const struct packet *k)
{
	/* a control frame changes what the port may send, in its own time */
	if (sw_unlikely(k->queue >= CLASSES))
		return false;
	if (n->in_order && e->ports[port].shared->chooses)
		return false;
	return n->is_host || !(e->becomes[k->queue] & ~n->room);
}

static void line_submit(struct engine *e, uint32_t port, struct frame_ref *refs, uint32_t count)
{
	int r = e->dp->ops->submit(e->dp, port, refs, count);

	if (sw_unlikely(r < 0))
		e->failed = r;
	else
		e->ports[port].ready = (uint8_t)count;
}

/* Where a call costs nothing that more frames would share. */
static void line_run_one(struct engine *e, uint32_t port)
{
	uint32_t packet = e->ports[port].wire.head;
	const struct packet *k = packet_get(&e->pool, packet);
	struct frame_ref ref = {packet_frame(&e->pool, packet), k->captured};

	if (k->next != PACKET_NONE)
		__builtin_prefetch(packet_get(&e->pool, k->next));
	line_submit(e, port, &ref, 1);
}

/*
 * Runs the program over the wire's first packet, and over all that will arrive in this window where
 * no verdict depends on what happens in between: at a host, which has no such state, and at a
 * switch whose queues have room for all that may come.
 */
static void line_run_program(struct engine *e, const struct engine_node *n, uint32_t port)
{
	struct engine_port *p = &e->ports[port];
	struct frame_ref refs[LINE_BATCH];
	uint32_t limit = LINE_BATCH, count = 0;
	uint32_t packet = p->wire.head;

	if (e->dp->max_batch == 1) {
		line_run_one(e, port);
		return;
	}
	if (limit > e->dp->max_batch)
		limit = e->dp->max_batch;
	while (packet != PACKET_NONE && count < limit) {
		struct packet *k = packet_get(&e->pool, packet);
		bool ahead = runs_ahead(e, n, port, k);

		if (count && (k->time_ps >= e->window_end_ps || !ahead))
			break;
		if (!ahead)
			limit = 1;
		packet_prefetch_frame(&e->pool, packet);
		if (k->next != PACKET_NONE)
			__builtin_prefetch(packet_get(&e->pool, k->next));
		refs[count] = (struct frame_ref){packet_frame(&e->pool, packet), k->captured};
		if (ahead && !n->is_host) {
			refs[count].frame->hop.flags = HOP_ROOM;
			k->in_queue |= PACKET_AHEAD;
		}
		count++;
		packet = k->next;
	}
	line_submit(e, port, refs, count);
}

uint32_t line_take_arrival(struct engine *e, struct engine_node *n, uint32_t port, uint64_t now)
{
	struct engine_port *p = &e->ports[port];
	uint32_t packet = p->wire.head;

	/* what was at the head before it was overtaken is armed twice */
	if (sw_unlikely(e->overtakes) &&
		(packet == PACKET_NONE || packet_get(&e->pool, packet)->time_ps > now))
		return PACKET_NONE;
	if (!p->ready)
		line_run_program(e, n, port);
	if (sw_unlikely(e->failed))
		return PACKET_NONE;
	p->ready--;
	packet = packet_fifo_pop(&e->pool, &p->wire);
	if (!packet_fifo_empty(&p->wire)) {
		uint32_t next = p->wire.head;
		struct packet *k = packet_get(&e->pool, next);

		engine_arm(e, n, k->time_ps, EVENT_ARRIVE, port - n->first_port);
		/* what this wire needs from memory at its next arrival, and the one after */
		packet_prefetch_frame(&e->pool, next);
		if (k->next != PACKET_NONE)
			__builtin_prefetch(packet_get(&e->pool, k->next));
	}
	return packet;
}
