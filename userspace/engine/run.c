/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time passes in windows as long as the lookahead: what a node does inside one reaches no other node
 * before its end, so each node's events of the window are done in one go, node after node. A
 * node's state is then in the cache, and its ports in the kernel's, for all of them; and the order
 * within a node, which is all that can be observed, is that of time.
 */
#include <errno.h>
#include "engine/internal.h"
#include "lib/buffer.h"

void engine_drop(
	struct engine *e, uint32_t port, uint32_t packet, enum drop_reason reason, uint64_t now)
{
	struct packet *k = packet_get(&e->pool, packet);

	e->stats.dropped[reason]++;
	if (e->observer.dropped)
		e->observer.dropped(e->observer.arg, now, port, reason, k->length);
	packet_free(&e->pool, packet);
}

/* The port of the node at which a switch's drop is to be shown: a full queue's is the egress. */
static uint32_t switch_drop_port(const struct verdict *v, uint32_t in)
{
	return v->reason == DROP_BUFFER ? v->port : in;
}

static void switch_arrive(struct engine *e, struct engine_node *n, uint32_t port, uint64_t now)
{
	uint32_t packet = line_take_arrival(e, n, port);
	const struct frame *frame;
	const struct verdict *v;
	struct packet *k;

	if (sw_unlikely(packet == PACKET_NONE))
		return;
	k = packet_get(&e->pool, packet);
	frame = packet_frame(&e->pool, packet);
	v = &frame->verdict;
	engine_count_hop(e, n, k->id, frame, now);
	if (sw_likely(v->action == VERDICT_FORWARD)) {
		if (n->has_room)
			buffer_take(e->ports[v->port].shared, k->length);
		line_enqueue(e, v->port, packet, now);
		return;
	}
	engine_drop(e, switch_drop_port(v, port), packet, (enum drop_reason)v->reason, now);
}

static void node_dispatch(struct engine *e, struct engine_node *n, const struct event *ev)
{
	uint32_t index = event_index(ev);

	switch (event_kind(ev)) {
	case EVENT_ARRIVE:
		if (n->is_host)
			host_arrive(e, n, n->first_port + index, ev->time_ps);
		else
			switch_arrive(e, n, n->first_port + index, ev->time_ps);
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

/*
 * Whether each queue of a switch could hold all that may arrive in a window on top of what it holds. Then
 * nothing is refused in this one, in whatever order it comes.
 */
static bool node_has_room(const struct engine *e, const struct engine_node *n)
{
	uint64_t most = n->window_bytes + (uint64_t)n->port_count * e->longest_frame;

	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++) {
		const struct port *p = e->ports[id].shared;

		if (p->depth_bytes + most > p->buffer_bytes)
			return false;
	}
	return true;
}

/* All that is due at one node before the window ends. */
static void node_run(struct engine *e, struct engine_node *n)
{
	e->running = n;
	node_prefetch(e, n);
	n->has_room = e->dp->max_batch > 1 && !n->is_host && node_has_room(e, n);
	while (node_next(n) < e->window_end_ps && !e->failed) {
		struct event ev = event_heap_take(&n->events);

		node_dispatch(e, n, &ev);
		event_heap_settle(&n->events);
	}
	e->running = 0;
	schedule_update(e, n);
}

/*
 * How far time may go. A run whose flows are all done ends one lookahead after the last of them: no window that
 * holds that moment ends later, so that what belongs to a run does not depend on how time was cut.
 */
static uint64_t run_limit(const struct engine *e, uint64_t until_ps)
{
	if (e->stats.flows_done < e->flow_count || e->end_ps > until_ps)
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
	}
	return e->failed;
}
