/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/cost.h"

#include <errno.h>
#include <stdlib.h>
#include "abi/state.h"
#include "base/netgraph.h"
#include "engine/pool.h"
#include "live/setup.h"
#include "live/traffic.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

/*
 * What is not computed below, measured on amd64: the process and its libraries; of a port, what the engine, the recorder and
 * the fabric keep of it beside the dataplane's tables, a node's share included; of a flow, its places in the engine, its events, and
 * the message that it was while it was set up.
 */
#define PROCESS_BYTES (5u << 20)
#define PORT_BYTES    470u
#define FLOW_BYTES    264u

/*
 * What the kernel has for a fabric: of a port its half of a veth pair, a socket with its rings, and its share of the
 * tables; of a node the namespace. A veth that has got its first frame keeps a pool of pages (64 at once, include/net/page_pool).
 */
#define KERNEL_PORT_BYTES (78u << 10)
#define KERNEL_NODE_BYTES (250u << 10)
#define KERNEL_POOL_BYTES (64u * PAGE)

#define KERNEL_HOP_NS   2250.0
#define INLINE_HOP_NS   80.0
#define PACKETS_PER_ACK 16.0 /* of RoCEv2 */

#define PAGE 4096u

/*
 * A switch uses about as many groups as it has ports while all links are up, of those that are laid out for it; the system
 * backs whole pages of them.
 */
static uint64_t switch_bytes(const struct fabric *f, uint32_t node)
{
	uint64_t groups = f->net.nodes[node].port_count * sizeof(struct group);
	uint64_t blocks = (f->net.host_count + ROUTE_BLOCK - 1) / ROUTE_BLOCK;

	return blocks * sizeof(struct route_block) + (groups + PAGE - 1) / PAGE * PAGE + PAGE / 2;
}

static uint64_t fabric_bytes(const struct scenario *s, const struct fabric *f)
{
	uint64_t port = PORT_BYTES + sizeof(struct port) +
			CLASSES * (sizeof(struct queue) + sizeof(struct ingress));
	uint64_t bytes, edges = 0;

	bytes = port * f->net.port_count;
	for (uint32_t i = f->net.host_count; i < f->net.node_count; i++) {
		edges += f->nodes[i].tier == 1;
		bytes += switch_bytes(f, i);
		if (s->sw.cnp_ps)
			bytes += FLOW_SLOTS * sizeof(struct flow_mark);
	}
	/* routing: hops from each switch to each that has hosts */
	return bytes + edges * f->net.switch_count;
}

static uint64_t flow_bytes(
	const struct scenario *s, const struct fabric *f, const struct messages *m)
{
	struct transport_env env;
	struct setup_options options;
	const struct transport_ops *ops = setup_transport(&env, &options, s, f);
	uint64_t bytes = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct flow_spec spec = {.bytes = m->items[i].bytes};

		bytes += FLOW_BYTES + ops->size(&env, &spec, true) + ops->size(&env, &spec, false);
	}
	return bytes;
}

/* Packets under way, or their answers: a window of each host that sends, however many flows it has. */
static uint64_t packet_bytes(
	const struct scenario *s, const struct fabric *f, const struct messages *m)
{
	uint64_t slot = packet_slot_bytes(setup_frame_capacity(s, f));
	struct transport_env env;
	struct setup_options options;
	double share = setup_transport(&env, &options, s, f) == &strack_transport
			       ? options.strack.window_share
			       : 1;
	uint64_t window = (uint64_t)((double)f->bdp_bytes * share) / f->packet_bytes + 1;
	uint64_t most = window * (m->count < f->net.host_count ? m->count : f->net.host_count);
	uint64_t packets = 0;

	for (size_t i = 0; i < m->count && packets < most; i++)
		packets += (m->items[i].bytes + f->mtu - 1) / f->mtu;
	return slot * (packets < most ? packets : most);
}

/* ---- ports that frames come to ---- */

struct pair {
	uint32_t to, from; /* edge switches, as netgraph numbers them */
};

