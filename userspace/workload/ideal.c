/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/ideal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/netgraph.h"
#include "base/wiretime.h"

/* What one message asks of a host link that it crosses. */
struct demand {
	uint32_t host;
	bool starts_alone; /* it waits for no other message */
	uint64_t start_ps;
	uint64_t work_ps;  /* serialisation of its data on that link */
	uint64_t other_ps; /* of its completion time, what is spent elsewhere */
};

struct measure {
	const struct messages *m;
	const struct net *net;
	struct workload_frames frames;
	struct netgraph g;
	uint8_t *dist;
	uint32_t *order;
	uint64_t *cost;      /* of a full packet from the source, by switch */
	uint32_t *via;       /* the arc over which that way comes, by switch */
	uint32_t *by_edge;   /* messages by the edge switch of their sender */
	uint32_t *edge_next; /* where each edge switch's start in by_edge; scratch */
	struct demand *sent, *received;
	struct workload_size size;
};

/* A frame with that much payload. */
static uint32_t data_bytes(const struct measure *x, uint32_t payload)
{
	return frame_overhead(x->frames.ip6) + x->frames.data_extension + payload;
}

static void measure_release(struct measure *x)
{
	netgraph_release(&x->g);
	free(x->dist);
	free(x->order);
	free(x->cost);
	free(x->via);
	free(x->by_edge);
	free(x->edge_next);
	free(x->sent);
	free(x->received);
}

static int measure_init(struct measure *x)
{
	size_t switches = (size_t)x->net->switch_count + 1;
	int err = netgraph_init(&x->g, x->net);

	if (err)
		return err;
	x->dist = calloc(switches, sizeof(*x->dist));
	x->order = calloc(switches, sizeof(*x->order));
	x->cost = calloc(switches, sizeof(*x->cost));
	x->via = calloc(switches, sizeof(*x->via));
	x->by_edge = calloc(x->m->count + 1, sizeof(*x->by_edge));
	x->edge_next = calloc(switches + 1, sizeof(*x->edge_next));
	x->sent = calloc(x->m->count + 1, sizeof(*x->sent));
	x->received = calloc(x->m->count + 1, sizeof(*x->received));
	if (!x->dist || !x->order || !x->cost || !x->via || !x->by_edge || !x->edge_next ||
		!x->sent || !x->received)
		return -ENOMEM;
	return 0;
}

/* Messages by the edge switch of their sender, so that each needs one walk: a counting sort. */
static void sort_by_edge(struct measure *x)
{
	uint32_t *next = x->edge_next;

	for (size_t i = 0; i < x->m->count; i++)
		next[x->g.host_edge[x->m->items[i].src_host] + 1]++;
	for (uint32_t e = 0; e < x->g.edge_count; e++)
		next[e + 1] += next[e];
	for (size_t i = 0; i < x->m->count; i++)
		x->by_edge[next[x->g.host_edge[x->m->items[i].src_host]]++] = (uint32_t)i;
}

static uint64_t hop_ps(const struct measure *x, uint32_t port, uint32_t frame_len)
{
	const struct net_port *p = &x->net->ports[port];

	return serialise_ps(frame_len, p->rate_bps) + p->delay_ps;
}

/* From edge switch e: the quickest for a full packet of the shortest paths to every other. */
static void walk_from(struct measure *x, uint32_t e)
{
	uint32_t full = data_bytes(x, x->frames.mtu);
	uint32_t reached = netgraph_walk(&x->g, x->g.edges[e], NULL, x->dist, x->order);

	for (uint32_t i = 0; i < reached; i++)
		x->cost[x->order[i]] = i ? UINT64_MAX : 0;
	for (uint32_t i = 0; i < reached; i++) {
		uint32_t from = x->order[i];

		for (uint32_t a = x->g.first[from]; a < x->g.first[from + 1]; a++) {
			uint32_t to = x->g.arcs[a].to;
			uint64_t cost;

			if (x->dist[to] != x->dist[from] + 1)
				continue;
			cost = x->cost[from] + hop_ps(x, x->g.arcs[a].port, full);
			if (cost >= x->cost[to])
				continue;
			x->cost[to] = cost;
			x->via[to] = a;
		}
	}
}

