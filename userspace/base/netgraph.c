/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/netgraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct net_node *peer_node(const struct net *net, uint32_t port)
{
	return &net->nodes[net->ports[net->ports[port].peer].node];
}

static void fill_arcs(struct netgraph *g)
{
	const struct net *net = g->net;
	uint32_t count = 0;

	for (uint32_t s = 0; s < net->switch_count; s++) {
		const struct net_node *node = &net->nodes[net->host_count + s];

		g->first[s] = count;
		for (uint32_t i = 0; i < node->port_count; i++) {
			uint32_t port = node->first_port + i;
			const struct net_node *peer = peer_node(net, port);

			if (peer->kind == NODE_SWITCH)
				g->arcs[count++] = (struct netgraph_arc){
					peer->number, port, net->ports[port].link};
		}
	}
	g->first[net->switch_count] = count;
}

/* The switch that host h hangs on, or NETGRAPH_NONE. */
static uint32_t switch_of(const struct net *net, uint32_t h)
{
	const struct net_node *peer;

	if (!net->nodes[h].port_count)
		return NETGRAPH_NONE;
	peer = peer_node(net, net->nodes[h].first_port);
	return peer->kind == NODE_SWITCH ? peer->number : NETGRAPH_NONE;
}

static void fill_edges(struct netgraph *g)
{
	const struct net *net = g->net;

	for (uint32_t s = 0; s < net->switch_count; s++)
		g->edge_of[s] = NETGRAPH_NONE;
	for (uint32_t h = 0; h < net->host_count; h++) {
		g->host_edge[h] = switch_of(net, h);
		if (g->host_edge[h] != NETGRAPH_NONE)
			g->edge_of[g->host_edge[h]] = 0;
	}
	for (uint32_t s = 0; s < net->switch_count; s++) {
		if (g->edge_of[s] == NETGRAPH_NONE)
			continue;
		g->edge_of[s] = g->edge_count;
		g->edges[g->edge_count++] = s;
	}
	for (uint32_t h = 0; h < net->host_count; h++)
		if (g->host_edge[h] != NETGRAPH_NONE)
			g->host_edge[h] = g->edge_of[g->host_edge[h]];
}

/* Hosts by edge: a counting sort, which keeps their order within an edge. */
static void fill_hosts(struct netgraph *g)
{
	uint32_t hosts = g->net->host_count;

	for (uint32_t h = 0; h < hosts; h++)
		if (g->host_edge[h] != NETGRAPH_NONE)
			g->host_first[g->host_edge[h] + 1]++;
	for (uint32_t e = 0; e < g->edge_count; e++)
		g->host_first[e + 1] += g->host_first[e];
	for (uint32_t h = 0; h < hosts; h++)
		if (g->host_edge[h] != NETGRAPH_NONE)
			g->hosts[g->host_first[g->host_edge[h]]++] = h;
	/* Each start has moved to the next edge's. */
	for (uint32_t e = g->edge_count; e > 0; e--)
		g->host_first[e] = g->host_first[e - 1];
	g->host_first[0] = 0;
}

int netgraph_init(struct netgraph *g, const struct net *net)
{
	size_t switches = net->switch_count;
	size_t hosts = net->host_count;
	struct netgraph made = {.net = net};

	made.first = calloc(switches + 1, sizeof(*made.first));
	made.arcs = calloc((size_t)net->port_count + 1, sizeof(*made.arcs));
	made.edges = calloc(switches + 1, sizeof(*made.edges));
	made.edge_of = calloc(switches + 1, sizeof(*made.edge_of));
	made.host_edge = calloc(hosts + 1, sizeof(*made.host_edge));
	made.host_first = calloc(switches + 1, sizeof(*made.host_first));
	made.hosts = calloc(hosts + 1, sizeof(*made.hosts));
	if (!made.first || !made.arcs || !made.edges || !made.edge_of || !made.host_edge ||
		!made.host_first || !made.hosts) {
		netgraph_release(&made);
		return -ENOMEM;
	}
	fill_arcs(&made);
	fill_edges(&made);
	fill_hosts(&made);
	*g = made;
	return 0;
}

void netgraph_release(struct netgraph *g)
{
	free(g->first);
	free(g->arcs);
	free(g->edges);
	free(g->edge_of);
	free(g->host_edge);
	free(g->host_first);
	free(g->hosts);
	memset(g, 0, sizeof(*g));
}

uint32_t netgraph_walk(const struct netgraph *g, uint32_t source, const bool *link_up,
	uint8_t *dist, uint32_t *order)
{
	uint32_t reached = 0;

	memset(dist, NETGRAPH_FAR, g->net->switch_count);
	dist[source] = 0;
	order[reached++] = source;
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t from = order[i];

		if (dist[from] + 1 == NETGRAPH_FAR)
			break;
		for (uint32_t a = g->first[from]; a < g->first[from + 1]; a++) {
			const struct netgraph_arc *arc = &g->arcs[a];

			if (dist[arc->to] != NETGRAPH_FAR || (link_up && !link_up[arc->link]))
				continue;
			dist[arc->to] = (uint8_t)(dist[from] + 1);
			order[reached++] = arc->to;
		}
	}
	return reached;
}