struct reach {
	const struct net *net;
	struct netgraph g;
	uint8_t *dist;
	uint32_t *order;
	bool *on_way;  /* switches that this destination's packets pass */
	bool *reached; /* ports */
	struct pair *pairs;
	uint32_t count, left; /* ports reached; ports between switches that are not */
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Both ends of a link: answers go back. */
static void reach_link(struct reach *r, uint32_t port, bool switches)
{
	uint32_t ends[] = {port, r->net->ports[port].peer};

	for (int i = 0; i < 2; i++) {
		if (r->reached[ends[i]])
			continue;
		r->reached[ends[i]] = true;
		r->count++;
		r->left -= switches;
	}
}

/* What lies on shortest paths from the sources of n pairs to their one destination. */
static void reach_destination(struct reach *r, const struct pair *pairs, size_t n)
{
	const struct netgraph *g = &r->g;
	uint32_t nodes = netgraph_walk(g, g->edges[pairs[0].to], NULL, r->dist, r->order);

	for (size_t i = 0; i < n; i++)
		r->on_way[g->edges[pairs[i].from]] = true;
	while (nodes-- > 0) {
		uint32_t at = r->order[nodes];

		for (uint32_t a = g->first[at]; r->on_way[at] && a < g->first[at + 1]; a++) {
			if (r->dist[g->arcs[a].to] + 1 != r->dist[at])
				continue;
			r->on_way[g->arcs[a].to] = true;
			reach_link(r, g->arcs[a].port, true);
		}
		r->on_way[at] = false;
	}
}

static void reach_all(struct reach *r, const struct messages *m)
{
	for (size_t i = 0; i < m->count; i++) {
		uint32_t from = m->items[i].src_host, to = m->items[i].dst_host;

		reach_link(r, r->net->nodes[from].first_port, false);
		reach_link(r, r->net->nodes[to].first_port, false);
		r->pairs[i] = (struct pair){r->g.host_edge[to], r->g.host_edge[from]};
	}
	qsort(r->pairs, m->count, sizeof(*r->pairs), compare_pairs);
	for (size_t i = 0, n; i < m->count && r->left; i += n) {
		for (n = 1; i + n < m->count && r->pairs[i + n].to == r->pairs[i].to;)
			n++;
		reach_destination(r, r->pairs + i, n);
	}
}

/* Ports to which the messages' packets and answers may come. 0 or -ENOMEM. */
static int count_reached(uint32_t *ret, const struct net *net, const struct messages *m)
{
	struct reach r = {.net = net, .g = NETGRAPH_INIT};
	size_t switches = (size_t)net->switch_count + 1;
	int err = netgraph_init(&r.g, net);

	r.left = net->port_count - 2 * net->host_count;
	r.dist = calloc(switches, sizeof(*r.dist));
	r.order = calloc(switches, sizeof(*r.order));
	r.on_way = calloc(switches, sizeof(*r.on_way));
	r.reached = calloc(PORT_FIRST + (size_t)net->port_count, sizeof(*r.reached));
	r.pairs = calloc(m->count + 1, sizeof(*r.pairs));
	if (!err && !(r.dist && r.order && r.on_way && r.reached && r.pairs))
		err = -ENOMEM;
	if (!err) {
		reach_all(&r, m);
		*ret = r.count;
	}
	netgraph_release(&r.g);
	free(r.dist);
	free(r.order);
	free(r.on_way);
	free(r.reached);
	free(r.pairs);
	return err;
}

/* ---- all of it ---- */

static int kernel_bytes(
	uint64_t *ret, const struct scenario *s, const struct fabric *f, const struct messages *m)
{
	const struct net *net = &f->net;
	uint32_t reached = net->port_count;
	int err = s->sw.lldp_ps ? 0 : count_reached(&reached, net, m);

	*ret = (uint64_t)net->port_count * KERNEL_PORT_BYTES +
	       (uint64_t)net->node_count * KERNEL_NODE_BYTES +
	       (uint64_t)reached * KERNEL_POOL_BYTES;
	return err;
}

static uint64_t process_bytes(
	const struct scenario *s, const struct fabric *f, const struct messages *m)
{
	return PROCESS_BYTES + fabric_bytes(s, f) + flow_bytes(s, f, m) + packet_bytes(s, f, m);
}

int cost_foresee(struct cost *ret_inline, struct cost *ret_kernel, const struct scenario *s,
	const struct fabric *f, const struct messages *m, const struct workload_size *size)
{
	double answered = s->host.transport == TRANSPORT_STRACK ? s->host.strack.sack_packets
								: PACKETS_PER_ACK;
	double hops = (double)size->packet_hops * (1 + 1 / answered);
	uint64_t kernel;
	int err = kernel_bytes(&kernel, s, f, m);

	if (err)
		return err;
	*ret_inline = (struct cost){
		process_bytes(s, f, m), hops * (COST_ENGINE_NS + INLINE_HOP_NS) * 1e-9};
	*ret_kernel = (struct cost){
		ret_inline->memory_bytes + kernel, hops * (COST_ENGINE_NS + KERNEL_HOP_NS) * 1e-9};
	return 0;
}

int cost_memory(uint64_t *ret, const struct scenario *s, const struct fabric *f, bool kernel)
{
	struct messages m = MESSAGES_INIT;
	uint64_t more = 0;
	int err = traffic_messages(&m, s, f, 0);

	if (!err && kernel)
		err = kernel_bytes(&more, s, f, &m);
	if (!err)
		*ret = process_bytes(s, f, &m) + more;
	messages_release(&m);
	return err;
}
