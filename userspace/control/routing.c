/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/routing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/netgraph.h"

/*
 * All hosts of one edge switch share their paths, so shortest paths are computed per edge switch,
 * and a switch needs at most one group a local host and one a remote edge switch, whichever links
 * are down. That bound is its share of the group table; equal groups within a switch are kept once.
 */
struct routing {
	const struct net *net;
	struct netgraph g;
	uint32_t blocks;       /* route blocks a switch */
	uint32_t *first_group; /* by switch; the last entry is the number of all groups */
	uint32_t *used; /* groups that the last routing_compute() left in the table, by switch */
	uint8_t *dist;  /* hops to edge e from switch s: dist[e * switches + s] */
	uint8_t *level; /* hops from a switch to the nearest edge, all links up */
	uint32_t *order;
	struct group *old; /* one switch's groups before they are rewritten */
	bool routed;       /* the first routes are there */
	uint16_t *slots;   /* hash table over one switch's groups; ROUTE_NONE: free */
	uint32_t slot_mask;
	const volatile bool *stop; /* while the fabric is set up; NULL: nothing stops it */
};

/* One switch while its routes are written. */
struct rewrite {
	struct routing *r;
	const bool *link_up;
	bool repair; /* no switch knows of another's dead links; else r->dist does already */
	uint32_t sw;
	struct route_block *routes;
	struct group *groups;
	uint32_t count; /* groups written so far */
	uint32_t old_count;
	uint32_t changed;
};

static uint32_t group_bound(const struct netgraph *g, uint32_t sw)
{
	uint32_t e = g->edge_of[sw];

	if (e == NETGRAPH_NONE)
		return g->edge_count;
	return g->edge_count - 1 + g->host_first[e + 1] - g->host_first[e];
}

/* Lays out the group table; returns the largest share of a switch. */
static uint32_t allot_groups(struct routing *r)
{
	uint32_t largest = 0;

	for (uint32_t s = 0; s < r->net->switch_count; s++) {
		uint32_t bound = group_bound(&r->g, s);

		r->first_group[s + 1] = r->first_group[s] + bound;
		if (bound > largest)
			largest = bound;
	}
	return largest;
}

static bool is_stopped(const struct routing *r)
{
	return r->stop && *r->stop;
}

static void measure(struct routing *r, const bool *link_up)
{
	for (uint32_t e = 0; e < r->g.edge_count && !is_stopped(r); e++)
		netgraph_walk(&r->g, r->g.edges[e], link_up,
			r->dist + (size_t)e * r->net->switch_count, r->order);
}

/* Equal-cost ports of switch sw towards edge e, by port; all are counted, `max` written. */
static uint32_t next_hops(const struct routing *r, const bool *link_up, uint32_t sw, uint32_t e,
	uint16_t *ports, uint32_t max)
{
	const uint8_t *dist = r->dist + (size_t)e * r->net->switch_count;
	uint32_t first_port = r->net->nodes[r->net->host_count + sw].first_port;
	uint32_t count = 0;

	if (dist[sw] == NETGRAPH_FAR)
		return 0;
	for (uint32_t a = r->g.first[sw]; a < r->g.first[sw + 1]; a++) {
		const struct netgraph_arc *arc = &r->g.arcs[a];

		if (dist[arc->to] + 1 != dist[sw] || (link_up && !link_up[arc->link]))
			continue;
		if (count < max)
			ports[count] = (uint16_t)(arc->port - first_port);
		count++;
	}
	return count;
}

/* Whether switch `via` has another way to edge e than through switch `from`, all links up. */
static bool leads_on(const struct routing *r, uint32_t via, uint32_t from, uint32_t e)
{
	const uint8_t *dist = r->dist + (size_t)e * r->net->switch_count;

	if (dist[via] == NETGRAPH_FAR)
		return false;
	for (uint32_t a = r->g.first[via]; a < r->g.first[via + 1]; a++)
		if (dist[r->g.arcs[a].to] + 1 == dist[via] && r->g.arcs[a].to != from)
			return true;
	return false;
}

/*
 * Live ports of switch sw to others, as next_hops(): uplinks only, or those that lead on to e only.
 */
