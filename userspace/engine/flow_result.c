/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What became of operations. */
#include "engine/internal.h"

uint32_t engine_flow_count(const struct engine *e)
{
	return e->flow_count;
}

uint32_t engine_work_streams(const struct engine *e)
{
	return e->work_stream_count;
}

uint64_t engine_received(const struct engine *e)
{
	const struct flow_memory *m = &e->memory;
	uint64_t bytes = m->closed_bytes;

	for (uint32_t place = 0; place < m->fresh; place++) {
		struct engine_live *l = flow_block(e, place);

		if (l->open)
			bytes += flow_endpoint(e, l, false)->received;
	}
	return bytes;
}

/* Of a stream: payload that has come of messages that are not complete yet. */
static uint64_t stream_received(const struct engine *e, const struct engine_stream *t)
{
	struct engine_live *l = flow_block(e, t->place);
	uint64_t bytes = e->flows[t->first].flow.bytes;

	return flow_endpoint(e, l, false)->received - t->delivered * bytes;
}

static uint64_t at_most(uint64_t bytes, uint64_t limit)
{
	return bytes < limit ? bytes : limit;
}

static void stream_result(const struct engine *e, uint32_t flow, struct engine_flow_result *ret)
{
	const struct engine_stream *t = &e->streams[ret->flow.stream - 1];

	/* what comes after the end of all counts for the last */
	if (flow == t->last && t->begun == t->messages && t->place != FLOW_NONE)
		ret->over = false;
	if (flow == t->next_delivered && t->place != FLOW_NONE)
		ret->received = at_most(stream_received(e, t), ret->flow.bytes);
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
	if (f->state == FLOW_NOTHING) {
		ret->flow.entry = UINT32_MAX;
		return;
	}
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
			f->when_ps +
			(operation_is_barrier(&f->flow) ? 0 : f->flow.lasts_ps + f->flow.after_ps);
	}
	if (f->flow.stream && operation_is_message(&f->flow))
		stream_result(e, flow, ret);
}

/*
 * Of a stream: marks count for the message that ends next, as its result will have it. What has
 * come counts for the messages in their order, whichever it is of: the sum is right.
 */
static void stream_now(const struct engine *e, const struct engine_stream *t,
	struct engine_flow_now *now, void (*take)(void *arg, const struct engine_flow_now *now),
	void *arg)
{
	uint64_t left = stream_received(e, t);

	now->marks -= t->sender.marks;
	for (uint32_t i = t->next_ended; i != FLOW_NONE; i = e->flows[i].next) {
		now->flow = i;
		now->received = e->flows[i].flow.bytes;
		if (!e->flows[i].over) {
			now->received = at_most(left, now->received);
			left -= now->received;
		}
		take(arg, now);
		now->marks = now->sender.in_flight_bytes = 0;
	}
}

void engine_flows_now(const struct engine *e,
	void (*take)(void *arg, const struct engine_flow_now *now), void *arg)
{
	for (uint32_t place = 0; place < e->memory.fresh; place++) {
		struct engine_live *l = flow_block(e, place);
		const struct endpoint *sender = flow_endpoint(e, l, true);
		struct engine_flow_now now = {.sender = SENDER_STATE_NONE};

		if (!l->open || (!l->stream && e->flows[l->flow].state == FLOW_ENDED))
			continue;
		now.flow = l->flow;
		now.received = flow_endpoint(e, l, false)->received;
		now.marks = sender->stats.marks;
		if (sender->ops->sender_state)
			sender->ops->sender_state(sender, e->now_ps, &now.sender);
		if (l->stream)
			stream_now(e, &e->streams[l->stream - 1], &now, take, arg);
		else
			take(arg, &now);
	}
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
	const struct engine_transport *t = &e->transports[f->transport];
	const struct transport_env *env = &t->env;
	uint32_t first = connection_of(e, flow), number;

	*ret = (struct engine_flow_wire){
		.ports = env->paths, .dscp = flow_dscp(e, f), .transport = t->name};
	if (first == FLOW_NONE)
		return;
	number =
		e->flows[first].state < FLOW_BEGUN ? flow_number(e, first) : e->flows[first].number;
	ret->qp = flow_qp(env, number, 0, false);
	ret->qps = flow_qps(env, f->bytes);
}

uint16_t engine_flow_port(const struct engine *e, uint32_t flow, uint32_t pair, uint32_t i)
{
	return flow_port(flow_seed(e, connection_of(e, flow)), true, pair, i);
}
