/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/switching.h"

#include "base/headroom.h"

uint64_t switching_depth_bytes(const struct switching_depth *d, uint64_t rate_bps)
{
	unsigned __int128 bytes = (unsigned __int128)d->ps * rate_bps / (8 * PS_PER_S);

	if (!d->ps)
		return d->bytes;
	/* 0 would turn ECN off */
	if (!bytes)
		return 1;
	return bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes;
}

uint64_t switching_headroom(
	const struct switching *s, const struct switching_class *c, const struct net_port *port)
{
	const struct headroom_params p = {
		.rate_bps = port->rate_bps,
		.delay_ps = port->delay_ps,
		.latency_ps = s->latency_ps,
		.response_ps = s->config.response_ps,
		.frame_bytes = s->frame_bytes,
		.control_bytes = s->control_bytes,
	};

	return c->headroom_bytes == SWITCHING_AUTO ? headroom_bytes(&p) : c->headroom_bytes;
}

uint64_t switching_xoff(
	const struct switching *s, const struct switching_class *c, const struct net_port *port)
{
	uint64_t headroom;

	if (s->shared)
		return c->limit_bytes;
	if (c->xoff_bytes != SWITCHING_AUTO)
		return c->xoff_bytes;
	headroom = switching_headroom(s, c, port);
	return headroom < c->limit_bytes ? c->limit_bytes - headroom : 0;
}

uint64_t switching_headroom_sum(const struct switching *s, const struct switching_class *c,
	const struct net *net, uint32_t node)
{
	const struct net_node *n = &net->nodes[node];
	uint64_t sum = 0;

	for (uint32_t p = n->first_port; p < n->first_port + n->port_count; p++)
		sum += switching_headroom(s, c, &net->ports[p]);
	return sum;
}

uint64_t switching_pool(const struct switching *s, const struct net *net, uint32_t node)
{
	const struct net_node *n = &net->nodes[node];
	uint64_t rate = 0;

	if (s->pool_bytes)
		return s->pool_bytes;
	for (uint32_t p = n->first_port; p < n->first_port + n->port_count; p++)
		rate += net->ports[p].rate_bps;
	return pool_bytes_auto(rate);
}

uint64_t switching_pool_own(const struct switching *s, const struct net *net, uint32_t node)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < CLASSES; i++) {
		const struct switching_class *c = &s->classes[i];

		if (!c->used)
			continue;
		bytes += c->limit_bytes * net->nodes[node].port_count;
		if (c->lossless)
			bytes += switching_headroom_sum(s, c, net, node);
	}
	return bytes;
}

uint64_t switching_pool_left(const struct switching *s, const struct net *net, uint32_t node)
{
	uint64_t all = switching_pool(s, net, node), own = switching_pool_own(s, net, node);

	return own < all ? all - own : 0;
}

double switching_lossy_most(const struct switching *s, const struct switching_class *c, double free)
{
	return (double)c->limit_bytes + (s->shared ? free * s->alpha / (1 + s->alpha) : 0);
}

uint64_t switching_data_queue(const struct switching *s, const struct net *net, uint32_t without)
{
	uint64_t free = 0;
	double most = 0;

	for (uint32_t i = net->host_count; s->shared && i < net->node_count; i++) {
		uint64_t left = switching_pool_left(s, net, i);

		free = left > free ? left : free;
	}
	for (uint32_t i = 0; i < CLASSES; i++) {
		const struct switching_class *c = &s->classes[i];
		bool data = c->used && !c->lossless && !c->headers && !(without >> i & 1);
		double held = data ? switching_lossy_most(s, c, (double)free) : 0;

		most = held > most ? held : most;
	}
	return (uint64_t)most;
}