static uint32_t bounces(const struct routing *r, const bool *link_up, uint32_t sw, uint32_t e,
	bool up, bool on, uint16_t ports[GROUP_PORTS])
{
	uint32_t first_port = r->net->nodes[r->net->host_count + sw].first_port;
	uint32_t count = 0;

	for (uint32_t a = r->g.first[sw]; a < r->g.first[sw + 1] && count < GROUP_PORTS; a++) {
		const struct netgraph_arc *arc = &r->g.arcs[a];

		if (link_up[arc->link] && (!up || r->level[arc->to] > r->level[sw]) &&
			(!on || leads_on(r, arc->to, sw, e)))
			ports[count++] = (uint16_t)(arc->port - first_port);
	}
	return count;
}

/*
 * Where a switch sends what it has lost the way for, of its own knowledge (IEEE 802 Nendica,
 * Intelligent Lossless Data Center Networks, figure 21): up another uplink, or, of a spine, down to
 * another leaf, from where there are other ways. A neighbour whose ways to e all come back here is
 * the last choice: the cores above a fat-tree's aggregation switch know no other in its pod, but
 * its other edge switches do.
 */
static uint32_t detour(const struct routing *r, const bool *link_up, uint32_t sw, uint32_t e,
	uint16_t ports[GROUP_PORTS])
{
	uint32_t count = 0;

	/*
	 * not lost: as far as it knows there is no way at all, and in a fabric routed as a whole
	 * that is so
	 */
	if (r->dist[(size_t)e * r->net->switch_count + sw] == NETGRAPH_FAR)
		return 0;
	for (uint32_t choice = 0; !count && choice < 4; choice++)
		count = bounces(r, link_up, sw, e, !(choice & 1), choice < 2, ports);
	return count;
}

static void measure_levels(struct routing *r)
{
	memset(r->level, NETGRAPH_FAR, r->net->switch_count);
	for (uint32_t e = 0; e < r->g.edge_count; e++)
		for (uint32_t s = 0; s < r->net->switch_count; s++) {
			uint8_t dist = r->dist[(size_t)e * r->net->switch_count + s];

			if (dist < r->level[s])
				r->level[s] = dist;
		}
}

/* Whether all groups fit while every link is up. */
static bool groups_fit(const struct routing *r)
{
	for (uint32_t s = 0; s < r->net->switch_count && !is_stopped(r); s++)
		for (uint32_t e = 0; e < r->g.edge_count; e++)
			if (next_hops(r, NULL, s, e, NULL, 0) > GROUP_PORTS)
				return false;
	return true;
}

static int allocate(struct routing *r)
{
	size_t switches = r->net->switch_count;
	uint32_t largest;
	size_t slots = 4;

	r->first_group = calloc(switches + 1, sizeof(*r->first_group));
	if (!r->first_group)
		return -ENOMEM;
	largest = allot_groups(r);
	if (largest > ROUTE_NONE)
		return -E2BIG;
	while (slots < 2 * (size_t)largest)
		slots *= 2;
	r->slot_mask = (uint32_t)slots - 1;
	r->slots = calloc(slots, sizeof(*r->slots));
	r->old = calloc((size_t)largest + 1, sizeof(*r->old));
	r->used = calloc(switches + 1, sizeof(*r->used));
	r->order = calloc(switches + 1, sizeof(*r->order));
	r->dist = calloc(switches * r->g.edge_count + 1, 1);
	r->level = calloc(switches + 1, 1);
	return r->slots && r->old && r->used && r->order && r->dist && r->level ? 0 : -ENOMEM;
}

int routing_new(struct routing **ret, const struct net *net, const volatile bool *stop)
{
	struct routing *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->net = net;
	r->stop = stop;
	r->blocks = (net->host_count + ROUTE_BLOCK - 1) / ROUTE_BLOCK;
	err = netgraph_init(&r->g, net);
	if (!err)
		err = allocate(r);
	if (!err) {
		measure(r, NULL);
		measure_levels(r);
		err = groups_fit(r) ? 0 : -E2BIG;
		if (is_stopped(r))
			err = -EINTR;
	}
	if (err) {
		routing_free(r);
		return err;
	}
	*ret = r;
	return 0;
}

void routing_go_on(struct routing *r)
{
	r->stop = NULL;
}

void routing_free(struct routing *r)
{
	if (!r)
		return;
	netgraph_release(&r->g);
	free(r->first_group);
	free(r->used);
	free(r->dist);
	free(r->level);
	free(r->order);
	free(r->old);
	free(r->slots);
	free(r);
}

void routing_table_sizes(const struct routing *r, uint32_t *ret_routes, uint32_t *ret_groups)
{
	*ret_routes = r->blocks * r->net->switch_count;
	*ret_groups = r->first_group[r->net->switch_count];
}

