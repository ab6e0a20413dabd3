/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/ports.h"

#include <errno.h>
#include <string.h>
#include "abi/policies.h"
#include "abi/wire.h"
#include "base/rng_stream.h"
#include "base/wiretime.h"

/* The lowest DSCP of a class; of a class without any, `otherwise`. */
static uint8_t dscp_of(const struct sw_config *config, uint32_t class, uint8_t otherwise)
{
	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++)
		if (config->class_of[dscp] == class)
			return dscp;
	return otherwise;
}

static uint32_t features_of(const struct switching *s)
{
	uint32_t features = s->config.features | (s->shared ? SW_BUFFERS : 0);

	for (uint32_t class = 0; class < CLASSES; class ++) {
		const struct switching_class *c = &s->classes[class];

		if (!c->used)
			continue;
		features |= class ? SW_CLASSES : 0;
		features |= c->lossless ? SW_BUFFERS : 0;
		features |= c->average ? SW_AVERAGE : 0;
	}
	return features;
}

static uint8_t trimmed_classes(const struct switching *s)
{
	uint8_t mask = 0;

	for (uint32_t class = 0; class < CLASSES; class ++) {
		const struct switching_class *c = &s->classes[class];

		if (c->used && !c->lossless && !c->headers)
			mask |= (uint8_t)(1u << class);
	}
	return mask;
}

void ports_config(struct sw_config *ret, const struct switching *s)
{
	*ret = s->config;
	ret->features = features_of(s);
	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++) {
		uint8_t class = ret->class_of[dscp];

		ret->retag[dscp] = dscp;
		if ((ret->features & SW_ROLES) && s->remap[class] != class)
			ret->retag[dscp] = dscp_of(ret, s->remap[class], dscp);
	}
	if (ret->features & SW_TRIM)
		ret->trim_classes = trimmed_classes(s);
}

