/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/cuts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/netgraph.h"
#include "base/wiretime.h"
#include "workload/demand.h"

struct cuts {
	const struct operations *m;
	const struct net *net;
	const uint64_t *rate_bps;
	struct workload_frames frames;
	struct netgraph g;
	uint32_t *level;    /* of a switch: hops to the nearest one with hosts */
	uint32_t *order;    /* scratch of a walk */
	uint32_t *part;     /* of a switch; NETGRAPH_NONE: it is in none */
	uint64_t *out_bps;  /* of a part's links to the rest */
	uint64_t *least_ps; /* the shortest of their delays */
	struct demand *demands;
	uint32_t parts;
};

static void cuts_release(struct cuts *x)
{
	netgraph_release(&x->g);
	free(x->level);
	free(x->order);
	free(x->part);
	free(x->out_bps);
	free(x->least_ps);
	free(x->demands);
}

static int cuts_init(struct cuts *x)
{
	size_t switches = (size_t)x->net->switch_count + 1;
	int err = netgraph_init(&x->g, x->net);

	if (err)
		return err;
	x->level = calloc(switches, sizeof(*x->level));
	x->order = calloc(switches, sizeof(*x->order));
	x->part = calloc(switches, sizeof(*x->part));
	x->out_bps = calloc(switches, sizeof(*x->out_bps));
	x->least_ps = calloc(switches, sizeof(*x->least_ps));
	x->demands = calloc(x->m->count + 1, sizeof(*x->demands));
	return x->level && x->order && x->part && x->out_bps && x->least_ps && x->demands ? 0
											  : -ENOMEM;
}

/* Levels of all switches, from those with hosts outwards. Returns the highest. */
static uint32_t find_levels(struct cuts *x)
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
static void fill_part(struct cuts *x, uint32_t first, uint32_t level, bool together)
{
	uint32_t count = 0;

	x->order[count++] = first;
	x->part[first] = x->parts;
	for (uint32_t i = 0; together && i < count; i++)
		for (uint32_t a = x->g.first[x->order[i]]; a < x->g.first[x->order[i] + 1]; a++) {
			uint32_t to = x->g.arcs[a].to;

			if (x->part[to] != NETGRAPH_NONE || x->level[to] > level)
				continue;
			x->part[to] = x->parts;
			x->order[count++] = to;
		}
	x->parts++;
}

static void divide(struct cuts *x, uint32_t level, bool together)
{
	x->parts = 0;
	for (uint32_t s = 0; s < x->net->switch_count; s++)
		x->part[s] = NETGRAPH_NONE;
	for (uint32_t i = 0; i < x->g.edge_count; i++)
		if (x->part[x->g.edges[i]] == NETGRAPH_NONE)
			fill_part(x, x->g.edges[i], level, together);
}

/* What leaves each part, and as much enters it: links are the same in both directions. */
static void add_up(struct cuts *x)
{
	for (uint32_t p = 0; p < x->parts; p++) {
		x->out_bps[p] = 0;
		x->least_ps[p] = UINT64_MAX;
	}
	for (uint32_t s = 0; s < x->net->switch_count; s++) {
		uint32_t part = x->part[s];

		for (uint32_t a = x->g.first[s]; part != NETGRAPH_NONE && a < x->g.first[s + 1];
			a++) {
			const struct netgraph_arc *arc = &x->g.arcs[a];
			uint64_t delay = x->net->ports[arc->port].delay_ps;

			if (x->part[arc->to] == part)
				continue;
			x->out_bps[part] += x->rate_bps[arc->link];
			if (delay < x->least_ps[part])
				x->least_ps[part] = delay;
		}
	}
}

static uint32_t part_of(const struct cuts *x, uint32_t host)
{
	return x->part[x->g.edges[x->g.host_edge[host]]];
}

/* On a host's link, as it was built. */
static uint64_t host_hop_ps(const struct cuts *x, uint32_t host, uint32_t frame_len)
{
	const struct net_port *p = &x->net->ports[x->net->nodes[host].first_port];

	return serialise_ps(frame_len, p->rate_bps) + p->delay_ps;
}

/* What a message asks of all links that join a part to the rest, as if they were one. */
static struct demand demand_of(const struct cuts *x, const struct operation *msg, uint32_t part)
{
	uint32_t head = frame_overhead(x->frames.ip6), data = head + x->frames.data_extension;
	uint64_t packets = (msg->bytes - 1) / x->frames.mtu + 1;
	uint32_t last = data + (uint32_t)(msg->bytes - (packets - 1) * x->frames.mtu);
	uint32_t answer = head + x->frames.answer_extension;
	uint64_t bytes = (packets - 1) * wire_bytes(data + x->frames.mtu) + wire_bytes(last);

	return (struct demand){
		.at = part,
		.starts_alone = true,
		.start_ps = msg->start_ps,
		.before_ps = host_hop_ps(x, msg->src_host, last),
		.work_ps = (uint64_t)((unsigned __int128)bytes * 8 * PS_PER_S / x->out_bps[part]),
		/* there, and back again with the answer */
		.after_ps = 2 * x->least_ps[part] + host_hop_ps(x, msg->dst_host, last) +
			    host_hop_ps(x, msg->dst_host, answer) +
			    host_hop_ps(x, msg->src_host, answer),
	};
}

/* Of all that leaves the parts, or else enters them. */
static uint64_t bound_by_parts(struct cuts *x, bool leaves)
{
	size_t count = 0;

	for (size_t i = 0; i < x->m->count; i++) {
		const struct operation *msg = &x->m->items[i];
		uint32_t from, to, part;

		if (!operation_is_message(msg))
			continue;
		from = part_of(x, msg->src_host);
		to = part_of(x, msg->dst_host);
		part = leaves ? from : to;
		if (from != to && !msg->waits && x->out_bps[part])
			x->demands[count++] = demand_of(x, msg, part);
	}
	return demands_bound(x->demands, count);
}

static uint64_t bound_by_division(struct cuts *x, uint32_t level, bool together)
{
	uint64_t leaving, entering;

	divide(x, level, together);
	add_up(x);
	leaving = bound_by_parts(x, true);
	entering = bound_by_parts(x, false);
	return leaving > entering ? leaving : entering;
}

int workload_cut_bound(const struct operations *m, const struct net *net,
	const struct workload_frames *frames, const uint64_t *rate_bps, uint64_t *ret)
{
	struct cuts x = {.m = m, .net = net, .rate_bps = rate_bps, .frames = *frames};
	uint64_t most = 0, bound;
	uint32_t levels;
	int err = cuts_init(&x);

	if (!err) {
		levels = find_levels(&x);
		most = bound_by_division(&x, 0, false);
		for (uint32_t level = 0; level < levels; level++) {
			bound = bound_by_division(&x, level, true);
			most = bound > most ? bound : most;
		}
		*ret = most;
	}
	cuts_release(&x);
	return err;
}