static bool same_ports(const struct group *a, const struct group *b)
{
	return a->count == b->count && !memcmp(a->port, b->port, a->count * sizeof(a->port[0]));
}

static uint32_t hash_ports(const struct group *g)
{
	uint32_t h = g->count;

	for (uint32_t i = 0; i < g->count; i++)
		h = (h ^ g->port[i]) * 0x9e3779b1u;
	return h ^ h >> 15;
}

/* The group of equal-cost ports towards remote edge e, or of its detour, or ROUTE_NONE. */
static uint16_t remote_group(struct rewrite *w, uint32_t e)
{
	struct routing *r = w->r;
	struct group *made = &w->groups[w->count];
	uint32_t count = next_hops(r, w->link_up, w->sw, e, made->port, GROUP_PORTS);
	uint32_t slot;

	if (!count)
		count = detour(r, w->link_up, w->sw, e, made->port);
	if (!count)
		return ROUTE_NONE;
	/*
	 * Around a failure there may be more equal ports than on any path of the whole fabric; the
	 * first will do.
	 */
	made->count = (uint16_t)(count < GROUP_PORTS ? count : GROUP_PORTS);
	made->reserved = 0;
	for (slot = hash_ports(made) & r->slot_mask; r->slots[slot] != ROUTE_NONE;
		slot = (slot + 1) & r->slot_mask)
		if (same_ports(&w->groups[r->slots[slot]], made))
			return r->slots[slot];
	r->slots[slot] = (uint16_t)w->count;
	return (uint16_t)w->count++;
}

static uint16_t local_group(struct rewrite *w, uint32_t host)
{
	const struct net *net = w->r->net;
	uint32_t port = net->ports[net->nodes[host].first_port].peer;
	struct group *made = &w->groups[w->count];

	made->count = 1;
	made->reserved = 0;
	made->port[0] = (uint16_t)(port - net->nodes[net->host_count + w->sw].first_port);
	return (uint16_t)w->count++;
}

static bool host_up(const struct rewrite *w, uint32_t host)
{
	const struct net *net = w->r->net;

	return w->link_up[net->ports[net->nodes[host].first_port].link];
}

static bool changes(const struct rewrite *w, uint16_t old, uint16_t new)
{
	bool was = w->old_count && old != ROUTE_NONE;

	if (!was || new == ROUTE_NONE)
		return was || new != ROUTE_NONE;
	return !same_ports(&w->r->old[old], &w->groups[new]);
}

static void assign(struct rewrite *w, uint32_t host, uint16_t group)
{
	uint16_t *route = &w->routes[host / ROUTE_BLOCK].group[host % ROUTE_BLOCK];

	w->changed += changes(w, *route, group);
	*route = group;
}

static void route_edge(struct rewrite *w, uint32_t e)
{
	const struct netgraph *g = &w->r->g;
	bool local = g->edges[e] == w->sw;
	uint16_t group = local ? ROUTE_NONE : remote_group(w, e);

	for (uint32_t i = g->host_first[e]; i < g->host_first[e + 1]; i++) {
		uint32_t host = g->hosts[i];

		/* of a far host's dead link only the whole fabric's control plane knows */
		if (!host_up(w, host) && (local || !w->repair))
			assign(w, host, ROUTE_NONE);
		else
			assign(w, host, local ? local_group(w, host) : group);
	}
}

/* Hosts that hang on no switch, and the rest of the last block. */
static void route_nowhere(struct rewrite *w)
{
	const struct netgraph *g = &w->r->g;
	uint32_t hosts = w->r->net->host_count;

	for (uint32_t h = 0; h < hosts; h++)
		if (g->host_edge[h] == NETGRAPH_NONE)
			assign(w, h, ROUTE_NONE);
	for (uint32_t h = hosts; h < w->r->blocks * ROUTE_BLOCK; h++)
		w->routes[h / ROUTE_BLOCK].group[h % ROUTE_BLOCK] = ROUTE_NONE;
}

static uint32_t rewrite_switch(
	struct routing *r, const bool *link_up, bool repair, struct sw_tables *t, uint32_t s)
{
	const struct net_node *node = &r->net->nodes[r->net->host_count + s];
	struct switch_state *sw = &t->switches[s];
	struct rewrite w = {
		.r = r, .link_up = link_up, .repair = repair, .sw = s, .old_count = r->used[s]};

