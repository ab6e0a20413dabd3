/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/strain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/shared_state.h"
#include "base/netgraph.h"
#include "base/numbers.h"
#include "base/wiretime.h"

struct strain {
	const struct operations *m; /* the present part */
	const struct net *net;
	const struct strain_links *links;
	struct workload_frames frames;
	struct netgraph g;
	bool *up; /* by link */
	uint8_t *dist;
	uint32_t *order;
	uint64_t *held;    /* bytes that a switch has to forward towards the present destination */
	uint64_t *slowest; /* of the ways from a switch there, bps */
	uint64_t *load;    /* bytes that leave by a port */
	uint32_t *by_edge; /* first messages of chains by the edge switch of their receiver */
	size_t capacity;   /* of by_edge */
	uint32_t *edge_next;    /* where each edge switch's end in by_edge */
	uint32_t farthest;      /* distance, so far */
	uint32_t longest_frame; /* so far */
	struct workload_strain found;
};

void strain_free(struct strain *x)
{
	if (!x)
		return;
	netgraph_release(&x->g);
	free(x->up);
	free(x->dist);
	free(x->order);
	free(x->held);
	free(x->slowest);
	free(x->load);
	free(x->by_edge);
	free(x->edge_next);
	free(x);
}

static int strain_init(struct strain *x)
{
	size_t switches = (size_t)x->net->switch_count + 1;
	int err = netgraph_init(&x->g, x->net);

	if (err)
		return err;
	x->up = calloc((size_t)x->net->link_count + 1, sizeof(*x->up));
	x->dist = calloc(switches, sizeof(*x->dist));
	x->order = calloc(switches, sizeof(*x->order));
	x->held = calloc(switches, sizeof(*x->held));
	x->slowest = calloc(switches, sizeof(*x->slowest));
	x->load = calloc((size_t)x->net->port_count + PORT_FIRST, sizeof(*x->load));
	x->edge_next = calloc(switches + 1, sizeof(*x->edge_next));
	if (!x->up || !x->dist || !x->order || !x->held || !x->slowest || !x->load || !x->edge_next)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->net->link_count; i++)
		x->up[i] = x->links->rate_bps[i] != 0;
	return 0;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t packets_of(const struct strain *x, const struct operation *msg)
{
	return (msg->bytes - 1) / x->frames.mtu + 1;
}

static uint32_t full_frame(const struct strain *x, const struct operation *msg)
{
	return frame_overhead(x->frames.ip6) + x->frames.transports[msg->transport].data_extension +
	       x->frames.mtu;
}

/* As if the last packet were as long as the others. */
static uint64_t wire_size(const struct strain *x, const struct operation *msg)
{
	return packets_of(x, msg) * wire_bytes(full_frame(x, msg));
}

static uint64_t link_rate(const struct strain *x, uint32_t port)
{
	return x->links->rate_bps[x->net->ports[port].link];
}

static uint32_t receiver_edge(const struct strain *x, const struct operation *msg)
{
	return x->g.host_edge[msg->dst_host];
}

/* A repeated message starts after the one before it, and adds nothing to it. */
static bool counts(const struct operation *o)
{
	return operation_is_message(o) && !o->again;
}

/* A counting sort: one walk for all that goes to the hosts of a switch. */
static void sort_by_edge(struct strain *x)
{
	uint32_t *next = x->edge_next;

	memset(next, 0, (x->g.edge_count + 1) * sizeof(*next));
	for (size_t i = 0; i < x->m->count; i++)
		if (counts(&x->m->items[i]))
			next[receiver_edge(x, &x->m->items[i]) + 1]++;
	for (uint32_t e = 0; e < x->g.edge_count; e++)
		next[e + 1] += next[e];
	for (size_t i = 0; i < x->m->count; i++)
		if (counts(&x->m->items[i]))
			x->by_edge[next[receiver_edge(x, &x->m->items[i])]++] = (uint32_t)i;
}

/* Whether an arc from a switch leads on towards the destination of the walk. */
static bool leads_on(const struct strain *x, uint32_t from, const struct netgraph_arc *arc)
{
	return x->up[arc->link] && x->dist[arc->to] + 1 == x->dist[from];
}

/* From the destination's switch outwards: the slowest link of all ways from each. */
static void find_slowest(struct strain *x, uint32_t reached)
{
	x->slowest[x->order[0]] = UINT64_MAX;
	for (uint32_t i = 1; i < reached; i++) {
		uint32_t s = x->order[i];

		x->slowest[s] = UINT64_MAX;
		for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1]; a++) {
			const struct netgraph_arc *arc = &x->g.arcs[a];

			if (leads_on(x, s, arc))
				x->slowest[s] = min_u64(x->slowest[s],
					min_u64(link_rate(x, arc->port), x->slowest[arc->to]));
		}
	}
}

