/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/ports.h"

#include <errno.h>
#include <string.h>
#include "abi/wire.h"
#include "base/headroom.h"
#include "base/rng.h"
#include "base/units.h"

static bool is_header_class(const struct ports_params *p, uint32_t class)
{
	return (p->features & SW_TRIM) && class == p->trim.class;
}

static bool is_used(const struct ports_params *p, uint32_t class)
{
	return p->classes[class].used || is_header_class(p, class);
}

/* The lowest DSCP of a class; of a class without any, `otherwise`. */
static uint8_t dscp_of(const struct ports_params *p, uint32_t class, uint8_t otherwise)
{
	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++)
		if (p->class_of[dscp] == class)
			return dscp;
	return otherwise;
}

static uint32_t features_of(const struct ports_params *p)
{
	uint32_t features = p->features | (p->shared ? SW_BUFFERS : 0);

	for (uint32_t class = 0; class < CLASSES; class ++) {
		const struct ports_class *c = &p->classes[class];

		if (!is_used(p, class))
			continue;
		features |= class ? SW_CLASSES : 0;
		features |= c->lossless ? SW_BUFFERS : 0;
		features |= c->average ? SW_AVERAGE : 0;
	}
	return features;
}

static void config_trim(struct sw_config *ret, const struct ports_params *p)
{
	for (uint32_t class = 0; class < CLASSES; class ++)
		if (p->classes[class].used && !p->classes[class].lossless && class != p->trim.class)
			ret->trim_classes |= (uint8_t)(1u << class);
	ret->trim_to_sender = p->trim.to_sender;
	ret->trim_or_return = p->trim.or_return;
	ret->trimmed_dscp = p->trim.dscp;
	ret->returned_dscp = p->trim.return_dscp;
}

void ports_config(struct sw_config *ret, const struct ports_params *p)
{
	/* with its padding: it becomes a part of the loaded program */
	memset(ret, 0, sizeof(*ret));
	ret->features = features_of(p);
	ret->cnp_dscp = p->cnp_dscp;
	ret->quanta = p->quanta;
	ret->response_ps = p->response_ps;
	ret->watchdog_ps = p->watchdog_ps;
	ret->cnp_interval_ps = p->cnp_interval_ps;
	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++) {
		uint8_t class = p->class_of[dscp];

		ret->class_of[dscp] = class;
		ret->retag[dscp] = dscp;
		if ((p->features & SW_ROLES) && p->remap[class] != class)
			ret->retag[dscp] = dscp_of(p, p->remap[class], dscp);
	}
	if (p->features & SW_TRIM)
		config_trim(ret, p);
}

