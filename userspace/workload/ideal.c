/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/ideal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/netgraph.h"
#include "base/numbers.h"
#include "base/wiretime.h"
#include "workload/demand.h"

/* Frames whose fastest path is asked for: that of long ones may not be that of short ones. */
enum way { WAY_FULL, WAY_LAST, WAY_ANSWER, WAYS };

/* What the messages of a host come to, without what their packets have beside it. */
struct payload {
	uint64_t sent, received;
};

struct measure {
	struct operations *m;
	const struct net *net;
	struct workload_frames frames;
	struct netgraph g;
	uint8_t *dist;
	uint32_t *order;
	uint32_t reached;         /* switches, by the present walk */
	bool several;             /* that walk's `ways` is filled */
	uint32_t *ways;           /* of the walk, by switch: 1, or 2 for several shortest ones */
	uint32_t frame_len[WAYS]; /* that cost is of, in the present walk; 0: of none yet */
	uint64_t *cost[WAYS];     /* from the source, by switch */
	const struct net_port
		*alike;      /* all links between switches are as this one; NULL: they are not */
	uint32_t *by_edge;   /* messages of the present part by the edge switch of their sender */
	size_t capacity;     /* of by_edge */
	uint32_t *edge_next; /* where each edge switch's start in by_edge; scratch */
	struct demands sent, received;
	struct payload *payload;    /* by host */
	uint64_t first_ps, last_ps; /* starts of the messages in it; UINT64_MAX: there is none */
	struct workload_size size;
};

/* A frame of a message with that much payload. */
static uint32_t data_bytes(const struct measure *x, const struct operation *msg, uint32_t payload)
{
	return frame_overhead(x->frames.ip6) + x->frames.transports[msg->transport].data_extension +
	       payload;
}

void measure_free(struct measure *x)
{
	if (!x)
		return;
	netgraph_release(&x->g);
	free(x->dist);
	free(x->order);
	free(x->ways);
	for (int i = 0; i < WAYS; i++)
		free(x->cost[i]);
	free(x->by_edge);
	free(x->edge_next);
	demands_release(&x->sent);
	demands_release(&x->received);
	free(x->payload);
	free(x);
}

/* Mostly they are alike, and then the number of hops says all. */
static void find_alike(struct measure *x)
{
	for (uint32_t a = 0; a < x->g.first[x->net->switch_count]; a++) {
		const struct net_port *p = &x->net->ports[x->g.arcs[a].port];

		if (!a)
			x->alike = p;
		if (p->rate_bps != x->alike->rate_bps || p->delay_ps != x->alike->delay_ps) {
			x->alike = NULL;
			return;
		}
	}
}

static int measure_init(struct measure *x)
{
	size_t switches = (size_t)x->net->switch_count + 1;
	int err = netgraph_init(&x->g, x->net);

	if (err)
		return err;
	x->dist = calloc(switches, sizeof(*x->dist));
	x->order = calloc(switches, sizeof(*x->order));
	x->ways = calloc(switches, sizeof(*x->ways));
	for (int i = 0; i < WAYS; i++) {
		x->cost[i] = calloc(switches, sizeof(*x->cost[i]));
		if (!x->cost[i])
			return -ENOMEM;
	}
	x->edge_next = calloc(switches + 1, sizeof(*x->edge_next));
	x->payload = calloc(x->net->host_count, sizeof(*x->payload));
	x->first_ps = UINT64_MAX;
	if (!x->dist || !x->order || !x->ways || !x->edge_next || !x->payload ||
		demands_init(&x->sent, x->net->host_count) < 0 ||
		demands_init(&x->received, x->net->host_count) < 0)
		return -ENOMEM;
	find_alike(x);
	return 0;
}

