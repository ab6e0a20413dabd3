/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/divisions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"

void divisions_release(struct divisions *x)
{
	netgraph_release(&x->g);
	for (uint32_t i = 0; i < x->count; i++) {
		free(x->items[i].part);
		free(x->items[i].out_bps);
		free(x->items[i].least_ps);
	}
	free(x->items);
	free(x->level);
	free(x->order);
}

static uint64_t link_rate(const uint64_t *rate_bps, const struct net_port *p)
{
	return rate_bps ? rate_bps[p->link] : p->rate_bps;
}

/* Levels of all switches, from those with hosts outwards. Returns the highest. */
static uint32_t find_levels(struct divisions *x)
{
	uint32_t count = x->g.edge_count;

	memset(x->level, 0xff, x->net->switch_count * sizeof(*x->level));
	for (uint32_t i = 0; i < count; i++) {
		x->order[i] = x->g.edges[i];
		x->level[x->g.edges[i]] = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t a = x->g.first[x->order[i]]; a < x->g.first[x->order[i] + 1]; a++) {
			uint32_t to = x->g.arcs[a].to;

			if (x->level[to] != UINT32_MAX)
				continue;
			x->level[to] = x->level[x->order[i]] + 1;
			x->order[count++] = to;
		}
	return count ? x->level[x->order[count - 1]] : 0;
}

/* All that a switch is connected with up to a level is a part; if not `together`, it alone. */
static void fill_part(
	struct divisions *x, struct division *d, uint32_t first, uint32_t level, bool together)
{
	uint32_t count = 0;

	x->order[count++] = first;
	d->part[first] = d->parts;
	for (uint32_t i = 0; together && i < count; i++)
		for (uint32_t a = x->g.first[x->order[i]]; a < x->g.first[x->order[i] + 1]; a++) {
			uint32_t to = x->g.arcs[a].to;

			if (d->part[to] != NETGRAPH_NONE || x->level[to] > level)
				continue;
			d->part[to] = d->parts;
			x->order[count++] = to;
		}
	d->parts++;
}

/* What leaves each part, and as much enters it: links are the same in both directions. */
static void add_up(const struct divisions *x, struct division *d, const uint64_t *rate_bps)
{
	for (uint32_t p = 0; p < d->parts; p++)
		d->least_ps[p] = UINT64_MAX;
	for (uint32_t s = 0; s < x->net->switch_count; s++) {
		uint32_t part = d->part[s];

		for (uint32_t a = x->g.first[s]; part != NETGRAPH_NONE && a < x->g.first[s + 1];
			a++) {
			const struct netgraph_arc *arc = &x->g.arcs[a];

			if (d->part[arc->to] == part)
				continue;
			d->out_bps[part] += link_rate(rate_bps, &x->net->ports[arc->port]);
			d->least_ps[part] = min_u64(
				d->least_ps[part], net_port_flight(&x->net->ports[arc->port]));
		}
	}
}

static int divide_hosts(struct divisions *x, const uint64_t *rate_bps)
{
	struct division *d = &x->items[x->count++];

	d->parts = x->net->host_count;
	d->out_bps = calloc((size_t)d->parts + 1, sizeof(*d->out_bps));
	if (!d->out_bps)
		return -ENOMEM;
	for (uint32_t h = 0; h < d->parts; h++)
		d->out_bps[h] = link_rate(rate_bps, &x->net->ports[x->net->nodes[h].first_port]);
	return 0;
}

static int divide(struct divisions *x, const uint64_t *rate_bps, uint32_t level, bool together)
{
	struct division *d = &x->items[x->count++];
	size_t switches = (size_t)x->net->switch_count + 1;

	d->part = calloc(switches, sizeof(*d->part));
	d->out_bps = calloc(switches, sizeof(*d->out_bps));
	d->least_ps = calloc(switches, sizeof(*d->least_ps));
	if (!d->part || !d->out_bps || !d->least_ps)
		return -ENOMEM;
	for (uint32_t s = 0; s < x->net->switch_count; s++)
		d->part[s] = NETGRAPH_NONE;
	for (uint32_t i = 0; i < x->g.edge_count; i++)
		if (d->part[x->g.edges[i]] == NETGRAPH_NONE)
			fill_part(x, d, x->g.edges[i], level, together);
	add_up(x, d, rate_bps);
	return 0;
}

int divisions_init(struct divisions *x, const struct net *net, const uint64_t *rate_bps)
{
	size_t switches = (size_t)net->switch_count + 1;
	uint32_t levels;
	int r;

	*x = (struct divisions){.net = net};
	r = netgraph_init(&x->g, net);
	if (r < 0)
		return r;
	x->level = calloc(switches, sizeof(*x->level));
	x->order = calloc(switches, sizeof(*x->order));
	if (!x->level || !x->order)
		return -ENOMEM;
	levels = find_levels(x);
	x->items = calloc(levels + 2, sizeof(*x->items));
	if (!x->items)
		return -ENOMEM;
	r = divide_hosts(x, rate_bps);
	if (r == 0)
		r = divide(x, rate_bps, 0, false);
	for (uint32_t level = 0; r == 0 && level < levels; level++)
		r = divide(x, rate_bps, level, true);
	return r;
}