static uint32_t within_32_bits(uint64_t bytes)
{
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static uint32_t depth_bytes(const struct ports_depth *d, uint64_t rate_bps)
{
	unsigned __int128 bytes;

	if (!d->ps)
		return within_32_bits(d->bytes);
	bytes = (unsigned __int128)d->ps * rate_bps / (8 * PS_PER_S);
	/* 0 would turn ECN off */
	if (!bytes)
		return 1;
	return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static uint32_t alpha_of(const struct ports_params *p)
{
	uint32_t alpha = (uint32_t)(p->alpha * 256 + 0.5);

	if (!p->shared)
		return 0;
	return alpha ? alpha : 1;
}

static void queue_configure(
	struct queue *q, const struct ports_params *p, uint32_t class, uint64_t rate_bps)
{
	const struct ports_class *c = &p->classes[class];

	*q = (struct queue){0};
	if (!is_used(p, class))
		return;
	q->kmin_bytes = depth_bytes(&c->kmin, rate_bps);
	q->kmax_bytes = depth_bytes(&c->kmax, rate_bps);
	q->pmax = (uint32_t)(c->pmax * 65536);
	q->average_shift = (uint8_t)c->average;
	q->lossless = c->lossless;
	if (c->lossless) {
		q->limit_bytes = UINT32_MAX;
	} else if (is_header_class(p, class)) {
		q->limit_bytes = within_32_bits(p->trim.queue_bytes);
	} else {
		q->limit_bytes = within_32_bits(c->limit_bytes);
		q->alpha = alpha_of(p);
	}
}

static uint64_t headroom_of(
	const struct ports_params *p, const struct ports_class *c, const struct net_port *link)
{
	const struct headroom_params h = {
		.rate_bps = link->rate_bps,
		.delay_ps = link->delay_ps,
		.response_ps = p->response_ps,
		.frame_bytes = p->frame_bytes,
		.control_bytes = p->control_bytes,
	};

	return c->headroom_bytes == PORTS_AUTO ? headroom_bytes(&h) : c->headroom_bytes;
}

/*
 * What a lossless class may hold below XOFF. 0; -EINVAL if the buffer does not hold that and the
 * headroom.
 */
static int xoff_of(
	uint64_t *ret, const struct ports_params *p, const struct ports_class *c, uint64_t headroom)
{
	if (p->shared) {
		*ret = c->limit_bytes;
		return 0;
	}
	if (headroom >= c->limit_bytes)
		return -EINVAL;
	*ret = c->xoff_bytes == PORTS_AUTO ? c->limit_bytes - headroom : c->xoff_bytes;
	return *ret > c->limit_bytes - headroom ? -EINVAL : 0;
}

static int ingress_configure(struct ingress *in, const struct ports_params *p, uint32_t class,
	const struct net_port *link)
{
	const struct ports_class *c = &p->classes[class];
	uint64_t headroom, xoff;
	int r;

	*in = (struct ingress){0};
	if (!c->used || !c->lossless)
		return 0;
	headroom = headroom_of(p, c, link);
	r = xoff_of(&xoff, p, c, headroom);
	if (r < 0)
		return r;
	if (headroom > UINT32_MAX || xoff > UINT32_MAX)
		return -EINVAL;
	in->lossless = 1;
	in->xoff_bytes = (uint32_t)xoff;
	in->alpha = alpha_of(p);
	in->xon_bytes = within_32_bits(c->xon_bytes);
	in->headroom_limit = (uint32_t)headroom;
	return 0;
}

static void port_configure(
	struct sw_tables *t, const struct net *net, const struct ports_params *p, uint32_t id)
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
		.rng = rng_stream(p->seed, "port", id),
		.quantum = pfc_quantum(net->ports[id].rate_bps),
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
	struct sw_tables *t, const struct net *net, const struct ports_params *p, uint32_t id)
{
	const struct net_port *link = &net->ports[id];

	for (uint32_t class = 0; class < CLASSES; class ++) {
		int r = ingress_configure(&t->ingresses[id * CLASSES + class], p, class, link);

		if (r < 0)
			return r;
		queue_configure(&t->queues[id * CLASSES + class], p, class, link->rate_bps);
	}
	return 0;
}

/* Adds what a port has for itself to *own, and its headroom to that of each class. */
static void port_guarantees(
	const struct sw_tables *t, uint32_t id, uint64_t *own, uint64_t headroom[CLASSES])
{
	for (uint32_t class = 0; class < CLASSES; class ++) {
		const struct queue *q = &t->queues[id * CLASSES + class];
		const struct ingress *in = &t->ingresses[id * CLASSES + class];

		*own += q->lossless ? in->xoff_bytes : q->limit_bytes;
		*own += in->headroom_limit;
		headroom[class] += in->headroom_limit;
	}
}

/* The buffers that are the whole switch's, once its ports have theirs. */
static int switch_pools(
	struct sw_tables *t, const struct net *net, const struct ports_params *p, uint32_t number)
{
	const struct net_node *node = &net->nodes[net->host_count + number];
	struct switch_state *sw = &t->switches[number];
	uint64_t own = 0, rate_bps = 0, pool, headroom[CLASSES] = {0};

	for (uint32_t id = node->first_port; id < node->first_port + node->port_count; id++) {
		rate_bps += net->ports[id].rate_bps;
		port_guarantees(t, id, &own, headroom);
	}
	pool = p->pool_bytes ? p->pool_bytes : pool_bytes_auto(rate_bps);
	if (p->shared && pool <= own)
		return -EINVAL;
	sw->pool_bytes = p->shared ? pool - own : 0;
	sw->pool_used = sw->pool_max = 0;
	for (uint32_t class = 0; class < CLASSES; class ++) {
		if (headroom[class] > UINT32_MAX)
			return -EINVAL;
		sw->headroom_bytes[class] = (uint32_t)headroom[class];
		sw->headroom_used[class] = 0;
	}
	return 0;
}

int ports_configure(struct sw_tables *t, const struct net *net, const struct ports_params *p)
{
	int r = 0;

	for (uint32_t id = PORT_FIRST; r == 0 && id < PORT_FIRST + net->port_count; id++) {
		port_configure(t, net, p, id);
		if (t->ports[id].kind == PORT_HOST)
			host_buffers(t, id);
		else
			r = switch_buffers(t, net, p, id);
	}
	for (uint32_t i = 0; r == 0 && i < net->switch_count; i++) {
		t->switches[i].hash_seed = rng_stream(p->seed, "switch", i);
		t->switches[i].host_count = net->host_count;
		r = switch_pools(t, net, p, i);
	}
	return r;
}
