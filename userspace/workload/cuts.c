/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/cuts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/netgraph.h"
#include "base/numbers.h"
#include "base/wiretime.h"
#include "workload/demand.h"

/* The switches in parts, or the hosts, each of which is one. */
struct division {
	uint32_t *part;     /* of a switch; NETGRAPH_NONE: it is in none; NULL: parts are hosts */
	uint64_t *out_bps;  /* of a part's links to the rest */
	uint64_t *least_ps; /* the shortest of their flights; of hosts NULL */
	uint32_t parts;
	struct demands leaving, entering;
	uint64_t *leaving_ps, *entering_ps; /* the work that cuts_add_work() adds up */
};

struct cuts {
	const struct net *net;
	const uint64_t *rate_bps;
	struct workload_frames frames;
	struct netgraph g;
	uint32_t *level; /* of a switch: hops to the nearest one with hosts */
	uint32_t *order; /* scratch of a walk */
	struct division *divisions;
	uint32_t division_count;
};

void cuts_free(struct cuts *x)
{
	if (!x)
		return;
	netgraph_release(&x->g);
	for (uint32_t i = 0; i < x->division_count; i++) {
		struct division *d = &x->divisions[i];

		free(d->part);
		free(d->out_bps);
		free(d->least_ps);
		free(d->leaving_ps);
		free(d->entering_ps);
		demands_release(&d->leaving);
		demands_release(&d->entering);
	}
	free(x->divisions);
	free(x->level);
	free(x->order);
	free(x);
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
static void fill_part(
	struct cuts *x, struct division *d, uint32_t first, uint32_t level, bool together)
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
static void add_up(struct cuts *x, struct division *d)
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
			d->out_bps[part] += x->rate_bps[arc->link];
			d->least_ps[part] = min_u64(
				d->least_ps[part], net_port_flight(&x->net->ports[arc->port]));
		}
	}
}

/* Links of hosts as they are: ideal.c knows what they need, unless a fault slows them. */
static int divide_hosts(struct cuts *x)
{
	struct division *d = &x->divisions[x->division_count++];
	uint32_t hosts = x->net->host_count;

	d->parts = hosts;
	d->out_bps = calloc((size_t)hosts + 1, sizeof(*d->out_bps));
	d->leaving_ps = calloc((size_t)hosts + 1, sizeof(*d->leaving_ps));
	d->entering_ps = calloc((size_t)hosts + 1, sizeof(*d->entering_ps));
	if (!d->out_bps || !d->leaving_ps || !d->entering_ps)
		return -ENOMEM;
	for (uint32_t h = 0; h < hosts; h++)
		d->out_bps[h] = x->rate_bps[x->net->ports[x->net->nodes[h].first_port].link];
	if (demands_init(&d->leaving, hosts) < 0 || demands_init(&d->entering, hosts) < 0)
		return -ENOMEM;
	return 0;
}

static int divide(struct cuts *x, uint32_t level, bool together)
{
	struct division *d = &x->divisions[x->division_count++];
	size_t switches = (size_t)x->net->switch_count + 1;

	d->part = calloc(switches, sizeof(*d->part));
	d->out_bps = calloc(switches, sizeof(*d->out_bps));
	d->least_ps = calloc(switches, sizeof(*d->least_ps));
	d->leaving_ps = calloc(switches, sizeof(*d->leaving_ps));
	d->entering_ps = calloc(switches, sizeof(*d->entering_ps));
	if (!d->part || !d->out_bps || !d->least_ps || !d->leaving_ps || !d->entering_ps)
		return -ENOMEM;
	for (uint32_t s = 0; s < x->net->switch_count; s++)
		d->part[s] = NETGRAPH_NONE;
	for (uint32_t i = 0; i < x->g.edge_count; i++)
		if (d->part[x->g.edges[i]] == NETGRAPH_NONE)
			fill_part(x, d, x->g.edges[i], level, together);
	add_up(x, d);
	if (demands_init(&d->leaving, d->parts) < 0 || demands_init(&d->entering, d->parts) < 0)
		return -ENOMEM;
	return 0;
}

/* On a host's link, as it was built, from the host or to it. */
static uint64_t host_hop_ps(const struct cuts *x, uint32_t host, bool to, uint32_t frame_len)
{
	const struct net_port *p = &x->net->ports[x->net->nodes[host].first_port];

	return serialise_ps(frame_len, p->rate_bps) +
	       net_port_flight(to ? &x->net->ports[p->peer] : p);
}

/* The frames of a message. */
struct frames {
	uint32_t last, answer;
	uint64_t wire_bytes; /* of all data */
};

static struct frames frames_of(const struct cuts *x, const struct operation *msg)
{
	uint32_t head = frame_overhead(x->frames.ip6);
	uint32_t data = head + x->frames.transports[msg->transport].data_extension;
	uint64_t packets = (msg->bytes - 1) / x->frames.mtu + 1;
	uint32_t last = data + (uint32_t)(msg->bytes - (packets - 1) * x->frames.mtu);