static int part_reserve(struct measure *x)
{
	uint32_t *by_edge;

	if (demands_reserve(&x->sent, x->m->count) < 0 ||
		demands_reserve(&x->received, x->m->count) < 0)
		return -ENOMEM;
	if (x->m->count <= x->capacity)
		return 0;
	by_edge = reallocarray(x->by_edge, x->m->count, sizeof(*by_edge));
	if (!by_edge)
		return -ENOMEM;
	x->by_edge = by_edge;
	x->capacity = x->m->count;
	return 0;
}

/*
 * Messages by the edge switch of their sender, so that each needs one walk: a counting sort.
 * Returns how many they are.
 */
static size_t sort_by_edge(struct measure *x)
{
	uint32_t *next = x->edge_next;
	size_t messages = 0;

	memset(next, 0, (x->g.edge_count + 1) * sizeof(*next));
	for (size_t i = 0; i < x->m->count; i++)
		if (operation_is_message(&x->m->items[i]))
			next[x->g.host_edge[x->m->items[i].src_host] + 1]++;
	for (uint32_t e = 0; e < x->g.edge_count; e++)
		next[e + 1] += next[e];
	for (size_t i = 0; i < x->m->count; i++)
		if (operation_is_message(&x->m->items[i])) {
			x->by_edge[next[x->g.host_edge[x->m->items[i].src_host]]++] = (uint32_t)i;
			messages++;
		}
	return messages;
}

static uint64_t hop_ps(const struct measure *x, uint32_t port, uint32_t frame_len)
{
	const struct net_port *p = &x->net->ports[port];

	return serialise_ps(frame_len, p->rate_bps) + net_port_flight(p);
}

/* All shortest paths from edge switch e. */
static void walk_from(struct measure *x, uint32_t e)
{
	x->reached = netgraph_walk(&x->g, x->g.edges[e], NULL, x->dist, x->order);
	x->several = false;
	memset(x->frame_len, 0, sizeof(x->frame_len));
}

/* Of the shortest paths of the walk, the quickest for such a frame to each switch. */
static void find_quickest(struct measure *x, enum way way, uint32_t frame_len)
{
	uint64_t *cost = x->cost[way];

	x->frame_len[way] = frame_len;
	for (uint32_t i = 0; i < x->reached; i++)
		cost[x->order[i]] = i ? UINT64_MAX : 0;
	for (uint32_t i = 0; i < x->reached; i++) {
		uint32_t from = x->order[i];

		for (uint32_t a = x->g.first[from]; a < x->g.first[from + 1]; a++) {
			const struct netgraph_arc *arc = &x->g.arcs[a];
			uint64_t there;

			if (x->dist[arc->to] != x->dist[from] + 1)
				continue;
			there = cost[from] + hop_ps(x, arc->port, frame_len);
			if (there < cost[arc->to])
				cost[arc->to] = there;
		}
	}
}

/* Store and forward between the walk's edge switch and `to`: the same in both directions. */
static uint64_t way_ps(struct measure *x, enum way way, uint32_t to, uint32_t frame_len)
{
	if (!x->dist[to])
		return 0;
	if (x->alike)
		return x->dist[to] *
		       (serialise_ps(frame_len, x->alike->rate_bps) + net_port_flight(x->alike));
	if (x->frame_len[way] != frame_len)
		find_quickest(x, way, frame_len);
	return x->cost[way][to];
}

/* Whether more than one shortest path leads to that switch: on a single one nothing overtakes. */
static bool has_several(struct measure *x, uint32_t to)
{
	if (!x->several) {
		memset(x->ways, 0, x->net->switch_count * sizeof(*x->ways));
		x->ways[x->order[0]] = 1;
		for (uint32_t i = 0; i < x->reached; i++) {
			uint32_t from = x->order[i];

			for (uint32_t a = x->g.first[from]; a < x->g.first[from + 1]; a++) {
				uint32_t *ways = &x->ways[x->g.arcs[a].to];

				if (x->dist[x->g.arcs[a].to] == x->dist[from] + 1)
					*ways = *ways + x->ways[from] > 1 ? 2 : 1;
			}
		}
		x->several = true;
	}
	return x->ways[to] > 1;
}

