/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations: messages, computations and barriers, and their dependences. A message has endpoints
 * only while it is active: their memory follows the most that are active at once. Before and after
 * it is a row of a table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "abi/wire.h"
#include "base/array.h"
#include "engine/internal.h"
#include "engine/reserve.h"

/* Address space, not memory. */
#define FLOW_RESERVE (64ull << 30)
#define BLOCK_ALIGN  64

/* ---- memory ---- */

static size_t endpoint_bytes(const struct engine *e, bool sender)
{
	const struct flow_spec longest = {.bytes = 1ull << 40}; /* none needs more queue pairs */

	return (e->transport->size(&e->env, &longest, sender) + BLOCK_ALIGN - 1) &
	       ~(size_t)(BLOCK_ALIGN - 1);
}

int flow_memory_init(struct engine *e)
{
	struct flow_memory *m = &e->memory;

	*m = (struct flow_memory){.free_head = FLOW_NONE};
	m->receiver_offset = sizeof(struct engine_live) + endpoint_bytes(e, true);
	m->block_bytes = m->receiver_offset + endpoint_bytes(e, false);
	m->capacity = (uint32_t)(FLOW_RESERVE / m->block_bytes);
	m->numbers = FLOW_NUMBERS / e->env.qps;
	m->blocks = reserve_new(FLOW_RESERVE);
	if (!m->blocks)
		return -ENOMEM;
	reserve_want_huge_pages(m->blocks, FLOW_RESERVE);
	return 0;
}

void flow_memory_release(struct engine *e)
{
	if (e->memory.blocks)
		munmap(e->memory.blocks, FLOW_RESERVE);
	free(e->memory.by_number);
	free(e->memory.records);
	free(e->flows);
	free(e->waiters);
	free(e->streams);
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

/* Whether the event has happened, and when. */
static bool has_happened(
	const struct engine *e, uint32_t flow, enum operation_event event, uint64_t *ret_ps)
{
	struct engine_flow_result r;

	engine_flow_result(e, flow, &r);
	*ret_ps = event == OPERATION_BEGUN   ? r.start_ps
		  : event == OPERATION_ENDED ? r.finish_ps
					     : r.delivered_ps;
	return event == OPERATION_BEGUN ? r.start_ps != UINT64_MAX : *ret_ps != 0;
}

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
			f->flow.stream ? f->flow.stream : flow);
}

static void flow_end(struct engine *e, uint32_t flow, uint64_t end);

/* Hosts get to know of it later than anything in the present window can reach them. */
static void barrier_fall(struct engine *e, uint32_t flow)
{
	struct engine_flow_state *f = &e->flows[flow];
	uint64_t now = f->when_ps + f->flow.start_ps + e->env.base_rtt_ps / 2;

	f->when_ps = now;
	flow_end(e, flow, now);
}

static void flow_need_met(struct engine *e, uint32_t flow, uint64_t when)
{
	struct engine_flow_state *f = &e->flows[flow];

	if (when > f->when_ps)
		f->when_ps = when;
	if (--f->needs)
		return;
	if (operation_is_barrier(&f->flow))
		barrier_fall(e, flow);
	else
		flow_arm(e, flow);
}

static void tell_waiters(struct engine *e, const struct engine_flow_state *f,
	enum operation_event event, uint64_t now)
{
	for (uint32_t i = f->first_wait; i != FLOW_NONE; i = e->waiters[i].next)
		if (e->waiters[i].event == event)
			flow_need_met(e, e->waiters[i].to, now);
}

/* ---- adding ---- */

static bool flow_valid(const struct engine *e, const struct operation *f)
{
	if (operation_is_barrier(f))
		return f->dst_host == OPERATION_BARRIER && !f->bytes;
	return f->src_host < e->host_count && f->dst_host < e->host_count &&
	       (f->src_host == f->dst_host) == !f->bytes;
}

/* What is to be added: behind those that there are. */
struct batch {
	const struct engine *e;
	const struct operation *flows;
	uint32_t first;
	size_t count;
};