	return (struct frames){
		.last = last,
		.answer = head + x->frames.transports[msg->transport].answer_extension,
		.wire_bytes = (packets - 1) * wire_bytes(data + x->frames.mtu) + wire_bytes(last),
	};
}

static uint64_t work_ps(const struct frames *frames, uint64_t rate_bps)
{
	return (uint64_t)((unsigned __int128)frames->wire_bytes * 8 * PS_PER_S / rate_bps);
}

/* What a message asks of all links that join a part to the rest, as if they were one. */
static struct demand demand_of(
	const struct cuts *x, const struct operation *msg, const struct division *d, uint32_t part)
{
	struct frames frames = frames_of(x, msg);
	uint64_t work = work_ps(&frames, d->out_bps[part]);

	if (!d->part)
		return (struct demand){.at = part, .start_ps = msg->start_ps, .work_ps = work};
	return (struct demand){
		.at = part,
		.start_ps = msg->start_ps,
		.before_ps = host_hop_ps(x, msg->src_host, false, frames.last),
		.work_ps = work,
		/* there, and back again with the answer */
		.after_ps = 2 * d->least_ps[part] +
			    host_hop_ps(x, msg->dst_host, true, frames.last) +
			    host_hop_ps(x, msg->dst_host, false, frames.answer) +
			    host_hop_ps(x, msg->src_host, true, frames.answer),
	};
}

static uint32_t part_of(const struct cuts *x, const struct division *d, uint32_t host)
{
	return d->part ? d->part[x->g.edges[x->g.host_edge[host]]] : host;
}

static int division_take(
	const struct cuts *x, struct division *d, const struct operations *m, bool leaves)
{
	struct demands *demands = leaves ? &d->leaving : &d->entering;

	if (demands_reserve(demands, m->count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		const struct operation *msg = &m->items[i];
		struct demand one;
		uint32_t from, to, part;

		if (!operation_is_message(msg) || msg->waits || msg->unmeasured)
			continue;
		from = part_of(x, d, msg->src_host);
		to = part_of(x, d, msg->dst_host);
		part = leaves ? from : to;
		if (from == to || !d->out_bps[part])
			continue;
		one = demand_of(x, msg, d, part);
		demands_add(demands, &one);
	}
	demands_settle(demands);
	return 0;
}

int cuts_take(struct cuts *x, const struct operations *m)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < x->division_count; i++) {
		r = division_take(x, &x->divisions[i], m, true);
		if (r == 0)
			r = division_take(x, &x->divisions[i], m, false);
	}
	return r;
}

void cuts_end_list(struct cuts *x)
{
	for (uint32_t i = 0; i < x->division_count; i++) {
		demands_end_list(&x->divisions[i].leaving);
		demands_end_list(&x->divisions[i].entering);
	}
}

uint64_t cuts_bound(const struct cuts *x)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < x->division_count; i++)
		most = max_u64(most, max_u64(demands_bound(&x->divisions[i].leaving),
					     demands_bound(&x->divisions[i].entering)));
	return most;
}

void cuts_add_work(struct cuts *x, const struct operation *msg)
{
	struct frames frames = frames_of(x, msg);

	for (uint32_t i = 0; i < x->division_count; i++) {
		struct division *d = &x->divisions[i];
		uint32_t from = part_of(x, d, msg->src_host), to = part_of(x, d, msg->dst_host);

		if (from == to)
			continue;
		if (d->out_bps[from])
			d->leaving_ps[from] += work_ps(&frames, d->out_bps[from]);
		if (d->out_bps[to])
			d->entering_ps[to] += work_ps(&frames, d->out_bps[to]);
	}
}

uint64_t cuts_take_work(struct cuts *x)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < x->division_count; i++) {
		struct division *d = &x->divisions[i];

		for (uint32_t p = 0; p < d->parts; p++) {
			most = max_u64(most, max_u64(d->leaving_ps[p], d->entering_ps[p]));
			d->leaving_ps[p] = d->entering_ps[p] = 0;
		}
	}
	return most;
}

static int cuts_init(struct cuts *x)
{
	size_t switches = (size_t)x->net->switch_count + 1;
	uint32_t levels;
	int r = netgraph_init(&x->g, x->net);

	if (r < 0)
		return r;
	x->level = calloc(switches, sizeof(*x->level));
	x->order = calloc(switches, sizeof(*x->order));
	if (!x->level || !x->order)
		return -ENOMEM;
	levels = find_levels(x);
	x->divisions = calloc(levels + 2, sizeof(*x->divisions));
	if (!x->divisions)
		return -ENOMEM;
	r = divide_hosts(x);
	if (r == 0)
		r = divide(x, 0, false);
	for (uint32_t level = 0; r == 0 && level < levels; level++)
		r = divide(x, level, true);
	return r;
}

int cuts_new(struct cuts **ret, const struct net *net, const struct workload_frames *frames,
	const uint64_t *rate_bps)
{
	struct cuts *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->net = net;
	x->frames = *frames;
	x->rate_bps = rate_bps;
	if (cuts_init(x) < 0) {
		cuts_free(x);
		return -ENOMEM;
	}
	x->rate_bps = NULL; /* the caller's */
	*ret = x;
	return 0;
}
