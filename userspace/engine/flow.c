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
	m->blocks = mmap(0, FLOW_RESERVE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->blocks == MAP_FAILED) {
		m->blocks = NULL;
		return -ENOMEM;
	}
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
}

/* A zeroed block; NULL: there is no memory. */
static struct engine_live *block_take(struct flow_memory *m, uint32_t *ret_place)
{
	struct engine_live *l;

	if (m->free_head == FLOW_NONE) {
		if (m->fresh == m->capacity)
			return NULL;
		*ret_place = m->fresh++;
		return (struct engine_live *)(m->blocks + (size_t)*ret_place * m->block_bytes);
	}
	*ret_place = m->free_head;
	l = (struct engine_live *)(m->blocks + (size_t)*ret_place * m->block_bytes);
	m->free_head = l->next;
	memset(l, 0, m->block_bytes);
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
		engine_arm(e, &e->nodes[f->flow.src_host], due, EVENT_START, flow);
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

int engine_add_flows(struct engine *e, const struct operation *flows, size_t count,
	const struct wait *waits, size_t wait_count)
{
	const struct batch batch = {e, flows, e->flow_count, count};
	int r;

	if (!batch_valid(&batch, waits, wait_count))
		return -EINVAL;
	if (!count)
		return 0;
	r = flows_grow(e, count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		e->flows[e->flow_count++] = (struct engine_flow_state){
			.flow = flows[i], .first_wait = FLOW_NONE, .place = FLOW_NONE};
		e->stats.flows += operation_is_message(&flows[i]);
	}
	for (size_t i = 0; i < wait_count; i++)
		if (wait_add(e, &waits[i]) < 0)
			return e->failed = -ENOMEM;
	for (uint32_t i = batch.first; i < e->flow_count; i++)
		if (!e->flows[i].needs)
			flow_ready(e, i);
	return e->failed;
}

/* ---- on the way ---- */

static struct flow_spec flow_spec_of(const struct engine *e, uint32_t flow)
{
	const struct operation *f = &e->flows[flow].flow;
	struct flow_spec spec = {
		.id = flow % e->memory.numbers,
		.src_host = f->src_host,
		.dst_host = f->dst_host,
		.bytes = f->bytes,
		.base_rtt_ps = f->base_rtt_ps,
		.seed = rng_stream(e->seed, "flow", flow),
	};
	const struct port *src = e->ports[e->nodes[f->src_host].first_port].shared;
	const struct port *dst = e->ports[e->nodes[f->dst_host].first_port].shared;

	memcpy(spec.src_mac, src->mac, 6);
	memcpy(spec.dst_mac, dst->mac, 6);
	memcpy(spec.src_next, src->peer_mac, 6);
	memcpy(spec.dst_next, dst->peer_mac, 6);
	return spec;
}

static struct engine_live *flow_open(struct engine *e, uint32_t flow, uint64_t now)
{
	struct engine_flow_state *f = &e->flows[flow];
	struct flow_spec spec = flow_spec_of(e, flow);
	struct engine_live *l = block_take(&e->memory, &f->place);

	if (!l || e->memory.by_number[spec.id]) {
		e->failed =
			l ? -EBUSY : -ENOMEM; /* so long that its number's turn has come again */
		return NULL;
	}
	e->memory.by_number[spec.id] = f->place + 1;
	l->flow = flow;
	for (int sender = 0; sender < 2; sender++) {
		struct endpoint *ep = flow_endpoint(e, l, sender);

		l->side[!sender].node = sender ? f->flow.src_host : f->flow.dst_host;
		ep->ops = e->transport;
		e->transport->open(ep, &e->env, &spec, sender, now);
	}
	return l;
}

static void flow_end(struct engine *e, uint32_t flow, uint64_t end)
{
	struct engine_flow_state *f = &e->flows[flow];

	f->state = FLOW_ENDED;
	e->flows_ended++;
	if (end + e->lookahead_ps > e->end_ps)
		e->end_ps = end + e->lookahead_ps;
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

void flow_follow_up(struct engine *e, struct engine_live *l, bool sender)
{
	struct engine_flow_state *f = &e->flows[l->flow];
	const struct endpoint *ep = flow_endpoint(e, l, sender);

	if (sender && ep->finished_ps && f->state == FLOW_BEGUN) {
		e->stats.flows_done++;
		e->stats.bytes_delivered += f->flow.bytes;
		flow_end(e, l->flow, ep->finished_ps);
	}
	if (!sender && ep->delivered_ps && !l->delivered) {
		l->delivered = true;
		tell_waiters(e, f, OPERATION_DELIVERED, ep->delivered_ps);
	}
}

/* ---- over ---- */

void flow_settle(struct engine *e, struct engine_live *l)
{
	const struct endpoint *tx = flow_endpoint(e, l, true), *rx = flow_endpoint(e, l, false);
	struct engine_flow_state *f = &e->flows[l->flow];
	struct flow_memory *m = &e->memory;
	uint32_t place = f->place;

	if (sw_likely(f->state != FLOW_ENDED || l->in_flight) || tx->deadline_ps || rx->deadline_ps)
		return;
	if (l->side[0].active)
		return; /* it is in its host's ring yet */
	if (ARRAY_ADD(m->records, m->record_count,
		    (struct engine_record){
			    tx->finished_ps, rx->delivered_ps, tx->stats, rx->stats}) < 0) {
		e->failed = -ENOMEM;
		return;
	}
	f->place = m->record_count - 1;
	f->over = true;
	m->by_number[l->flow % m->numbers] = 0;
	l->next = m->free_head;
	m->free_head = place;
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

	if (qp < QP_FIRST || number >= e->memory.number_count || !e->memory.by_number[number])
		return NULL;
	/* what comes back is addressed as it went out: its sender's is the other queue pair */
	*ret_sender = !(qp & 1) != rx->returned;
	return flow_block(e, e->memory.by_number[number] - 1);
}

/* ---- what became of them ---- */

uint32_t engine_flow_count(const struct engine *e)
{
	return e->flow_count;
}

void engine_flow_result(const struct engine *e, uint32_t flow, struct engine_flow_result *ret)
{
	const struct engine_flow_state *f = &e->flows[flow];
	struct engine_live *l = flow_live(e, flow);

	*ret = (struct engine_flow_result){
		.flow = f->flow, .start_ps = f->state >= FLOW_BEGUN ? f->when_ps : UINT64_MAX};
	if (f->over && f->place != FLOW_NONE) {
		const struct engine_record *r = &e->memory.records[f->place];

		ret->finish_ps = r->finish_ps;
		ret->delivered_ps = r->delivered_ps;
		ret->sender = r->sender;
		ret->receiver = r->receiver;
	} else if (l) {
		ret->finish_ps = flow_endpoint(e, l, true)->finished_ps;
		ret->delivered_ps = flow_endpoint(e, l, false)->delivered_ps;
		ret->sender = flow_endpoint(e, l, true)->stats;
		ret->receiver = flow_endpoint(e, l, false)->stats;
	} else if (f->state == FLOW_ENDED) {
		ret->finish_ps =
			f->when_ps + (operation_is_barrier(&f->flow) ? 0 : f->flow.lasts_ps);
	}
}
