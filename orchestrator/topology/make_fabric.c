/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/make_fabric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/shared_state.h"
#include "scenario/scenario.h"
#include "topology/targets.h"
#include "topology/resolve.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

/* A port before it has its number: what it sorts by among its node's, and its link. */
#define KEY_LINK_BITS 20
#define KEY_PEER_BITS 21
#define KEY_LINK(key) ((uint32_t)((key) & ((1u << KEY_LINK_BITS) - 1)))
_Static_assert(PORTS_MAX <= 1u << KEY_LINK_BITS, "a link fits in a key");
_Static_assert(2 * PORTS_MAX <= 1u << KEY_PEER_BITS, "a node fits in a key");

static uint64_t port_key(const struct fabric *f, uint32_t node, uint32_t peer, uint32_t link)
{
	uint32_t own = f->nodes[node].tier, other = f->nodes[peer].tier;
	uint64_t direction = other < own ? 0 : other == own ? 1 : 2;

	return (direction << KEY_PEER_BITS | peer) << KEY_LINK_BITS | link;
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void make_nodes(struct net *net)
{
	uint32_t port = PORT_FIRST;

	for (uint32_t i = 0; i < net->node_count; i++) {
		struct net_node *node = &net->nodes[i];
		bool host = i < net->host_count;

		node->kind = host ? NODE_HOST : NODE_SWITCH;
		node->number = host ? i : i - net->host_count;
		node->first_port = port;
		port += node->port_count;
	}
}

/* Keys of all ports, node by node, each node's sorted. */
static void sort_ports(
	const struct fabric *f, const struct shape *s, uint64_t *keys, uint32_t *next)
{
	const struct net *net = &f->net;

	for (uint32_t i = 0; i < net->node_count; i++)
		next[i] = net->nodes[i].first_port;
	for (uint32_t i = 0; i < s->link_count; i++) {
		uint32_t a = s->links[i].a, b = s->links[i].b;

		keys[next[a]++] = port_key(f, a, b, i);
		keys[next[b]++] = port_key(f, b, a, i);
	}
	for (uint32_t i = 0; i < net->node_count; i++)
		qsort(keys + net->nodes[i].first_port, net->nodes[i].port_count, sizeof(*keys),
			compare_keys);
}

/* Fills a node's ports from their keys; of parallel links the node of lower index numbers all. */
static void make_ports(struct fabric *f, const struct shape *s, uint32_t i, const uint64_t *keys)
{
	const struct net_node *node = &f->net.nodes[i];

	for (uint32_t n = 0; n < node->port_count; n++) {
		uint32_t id = node->first_port + n;
		uint32_t number = KEY_LINK(keys[id]);
		const struct shape_link *spec = &s->links[number];
		struct fabric_link *link = &f->links[number];
		bool same = n && keys[id] >> KEY_LINK_BITS == keys[id - 1] >> KEY_LINK_BITS;

		f->net.ports[id] = (struct net_port){.node = i,
			.link = number,
			.rate_bps = spec->rate_bps,
			.delay_ps = spec->delay_ps};
		if (spec->a == i)
			link->a = id;
		else
			link->b = id;
		if (!same || i != (spec->a < spec->b ? spec->a : spec->b))
			continue;
		link->is_parallel = true;
		f->links[KEY_LINK(keys[id - 1])].is_parallel = true;
		link->parallel = f->links[KEY_LINK(keys[id - 1])].parallel + 1;
	}
}

/* Numbers the ports; keys and next are scratch. */
static void wire(struct fabric *f, const struct shape *s, uint64_t *keys, uint32_t *next)
{
	struct net *net = &f->net;

	for (uint32_t i = 0; i < s->link_count; i++) {
		net->nodes[s->links[i].a].port_count++;
		net->nodes[s->links[i].b].port_count++;
	}
	make_nodes(net);
	sort_ports(f, s, keys, next);
	for (uint32_t i = 0; i < net->node_count; i++)
		make_ports(f, s, i, keys);
	for (uint32_t i = 0; i < net->link_count; i++) {
		net->ports[f->links[i].a].peer = f->links[i].b;
		net->ports[f->links[i].b].peer = f->links[i].a;
	}
}

static int compare_names(const void *a, const void *b, void *nodes)
{
	const struct fabric_node *n = nodes;

	return strcmp(n[*(const uint32_t *)a].name, n[*(const uint32_t *)b].name);
}

static void index_names(struct fabric *f)
{
	for (uint32_t i = 0; i < f->net.node_count; i++)
		f->by_name[i] = i;
	qsort_r(f->by_name, f->net.node_count, sizeof(*f->by_name), compare_names, f->nodes);
}

static int wire_shape(struct fabric *f, struct shape *s)
{
	struct net *net = &f->net;
	size_t ports = PORT_FIRST + 2 * (size_t)s->link_count;
	uint64_t *keys = calloc(ports, sizeof(*keys));
	uint32_t *next;

	net->host_count = s->host_count;
	net->switch_count = s->switch_count;
	net->node_count = s->host_count + s->switch_count;
	net->link_count = s->link_count;
	net->port_count = 2 * s->link_count;
	next = calloc(net->node_count, sizeof(*next));
	net->nodes = calloc(net->node_count, sizeof(*net->nodes));
	net->ports = calloc(ports, sizeof(*net->ports));
	f->links = calloc(net->link_count, sizeof(*f->links));
	f->by_name = calloc(net->node_count, sizeof(*f->by_name));
	if (!keys || !next || !net->nodes || !net->ports || !f->links || !f->by_name) {
		free(keys);
		free(next);
		return -ENOMEM;
	}
	f->regular = s->regular;
	f->nodes = s->nodes;
	s->nodes = NULL;
	for (uint32_t i = 0; i < net->node_count; i++)
		if (f->nodes[i].tier >= f->tier_count)
			f->tier_count = f->nodes[i].tier + 1;
	wire(f, s, keys, next);
	index_names(f);
	free(keys);
	free(next);
	return 0;
}

#define KIND(name) &topology_kind_##name,

const struct topology_kind *const topology_kinds[TOPOLOGY_KINDS] = {TOPOLOGIES(KIND)};

static int make_fabric(struct fabric *f, const struct scenario *s, struct diags *diags)
{
	struct shape shape = {0};
	size_t before = diags->count;
	int err = topology_kinds[s->topology.kind]->shape(&shape, &s->topology, diags);

	if (!err && diags->count == before)
		err = shape_nics(&shape, &s->topology, diags);
	f->has_pods = topology_kinds[s->topology.kind]->pods;
	f->nics = s->topology.nics > 1 ? s->topology.nics : 1;
	f->planes = s->topology.nics_to == NICS_TO_PLANES ? f->nics : 1;
	if (!err && diags->count == before)
		err = wire_shape(f, &shape);
	shape_release(&shape);
	if (err || diags->count != before)
		return err;
	resolve_overrides(f, &s->topology, diags);
	err = resolve_times(f, s, diags);
	if (err)
		return err;
	if (s->sw.valid && f->base_rtt_ps)
		resolve_switch(f, s, diags);
	return check_scenario(f, s, diags);
}

int fabric_new(struct fabric **ret, const struct scenario *s, struct diags *diags)
{
	struct fabric *f = calloc(1, sizeof(*f));
	size_t before = diags->count;
	int err = f ? make_fabric(f, s, diags) : -ENOMEM;

	if (!err && diags->out_of_memory)
		err = -ENOMEM;
	if (!err && diags->count != before)
		err = -EINVAL;
	if (err) {
		fabric_free(f);
		return err;
	}
	*ret = f;
	return 0;
}

int fabric_inspect(const struct scenario *s, struct diags *diags)
{
	struct fabric *f = NULL;
	int err = fabric_new(&f, s, diags);

	fabric_free(f);
	return err;
}
