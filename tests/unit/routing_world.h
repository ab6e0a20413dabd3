/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROUTING_WORLD_H
#define FABRICBED_ROUTING_WORLD_H

/* A fabric with routes, and ways to look at them. Include after cmocka.h. */
#include "base/rng_stream.h"
#include "control/routing.h"
#include "fabric_fixture.h"

/* A fabric, its tables and which links are up. */
struct world {
	struct fabric *f;
	const struct net *net;
	struct routing *r;
	struct sw_tables t;
	bool *up;
	uint32_t *dist; /* of every node to one host */
};

static inline struct world world_new(const struct scenario *s)
{
	struct world w = {.f = fixture_fabric(s)};

	w.net = &w.f->net;
	assert_int_equal(routing_new(&w.r, w.net, NULL), 0);
	routing_table_sizes(w.r, &w.t.count.routes, &w.t.count.groups);
	w.t.count.switches = w.net->switch_count;
	w.t.switches = calloc(w.t.count.switches, sizeof(*w.t.switches));
	w.t.routes = calloc(w.t.count.routes, sizeof(*w.t.routes));
	w.t.groups = calloc(w.t.count.groups, sizeof(*w.t.groups));
	w.t.config.features = SW_BALANCE;
	w.t.count.ports = PORT_FIRST + w.net->port_count;
	w.t.ports = calloc(w.t.count.ports, sizeof(*w.t.ports));
	w.up = calloc(w.net->link_count, sizeof(*w.up));
	w.dist = calloc(w.net->node_count, sizeof(*w.dist));
	assert_true(w.t.switches && w.t.routes && w.t.groups && w.t.ports && w.up && w.dist);
	for (uint32_t id = PORT_FIRST; id < w.t.count.ports; id++)
		w.t.ports[id].kind = w.net->nodes[w.net->ports[id].node].kind == NODE_SWITCH
					     ? PORT_SWITCH
					     : PORT_HOST;
	memset(w.up, true, w.net->link_count);
	return w;
}

static inline void world_free(struct world *w)
{
	free(w->t.switches);
	free(w->t.routes);
	free(w->t.groups);
	free(w->t.ports);
	free(w->up);
	free(w->dist);
	routing_free(w->r);
	fabric_free(w->f);
}

/* The group of switch s towards a host, as the switch program finds it; NULL: there is none. */
static inline const struct group *group_of(const struct world *w, uint32_t s, uint32_t host)
{
	const struct switch_state *sw = &w->t.switches[s];
	uint32_t block = sw->first_route + host / ROUTE_BLOCK;
	uint32_t end =
		s + 1 < w->t.count.switches ? w->t.switches[s + 1].first_group : w->t.count.groups;
	uint16_t group;

	assert_in_range(block, 0, w->t.count.routes - 1);
	group = w->t.routes[block].group[host % ROUTE_BLOCK];
	if (group == ROUTE_NONE)
		return NULL;
	/* Never in the share of the next switch. */
	assert_true(sw->first_group + group < end);
	return &w->t.groups[sw->first_group + group];
}

/* The set of ports of each switch for each host, zeroed where there is none. */
static inline struct group *snapshot(const struct world *w)
{
	uint32_t hosts = w->net->host_count, n = w->net->switch_count * hosts;
	struct group *sets = calloc(n, sizeof(*sets));

	assert_non_null(sets);
	for (uint32_t i = 0; i < n; i++) {
		const struct group *g = group_of(w, i / hosts, i % hosts);

		if (g)
			memcpy(&sets[i], g, offsetof(struct group, port) + 2u * g->count);
	}
	return sets;
}

static inline uint32_t differences(
	const struct world *w, const struct group *before, const struct group *after)
{
	uint32_t n = w->net->switch_count * w->net->host_count, differ = 0;

	for (uint32_t i = 0; i < n; i++)
		differ += !!memcmp(&before[i], &after[i], sizeof(*before));
	return differ;
}

static inline void break_some_links(struct world *w, uint64_t *rng)
{
	uint32_t percent = rng_below(rng, 70);

	for (uint32_t l = 0; l < w->net->link_count; l++)
		w->up[l] = rng_below(rng, 100) >= percent;
}

#endif
