/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DIVISIONS_H
#define FABRICBED_DIVISIONS_H

/*
 * Ways to divide a fabric into parts, whose messages to the rest share the links that lead out of
 * the part: each host; each switch that hosts hang on; and what switches up to a level connect
 * (racks, pods, ...). Private to workload/.
 */
#include "base/net.h"
#include "base/netgraph.h"

struct division {
	uint32_t *part;     /* of a switch; NETGRAPH_NONE: it is in none; NULL: parts are hosts */
	uint64_t *out_bps;  /* of a part's links to the rest; as much leads back */
	uint64_t *least_ps; /* the shortest of their flights; of hosts NULL */
	uint32_t parts;
};

struct divisions {
	const struct net *net;
	struct netgraph g;
	uint32_t *level;        /* of a switch: hops to the nearest one with hosts */
	uint32_t *order;        /* scratch of a walk */
	struct division *items; /* hosts first, then from small parts to large ones */
	uint32_t count;
};

/*
 * rate_bps: of each link by its number, 0 if it is dead; NULL: as it was built. net lives on. 0 or
 * -ENOMEM, after which it is to be released too.
 */
int divisions_init(struct divisions *d, const struct net *net, const uint64_t *rate_bps);
void divisions_release(struct divisions *d);

static inline uint32_t division_part(
	const struct divisions *all, const struct division *d, uint32_t host)
{
	return d->part ? d->part[all->g.edges[all->g.host_edge[host]]] : host;
}

#endif