	sw->first_port = node->first_port;
	sw->port_count = node->port_count;
	sw->first_route = s * r->blocks;
	sw->first_group = r->first_group[s];
	w.routes = t->routes + sw->first_route;
	w.groups = t->groups + sw->first_group;
	memcpy(r->old, w.groups, w.old_count * sizeof(*r->old));
	memset(r->slots, 0xff, ((size_t)r->slot_mask + 1) * sizeof(*r->slots));
	for (uint32_t e = 0; e < r->g.edge_count; e++)
		route_edge(&w, e);
	route_nowhere(&w);
	r->used[s] = w.count;
	return w.changed;
}

static uint32_t rewrite_all(
	struct routing *r, const bool *link_up, bool repair, struct sw_tables *t)
{
	uint32_t changed = 0;

	for (uint32_t s = 0; s < r->net->switch_count && !is_stopped(r); s++)
		changed += rewrite_switch(r, link_up, repair, t, s);
	return changed;
}

static const struct group *group_of(const struct sw_tables *t, uint32_t sw, uint32_t host)
{
	const struct switch_state *s = &t->switches[sw];
	uint16_t g = t->routes[s->first_route + host / ROUTE_BLOCK].group[host % ROUTE_BLOCK];

	return g == ROUTE_NONE ? NULL : &t->groups[s->first_group + g];
}

/* Whether the switch has several ports towards the host. */
static bool has_choice(const struct sw_tables *t, uint32_t sw, uint32_t host)
{
	const struct group *g = group_of(t, sw, host);

	return g && g->count > 1;
}

/* The ports between switches at which frames for the host arrive that have a choice there. */
static void note_choices_towards(struct routing *r, struct sw_tables *t, uint32_t host)
{
	const struct net *net = r->net;

	for (uint32_t s = 0; s < net->switch_count; s++) {
		const struct net_node *node = &net->nodes[net->host_count + s];
		const struct group *g = group_of(t, s, host);

		for (uint32_t i = 0; g && i < g->count; i++) {
			uint32_t peer = net->ports[node->first_port + g->port[i]].peer;
			const struct net_node *to = &net->nodes[net->ports[peer].node];

			if (to->kind == NODE_SWITCH && !t->ports[peer].chooses)
				t->ports[peer].chooses = has_choice(t, to->number, host);
		}
	}
}

/* The hosts of an edge switch have the same routes elsewhere: one of them speaks for all. */
static uint32_t host_of_edge(const struct netgraph *g, uint32_t e)
{
	return g->host_first[e] < g->host_first[e + 1] ? g->hosts[g->host_first[e]] : HOST_NONE;
}

/* The ports of an edge switch towards its hosts, which send to all others. */
static void note_choices_of_hosts(struct routing *r, struct sw_tables *t, uint32_t edge)
{
	const struct netgraph *g = &r->g;
	bool chooses = false;

	for (uint32_t e = 0; e < g->edge_count && !chooses; e++)
		chooses = host_of_edge(g, e) != HOST_NONE &&
			  has_choice(t, g->edges[edge], host_of_edge(g, e));
	for (uint32_t i = g->host_first[edge]; i < g->host_first[edge + 1]; i++)
		t->ports[r->net->ports[r->net->nodes[g->hosts[i]].first_port].peer].chooses =
			chooses;
}

/*
 * ports[].chooses, where a policy may ask for it. After the first routes every port of a switch:
 * what is on its way was sent by the old ones.
 */
static void note_choices(struct routing *r, struct sw_tables *t)
{
	const struct net *net = r->net;
	bool first = !r->routed;

	r->routed = true;
	if (!(t->config.features & SW_BALANCE) && !t->config.flow_sets)
		return;
	for (uint32_t id = PORT_FIRST; !first && id < PORT_FIRST + net->port_count; id++)
		t->ports[id].chooses = t->ports[id].kind == PORT_SWITCH;
	for (uint32_t e = 0; first && e < r->g.edge_count; e++) {
		if (host_of_edge(&r->g, e) != HOST_NONE)
			note_choices_towards(r, t, host_of_edge(&r->g, e));
		note_choices_of_hosts(r, t, e);
	}
}

uint32_t routing_compute(struct routing *r, const bool *link_up, struct sw_tables *t)
{
	uint32_t changed;

	measure(r, link_up);
	changed = rewrite_all(r, link_up, false, t);
	if (changed)
		note_choices(r, t);
	return changed;
}

uint32_t routing_repair(struct routing *r, const bool *link_up, struct sw_tables *t)
{
	uint32_t changed;

	measure(r, NULL);
	changed = rewrite_all(r, link_up, true, t);
	if (changed)
		note_choices(r, t);
	return changed;
}