/* A message that has a way is held by its sender's switch, and crosses both host links. */
static void take_message(struct strain *x, const struct operation *msg)
{
	uint32_t out = x->net->nodes[msg->src_host].first_port;
	uint32_t in = x->net->ports[x->net->nodes[msg->dst_host].first_port].peer;
	uint32_t edge = x->g.edges[x->g.host_edge[msg->src_host]];
	uint64_t bytes = wire_size(x, msg), rate;

	if (!link_rate(x, out) || !link_rate(x, in) || x->dist[edge] == NETGRAPH_FAR)
		return;
	rate = min_u64(x->slowest[edge], min_u64(link_rate(x, out), link_rate(x, in)));
	x->found.alone_ps = max_u64(x->found.alone_ps, bytes_ps(bytes, rate));
	x->found.packets = max_u64(x->found.packets, packets_of(x, msg));
	x->longest_frame = (uint32_t)max_u64(x->longest_frame, full_frame(x, msg));
	x->held[edge] = sum(x->held[edge], bytes);
	x->load[out] = sum(x->load[out], bytes);
	x->load[in] = sum(x->load[in], bytes);
}

/* All that a switch holds goes on, in equal parts. */
static void forward(struct strain *x, uint32_t s)
{
	uint64_t ways = 0, part;

	for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1]; a++)
		ways += leads_on(x, s, &x->g.arcs[a]);
	if (!ways)
		return;
	part = (x->held[s] - 1) / ways + 1;
	for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1]; a++) {
		const struct netgraph_arc *arc = &x->g.arcs[a];

		if (!leads_on(x, s, arc))
			continue;
		x->load[arc->port] = sum(x->load[arc->port], part);
		x->held[arc->to] = sum(x->held[arc->to], part);
	}
}

/* Messages first .. end - 1 of by_edge have one edge switch. Returns the longest distance. */
static uint32_t take_edge(struct strain *x, uint32_t edge, uint32_t first, uint32_t end)
{
	uint32_t reached = netgraph_walk(&x->g, x->g.edges[edge], x->up, x->dist, x->order);

	memset(x->held, 0, x->net->switch_count * sizeof(*x->held));
	find_slowest(x, reached);
	for (uint32_t i = first; i < end; i++)
		take_message(x, &x->m->items[x->by_edge[i]]);
	for (uint32_t i = reached; i-- > 0;)
		if (x->held[x->order[i]])
			forward(x, x->order[i]);
	return x->dist[x->order[reached - 1]];
}

static void find_busiest(struct strain *x, uint32_t farthest)
{
	uint64_t hop = 0, links = 2 * (farthest + 2ull);

	for (uint32_t p = PORT_FIRST; p < PORT_FIRST + x->net->port_count; p++) {
		uint32_t link = x->net->ports[p].link;
		uint64_t rate = link_rate(x, p);

		x->found.busiest_ps = max_u64(x->found.busiest_ps, bytes_ps(x->load[p], rate));
		/* a link has two ports, and is crossed either way, or both */
		x->found.links +=
			x->net->ports[p].peer > p && (x->load[p] || x->load[x->net->ports[p].peer]);
		if (rate)
			hop = max_u64(hop, sum(serialise_ps(x->longest_frame, rate),
						   x->links->delay_ps[link]));
	}
	x->found.round_trip_ps = hop > UINT64_MAX / links ? UINT64_MAX : hop * links;
}

int strain_take(struct strain *x, const struct operations *m)
{
	uint32_t first = 0;

	if (m->count > x->capacity) {
		uint32_t *by_edge = reallocarray(x->by_edge, m->count, sizeof(*by_edge));

		if (!by_edge)
			return -ENOMEM;
		x->by_edge = by_edge;
		x->capacity = m->count;
	}
	x->m = m;
	sort_by_edge(x);
	for (uint32_t e = 0; e < x->g.edge_count; e++) {
		uint32_t far = 0;

		if (x->edge_next[e] > first)
			far = take_edge(x, e, first, x->edge_next[e]);
		x->farthest = far > x->farthest ? far : x->farthest;
		first = x->edge_next[e];
	}
	return 0;
}

struct workload_strain strain_found(struct strain *x)
{
	find_busiest(x, x->farthest);
	return x->found;
}

int strain_new(struct strain **ret, const struct net *net, const struct workload_frames *frames,
	const struct strain_links *links)
{
	struct strain *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->net = net;
	x->links = links;
	x->frames = *frames;
	if (strain_init(x) < 0) {
		strain_free(x);
		return -ENOMEM;
	}
	*ret = x;
	return 0;
}