/* Store and forward from the source's edge switch to switch `to`, along the path found. */
static uint64_t way_ps(const struct measure *x, uint32_t to, uint32_t frame_len)
{
	uint64_t sum = 0;

	while (x->dist[to]) {
		const struct netgraph_arc *arc = &x->g.arcs[x->via[to]];

		sum += hop_ps(x, arc->port, frame_len);
		to = x->net->nodes[x->net->ports[arc->port].node].number;
	}
	return sum;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* docs/closed-forms.md, "one message": T, and the demands that it makes of both host links. */
static void measure_message(struct measure *x, uint32_t i)
{
	const struct message *msg = &x->m->items[i];
	uint32_t out = x->net->nodes[msg->src_host].first_port;
	uint32_t in = x->net->ports[x->net->nodes[msg->dst_host].first_port].peer;
	uint32_t edge = x->g.edges[x->g.host_edge[msg->dst_host]];
	uint64_t packets = (msg->bytes - 1) / x->frames.mtu + 1;
	uint32_t full = data_bytes(x, x->frames.mtu);
	uint32_t last = data_bytes(x, (uint32_t)(msg->bytes - (packets - 1) * x->frames.mtu));
	uint32_t first = packets > 1 ? full : last;
	uint32_t sack = frame_overhead(x->frames.ip6) + x->frames.answer_extension;
	uint64_t rate_out = x->net->ports[out].rate_bps, rate_in = x->net->ports[in].rate_bps;
	uint64_t back = hop_ps(x, in, sack) + way_ps(x, edge, sack) + hop_ps(x, out, sack);

	x->sent[i] = (struct demand){
		.host = msg->src_host,
		.starts_alone = msg->after == MESSAGE_NONE,
		.start_ps = msg->start_ps,
		.work_ps =
			(packets - 1) * serialise_ps(full, rate_out) + serialise_ps(last, rate_out),
		.other_ps = x->net->ports[out].delay_ps + way_ps(x, edge, last) +
			    hop_ps(x, in, last) + back,
	};
	x->received[i] = x->sent[i];
	x->received[i].host = msg->dst_host;
	x->received[i].work_ps =
		(packets - 1) * serialise_ps(full, rate_in) + serialise_ps(last, rate_in);
	x->received[i].other_ps =
		hop_ps(x, out, first) + way_ps(x, edge, first) + x->net->ports[in].delay_ps + back;
	x->size.bytes += msg->bytes;
	x->size.packets += packets;
	x->size.packet_hops += packets * (x->dist[edge] + 2u);
	x->size.ideal_ps = later(x->size.ideal_ps, x->sent[i].work_ps + x->sent[i].other_ps);
	x->size.ideal_ps =
		later(x->size.ideal_ps, x->received[i].work_ps + x->received[i].other_ps);
}

static void measure_messages(struct measure *x)
{
	uint32_t walked = NETGRAPH_NONE;

	sort_by_edge(x);
	for (size_t i = 0; i < x->m->count; i++) {
		uint32_t e = x->g.host_edge[x->m->items[x->by_edge[i]].src_host];

		if (e != walked)
			walk_from(x, e);
		walked = e;
		measure_message(x, x->by_edge[i]);
	}
}

static int compare_demands(const void *a, const void *b)
{
	const struct demand *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->start_ps < y->start_ps ? -1 : x->start_ps > y->start_ps;
}

/*
 * docs/closed-forms.md, "messages that share a host link": the work that waits at each host's link
 * grows with every message and shrinks as time passes (Lindley's recursion); none of them can all
 * be done earlier.
 */
static uint64_t bound_by_links(struct demand *d, size_t n)
{
	uint64_t bound = 0;

	qsort(d, n, sizeof(*d), compare_demands);
	for (size_t i = 0, next; i < n; i = next) {
		uint64_t least_other = UINT64_MAX, backlog = 0, most = 0, then = 0;

		for (next = i; next < n && d[next].host == d[i].host; next++) {
			uint64_t passed = d[next].start_ps - then;

			if (!d[next].starts_alone)
				continue;
			backlog = (backlog > passed ? backlog - passed : 0) + d[next].work_ps;
			most = later(most, backlog);
			then = d[next].start_ps;
			if (d[next].other_ps < least_other)
				least_other = d[next].other_ps;
		}
		if (most)
			bound = later(bound, most + least_other);
	}
	return bound;
}

int workload_measure(const struct messages *m, const struct net *net,
	const struct workload_frames *frames, struct workload_size *ret)
{
	struct measure x = {.m = m, .net = net, .frames = *frames};
	int err = measure_init(&x);

	if (!err) {
		measure_messages(&x);
		x.size.ideal_ps = later(x.size.ideal_ps, bound_by_links(x.sent, m->count));
		x.size.ideal_ps = later(x.size.ideal_ps, bound_by_links(x.received, m->count));
		*ret = x.size;
	}
	measure_release(&x);
	return err;
}
