/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Operations as they are added: what makes sense, what waits for what, what shares a connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "engine/internal.h"

static bool flow_valid(const struct engine *e, const struct operation *f)
{
	if (operation_is_barrier(f))
		return f->dst_host == OPERATION_BARRIER && !f->bytes && !f->arrives && !f->stream;
	if (f->arrives && (!f->bytes || f->stream))
		return false;
	return f->src_host < e->host_count && f->dst_host < e->host_count &&
	       f->dscp <= DSCP_COUNT && f->transport < OPERATION_TRANSPORTS &&
	       e->transports[f->transport].ops && (f->src_host == f->dst_host) == !f->bytes;
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
	if (from->arrives || (w->from < b->first && b->e->flows[w->from].state == FLOW_NOTHING))
		return false; /* it may be forgotten */
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

/* Whether the event has happened, and when. */
static bool has_happened(
	const struct engine *e, uint32_t flow, enum operation_event event, uint64_t *ret_ps)
{
	struct engine_flow_result r;

	if (e->flows[flow].state < FLOW_BEGUN)
		return false; /* as nearly all of a list that is added */
	engine_flow_result(e, flow, &r);
	*ret_ps = event == OPERATION_BEGUN   ? r.start_ps
		  : event == OPERATION_ENDED ? r.finish_ps
					     : r.delivered_ps;
	return event == OPERATION_BEGUN ? r.start_ps != UINT64_MAX : *ret_ps != 0;
}

static int wait_add(struct engine *e, const struct wait *w)
{
	struct engine_flow_state *from = &e->flows[w->from], *to = &e->flows[w->to];
	uint64_t when;

	if (has_happened(e, w->from, w->event, &when)) {
		/* its moment counts, though it is over */
		if (when > to->when_ps)
			to->when_ps = when;
		return 0;
	}
	to->needs++;
	if (e->waiter_count == FLOW_NONE ||
		ARRAY_ADD(e->waiters, e->waiter_count,
			(struct engine_waiter){
				.to = w->to, .event = w->event, .next = from->first_wait}) < 0)
		return -ENOMEM;
	from->first_wait = e->waiter_count - 1;
	return 0;
}

/* Whether an operation may be message number n, from 1 on, of the stream that `first` begins. */
static bool stream_takes(const struct engine *e, const struct operation *first,
	const struct operation *o, uint32_t n)
{
	return o->src_host == first->src_host && o->dst_host == first->dst_host &&
	       o->bytes == first->bytes && o->dscp == first->dscp &&
	       o->transport == first->transport &&
	       (n == 1 || (o->bytes % engine_env(e)->mtu == 0 &&
				  o->bytes / engine_env(e)->mtu * n <= STREAM_PACKETS));
}

static bool in_stream(const struct operation *o, bool message)
{
	return o->stream && operation_is_message(o) == message;
}

/* Streams of a batch's messages, or of its computations. */
static uint32_t streams_of(const struct batch *b, bool messages)
{
	uint32_t count = 0;

	for (size_t i = 0; i < b->count; i++)
		if (in_stream(&b->flows[i], messages) && b->flows[i].stream > count)
			count = b->flows[i].stream;
	return count;
}

/* Streams of computations, each of which is at one host. 0, -ENOMEM or -EINVAL. */
static int work_streams_add(struct engine *e, const struct batch *b, uint32_t *ret_count)
{
	uint32_t count = streams_of(b, false);
	struct engine_work_stream *s;

	if (!count)
		return 0;
	s = reallocarray(e->work_streams, (size_t)e->work_stream_count + count, sizeof(*s));
	if (!s)
		return -ENOMEM;
	e->work_streams = s;
	s += e->work_stream_count;
	for (uint32_t i = 0; i < count; i++)
		s[i] = (struct engine_work_stream){0, OPERATION_BARRIER};
	for (size_t i = 0; i < b->count; i++) {
		const struct operation *o = &b->flows[i];
		uint32_t *host;

		if (!in_stream(o, false))
			continue;
		host = &s[o->stream - 1].host;
		if (*host != OPERATION_BARRIER && *host != o->src_host)
			return -EINVAL;
		*host = o->src_host;
	}
	*ret_count = count;
	return 0;
}

/* Counts the messages of each stream of a batch, which must be alike. 0, -ENOMEM or -EINVAL. */
static int streams_add(struct engine *e, const struct batch *b, uint32_t *ret_count)
{
	const struct operation **firsts = NULL;
	struct engine_stream *streams;
	uint32_t count = streams_of(b, true);
	int r = 0;

	*ret_count = count;
	if (!count)
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

		if (!in_stream(o, true))
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

/* Its number among all, of an operation of the present batch. */
static uint32_t stream_number(const struct engine *e, const struct operation *o)
{
	if (!o->stream)
		return 0;
	if (!operation_is_message(o))
		return e->work_stream_count + o->stream;
	/* each message has a connection of its own where a transport can't do otherwise */
	if (!e->transports[o->transport].ops->release ||
		e->streams[e->stream_count + o->stream - 1].messages == 1)
		return 0;
	return e->stream_count + o->stream;
}

/* What open loops of more than 64 million messages have in common does no harm. */
static uint32_t draw_number(struct engine *e, const struct operation *o)
{
	return o->arrives ? (1u << 31) + (o->entry << 26) + o->group : e->listed++;
}

int engine_add_flows(struct engine *e, const struct operation *flows, size_t count,
	const struct wait *waits, size_t wait_count)
{
	const struct batch batch = {e, flows, e->flow_count, count};
	uint32_t streams = 0, work_streams = 0;
	int r;

	if (!batch_valid(&batch, waits, wait_count))
		return -EINVAL;
	if (!count)
		return 0;
	r = streams_add(e, &batch, &streams);
	if (r == 0)
		r = work_streams_add(e, &batch, &work_streams);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct engine_flow_state *f = &e->flows[e->flow_count++];

		*f = (struct engine_flow_state){.flow = flows[i],
			.state = FLOW_WAITS,
			.drawn = draw_number(e, &flows[i]),
			.first_wait = FLOW_NONE,
			.place = FLOW_NONE,
			.next = FLOW_NONE};
		f->flow.stream = stream_number(e, &flows[i]);
		e->stats.flows += operation_is_message(&flows[i]) && !flows[i].arrives;
	}
	e->stream_count += streams;
	e->work_stream_count += work_streams;
	for (size_t i = 0; i < wait_count; i++)
		if (wait_add(e, &waits[i]) < 0)
			return e->failed = -ENOMEM;
	for (uint32_t i = batch.first; i < e->flow_count; i++)
		if (!e->flows[i].needs)
			flow_ready(e, i);
	return e->failed;
}
