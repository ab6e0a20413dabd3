/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time passes in windows as long as the lookahead: what a node does inside one reaches no other
 * node before its end, so that each node's events of the window are done in one go, node after
 * node. A node's state is then in the cache, and its ports in the kernel's, for all of them. The
 * order within a node, which is all that can be observed, is that of time.
 */
#include <errno.h>
#include "abi/policies.h"
#include "engine/internal.h"
#include "lib/buffer.h"

/* What the verdict says of the frame's class and place. Without features nothing changes. */
static void packet_note(struct packet *k, const struct verdict *v, uint32_t port)
{
	k->length = v->length;
	if (k->captured > k->length)
		k->captured = (uint16_t)k->length;
	k->queue = v->queue;
	k->in_port = port;
	k->in_queue = v->in_queue | (v->flags & VERDICT_LOSSLESS ? PACKET_LOSSLESS : 0) |
		      (k->in_queue & PACKET_AHEAD);
}

/* The space that the program did not take, as it ran ahead of time. */
static void switch_take(struct engine *e, struct packet *k, uint32_t out)
{
	struct sw_tables *t = &e->dp->tables;
	struct switch_state *sw = port_switch(e, &e->ports[out]);
	uint32_t class = k->in_queue & (CLASSES - 1);

	k->in_queue &= (uint8_t)~PACKET_AHEAD;
	queue_take(&t->queues[out * CLASSES + k->queue], sw, k->length);
	if (sw_unlikely(k->in_queue & PACKET_LOSSLESS))
		ingress_take(&t->ingresses[k->in_port * CLASSES + class], sw, class, k->length,
			INGRESS_BELOW);
}

static void switch_forward(
	struct engine *e, uint32_t port, uint32_t packet, const struct verdict *v, uint64_t now)
{
	struct packet *k = packet_get(&e->pool, packet);
	uint32_t out = v->port;

	if (sw_unlikely(e->features))
		packet_note(k, v, port);
	if (k->in_queue & PACKET_AHEAD)
		switch_take(e, k, out);
	line_enqueue(e, out, packet, now);
}

/* A frame for the port itself, or for the node's processor. */
static void node_consume(
	struct engine *e, uint32_t port, uint32_t packet, const struct verdict *v, uint64_t now)
{
	const struct packet *k = packet_get(&e->pool, packet);

	e->stats.consumed++;
	if (v->action == VERDICT_END)
		pause_received(e, port, now);
	else if (e->observer.control)
		e->observer.control(e->observer.arg, now, port,
			packet_frame(&e->pool, packet)->bytes, k->captured);
	packet_free(&e->pool, packet);
}

/* Whether the frame was for the port itself or the node's processor; it has ended then. */
static bool node_consumes(struct engine *e, uint32_t port, uint32_t packet, uint64_t now)
{
	const struct verdict *v = &packet_frame(&e->pool, packet)->verdict;

	if (sw_likely(v->action != VERDICT_END && v->action != VERDICT_CONTROL))
		return false;
	node_consume(e, port, packet, v, now);
	return true;
}

/* A frame whose verdict asks for another one to be made. */
static void switch_make(
	struct engine *e, uint32_t port, uint32_t packet, const struct verdict *asked, uint64_t now)
{
	const struct queue *q = &e->dp->tables.queues[asked->port * CLASSES + asked->queue];

	/* the queue of a marked packet is past kmax: the program decides on a CNP */
	if (asked->flags & VERDICT_ASK_CNP && asked->action == VERDICT_FORWARD && q->kmax_bytes &&
		q->depth_bytes > q->kmax_bytes)
		make_cnp(e, port, packet, asked->port, now);
	if (asked->flags & VERDICT_ASK_PFC)
		make_pfc(e, port, HOP_MAKE_PFC, (uint8_t)(1u << asked->in_queue), now);
}

static void switch_end(
	struct engine *e, uint32_t port, uint32_t packet, const struct verdict *v, uint64_t now)
{
	if (!node_consumes(e, port, packet, now))
		engine_drop(e, engine_drop_port(v, port), packet, (enum drop_reason)v->reason, now);
}

static void switch_arrive(struct engine *e, uint32_t port, uint32_t packet, uint64_t now)
{
	const struct verdict *v = &packet_frame(&e->pool, packet)->verdict;

	if (sw_unlikely(v->flags & (VERDICT_ASK_PFC | VERDICT_ASK_CNP))) {
		struct verdict asked = *v; /* its place is the next hop header's */

		if (asked.action == VERDICT_FORWARD)
			switch_forward(e, port, packet, v, now);
		else
			switch_end(e, port, packet, v, now);
		switch_make(e, port, packet, &asked, now);
		return;
	}
	if (sw_likely(v->action == VERDICT_FORWARD))
		switch_forward(e, port, packet, v, now);
	else
		switch_end(e, port, packet, v, now);
}

static void node_arrive(struct engine *e, struct engine_node *n, uint32_t port, uint64_t now)
{
	uint32_t packet = line_take_arrival(e, n, port, now);

	if (sw_unlikely(packet == PACKET_NONE))
		return;
	engine_count_hop(
		e, n, packet_get(&e->pool, packet)->id, packet_frame(&e->pool, packet), now);
	if (!n->is_host)
		switch_arrive(e, port, packet, now);
	else if (!node_consumes(e, port, packet, now))
		host_arrive(e, n, port, packet, now);
}

