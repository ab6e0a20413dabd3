/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Flows: adding them, their endpoints' memory, and what came of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/internal.h"

static struct flow_spec engine_spec(const struct engine *e, uint32_t flow)
{
	const struct engine_flow *f = &e->flows[flow].flow;
	struct flow_spec spec = {
		.id = flow,
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

void engine_open_endpoint(struct engine *e, uint32_t flow, bool sender, uint64_t now)
{
	struct flow_spec spec = engine_spec(e, flow);
	struct endpoint *ep = e->slots[flow_slot(flow, sender)].ep;

	ep->ops = e->transport;
	e->transport->open(ep, &e->env, &spec, sender, now);
}

#define ENDPOINT_ALIGN 64

static size_t engine_endpoint_bytes(const struct engine *e, uint32_t flow, bool sender)
{
	struct flow_spec spec = engine_spec(e, flow);

	return (e->transport->size(&e->env, &spec, sender) + ENDPOINT_ALIGN - 1) &
	       ~(size_t)(ENDPOINT_ALIGN - 1);
}

static bool engine_flow_valid(const struct engine *e, const struct engine_flow *f, uint32_t index)
{
	if (f->src_host >= e->host_count || f->dst_host >= e->host_count ||
		f->src_host == f->dst_host || !f->bytes)
		return false;
	if (f->after == ENGINE_NO_FLOW)
		return true;
	/* its end is known where it was sent from, and nowhere else at that moment */
	return f->after < index && e->flows[f->after].flow.src_host == f->src_host;
}

static void engine_place_flow(struct engine *e, uint32_t index, uint8_t **memory)
{
	struct engine_flow_state *f = &e->flows[index];

	for (int side = 0; side < 2; side++) {
		struct engine_slot *s = &e->slots[2 * index + side];

		*s = (struct engine_slot){
			.ep = (struct endpoint *)*memory,
			.node = side ? f->flow.dst_host : f->flow.src_host,
			.active_next = SLOT_NONE,
		};
		*memory += engine_endpoint_bytes(e, index, !side);
	}
	engine_open_endpoint(e, index, false, e->now_ps);
	if (f->flow.after == ENGINE_NO_FLOW || e->flows[f->flow.after].done) {
		uint64_t start = f->flow.start_ps;

		if (f->flow.after != ENGINE_NO_FLOW)
			start += e->slots[flow_slot(f->flow.after, true)].ep->finished_ps;
		if (start < e->now_ps)
			start = e->now_ps;
		engine_arm(e, &e->nodes[f->flow.src_host], start, EVENT_START, index);
		return;
	}
	f->next_after = e->flows[f->flow.after].first_after;
	e->flows[f->flow.after].first_after = index;
}

static int engine_grow(struct engine *e, size_t count)
{
	size_t total = e->flow_count + count;
	struct engine_flow_state *flows;
	struct engine_slot *slots;
	void **arenas;

	flows = realloc(e->flows, total * sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	e->flows = flows;
	slots = realloc(e->slots, 2 * total * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	e->slots = slots;
	arenas = realloc(e->arenas, (e->arena_count + 1) * sizeof(*arenas));
	if (!arenas)
		return -ENOMEM;
	e->arenas = arenas;
	return 0;
}

int engine_add_flows(struct engine *e, const struct engine_flow *flows, size_t count)
{
	uint32_t first = e->flow_count;
	size_t bytes = 0;
	uint8_t *memory;
	int r;

	if (count > ENGINE_FLOWS_MAX / e->env.qps - first)
		return -EINVAL;
	if (!count)
		return 0;
	r = engine_grow(e, count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		e->flows[first + i] = (struct engine_flow_state){.flow = flows[i],
			.start_ps = UINT64_MAX,
			.first_after = ENGINE_NO_FLOW,
			.next_after = ENGINE_NO_FLOW};
		if (!engine_flow_valid(e, &flows[i], first + (uint32_t)i))
			return -EINVAL;
		bytes += engine_endpoint_bytes(e, first + (uint32_t)i, true) +
			 engine_endpoint_bytes(e, first + (uint32_t)i, false);
	}
	memory = aligned_alloc(ENDPOINT_ALIGN, bytes ? bytes : ENDPOINT_ALIGN);
	if (!memory)
		return -ENOMEM;
	memset(memory, 0, bytes);
	e->arenas[e->arena_count++] = memory;
	e->flow_count += (uint32_t)count;
	e->stats.flows = e->flow_count;
	for (uint32_t i = first; i < e->flow_count; i++)
		engine_place_flow(e, i, &memory);
	return e->failed;
}

void engine_flow_result(const struct engine *e, uint32_t flow, struct engine_flow_result *ret)
{
	const struct endpoint *tx = e->slots[flow_slot(flow, true)].ep;
	const struct endpoint *rx = e->slots[flow_slot(flow, false)].ep;

	*ret = (struct engine_flow_result){
		.flow = e->flows[flow].flow,
		.start_ps = e->flows[flow].start_ps,
		.finish_ps = tx->finished_ps,
		.delivered_ps = rx->delivered_ps,
		.sender = tx->stats,
		.receiver = rx->stats,
	};
}
