/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations as they are carried out: messages, computations and barriers, and their dependences. A
 * message has endpoints only while it is active: their memory follows the most that are active at
 * once. Before and after it is a row of a table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/wire.h"
#include "base/array.h"
#include "base/numbers.h"
#include "engine/internal.h"
#include "engine/reserve.h"

/* Address space, not memory. */
#define FLOW_RESERVE   (64ull << 30)
#define ROW_RESERVE    (OPERATIONS_MAX * sizeof(struct engine_flow_state))
#define FORGET_RESERVE (OPERATIONS_MAX / FORGET_ROWS * sizeof(uint16_t))
#define NUMBER_RESERVE (FLOW_NUMBERS * sizeof(uint32_t))
#define BLOCK_ALIGN    64

/* ---- memory ---- */

/* The largest of any transport. */
static size_t endpoint_bytes(const struct engine *e, bool sender)
{
	const struct flow_spec longest = {.bytes = 1ull << 40}; /* none needs more queue pairs */
	size_t most = 0;

	for (uint32_t i = 0; i < OPERATION_TRANSPORTS && e->transports[i].ops; i++)
		most = max_u64(
			most, e->transports[i].ops->size(&e->transports[i].env, &longest, sender));
	return (most + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
}

/* Its beginning: behind it are bitmaps, of which a packet touches one place. */
static uint32_t lines_of(size_t bytes)
{
	return (uint32_t)min_u64(bytes / 64, 10);
}

int flow_memory_init(struct engine *e)
{
	struct flow_memory *m = &e->memory;

	*m = (struct flow_memory){.free_head = FLOW_NONE, .free_record = FLOW_NONE};
	m->receiver_offset = sizeof(struct engine_live) + endpoint_bytes(e, true);
	m->reorder_offset = m->receiver_offset + endpoint_bytes(e, false);
	m->block_bytes =
		m->reorder_offset + flow_qp_numbers(engine_env(e)) * sizeof(struct reorder);
	m->block_bytes = (m->block_bytes + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1);
	m->lines[0] = lines_of(endpoint_bytes(e, true));
	m->lines[1] = lines_of(endpoint_bytes(e, false));
	m->capacity = (uint32_t)(FLOW_RESERVE / m->block_bytes);
	m->numbers = FLOW_NUMBERS / flow_qp_numbers(engine_env(e));
	m->blocks = reserve_new(FLOW_RESERVE);
	m->forgotten = (uint16_t *)reserve_new(FORGET_RESERVE);
	e->flows = (struct engine_flow_state *)reserve_new(ROW_RESERVE);
	m->by_number = (uint32_t *)reserve_new(NUMBER_RESERVE);
	if (!m->blocks || !m->forgotten || !e->flows || !m->by_number)
		return -ENOMEM;
	reserve_want_huge_pages(m->blocks, FLOW_RESERVE);
	return reorder_memory_init(&m->reorder);
}

void flow_memory_release(struct engine *e)
{
	reserve_free(e->memory.blocks, FLOW_RESERVE);
	reserve_free((uint8_t *)e->memory.forgotten, FORGET_RESERVE);
	reserve_free((uint8_t *)e->flows, ROW_RESERVE);
	reserve_free((uint8_t *)e->memory.by_number, NUMBER_RESERVE);
	reorder_memory_release(&e->memory.reorder);
	free(e->memory.records);
	free(e->waiters);
	free(e->streams);
	free(e->work_streams);
}

/* A block, zeroed but for its place; NULL: there is no memory. */
static struct engine_live *block_take(struct flow_memory *m)
{
	uint32_t place = m->free_head;
	struct engine_live *l;

	if (place == FLOW_NONE) {
		if (m->fresh == m->capacity)
			return NULL;
		place = m->fresh++;
	}
	l = (struct engine_live *)(m->blocks + (size_t)place * m->block_bytes);
	if (place == m->free_head) {
		m->free_head = l->next;
		memset(l, 0, m->block_bytes);
	}
	l->place = place;
	return l;
}

/* ---- what waits for what ---- */

/* All that it waited for has happened. */
static void flow_arm(struct engine *e, uint32_t flow)
{
	struct engine_flow_state *f = &e->flows[flow];
	uint64_t due = f->when_ps + f->flow.start_ps;

	f->state = FLOW_ARMED;
	if (due < e->now_ps)
		due = e->now_ps;
	f->when_ps = due;
	if (!operation_is_barrier(&f->flow))
		engine_arm_drawn(e, &e->nodes[f->flow.src_host], due, EVENT_START, flow,
			f->flow.stream ? f->flow.stream : f->drawn);
}

static void flow_end(struct engine *e, uint32_t flow, uint64_t end);

/* Hosts get to know of it later than anything in the present window can reach them. */
static void barrier_fall(struct engine *e, uint32_t flow)
{
	struct engine_flow_state *f = &e->flows[flow];
	uint64_t now = f->when_ps + f->flow.start_ps + engine_env(e)->base_rtt_ps / 2;

	f->when_ps = now;
	flow_end(e, flow, now);
}

void flow_ready(struct engine *e, uint32_t flow)
{
	if (operation_is_barrier(&e->flows[flow].flow))
		barrier_fall(e, flow);
	else
		flow_arm(e, flow);
}

static void flow_need_met(struct engine *e, uint32_t flow, uint64_t when)
{
	struct engine_flow_state *f = &e->flows[flow];

	if (when > f->when_ps)
		f->when_ps = when;
	if (!--f->needs)
		flow_ready(e, flow);
}

static void tell_waiters(struct engine *e, const struct engine_flow_state *f,
	enum operation_event event, uint64_t now)
{
	for (uint32_t i = f->first_wait; i != FLOW_NONE; i = e->waiters[i].next)
		if (e->waiters[i].event == event)
			flow_need_met(e, e->waiters[i].to, now);
}

/* ---- on the way ---- */

/* One that no open connection has: in turn, mostly; FLOW_NONE: all are taken. */
static uint32_t find_number(const struct engine *e, uint32_t flow)
{
	const struct flow_memory *m = &e->memory;
	uint32_t number = flow_number(e, flow);

	for (uint32_t tried = 0; tried < m->numbers; tried++) {
		if (!m->by_number[number])
			return number;
		number = number + 1 < m->numbers ? number + 1 : 0;
	}
	return FLOW_NONE;
}

static struct flow_spec flow_spec_of(const struct engine *e, uint32_t flow)
{
	const struct operation *f = &e->flows[flow].flow;
	struct flow_spec spec = {
		.id = e->flows[flow].number,
		.src_host = f->src_host,
		.dst_host = f->dst_host,
		.bytes = f->bytes,
		.base_rtt_ps = f->base_rtt_ps,
		.seed = flow_seed(e, flow),
		.fair_bps = e->shares && f->entry < e->shares->entries
				    ? fair_share(e->shares, f->src_host, f->dst_host)
				    : 0,
		.dscp = flow_dscp(e, f),
	};
	const struct port *src = e->ports[e->nodes[f->src_host].first_port].shared;
	const struct port *dst = e->ports[e->nodes[f->dst_host].first_port].shared;

	memcpy(spec.src_mac, src->mac, 6);
	memcpy(spec.dst_mac, dst->mac, 6);
	memcpy(spec.src_next, src->peer_mac, 6);
	memcpy(spec.dst_next, dst->peer_mac, 6);
	return spec;
}

/* Whether both ends have room: memory is as large as they said before a flow was known. */
static bool has_room(
	const struct engine *e, const struct engine_transport *t, const struct flow_spec *spec)
{
	const struct flow_memory *m = &e->memory;

	return t->ops->size(&t->env, spec, true) <=
		       m->receiver_offset - sizeof(struct engine_live) &&
	       t->ops->size(&t->env, spec, false) <= m->reorder_offset - m->receiver_offset;
}

/* Opens a connection with one message; `more` will follow. */
static struct engine_live *connection_open(
	struct engine *e, uint32_t flow, uint32_t more, uint64_t now)
{
	const struct operation *f = &e->flows[flow].flow;
	const struct engine_transport *t = &e->transports[f->transport];
	uint32_t number = find_number(e, flow);
	struct engine_live *l = NULL;
	struct flow_spec spec;

	e->flows[flow].number = number;
	spec = flow_spec_of(e, flow);
	spec.more = more;
	if (number == FLOW_NONE)
		e->failed = -EBUSY;
	else if (!has_room(e, t, &spec))
		e->failed = -EOVERFLOW;
	else if (!(l = block_take(&e->memory)))
		e->failed = -ENOMEM;
	if (!l)
		return NULL;
	e->memory.by_number[number] = l->place + 1;
	l->flow = flow;
	l->number = number;
	l->drawn = e->flows[flow].drawn;
	l->open = true;
	l->stream = f->stream;
	l->class = engine_class(e, spec.dscp);
	for (int sender = 0; sender < 2; sender++) {
		struct endpoint *ep = flow_endpoint(e, l, sender);

		l->side[!sender].node = sender ? f->src_host : f->dst_host;
		ep->ops = t->ops;
		t->ops->open(ep, &t->env, &spec, sender, now);
	}
	return l;
}

/* A message of a stream: on the connection of those before it. */
static struct engine_live *stream_append(struct engine *e, uint32_t flow, uint64_t now)
{
	struct engine_stream *t = &e->streams[e->flows[flow].flow.stream - 1];
	struct engine_live *l;
	struct endpoint *ep;

	if (t->next_delivered == FLOW_NONE)
		t->next_delivered = flow;
	if (t->next_ended == FLOW_NONE)
		t->next_ended = flow;
	if (t->begun++) {
		e->flows[t->last].next = flow;
		l = flow_block(e, t->place);
		ep = flow_endpoint(e, l, true);
		ep->ops->release(ep, t->begun, now);
	} else {
		l = connection_open(e, flow, t->messages - 1, now);
		t->place = l ? l->place : FLOW_NONE;
		t->first = flow;
	}
	t->last = flow;
	return l;
}

static struct engine_live *flow_open(struct engine *e, uint32_t flow, uint64_t now)
{
	struct engine_live *l;

	if (e->flows[flow].flow.stream)
		return stream_append(e, flow, now);
	l = connection_open(e, flow, 0, now);
	e->flows[flow].place = l ? l->place : FLOW_NONE;
	return l;
}

static void flow_end(struct engine *e, uint32_t flow, uint64_t end)
{
	struct engine_flow_state *f = &e->flows[flow];

	f->state = FLOW_ENDED;
	e->flows_ended++;
	if (end + e->lookahead_ps > e->end_ps)
		e->end_ps = end + e->lookahead_ps;
	if (e->observer.ended && operation_is_message(&f->flow))
		e->observer.ended(e->observer.arg, end, flow);
	tell_waiters(e, f, OPERATION_ENDED, end);
}

/* When an operation that is due begins: at once, but for those of its stream that came before. */
static uint64_t flow_turn(struct engine *e, const struct operation *o, uint64_t now)
{
	struct engine_work_stream *s;

	if (!o->stream || operation_is_message(o))
		return now;
	s = &e->work_streams[o->stream - 1];
	if (s->free_ps > now)
		now = s->free_ps;
	s->free_ps = now + o->lasts_ps;
	return now;
}

struct engine_live *flow_due(struct engine *e, struct engine_node *n, uint32_t flow, uint64_t now)
{
	struct engine_flow_state *f = &e->flows[flow];

	if (f->state == FLOW_BEGUN) {
		flow_end(e, flow, now);
		return NULL;
	}
	f->state = FLOW_BEGUN;
	f->when_ps = flow_turn(e, &f->flow, now);
	e->stats.flows += f->flow.arrives;
	tell_waiters(e, f, OPERATION_BEGUN, f->when_ps);
	if (operation_is_message(&f->flow))
		return flow_open(e, flow, now);
	engine_arm_drawn(e, n, f->when_ps + f->flow.lasts_ps + f->flow.after_ps, EVENT_START, flow,
		f->drawn);
	return NULL;
}

/*
 * What has been counted since the last time, which `told` keeps. Paths are not added up, and the
 * largest extent is that since then.
 */
static struct endpoint_stats stats_since(struct endpoint_stats *now, struct endpoint_stats *told)
{
	struct endpoint_stats ret;
	const uint32_t *to = (const uint32_t *)now;
	uint32_t *from = (uint32_t *)told, *since = (uint32_t *)&ret;

	_Static_assert(sizeof(ret) % sizeof(*since) == 0, "nothing but counters");
	for (size_t i = 0; i < sizeof(ret) / sizeof(*since); i++) {
		since[i] = to[i] - from[i];
		from[i] = to[i];
	}
	ret.paths_used = now->paths_used;
	ret.reorder_most = now->reorder_most;
	now->reorder_most = 0;
	return ret;
}

/* NULL, and the engine has failed: there is no memory. */
static struct engine_record *record_new(struct engine *e, uint32_t flow)
{
	struct flow_memory *m = &e->memory;
	uint32_t place = m->free_record;

	if (place != FLOW_NONE) {
		m->free_record = (uint32_t)m->records[place].finish_ps;
		m->records[place] = (struct engine_record){0};
	} else if (ARRAY_ADD(m->records, m->record_count, (struct engine_record){0}) < 0) {
		e->failed = -ENOMEM;
		return NULL;
	} else {
		place = m->record_count - 1;
	}
	e->flows[flow].place = place;
	e->flows[flow].over = true;
	return &m->records[place];
}

static void message_end(struct engine *e, uint32_t flow, uint64_t now)
{
	e->stats.flows_done++;
	e->stats.bytes_delivered += e->flows[flow].flow.bytes;
	flow_end(e, flow, now);
}

static void stream_delivered(
	struct engine *e, struct engine_stream *t, struct engine_live *l, uint64_t now)
{
	uint32_t flow = t->next_delivered;
	struct engine_record *r = record_new(e, flow);

	if (r) {
		r->delivered_ps = now;
		r->receiver = stats_since(&flow_endpoint(e, l, false)->stats, &t->receiver);
	}
	t->delivered++;
	t->next_delivered = e->flows[flow].next;
	tell_waiters(e, &e->flows[flow], OPERATION_DELIVERED, now);
}

static void stream_ended(
	struct engine *e, struct engine_stream *t, struct engine_live *l, uint64_t now)
{
	uint32_t flow = t->next_ended;

	if (e->flows[flow].over) {
		struct engine_record *r = &e->memory.records[e->flows[flow].place];

		r->finish_ps = now;
		r->sender = stats_since(&flow_endpoint(e, l, true)->stats, &t->sender);
	}
	t->ended++;
	t->next_ended = e->flows[flow].next;
	message_end(e, flow, now);
}

void flow_follow_up(struct engine *e, struct engine_live *l, bool sender, uint64_t now)
{
	struct engine_flow_state *f = &e->flows[l->flow];
	const struct endpoint *ep = flow_endpoint(e, l, sender);

	if (l->stream) {
		struct engine_stream *t = &e->streams[l->stream - 1];

		while (sender && t->ended < ep->done)
			stream_ended(e, t, l, now);
		while (!sender && t->delivered < ep->done)
			stream_delivered(e, t, l, now);
		return;
	}
	if (sender && ep->finished_ps && f->state == FLOW_BEGUN)
		message_end(e, l->flow, ep->finished_ps);
	if (!sender && ep->delivered_ps && !l->delivered) {
		l->delivered = true;
		tell_waiters(e, f, OPERATION_DELIVERED, ep->delivered_ps);
	}
}

/* ---- over ---- */

/* Of each queue pair. */
static struct reorder *flow_reorder(const struct engine *e, struct engine_live *l)
{
	return (struct reorder *)((uint8_t *)l + e->memory.reorder_offset);
}

/* Packets that came after the end count for the last message. */
static void stream_close(struct engine *e, struct engine_live *l)
{
	struct engine_stream *t = &e->streams[l->stream - 1];
	struct engine_record *r = &e->memory.records[e->flows[t->last].place];

	t->place = FLOW_NONE;
	for (int sender = 0; sender < 2; sender++) {
		struct endpoint_stats *counted = sender ? &t->sender : &t->receiver;
		struct endpoint_stats late =
			stats_since(&flow_endpoint(e, l, sender)->stats, counted);
		struct endpoint_stats *to = sender ? &r->sender : &r->receiver;
		uint32_t paths = to->paths_used;
		uint32_t most = to->reorder_most;

		if (late.reorder_most > most)
			most = late.reorder_most;
		for (size_t i = 0; i < sizeof(late) / sizeof(uint32_t); i++)
			((uint32_t *)to)[i] += ((uint32_t *)&late)[i];
		to->paths_used = paths;
		to->reorder_most = most;
	}
}

static void message_close(struct engine *e, struct engine_live *l)
{
	const struct endpoint *tx = flow_endpoint(e, l, true), *rx = flow_endpoint(e, l, false);
	struct engine_record *r = record_new(e, l->flow);

	if (r)
		*r = (struct engine_record){
			tx->finished_ps, rx->delivered_ps, tx->stats, rx->stats};
}

static bool is_over(const struct engine *e, struct engine_live *l)
{
	if (l->in_flight || l->side[0].active)
		return false; /* in its host's ring yet */
	if (l->stream) {
		const struct engine_stream *t = &e->streams[l->stream - 1];

		if (t->ended < t->messages)
			return false;
	} else if (e->flows[l->flow].state != FLOW_ENDED) {
		return false;
	}
	return !flow_endpoint(e, l, true)->deadline_ps && !flow_endpoint(e, l, false)->deadline_ps;
}

void flow_settle(struct engine *e, struct engine_live *l)
{
	struct flow_memory *m = &e->memory;

	if (sw_likely(!is_over(e, l)))
		return;
	if (l->stream)
		stream_close(e, l);
	else
		message_close(e, l);
	for (uint32_t i = 0; i < flow_qp_numbers(engine_env(e)); i++)
		reorder_close(&m->reorder, &flow_reorder(e, l)[i]);
	m->closed_bytes += flow_endpoint(e, l, false)->received;
	m->by_number[l->number] = 0;
	l->open = false;
	l->next = m->free_head;
	m->free_head = l->place;
}

void engine_forget(struct engine *e, uint32_t flow)
{
	struct flow_memory *m = &e->memory;
	struct engine_flow_state *f = &e->flows[flow];
	uint32_t first = flow - flow % FORGET_ROWS;

	m->records[f->place].finish_ps = m->free_record;
	m->free_record = f->place;
	*f = (struct engine_flow_state){0};
	if (++m->forgotten[flow / FORGET_ROWS] == FORGET_ROWS)
		reserve_give_back((uint8_t *)&e->flows[first], FORGET_ROWS * sizeof(*f));
}

/* Whether its sender made it, and it is data for its receiver, or what a switch made of that. */
static bool is_data(const struct engine *e, struct engine_live *l, const struct packet *k,
	const struct rx_frame *rx, bool sender)
{
	const struct endpoint *ep = flow_endpoint(e, l, false);
	uint32_t start, length;
	uint64_t offset;

	if (k->id >> 32 != l->side[0].node)
		return false;
	return rx->returned || (!sender && ep->ops->payload(ep, rx, &offset, &start, &length));
}

void flow_packet_arrived(
	struct engine *e, struct engine_live *l, const struct packet *k, const struct rx_frame *rx)
{
	const struct bth_hdr *bth = (const struct bth_hdr *)(rx->bytes + rx->transport_offset);
	struct endpoint_stats *stats = &flow_endpoint(e, l, false)->stats;
	uint32_t pair = qp_index(engine_env(e), be32(bth->qp) & BTH_MASK_24), extent;

	if (rx->trimmed || !is_data(e, l, k, rx, false))
		return;
	extent = reorder_take(&e->memory.reorder, &flow_reorder(e, l)[pair], (uint32_t)k->id,
		be32(bth->psn) & BTH_MASK_24);
	if (sw_likely(!extent))
		return;
	stats->reordered++;
	stats->reorder_sum += extent;
	if (extent > stats->reorder_most)
		stats->reorder_most = extent;
}

void flow_packet_lost(struct engine *e, const struct packet *k, const uint8_t *bytes)
{
	struct engine_live *l;
	struct rx_frame rx;
	bool sender;

	if (!host_made(e, k) || !frame_parse(e, k, bytes, &rx))
		return;
	l = flow_find(e, &rx, &sender);
	if (!l || !l->in_flight)
		return;
	l->in_flight--;
	flow_endpoint(e, l, true)->stats.lost += is_data(e, l, k, &rx, sender);
	flow_settle(e, l);
}

struct engine_live *flow_find(const struct engine *e, const struct rx_frame *rx, bool *ret_sender)
{
	const struct bth_hdr *bth = (const struct bth_hdr *)(rx->bytes + rx->transport_offset);
	uint32_t qp = be32(bth->qp) & BTH_MASK_24, number = qp_flow(engine_env(e), qp);
	struct engine_live *l;

	if (qp < QP_FIRST || number >= e->memory.numbers)
		return NULL;
	l = flow_numbered(e, number);
	if (!l)
		return NULL;
	/* what comes back is addressed as it went out: its sender's is the other queue pair */
	*ret_sender = !(qp & 1) != rx->returned;
	flow_prefetch(e, l, *ret_sender);
	return l;
}
