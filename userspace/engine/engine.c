/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Setting up, and what the caller may read. run.c makes time pass, change.c what befalls links. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/internal.h"
#include "lib/buffer.h"
#include "lib/pause.h"

static int engine_copy_net(struct engine *e, const struct net *net)
{
	e->node_count = net->node_count;
	e->host_count = net->host_count;
	e->port_count = PORT_FIRST + net->port_count;
	e->nodes = calloc(e->node_count, sizeof(*e->nodes));
	e->ports = aligned_alloc(sizeof(*e->ports), e->port_count * sizeof(*e->ports));
	e->links = calloc(e->port_count, sizeof(*e->links));
	e->schedule = calloc(e->node_count, sizeof(*e->schedule));
	e->queues = calloc((size_t)e->port_count * CLASSES, sizeof(*e->queues));
	e->control = calloc(e->port_count, sizeof(*e->control));
	e->senders = calloc((size_t)e->host_count * CLASSES, sizeof(*e->senders));
	if (!e->nodes || !e->ports || !e->links || !e->schedule || !e->queues || !e->control ||
		!e->senders)
		return -ENOMEM;
	memset(e->ports, 0, e->port_count * sizeof(*e->ports));
	for (uint32_t i = 0; i < net->node_count; i++) {
		const struct net_node *from = &net->nodes[i];
		struct engine_node *n = &e->nodes[i];

		n->first_port = from->first_port;
		n->port_count = from->port_count;
		n->is_host = from->kind == NODE_HOST;
		/* grows with PFC, where a port may arm a third event, and at hosts with flows */
		n->events.capacity = 2 * from->port_count;
		n->events.items = calloc(n->events.capacity, sizeof(struct event));
		if (!n->events.items)
			return -ENOMEM;
	}
	return 0;
}

/* The least time from an event at a node to its effect on another: the shortest frame on a link. */
void engine_bound_lookahead(struct engine *e, uint32_t port)
{
	uint64_t least = port_serialise(e, port, 0) + engine_link_delay(e, port);

	if (least < e->lookahead_ps)
		e->lookahead_ps = least;
}

/* How much the links of a node can bring in one window. A later, shorter window brings less. */
void engine_bound_window(const struct engine *e, struct engine_node *n)
{
	double bits = 0;

	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++)
		bits += (double)e->links[id].peak_bps * (double)e->lookahead_ps / PS_PER_S;
	n->window_bytes = (uint64_t)(bits / 8) + 1;
}

static void engine_copy_ports(struct engine *e, const struct net *net)
{
	e->lookahead_ps = UINT64_MAX;
	for (uint32_t id = PORT_FIRST; id < e->port_count; id++) {
		const struct net_port *from = &net->ports[id];

		e->ports[id] = (struct engine_port){
			.node = from->node,
			.peer = from->peer,
			.delay_ps = net_port_flight(from),
			.shared = &e->dp->tables.ports[id],
			.wire = PACKET_FIFO_INIT,
		};
		e->links[id].own_delay_ps = net_port_flight(from);
		e->links[id].latency_ps = from->latency_ps;
		e->overtakes |= from->latency_ps != 0;
		port_set_rate(e, id, from->rate_bps);
		engine_bound_lookahead(e, id);
	}
	for (uint32_t i = 0; i < e->node_count; i++)
		engine_bound_window(e, &e->nodes[i]);
}

static bool engine_params_valid(const struct engine_params *p)
{
	if (!p->net->host_count ||
		p->dataplane->tables.count.ports < PORT_FIRST + p->net->port_count ||
		!p->transports[0].ops)
		return false;
	for (uint32_t i = 0; i < OPERATION_TRANSPORTS; i++)
		if (p->transports[i].ops && !p->transports[i].env.qps)
			return false;
	for (uint32_t i = 0; i < p->net->host_count; i++)
		if (p->net->nodes[i].port_count != 1)
			return false;
	return true;
}

/* A flow of any takes as many numbers of queue pairs. */
static void engine_copy_transports(struct engine *e, const struct engine_params *params)
{
	uint8_t most = 0;

	memcpy(e->transports, params->transports, sizeof(e->transports));
	for (uint32_t i = 0; i < OPERATION_TRANSPORTS; i++)
		if (e->transports[i].env.qps > most)
			most = e->transports[i].env.qps;
	for (uint32_t i = 0; i < OPERATION_TRANSPORTS; i++)
		e->transports[i].env.spare_qps = (uint8_t)(most - e->transports[i].env.qps);
}

/* Which classes there are, and which one turns into which. */
static void engine_note_classes(struct engine *e)
{
	const struct sw_config *config = &e->dp->tables.config;

	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++) {
		uint8_t class = engine_class(e, dscp);

		e->used_classes |= (uint8_t)(1u << class);
		e->becomes[class] |= (uint8_t)(1u << class);
		if (engine_has(e, SW_ROLES))
			e->becomes[class] |= (uint8_t)(1u << engine_class(e, config->retag[dscp]));
	}
}