/* A message on its way: its packets, and the links at its ends. */
struct trip {
	uint64_t packets;
	uint32_t pairs;              /* queue pairs that divide them */
	uint32_t full, last, answer; /* frame lengths */
	uint32_t out, in; /* ports: the sender's, and that of the switch at the receiver */
	uint32_t edge;    /* that switch */
};

static struct trip trip_of(const struct measure *x, const struct operation *msg)
{
	uint64_t packets = (msg->bytes - 1) / x->frames.mtu + 1;
	bool even = x->frames.transports[msg->transport].even;
	uint64_t full = even ? (msg->bytes - 1) / packets + 1 : x->frames.mtu;
	uint64_t last = even ? full : msg->bytes - (packets - 1) * full;

	return (struct trip){
		.packets = packets,
		.pairs = x->frames.transports[msg->transport].pairs,
		.full = data_bytes(x, msg, (uint32_t)full),
		.last = data_bytes(x, msg, (uint32_t)last),
		.answer = frame_overhead(x->frames.ip6) +
			  x->frames.transports[msg->transport].answer_extension,
		.out = x->net->nodes[msg->src_host].first_port,
		.in = x->net->ports[x->net->nodes[msg->dst_host].first_port].peer,
		.edge = x->g.edges[x->g.host_edge[msg->dst_host]],
	};
}

/* All data of it on one link. */
static uint64_t work_ps(const struct measure *x, const struct trip *t, uint32_t port)
{
	uint64_t rate = x->net->ports[port].rate_bps;

	return (t->packets - 1) * serialise_ps(t->full, rate) + serialise_ps(t->last, rate);
}

/* Packets that certainly leave before the last: each of several queue pairs has its own order. */
static uint64_t packets_before_last(const struct trip *t)
{
	uint64_t pairs = min_u64(t->pairs, t->packets);

	return pairs > 1 ? t->packets / pairs - 1 : t->packets - 1;
}

/* When its first packet can reach the last link: a short one may overtake on another path. */
static uint64_t first_at_last_link(struct measure *x, const struct trip *t)
{
	uint64_t last = hop_ps(x, t->out, t->last) + way_ps(x, WAY_LAST, t->edge, t->last), full;

	if (t->packets == 1)
		return last;
	full = hop_ps(x, t->out, t->full) + way_ps(x, WAY_FULL, t->edge, t->full);
	last += packets_before_last(t) * serialise_ps(t->full, x->net->ports[t->out].rate_bps);
	if (last >= full || (t->pairs <= 1 && !has_several(x, t->edge)))
		return full;
	return last;
}

/*
 * The least time for the payload alone, as it is often taken for a unit: that of the busiest host
 * link, at which messages that wait for others do not come together with those.
 */
static void add_payload(struct measure *x, const struct operation *msg, const struct trip *t)
{
	struct payload alone = {0};
	struct payload *from = msg->waits ? &alone : &x->payload[msg->src_host];
	struct payload *to = msg->waits ? &alone : &x->payload[msg->dst_host];
	uint64_t *most_ps = &x->size.payload_ps;

	if (!msg->waits) {
		x->first_ps = min_u64(x->first_ps, msg->start_ps);
		x->last_ps = max_u64(x->last_ps, msg->start_ps);
		x->size.starts_ps = x->last_ps - x->first_ps;
	}
	from->sent += msg->bytes;
	to->received += msg->bytes;
	*most_ps = max_u64(*most_ps, bytes_ps(from->sent, x->net->ports[t->out].rate_bps));
	*most_ps = max_u64(*most_ps, bytes_ps(to->received, x->net->ports[t->in].rate_bps));
}