static const struct operation *batch_flow(const struct batch *b, uint32_t i)
{
	return i < b->first ? &b->e->flows[i].flow : &b->flows[i - b->first];
}

static bool wait_valid(const struct batch *b, const struct wait *w)
{
	const struct operation *from, *to;

	if (w->to < b->first || w->to - b->first >= b->count || w->from >= w->to)
		return false;
	from = batch_flow(b, w->from);
	to = batch_flow(b, w->to);
	if (w->event == OPERATION_DELIVERED && !operation_is_message(from))
		return false;
	if (operation_is_barrier(from))
		return w->event == OPERATION_ENDED;
	return operation_is_barrier(to) ||
	       to->src_host == (w->event == OPERATION_DELIVERED ? from->dst_host : from->src_host);
}

static bool batch_valid(const struct batch *b, const struct wait *waits, size_t wait_count)
{
	if (b->count > OPERATIONS_MAX - b->first)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (!flow_valid(b->e, &b->flows[i]))
			return false;
	for (size_t i = 0; i < wait_count; i++)
		if (!wait_valid(b, &waits[i]))
			return false;
	return true;
}

static int wait_add(struct engine *e, const struct wait *w)
{
	struct engine_flow_state *from = &e->flows[w->from], *to = &e->flows[w->to];
	uint64_t when;

	to->needs++;
	if (has_happened(e, w->from, w->event, &when)) {
		/* its moment counts, though it is over */
		to->needs--;
		if (when > to->when_ps)
			to->when_ps = when;
		return 0;
	}
	if (e->waiter_count == FLOW_NONE ||
		ARRAY_ADD(e->waiters, e->waiter_count,
			(struct engine_waiter){
				.to = w->to, .event = w->event, .next = from->first_wait}) < 0)
		return -ENOMEM;
	from->first_wait = e->waiter_count - 1;
	return 0;
}

static int flows_grow(struct engine *e, size_t count)
{
	size_t total = e->flow_count + count, numbers = total;
	struct engine_flow_state *flows = realloc(e->flows, total * sizeof(*flows));
	struct flow_memory *m = &e->memory;
	uint32_t *by_number;

	if (!flows)
		return -ENOMEM;
	e->flows = flows;
	if (numbers > m->numbers)
		numbers = m->numbers;
	by_number = realloc(m->by_number, numbers * sizeof(*by_number));
	if (!by_number)
		return -ENOMEM;
	memset(by_number + m->number_count, 0, (numbers - m->number_count) * sizeof(*by_number));
	m->by_number = by_number;
	m->number_count = (uint32_t)numbers;
	return 0;
}

/* It waits for nothing that is still to come. */
static void flow_ready(struct engine *e, uint32_t flow)
{
	if (operation_is_barrier(&e->flows[flow].flow))
		barrier_fall(e, flow);
	else
		flow_arm(e, flow);
}

/* Whether an operation may be message number n, from 1 on, of the stream that `first` begins. */
static bool stream_takes(const struct engine *e, const struct operation *first,
	const struct operation *o, uint32_t n)
{
	return operation_is_message(o) && o->src_host == first->src_host &&
	       o->dst_host == first->dst_host && o->bytes == first->bytes &&
	       (n == 1 ||
		       (o->bytes % e->env.mtu == 0 && o->bytes / e->env.mtu * n <= STREAM_PACKETS));
}

