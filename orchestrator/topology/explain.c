/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/explain_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/netgraph.h"

static uint64_t add_paths(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

/* Numbers of shortest paths from edge switch e to all others. */
static void count_paths(
	const struct netgraph *g, uint32_t e, uint8_t *dist, uint32_t *order, uint64_t *paths)
{
	uint32_t reached = netgraph_walk(g, g->edges[e], NULL, dist, order);

	memset(paths, 0, g->net->switch_count * sizeof(*paths));
	paths[g->edges[e]] = 1;
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t from = order[i];

		for (uint32_t a = g->first[from]; a < g->first[from + 1]; a++) {
			uint32_t to = g->arcs[a].to;

			if (dist[to] == dist[from] + 1)
				paths[to] = add_paths(paths[to], paths[from]);
		}
	}
}

/* Enters what the walk from edge e found; rows are indexed by hops between edge switches. */
static void enter_paths(struct explain_paths *rows, const struct netgraph *g, uint32_t e,
	const uint8_t *dist, const uint64_t *paths)
{
	for (uint32_t other = 0; other < g->edge_count; other++) {
		uint32_t s = g->edges[other];
		struct explain_paths *row = &rows[dist[s]];

		/* A switch with a single host has no pair of its own. */
		if (other == e && g->host_first[e + 1] - g->host_first[e] < 2)
			continue;
		if (!row->links || paths[s] < row->least)
			row->least = paths[s];
		if (paths[s] > row->most)
			row->most = paths[s];
		row->links = dist[s] + 2u;
	}
}

static int explain_paths(struct explain *e, const struct fabric *f)
{
	struct explain_paths *rows = calloc(NETGRAPH_FAR + 1, sizeof(*rows));
	size_t switches = (size_t)f->net.switch_count + 1;
	uint8_t *dist = calloc(switches, sizeof(*dist));
	uint32_t *order = calloc(switches, sizeof(*order));
	uint64_t *paths = calloc(switches, sizeof(*paths));
	struct netgraph g = NETGRAPH_INIT;
	int err = rows && dist && order && paths ? netgraph_init(&g, &f->net) : -ENOMEM;

	if (!err) {
		uint32_t sources = f->regular ? 1 : g.edge_count;

		for (uint32_t i = 0; i < sources; i++) {
			count_paths(&g, i, dist, order, paths);
			enter_paths(rows, &g, i, dist, paths);
		}
		for (uint32_t i = 0; i <= NETGRAPH_FAR; i++)
			if (rows[i].links)
				rows[e->path_count++] = rows[i];
		e->paths = rows;
		rows = NULL;
	}
	netgraph_release(&g);
	free(rows);
	free(dist);
	free(order);
	free(paths);
	return err;
}

static double oversubscription(const struct fabric *f, uint32_t node)
{
	const struct net_node *sw = &f->net.nodes[node];
	double down = 0, up = 0;

	for (uint32_t i = 0; i < sw->port_count; i++) {
		const struct net_port *port = &f->net.ports[sw->first_port + i];
		uint32_t tier = f->nodes[f->net.ports[port->peer].node].tier;

		if (tier < f->nodes[node].tier)
			down += (double)port->rate_bps;
		else if (tier > f->nodes[node].tier)
			up += (double)port->rate_bps;
	}
	return up > 0 ? down / up : 0;
}

static int explain_tiers(struct explain *e, const struct fabric *f)
{
	e->tier_count = f->tier_count - 1;
	e->tiers = calloc((size_t)e->tier_count + 1, sizeof(*e->tiers));
	if (!e->tiers)
		return -ENOMEM;
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		struct explain_tier *tier = &e->tiers[f->nodes[i].tier - 1];
		double ratio = oversubscription(f, i);

		tier->switches++;
		if (ratio > tier->oversubscription)
			tier->oversubscription = ratio;
	}
	return 0;
}

int explain_fabric(struct explain *ret, const struct fabric *f, const struct scenario *s,
	const struct explain_load *load)
{
	struct explain e = {
		.name = s->name,
		.kind = s->topology.kind,
		.hosts = f->net.host_count,
		.switches = f->net.switch_count,
		.links = f->net.link_count,
		.ports = f->net.port_count,
		.host_rate_bps = f->host_rate_bps,
		.base_rtt_ps = f->base_rtt_ps,
		.bdp_bytes = f->bdp_bytes,
		.packet_bytes = f->packet_bytes,
		.sw = s->sw,
		.switching = f->switching,
		.clock = s->clock,
		.host = &s->host,
		.stack = &s->host.stack,
		.external = &s->external,
		.load = *load,
	};
	int err = explain_tiers(&e, f);

	if (!err)
		err = explain_paths(&e, f);
	if (!err)
		err = explain_switch(&e, f);
	if (!err)
		err = explain_failures(&e, f, s);
	if (!err)
		err = explain_notes(&e, f, s);
	if (err) {
		explain_release(&e);
		return err;
	}
	*ret = e;
	return 0;
}

void explain_release(struct explain *e)
{
	free(e->tiers);
	free(e->paths);
	free(e->headrooms);
	for (size_t i = 0; i < e->failure_count; i++)
		free(e->failures[i].faults);
	free(e->failures);
	for (size_t i = 0; i < e->note_count; i++)
		free(e->notes[i]);
	free(e->notes);
	e->tiers = NULL;
	e->paths = NULL;
	e->headrooms = NULL;
	e->failures = NULL;
	e->failure_count = 0;
	e->notes = NULL;
	e->note_count = 0;
}