static void node_dispatch(struct engine *e, struct engine_node *n, const struct event *ev)
{
	uint32_t index = event_index(ev);

	switch (event_kind(ev)) {
	case EVENT_ARRIVE:
		node_arrive(e, n, n->first_port + index, ev->time_ps);
		break;
	case EVENT_TX_DONE:
		line_done(e, n, n->first_port + index, ev->time_ps);
		break;
	case EVENT_TIMER:
		host_timer(e, n, index, ev->time_ps);
		break;
	case EVENT_START:
		host_start(e, n, index, ev->time_ps);
		break;
	case EVENT_PAUSE:
		pause_due(e, n->first_port + index, ev->time_ps);
		break;
	}
}

/*
 * Asks for the first packet of each wire. In a large fabric all that a node works on has left the
 * cache since its last window; line_take_arrival() asks for the packets after these in time.
 */
static void node_prefetch(const struct engine *e, const struct engine_node *n)
{
	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++) {
		uint32_t packet = e->ports[id].wire.head;

		if (packet == PACKET_NONE)
			continue;
		__builtin_prefetch(packet_get(&e->pool, packet));
		packet_prefetch_frame(&e->pool, packet);
	}
}

/* Of the pool, what is left if `most` more come out of it. */
static uint64_t pool_left(const struct switch_state *sw, uint64_t most)
{
	return sw->pool_bytes > sw->pool_used + most ? sw->pool_bytes - sw->pool_used - most : 0;
}

static bool ingress_holds(const struct ingress *in, const struct switch_state *sw, uint64_t most)
{
	return !in->headroom_bytes &&
	       in->bytes + most <= in->xoff_bytes + (pool_left(sw, most) * in->alpha >> 8);
}

static bool queue_holds(const struct queue *q, const struct switch_state *sw, uint64_t most)
{
	if (q->stormed)
		return false;
	return q->lossless ||
	       q->depth_bytes + most <= q->limit_bytes + (pool_left(sw, most) * q->alpha >> 8);
}

/* Whether the watchdog may close a queue before the window ends. */
static bool watchdog_looms(const struct engine *e, const struct queue *q)
{
	uint64_t watchdog = e->dp->tables.config.watchdog_ps;

	return watchdog && (watchdog <= e->lookahead_ps || q->paused_until_ps > e->now_ps);
}

/* Whether the queues and ingresses of a class have room for all that may arrive in a window. */
static bool class_has_room(
	const struct engine *e, const struct engine_node *n, uint32_t class, uint64_t most)
{
	const struct sw_tables *t = &e->dp->tables;
	const struct switch_state *sw = port_switch(e, &e->ports[n->first_port]);

	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++) {
		const struct ingress *in = &t->ingresses[id * CLASSES + class];
		const struct queue *q = &t->queues[id * CLASSES + class];

		if (!queue_holds(q, sw, most) || watchdog_looms(e, q) ||
			(in->lossless && !ingress_holds(in, sw, most)))
			return false;
	}
	return true;
}

/*
 * The classes of which nothing is dropped, trimmed or paused in this window, whatever the order:
 * the program may run ahead of time for their packets.
 */
static uint8_t node_room(const struct engine *e, const struct engine_node *n)
{
	uint64_t most = n->window_bytes + (uint64_t)n->port_count * e->longest_frame;
	uint8_t room = 0;

	if (e->dp->max_batch == 1 || n->is_host || n->bunched_until_ps >= node_next(n))
		return 0;
	for (uint32_t left = e->used_classes; left; left &= left - 1) {
		uint32_t class = (uint32_t)__builtin_ctz(left);

		if (class_has_room(e, n, class, most))
			room |= (uint8_t)(1u << class);
	}
	return room;
}

/* Whether the switch's policy may choose a port only when the packet is there. */
static bool node_in_order(const struct engine *e, const struct engine_node *n)
{
	static const bool ahead[BALANCE_COUNT] = {
#define X(symbol, name, word, ahead, flows, reorders) ahead,
		BALANCES(X)
#undef X
	};

	if (e->dp->max_batch == 1 || n->is_host || !e->balances)
		return false;
	return !ahead[port_switch(e, &e->ports[n->first_port])->balance];
}

/* All that is due at one node before the window ends. */
static void node_run(struct engine *e, struct engine_node *n)
{
	e->running = n;
	node_prefetch(e, n);
	n->room = node_room(e, n);
	n->in_order = node_in_order(e, n);
	while (node_next(n) < e->window_end_ps && !e->failed) {
		struct event ev = event_heap_take(&n->events);

		node_dispatch(e, n, &ev);
		event_heap_settle(&n->events);
	}
	e->running = 0;
	schedule_update(e, n);
}

/*
 * How far time may go. A run ends one lookahead after its last flow: no window that holds that
 * moment ends later, so that what belongs to a run does not depend on how time was cut.
 */
static uint64_t run_limit(const struct engine *e, uint64_t until_ps)
{
	if (e->lasting || e->flows_ended < e->flow_count || e->end_ps > until_ps)
		return until_ps;
	return e->end_ps;
}

int engine_run(struct engine *e, uint64_t until_ps, const volatile bool *stop)
{
	while (!e->failed && !(stop && *stop)) {
		uint64_t limit = run_limit(e, until_ps), start = engine_next(e);

		if (start >= limit) {
			if (limit > e->now_ps && limit != UINT64_MAX)
				e->now_ps = limit;
			break;
		}
		e->window_end_ps =
			limit - start > e->lookahead_ps ? start + e->lookahead_ps : limit;
		while (engine_next(e) < e->window_end_ps && !e->failed)
			node_run(e, &e->nodes[e->schedule[0].node]);
		e->now_ps = e->window_end_ps;
		if (sw_unlikely(e->observer.settled != NULL))
			e->observer.settled(e->observer.arg);
	}
	return e->failed;
}
