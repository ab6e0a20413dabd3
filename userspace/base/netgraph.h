/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NETGRAPH_H
#define FABRICBED_NETGRAPH_H

/*
 * The switches of a net as a graph to walk: what routing, idle path times and path counts have in
 * common. Hosts are no part of it, since nothing is forwarded through them; they hang on edge
 * switches.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/net.h"

#define NETGRAPH_FAR  0xff /* no path, or one that no TTL survives */
#define NETGRAPH_NONE UINT32_MAX

struct netgraph_arc {
	uint32_t to;   /* switch number */
	uint32_t port; /* port id at this end */
	uint32_t link;
};

struct netgraph {
	const struct net *net;
	uint32_t *first; /* arcs of switch s: first[s] .. first[s + 1] - 1, by port */
	struct netgraph_arc *arcs;
	uint32_t *edges; /* the switches that hosts hang on, ascending */
	uint32_t edge_count;
	uint32_t *edge_of;    /* switch number -> index in edges, or NETGRAPH_NONE */
	uint32_t *host_edge;  /* host number -> index in edges, or NETGRAPH_NONE */
	uint32_t *host_first; /* hosts of edge e: hosts[host_first[e]] .., ascending */
	uint32_t *hosts;
};

#define NETGRAPH_INIT                                                                              \
	{                                                                                          \
		0                                                                                  \
	}

/* net outlives the graph. 0 or -ENOMEM. */
int netgraph_init(struct netgraph *g, const struct net *net);
void netgraph_release(struct netgraph *g);

/*
 * Hops from switch `source` to each switch over the links that are up (NULL: all are). dist and
 * order have room for all switches; order takes those that were reached, nearest first. Returns how
 * many they are.
 */
uint32_t netgraph_walk(const struct netgraph *g, uint32_t source, const bool *link_up,
	uint8_t *dist, uint32_t *order);

#endif