/* docs/closed-forms.md, "one message": T, and the demands that it makes of both host links. */
static void measure_message(struct measure *x, uint32_t i)
{
	struct operation *msg = &x->m->items[i];
	struct trip t = trip_of(x, msg);
	uint64_t back = hop_ps(x, x->net->ports[t.in].peer, t.answer) +
			way_ps(x, WAY_ANSWER, t.edge, t.answer) +
			hop_ps(x, x->net->ports[t.out].peer, t.answer);
	struct demand sent = {.at = msg->src_host, .start_ps = msg->start_ps};
	struct demand received = {.at = msg->dst_host, .start_ps = msg->start_ps};

	msg->base_rtt_ps = hop_ps(x, t.out, t.full) + way_ps(x, WAY_FULL, t.edge, t.full) +
			   hop_ps(x, t.in, t.full) + back;
	sent.work_ps = work_ps(x, &t, t.out);
	sent.after_ps = net_port_flight(&x->net->ports[t.out]) +
			way_ps(x, WAY_LAST, t.edge, t.last) + hop_ps(x, t.in, t.last) + back;
	received.before_ps = first_at_last_link(x, &t);
	received.work_ps = work_ps(x, &t, t.in);
	received.after_ps = net_port_flight(&x->net->ports[t.in]) + back;
	msg->ideal_ps = max_u64(sent.work_ps + sent.after_ps,
		received.before_ps + received.work_ps + received.after_ps);
	if (t.packets > 1) /* the long ones alone, if a short one came before */
		msg->ideal_ps = max_u64(msg->ideal_ps,
			hop_ps(x, t.out, t.full) + way_ps(x, WAY_FULL, t.edge, t.full) +
				(t.packets - 1) *
					serialise_ps(t.full, x->net->ports[t.in].rate_bps) +
				received.after_ps);
	x->size.messages++;
	x->size.transports[msg->transport].dscps |= 1ull
						    << (msg->dscp ? msg->dscp - 1 : x->frames.dscp);
	x->size.bytes += msg->bytes;
	x->size.packets += t.packets;
	x->size.transports[msg->transport].packet_hops += t.packets * (x->dist[t.edge] + 2u);
	/* what is not measured is no part of what the bound is of */
	if (msg->unmeasured)
		return;
	x->size.ideal_ps = max_u64(x->size.ideal_ps, msg->ideal_ps);
	add_payload(x, msg, &t);
	if (msg->waits)
		return;
	demands_add(&x->sent, &sent);
	demands_add(&x->received, &received);
}

int measure_take(struct measure *x, struct operations *m)
{
	uint32_t walked = NETGRAPH_NONE;
	size_t messages;

	x->m = m;
	if (part_reserve(x) < 0)
		return -ENOMEM;
	messages = sort_by_edge(x);
	for (size_t i = 0; i < messages; i++) {
		uint32_t e = x->g.host_edge[m->items[x->by_edge[i]].src_host];

		if (e != walked)
			walk_from(x, e);
		walked = e;
		measure_message(x, x->by_edge[i]);
	}
	demands_settle(&x->sent);
	demands_settle(&x->received);
	return 0;
}

void measure_end_list(struct measure *x)
{
	demands_end_list(&x->sent);
	demands_end_list(&x->received);
	x->size.ideal_ps = max_u64(
		x->size.ideal_ps, max_u64(demands_bound(&x->sent), demands_bound(&x->received)));
}

struct workload_size measure_size(const struct measure *x)
{
	return x->size;
}

int measure_new(struct measure **ret, const struct net *net, const struct workload_frames *frames)
{
	struct measure *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->net = net;
	x->frames = *frames;
	if (measure_init(x) < 0) {
		measure_free(x);
		return -ENOMEM;
	}
	*ret = x;
	return 0;
}

int workload_measure(struct operations *m, const struct net *net,
	const struct workload_frames *frames, struct workload_size *ret)
{
	struct measure *x = NULL;
	int r = measure_new(&x, net, frames);

	if (r == 0)
		r = measure_take(x, m);
	if (r == 0) {
		measure_end_list(x);
		*ret = x->size;
	}
	measure_free(x);
	return r;
}