/* Counts the messages of each stream of a batch, which must be alike. 0, -ENOMEM or -EINVAL. */
static int streams_add(struct engine *e, const struct batch *b, uint32_t *ret_count)
{
	const struct operation **firsts = NULL;
	struct engine_stream *streams;
	uint32_t count = 0;
	int r = 0;

	for (size_t i = 0; i < b->count; i++)
		if (b->flows[i].stream > count)
			count = b->flows[i].stream;
	*ret_count = count;
	if (!count || !e->transport->release)
		return 0;
	streams = realloc(e->streams, (e->stream_count + (size_t)count) * sizeof(*streams));
	if (streams)
		e->streams = streams;
	firsts = calloc(count, sizeof(*firsts));
	if (!streams || !firsts) {
		free(firsts);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		streams[e->stream_count + i] = (struct engine_stream){.place = FLOW_NONE,
			.first = FLOW_NONE,
			.next_delivered = FLOW_NONE,
			.next_ended = FLOW_NONE,
			.last = FLOW_NONE};
	for (size_t i = 0; i < b->count && r == 0; i++) {
		const struct operation *o = &b->flows[i], **first;

		if (!o->stream)
			continue;
		first = &firsts[o->stream - 1];
		if (!*first)
			*first = o;
		r = stream_takes(e, *first, o, ++streams[e->stream_count + o->stream - 1].messages)
			    ? 0
			    : -EINVAL;
	}
	free(firsts);
	return r;
}

/* Whether a message of the present batch is the only one of its stream, or has none. */
static bool is_alone(const struct engine *e, const struct operation *o)
{
	return !o->stream || e->streams[e->stream_count + o->stream - 1].messages == 1;
}

int engine_add_flows(struct engine *e, const struct operation *flows, size_t count,
	const struct wait *waits, size_t wait_count)
{
	const struct batch batch = {e, flows, e->flow_count, count};
	uint32_t streams = 0;
	int r;

	if (!batch_valid(&batch, waits, wait_count))
		return -EINVAL;
	if (!count)
		return 0;
	r = streams_add(e, &batch, &streams);
	if (r == 0)
		r = flows_grow(e, count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct engine_flow_state *f = &e->flows[e->flow_count++];

		*f = (struct engine_flow_state){.flow = flows[i],
			.first_wait = FLOW_NONE,
			.place = FLOW_NONE,
			.next = FLOW_NONE};
		/* each message has a connection of its own where a transport can't do otherwise */
		if (!e->transport->release || is_alone(e, &f->flow))
			f->flow.stream = 0;
		else if (f->flow.stream)
			f->flow.stream += e->stream_count;
		e->stats.flows += operation_is_message(&flows[i]);
	}
	if (e->transport->release)
		e->stream_count += streams;
	for (size_t i = 0; i < wait_count; i++)
		if (wait_add(e, &waits[i]) < 0)
			return e->failed = -ENOMEM;
	for (uint32_t i = batch.first; i < e->flow_count; i++)
		if (!e->flows[i].needs)
			flow_ready(e, i);
	return e->failed;
}

/* ---- on the way ---- */

static uint64_t flow_seed(const struct engine *e, uint32_t flow)
{
	return rng_stream(e->seed, "flow", flow);
}

static struct flow_spec flow_spec_of(const struct engine *e, uint32_t flow)
{
	const struct operation *f = &e->flows[flow].flow;
	struct flow_spec spec = {
		.id = flow % e->memory.numbers,
		.src_host = f->src_host,
		.dst_host = f->dst_host,
		.bytes = f->bytes,
		.base_rtt_ps = f->base_rtt_ps,
		.seed = flow_seed(e, flow),
	};
	const struct port *src = e->ports[e->nodes[f->src_host].first_port].shared;
	const struct port *dst = e->ports[e->nodes[f->dst_host].first_port].shared;

	memcpy(spec.src_mac, src->mac, 6);
	memcpy(spec.dst_mac, dst->mac, 6);
	memcpy(spec.src_next, src->peer_mac, 6);
	memcpy(spec.dst_next, dst->peer_mac, 6);
	return spec;
}

/* Opens a connection with one message; `more` will follow. */
static struct engine_live *connection_open(
	struct engine *e, uint32_t flow, uint32_t more, uint64_t now)
{
	const struct operation *f = &e->flows[flow].flow;
	struct flow_spec spec = flow_spec_of(e, flow);
	struct engine_live *l = block_take(&e->memory);

	if (!l || e->memory.by_number[spec.id]) {
		e->failed =
			l ? -EBUSY : -ENOMEM; /* so long that its number's turn has come again */
		return NULL;
	}
	spec.more = more;
	e->memory.by_number[spec.id] = l->place + 1;
	l->flow = flow;
	l->stream = f->stream;
	for (int sender = 0; sender < 2; sender++) {
		struct endpoint *ep = flow_endpoint(e, l, sender);

		l->side[!sender].node = sender ? f->src_host : f->dst_host;
		ep->ops = e->transport;
		e->transport->open(ep, &e->env, &spec, sender, now);
	}
	return l;
}

/* A message of a stream: on the connection of those before it. */
static struct engine_live *stream_append(struct engine *e, uint32_t flow, uint64_t now)
{
	struct engine_stream *t = &e->streams[e->flows[flow].flow.stream - 1];
	struct engine_live *l;

	if (t->next_delivered == FLOW_NONE)
		t->next_delivered = flow;
	if (t->next_ended == FLOW_NONE)
		t->next_ended = flow;
	if (t->begun++) {
		e->flows[t->last].next = flow;
		l = flow_block(e, t->place);
		e->transport->release(flow_endpoint(e, l, true), t->begun, now);
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

struct engine_live *flow_due(struct engine *e, struct engine_node *n, uint32_t flow, uint64_t now)
{
	struct engine_flow_state *f = &e->flows[flow];

	if (f->state == FLOW_BEGUN) {
		flow_end(e, flow, now);
		return NULL;
	}
	f->state = FLOW_BEGUN;
	f->when_ps = now;
	tell_waiters(e, f, OPERATION_BEGUN, now);
	if (operation_is_message(&f->flow))
		return flow_open(e, flow, now);
	engine_arm(e, n, now + f->flow.lasts_ps, EVENT_START, flow);
	return NULL;
}

/* What has been counted since the last time, which `told` keeps. Paths are not added up. */
static struct endpoint_stats stats_since(
	const struct endpoint_stats *now, struct endpoint_stats *told)
{
	struct endpoint_stats ret;
	const uint64_t *to = (const uint64_t *)now;
	uint64_t *from = (uint64_t *)told, *since = (uint64_t *)&ret;

	_Static_assert(sizeof(ret) % sizeof(*since) == 0, "nothing but counters");
	for (size_t i = 0; i < sizeof(ret) / sizeof(*since); i++) {
		since[i] = to[i] - from[i];
		from[i] = to[i];
	}
	ret.paths_used = now->paths_used;
	return ret;
}

/* NULL, and the engine has failed: there is no memory. */
static struct engine_record *record_new(struct engine *e, uint32_t flow)
{
	struct flow_memory *m = &e->memory;

	if (ARRAY_ADD(m->records, m->record_count, (struct engine_record){0}) < 0) {
		e->failed = -ENOMEM;
		return NULL;
	}
	e->flows[flow].place = m->record_count - 1;
	e->flows[flow].over = true;
	return &m->records[m->record_count - 1];
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
		uint64_t paths = to->paths_used;

		for (size_t i = 0; i < sizeof(late) / sizeof(uint64_t); i++)
			((uint64_t *)to)[i] += ((uint64_t *)&late)[i];
		to->paths_used = paths;
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
	m->by_number[l->flow % m->numbers] = 0;
	l->next = m->free_head;
	m->free_head = l->place;
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
	flow_settle(e, l);
}

struct engine_live *flow_find(const struct engine *e, const struct rx_frame *rx, bool *ret_sender)
{
	const struct bth_hdr *bth = (const struct bth_hdr *)(rx->bytes + rx->transport_offset);
	uint32_t qp = be32(bth->qp) & BTH_MASK_24, number = qp_flow(&e->env, qp);
	struct engine_live *l;

	if (qp < QP_FIRST || number >= e->memory.number_count || !e->memory.by_number[number])
		return NULL;
	/* what comes back is addressed as it went out: its sender's is the other queue pair */
	*ret_sender = !(qp & 1) != rx->returned;
	l = flow_block(e, e->memory.by_number[number] - 1);
	/* with many flows a host none of it is in the cache: both are asked for at once */
	__builtin_prefetch(flow_endpoint(e, l, *ret_sender), 1);
	__builtin_prefetch((uint8_t *)flow_endpoint(e, l, *ret_sender) + 64, 1);
	__builtin_prefetch((uint8_t *)flow_endpoint(e, l, *ret_sender) + 128, 1);
	return l;
}

/* ---- what became of them ---- */

uint32_t engine_flow_count(const struct engine *e)
{
	return e->flow_count;
}

/* Of a stream: payload of its first message that is not complete yet. */
static uint64_t stream_received(const struct engine *e, const struct engine_stream *t)
{
	const struct engine_live *l = flow_block(e, t->place);
	uint64_t bytes = e->flows[t->next_delivered].flow.bytes;
	uint64_t received =
		flow_endpoint(e, (struct engine_live *)l, false)->received - t->delivered * bytes;

	return received < bytes ? received : bytes;
}

static void stream_result(const struct engine *e, uint32_t flow, struct engine_flow_result *ret)
{
	const struct engine_stream *t = &e->streams[ret->flow.stream - 1];

	/* what comes after the end of all counts for the last */
	if (flow == t->last && t->begun == t->messages && t->place != FLOW_NONE)
		ret->over = false;
	if (flow == t->next_delivered && t->place != FLOW_NONE)
		ret->received = stream_received(e, t);
}

void engine_flow_result(const struct engine *e, uint32_t flow, struct engine_flow_result *ret)
{
	const struct engine_flow_state *f = &e->flows[flow];
	struct engine_live *l = flow_live(e, flow);

	*ret = (struct engine_flow_result){
		.flow = f->flow,
		.start_ps = f->state >= FLOW_BEGUN ? f->when_ps : UINT64_MAX,
		.over = f->over && f->state == FLOW_ENDED,
	};
	if (f->over && f->place != FLOW_NONE) {
		const struct engine_record *r = &e->memory.records[f->place];

		ret->finish_ps = r->finish_ps;
		ret->delivered_ps = r->delivered_ps;
		ret->received = f->flow.bytes;
		ret->sender = r->sender;
		ret->receiver = r->receiver;
	} else if (l && !f->flow.stream) {
		ret->finish_ps = flow_endpoint(e, l, true)->finished_ps;
		ret->delivered_ps = flow_endpoint(e, l, false)->delivered_ps;
		ret->received = flow_endpoint(e, l, false)->received;
		ret->sender = flow_endpoint(e, l, true)->stats;
		ret->receiver = flow_endpoint(e, l, false)->stats;
	} else if (f->state == FLOW_ENDED) {
		ret->finish_ps =
			f->when_ps + (operation_is_barrier(&f->flow) ? 0 : f->flow.lasts_ps);
	}
	if (f->flow.stream)
		stream_result(e, flow, ret);
}

/* The message whose number its connection has. */
static uint32_t connection_of(const struct engine *e, uint32_t flow)
{
	uint32_t stream = e->flows[flow].flow.stream;

	return stream ? e->streams[stream - 1].first : flow;
}

void engine_flow_wire(const struct engine *e, uint32_t flow, struct engine_flow_wire *ret)
{
	const struct operation *f = &e->flows[flow].flow;
	uint32_t number = connection_of(e, flow);
	bool several = f->stream && e->streams[f->stream - 1].messages > 1;

	*ret = (struct engine_flow_wire){.ports = e->env.paths, .dscp = e->env.data_dscp};
	if (number == FLOW_NONE)
		return;
	ret->qp = flow_qp(&e->env, number % e->memory.numbers, 0, false);
	ret->qps = flow_qps(&e->env, f->bytes, several);
}

uint16_t engine_flow_port(const struct engine *e, uint32_t flow, uint32_t pair, uint32_t i)
{
	return flow_port(flow_seed(e, connection_of(e, flow)), true, pair, i);
}