static uint32_t within_32_bits(uint64_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static uint32_t alpha_of(const struct switching *s)
{
	uint32_t alpha = (uint32_t)(s->alpha * 256 + 0.5);

	if (!s->shared)
		return 0;
	return alpha ? alpha : 1;
}

static void queue_configure(struct queue *q, const struct switching *s,
	const struct switching_class *c, const struct net_port *link)
{
	*q = (struct queue){0};
	if (!c->used)
		return;
	q->kmin_bytes = within_32_bits(switching_depth_bytes(&c->kmin, link->rate_bps));
	q->kmax_bytes = within_32_bits(switching_depth_bytes(&c->kmax, link->rate_bps));
	q->pmax = (uint32_t)(c->pmax * 65536);
	q->average_shift = (uint8_t)c->average;
	q->lossless = c->lossless;
	q->limit_bytes = c->lossless ? UINT32_MAX : within_32_bits(c->limit_bytes);
	q->alpha = c->lossless || c->headers ? 0 : alpha_of(s);
}

static int ingress_configure(struct ingress *in, const struct switching *s,
	const struct switching_class *c, const struct net_port *link)
{
	uint64_t headroom, xoff;

	*in = (struct ingress){0};
	if (!c->used || !c->lossless)
		return 0;
	headroom = switching_headroom(s, c, link);
	xoff = switching_xoff(s, c, link);
	if (headroom > UINT32_MAX || xoff > UINT32_MAX)
		return -EINVAL;
	if (!s->shared && (headroom >= c->limit_bytes || xoff > c->limit_bytes - headroom))
		return -EINVAL;
	in->lossless = 1;
	in->xoff_bytes = (uint32_t)xoff;
	in->alpha = alpha_of(s);
	in->xon_bytes = within_32_bits(c->xon_bytes);
	in->headroom_limit = (uint32_t)headroom;
	return 0;
}

static void port_configure(struct sw_tables *t, const struct net *net, uint64_t seed, uint32_t id)
{
	const struct net_node *node = &net->nodes[net->ports[id].node];
	uint32_t peer = net->ports[id].peer;
	struct port *port = &t->ports[id];

	*port = (struct port){
		.kind = node->kind == NODE_HOST ? PORT_HOST : PORT_SWITCH,
		.switch_id = node->kind == NODE_SWITCH ? node->number : 0,
		.host = node->kind == NODE_HOST ? node->number : HOST_NONE,
		.peer = peer,
		.up = 1,
		.role = ROLE_UNKNOWN,
		.rng = rng_stream(seed, "port", id),
		.quantum = pfc_quantum(net->ports[id].rate_bps),
		.rate_bps = net->ports[id].rate_bps,
	};
	port_mac(id, port->mac);
	port_mac(peer, port->peer_mac);
}

/* A host's own queue refuses nothing and marks nothing, and what arrives there is taken at once. */
static void host_buffers(struct sw_tables *t, uint32_t id)
{
	for (uint32_t i = id * CLASSES; i < (id + 1) * CLASSES; i++) {
		t->queues[i] = (struct queue){.limit_bytes = UINT32_MAX};
		t->ingresses[i] = (struct ingress){0};
	}
}

static int switch_buffers(
	struct sw_tables *t, const struct net *net, const struct switching *s, uint32_t id)
{
	const struct net_port *link = &net->ports[id];

	for (uint32_t class = 0; class < CLASSES; class ++) {
		const struct switching_class *c = &s->classes[class];
		int r = ingress_configure(&t->ingresses[id * CLASSES + class], s, c, link);

		if (r < 0)
			return r;
		queue_configure(&t->queues[id * CLASSES + class], s, c, link);
	}
	return 0;
}

/* The buffers that are the whole switch's. */
static int switch_pools(
	struct sw_tables *t, const struct net *net, const struct switching *s, uint32_t number)
{
	uint32_t node = net->host_count + number;
	struct switch_state *sw = &t->switches[number];

	sw->pool_bytes = s->shared ? switching_pool_left(s, net, node) : 0;
	if (s->shared && !sw->pool_bytes)
		return -EINVAL;
	sw->pool_used = sw->pool_max = 0;
	for (uint32_t class = 0; class < CLASSES; class ++) {
		const struct switching_class *c = &s->classes[class];
		uint64_t headroom =
			c->used && c->lossless ? switching_headroom_sum(s, c, net, node) : 0;

		if (headroom > UINT32_MAX)
			return -EINVAL;
		sw->headroom_bytes[class] = (uint32_t)headroom;
		sw->headroom_used[class] = 0;
	}
	return 0;
}

/* What a switch's policy goes by, and its part of the flow table; it remembers nothing yet. */
static void switch_balance(
	struct sw_tables *t, const struct net *net, const struct switching *s, uint32_t number)
{
	const struct switching_balance *b =
		&s->balances[net->nodes[net->host_count + number].balance];
	struct switch_balance *of = &t->balances[number];

	t->switches[number].balance = b->policy;
	*of = (struct switch_balance){
		.gap_ps = b->gap_ps,
		.lifetime_ps = b->lifetime_ps,
		.threshold_bytes = within_32_bits(b->threshold_bytes),
		.choices = b->choices,
		.remembered = b->remembered,
		.first_set = number * t->config.flow_sets,
		.flow_sets = t->config.flow_sets,
		.flows = of->flows,
		.forgotten = of->forgotten,
	};
}

void ports_swap_policy(
	struct sw_tables *t, const struct net *net, const struct switching *s, bool swapped)
{
	for (uint32_t i = 0; i < net->switch_count; i++) {
		switch_balance(t, net, s, i);
		if (swapped)
			t->switches[i].balance = BALANCE_FILE;
	}
	memset(t->balance_flows, 0, (size_t)t->count.balance_flows * sizeof(*t->balance_flows));
}

int ports_configure(
	struct sw_tables *t, const struct net *net, const struct switching *s, uint64_t seed)
{
	int r = 0;

	for (uint32_t id = PORT_FIRST; r == 0 && id < PORT_FIRST + net->port_count; id++) {
		port_configure(t, net, seed, id);
		if (t->ports[id].kind == PORT_HOST)
			host_buffers(t, id);
		else
			r = switch_buffers(t, net, s, id);
	}
	for (uint32_t i = 0; r == 0 && i < net->switch_count; i++) {
		t->switches[i].hash_seed = rng_stream(seed, "switch", i);
		t->switches[i].host_count = net->host_count;
		switch_balance(t, net, s, i);
		r = switch_pools(t, net, s, i);
	}
	return r;
}