int engine_new(struct engine **ret, const struct engine_params *params)
{
	struct engine *e;
	int r = -ENOMEM;

	if (!engine_params_valid(params))
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->dp = params->dataplane;
	e->features = e->dp->tables.config.features;
	engine_copy_transports(e, params);
	e->observer = params->observer;
	e->seed = params->seed;
	e->spare = PACKET_NONE;
	e->lasting = params->lasting;
	e->balances = e->lasting || engine_has(e, SW_BALANCE);
	e->stack_queue = params->stack_queue;
	e->frame_capacity = e->dp->frame_capacity;
	if (params->stack_frame > e->frame_capacity)
		e->frame_capacity = params->stack_frame;
	r = engine_copy_net(e, params->net);
	if (r < 0)
		goto fail;
	r = packet_pool_init(&e->pool, e->frame_capacity);
	if (r < 0)
		goto fail;
	r = flow_memory_init(e);
	if (r < 0)
		goto fail;
	r = pause_init(e);
	if (r < 0)
		goto fail;
	engine_copy_ports(e, params->net);
	egress_init(e, &params->schedule);
	engine_note_classes(e);
	schedule_init(e);
	*ret = e;
	return 0;
fail:
	engine_free(e);
	return r;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; e->nodes && i < e->node_count; i++)
		free(e->nodes[i].events.items);
	packet_pool_release(&e->pool);
	flow_memory_release(e);
	free(e->nodes);
	free(e->ports);
	free(e->links);
	free(e->schedule);
	free(e->queues);
	free(e->control);
	free(e->pauses);
	free(e->senders);
	free(e);
}

uint64_t engine_now(const struct engine *e)
{
	return e->now_ps;
}

bool engine_done(const struct engine *e)
{
	return e->flows_ended == e->flow_count && e->now_ps >= e->end_ps;
}

void engine_set_shares(struct engine *e, const struct fair_shares *shares)
{
	e->shares = shares;
}

uint64_t engine_paused(const struct engine *e, uint32_t port, uint32_t class)
{
	const struct queue *q = &e->dp->tables.queues[port * CLASSES + class];

	return q->paused_ps - pause_left(q, e->now_ps);
}

void engine_stats(const struct engine *e, struct engine_stats *ret)
{
	*ret = e->stats;
	ret->in_flight = e->pool.in_use - (e->spare != PACKET_NONE);
	for (uint32_t i = PORT_FIRST * CLASSES; i < e->port_count * CLASSES; i++) {
		const struct ingress *in = &e->dp->tables.ingresses[i];
		const struct queue *q = &e->dp->tables.queues[i];

		if (q->max_depth_bytes > ret->max_queue_bytes)
			ret->max_queue_bytes = q->max_depth_bytes;
		ret->pauses_sent += in->pauses_sent;
		ret->resumes_sent += in->resumes_sent;
		ret->paused_ps += engine_paused(e, i / CLASSES, i % CLASSES);
	}
	ret->trace_hash = 0;
	for (uint32_t i = 0; i < e->node_count; i++)
		ret->trace_hash = rng_mix(ret->trace_hash ^ e->nodes[i].trace);
}

const struct engine_stats *engine_counts(const struct engine *e)
{
	return &e->stats;
}

uint64_t engine_lookahead(const struct engine *e)
{
	return e->lookahead_ps;
}

int engine_check_balance(const struct engine *e)
{
	uint64_t ended, dropped = 0, counted = 0;
	struct engine_stats s;

	engine_stats(e, &s);
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		dropped += s.dropped[i];
	for (uint32_t id = PORT_FIRST; id < e->port_count; id++)
		for (int i = 0; i < DROP_SLOTS; i++)
			counted += e->dp->tables.drops[id].frames[i];
	ended = s.delivered + s.consumed + dropped;
	return s.sent + s.made == ended + s.in_flight && counted == dropped ? 0 : -EIO;
}

uint32_t engine_queue_depth(const struct engine *e, uint32_t port, uint32_t class)
{
	return e->dp->tables.queues[port * CLASSES + class].depth_bytes;
}

uint64_t engine_busy(const struct engine *e, uint32_t port)
{
	const struct port *p = e->ports[port].shared;

	return p->tx_busy_ps - (p->tx_until_ps > e->now_ps ? p->tx_until_ps - e->now_ps : 0);
}

const struct sw_tables *engine_tables(const struct engine *e)
{
	return &e->dp->tables;
}

uint64_t engine_link_rate(const struct engine *e, uint32_t port)
{
	return e->links[port].rate_bps;
}

uint64_t engine_link_delay(const struct engine *e, uint32_t port)
{
	return e->ports[port].delay_ps - e->links[port].latency_ps;
}

uint64_t engine_queue_limit(const struct engine *e, uint32_t port, uint32_t class)
{
	const struct queue *q = &e->dp->tables.queues[port * CLASSES + class];

	if (q->lossless || e->nodes[e->ports[port].node].is_host)
		return UINT64_MAX;
	return q->alpha
		       ? buffer_threshold(port_switch(e, &e->ports[port]), q->limit_bytes, q->alpha)
		       : q->limit_bytes;
}

bool engine_is_paused(const struct engine *e, uint32_t port, uint32_t class)
{
	return e->ports[port].paused >> class & 1;
}
