/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "control/routing.h"
#include "routing_world.h"

#define FAR UINT32_MAX

/*
 * Distances to a host over live links, by relaxing until nothing changes: slow and plain on
 * purpose.
 */
static void measure(struct world *w, uint32_t host)
{
	bool again = true;

	for (uint32_t i = 0; i < w->net->node_count; i++)
		w->dist[i] = i == host ? 0 : FAR;
	while (again) {
		again = false;
		for (uint32_t l = 0; l < w->net->link_count; l++) {
			uint32_t a = w->net->ports[w->f->links[l].a].node;
			uint32_t b = w->net->ports[w->f->links[l].b].node;

			for (int way = 0; way < 2; way++) {
				uint32_t from = way ? a : b, to = way ? b : a;

				if (!w->up[l] || w->dist[from] == FAR ||
					w->dist[to] <= w->dist[from] + 1)
					continue;
				w->dist[to] = w->dist[from] + 1;
				again = true;
			}
		}
	}
}

/*
 * Every route is exactly the set of live ports one hop nearer; so it is shortest and free of loops.
 */
static void assert_routes_are_all_shortest(struct world *w)
{
	for (uint32_t h = 0; h < w->net->host_count; h++) {
		measure(w, h);
		for (uint32_t s = 0; s < w->net->switch_count; s++) {
			uint32_t node = w->net->host_count + s, n = 0;
			const struct net_node *sw = &w->net->nodes[node];
			const struct group *g = group_of(w, s, h);

			assert_int_equal(w->t.switches[s].first_port, sw->first_port);
			assert_int_equal(w->t.switches[s].port_count, sw->port_count);
			for (uint32_t i = 0; i < sw->port_count; i++) {
				const struct net_port *port = &w->net->ports[sw->first_port + i];
				uint32_t peer = w->net->ports[port->peer].node;

				if (!w->up[port->link] || w->dist[node] == FAR ||
					w->dist[peer] + 1 != w->dist[node])
					continue;
				assert_non_null(g);
				assert_true(n < g->count);
				assert_int_equal(g->port[n++], i);
			}
			assert_int_equal(n, g ? g->count : 0);
		}
	}
}

/*
 * Sends a packet from switch s along random members of the groups; returns the hops to the host, or
 * FAR.
 */
static uint32_t walk(const struct world *w, uint32_t s, uint32_t host, uint64_t *rng)
{
	uint32_t node = w->net->host_count + s;

	for (uint32_t hops = 0; hops <= w->net->node_count; hops++) {
		const struct net_node *at = &w->net->nodes[node];
		const struct group *g;
		uint32_t port;

		if (node == host)
			return hops;
		assert_int_equal(at->kind, NODE_SWITCH);
		g = group_of(w, at->number, host);
		if (!g)
			return FAR;
		port = at->first_port + g->port[rng_below(rng, g->count)];
		assert_true(w->up[w->net->ports[port].link]);
		node = w->net->ports[w->net->ports[port].peer].node;
	}
	fail_msg("a loop");
	return FAR;
}

/* Paths from switch s to a host: the product of choices, summed along the groups. */
static uint64_t count_paths(const struct world *w, uint32_t s, uint32_t host)
{
	const struct group *g = group_of(w, s, host);
	uint64_t paths = 0;

	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t port = w->t.switches[s].first_port + g->port[i];
		uint32_t peer = w->net->ports[w->net->ports[port].peer].node;

		paths += peer == host ? 1 : count_paths(w, w->net->nodes[peer].number, host);
	}
	return paths;
}

static void fat_tree_has_all_its_paths(void **state)
{
	(void)state;
	for (uint32_t k = 2; k <= 8; k += 2) {
		struct scenario s = fixture_fat_tree(k);
		struct world w = world_new(&s);
		uint32_t half = k / 2, hosts = w.net->host_count;

		assert_int_equal(routing_compute(w.r, w.up, &w.t), hosts * w.net->switch_count);
		for (uint32_t a = 0; a < hosts; a += half)
			for (uint32_t b = 0; b < hosts; b++) {
				uint32_t expected = a / half == b / half ? 1
						    : a / half / half == b / half / half
							    ? half
							    : half * half;

				assert_int_equal(count_paths(&w, a / half, b), expected);
			}
		if (k <= 4)
			assert_routes_are_all_shortest(&w);
		world_free(&w);
	}
}

static void same_links_change_nothing(void **state)
{
	struct scenario s = fixture_leaf_spine(4, 3, 5, 2);
	struct world w = world_new(&s);

	(void)state;
	assert_int_equal(routing_compute(w.r, w.up, &w.t), 20 * 7);
	assert_int_equal(routing_compute(w.r, w.up, &w.t), 0);
	assert_routes_are_all_shortest(&w);
	world_free(&w);
}

static void one_dead_link_changes_what_it_carried(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct world w = world_new(&s);
	uint32_t link = fixture_link(w.f, "agg0.1-core2");

	(void)state;
	routing_compute(w.r, w.up, &w.t);
	w.up[link] = false;
	/*
	 * agg0.1 to the 12 hosts of other pods; core2 to the 4 of pod 0, by a detour; and agg1.1,
	 * agg2.1, agg3.1 to pod 0, which leaves them core3.
	 */
	assert_int_equal(routing_compute(w.r, w.up, &w.t), 12 + 4 + 3 * 4);
	assert_routes_are_all_shortest(&w);
	w.up[link] = true;
	assert_int_equal(routing_compute(w.r, w.up, &w.t), 12 + 4 + 3 * 4);
	assert_routes_are_all_shortest(&w);
	world_free(&w);
}

static void a_dead_host_link_leaves_no_route(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct world w = world_new(&s);

	(void)state;
	routing_compute(w.r, w.up, &w.t);
	w.up[fixture_link(w.f, "h5-tor1.0")] = false;
	assert_int_equal(routing_compute(w.r, w.up, &w.t), 20);
	for (uint32_t i = 0; i < w.net->switch_count; i++)
		assert_null(group_of(&w, i, 5));
	assert_routes_are_all_shortest(&w);
	memset(w.up, false, w.net->link_count);
	assert_int_equal(routing_compute(w.r, w.up, &w.t), 20 * 15);
	assert_routes_are_all_shortest(&w);
	world_free(&w);
}

static void try_failures(const struct scenario *s, int rounds, uint64_t rng)
{
	struct world w = world_new(s);

	routing_compute(w.r, w.up, &w.t);
	for (int round = 0; round < rounds; round++) {
		struct group *before = snapshot(&w), *after;
		uint32_t changed;

		break_some_links(&w, &rng);
		changed = routing_compute(w.r, w.up, &w.t);
		after = snapshot(&w);
		assert_int_equal(changed, differences(&w, before, after));
		assert_routes_are_all_shortest(&w);
		for (int i = 0; i < 200; i++) {
			uint32_t sw = rng_below(&rng, w.net->switch_count);
			uint32_t host = rng_below(&rng, w.net->host_count);

			measure(&w, host);
			assert_int_equal(walk(&w, sw, host, &rng), w.dist[w.net->host_count + sw]);
		}
		free(before);
		free(after);
	}
	world_free(&w);
}

static void failures_leave_all_shortest_live_paths(void **state)
{
	static struct fixture_custom c;
	struct scenario tree = fixture_fat_tree(4), bigger = fixture_fat_tree(6);
	struct scenario leaves = fixture_leaf_spine(5, 3, 8, 2);
	/*
	 * Hosts of one switch that are no neighbours in number, a ring, hosts on a middle switch.
	 */
	struct scenario ring = fixture_custom(&c, "a b c d e f g", "s t u v w",
		"a-s b-t c-s d-u e-v f-t g-s s-t t-u u-v v-w w-s s-t t-w");

	(void)state;
	try_failures(&tree, 40, 1);
	try_failures(&bigger, 6, 2);
	try_failures(&leaves, 30, 3);
	try_failures(&ring, 60, 4);
}

/*
 * A spine that lost a leaf reaches it by way of all others: more equal ports than a group holds.
 */
static void detours_wider_than_a_group_are_cut(void **state)
{
	struct scenario s = fixture_leaf_spine(300, 2, 1, 1);
	struct world w = world_new(&s);
	const struct group *g;

	(void)state;
	routing_compute(w.r, w.up, &w.t);
	assert_routes_are_all_shortest(&w);
	w.up[fixture_link(w.f, "leaf5-spine0")] = false;
	routing_compute(w.r, w.up, &w.t);
	g = group_of(&w, 300, 5);
	assert_non_null(g);
	assert_int_equal(g->count, GROUP_PORTS);
	for (uint32_t i = 0; i < g->count; i++)
		assert_int_equal(g->port[i], i < 5 ? i : i + 1);
	world_free(&w);
}

static void equal_links_give_equal_tables(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct world a = world_new(&s), b = world_new(&s);
	uint64_t rng = 5;

	(void)state;
	for (int round = 0; round < 5; round++) {
		break_some_links(&a, &rng);
		memcpy(b.up, a.up, a.net->link_count);
		assert_int_equal(
			routing_compute(a.r, a.up, &a.t), routing_compute(b.r, b.up, &b.t));
		assert_memory_equal(a.t.routes, b.t.routes, a.t.count.routes * sizeof(*a.t.routes));
		assert_memory_equal(a.t.groups, b.t.groups, a.t.count.groups * sizeof(*a.t.groups));
	}
	world_free(&a);
	world_free(&b);
}

static void the_hash_seed_is_left_alone(void **state)
{
	struct scenario s = fixture_leaf_spine(2, 2, 1, 1);
	struct world w = world_new(&s);

	(void)state;
	for (uint32_t i = 0; i < w.t.count.switches; i++)
		w.t.switches[i].hash_seed = 77 + i;
	routing_compute(w.r, w.up, &w.t);
	for (uint32_t i = 0; i < w.t.count.switches; i++)
		assert_int_equal(w.t.switches[i].hash_seed, 77 + i);
	world_free(&w);
}

/*
 * Follows what a node sends to a host, over all ways: the ports at which a switch then has to
 * choose.
 */
static void note_choices_of(const struct world *w, uint32_t node, uint32_t host, bool *chooses)
{
	const struct net_node *at = &w->net->nodes[node];
	const struct group *own = NULL, *next;
	uint32_t count = at->port_count;

	if (at->kind == NODE_SWITCH) {
		own = group_of(w, at->number, host);
		count = own ? own->count : 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t port = w->net->ports[at->first_port + (own ? own->port[i] : i)].peer;
		const struct net_node *to = &w->net->nodes[w->net->ports[port].node];

		if (to->kind != NODE_SWITCH)
			continue;
		next = group_of(w, to->number, host);
		chooses[port] |= next && next->count > 1;
		note_choices_of(w, w->net->ports[port].node, host, chooses);
	}
}

static void assert_choices(const struct world *w, const bool *least, const bool *most)
{
	for (uint32_t id = PORT_FIRST; id < w->t.count.ports; id++)
		if (w->t.ports[id].chooses < least[id] || w->t.ports[id].chooses > most[id])
			fail_msg("port %u chooses: %u", id, w->t.ports[id].chooses);
}

/*
 * Between any two hosts, over all their ways; at most, what any switch would send to any host. Once
 * routes have changed any port may still see what old ones have sent, and stays one that chooses
 * when they are back.
 */
static void try_choices(const struct scenario *s, uint32_t link, bool hosts_everywhere)
{
	struct world w = world_new(s);
	bool *least = calloc(w.t.count.ports, 1), *most = calloc(w.t.count.ports, 1);
	uint32_t choosing = 0;

	assert_true(least && most);
	routing_compute(w.r, w.up, &w.t);
	for (uint32_t from = 0; from < w.net->node_count; from++)
		for (uint32_t host = 0; host < w.net->host_count; host++)
			if (from != host)
				note_choices_of(
					&w, from, host, from < w.net->host_count ? least : most);
	for (uint32_t id = PORT_FIRST; id < w.t.count.ports; id++) {
		most[id] |= least[id];
		choosing += least[id];
	}
	assert_choices(&w, least, hosts_everywhere ? least : most);
	routing_compute(w.r, w.up, &w.t);
	assert_choices(&w, least, hosts_everywhere ? least : most);
	if (hosts_everywhere) /* some of both */
		assert_in_range(
			choosing, w.net->host_count, w.net->port_count - w.net->host_count - 1);
	for (uint32_t id = PORT_FIRST; id < w.t.count.ports; id++)
		least[id] = w.t.ports[id].kind == PORT_SWITCH;
	for (int back = 0; back < 2; back++) {
		w.up[link] = back;
		assert_int_not_equal(routing_compute(w.r, w.up, &w.t), 0);
		assert_choices(&w, least, least);
	}
	free(least);
	free(most);
	world_free(&w);
}

/* Switches in a ring with random chords, one host or two at most of them. */
static void try_random_choices(uint64_t seed)
{
	static struct fixture_custom c;
	char hosts[256] = "", switches[256] = "", links[1024] = "";
	uint64_t rng = rng_stream(seed, "choices", 0);
	uint32_t n = 5 + rng_below(&rng, 5), h = 0, chords = 3 + rng_below(&rng, 6);
	struct scenario s;

	for (uint32_t i = 0; i < n; i++) {
		sprintf(switches + strlen(switches), "s%u ", i);
		sprintf(links + strlen(links), "s%u-s%u ", i, (i + 1) % n);
		for (uint32_t more = rng_below(&rng, 3) + !i; more--; h++) {
			sprintf(hosts + strlen(hosts), "h%u ", h);
			sprintf(links + strlen(links), "h%u-s%u ", h, i);
		}
	}
	for (uint32_t i = 0; i < chords; i++) {
		uint32_t a = rng_below(&rng, n), b = (a + 1 + rng_below(&rng, n - 1)) % n;

		sprintf(links + strlen(links), "s%u-s%u ", a, b);
	}
	s = fixture_custom(&c, hosts, switches, links);
	try_choices(&s, 0, false);
}

static void ports_that_choose_are_those_with_a_choice(void **state)
{
	struct scenario tree = fixture_fat_tree(4), bigger = fixture_fat_tree(6);
	struct scenario leaves = fixture_leaf_spine(4, 3, 3, 1);
	struct scenario wide = fixture_leaf_spine(3, 2, 2, 2);

	(void)state;
	try_choices(&tree, 20, true);
	try_choices(&bigger, 60, true);
	try_choices(&leaves, 12, true);
	try_choices(&wide, 7, true);
	for (uint64_t seed = 0; seed < 20; seed++)
		try_random_choices(seed);
}

/* No fabric has such a switch (fabric_new() refuses it), so the net is made by hand. */
static void too_wide_a_group_is_an_error(void **state)
{
	enum { WIDE = GROUP_PORTS + 1, LINKS = WIDE + 2 };
	struct net_node nodes[4] = {{.kind = NODE_HOST, .number = 0},
		{.kind = NODE_HOST, .number = 1}, {.kind = NODE_SWITCH, .number = 0},
		{.kind = NODE_SWITCH, .number = 1}};
	struct net_port *ports = calloc(PORT_FIRST + 2 * LINKS, sizeof(*ports));
	struct net net = {nodes, 4, 2, 2, ports, 2 * LINKS, LINKS};
	struct routing *r = NULL;
	/* h0, h1, then switch 0 (its host, WIDE up), then switch 1. */
	const uint32_t first[4] = {2, 3, 4, 4 + WIDE + 1};

	(void)state;
	assert_non_null(ports);
	for (uint32_t n = 0; n < 4; n++) {
		nodes[n].first_port = first[n];
		nodes[n].port_count = n < 2 ? 1 : WIDE + 1;
		for (uint32_t i = 0; i < nodes[n].port_count; i++)
			ports[first[n] + i].node = n;
	}
	for (uint32_t l = 0; l < LINKS; l++) {
		uint32_t a = l < 2 ? first[l] : first[2] + l - 1;
		uint32_t b = l < 2 ? first[2 + l] : first[3] + l - 1;

		ports[a].peer = b;
		ports[b].peer = a;
		ports[a].link = ports[b].link = l;
	}
	assert_int_equal(routing_new(&r, &net, NULL), -E2BIG);
	assert_null(r);
	routing_free(r);
	free(ports);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fat_tree_has_all_its_paths),
		cmocka_unit_test(same_links_change_nothing),
		cmocka_unit_test(one_dead_link_changes_what_it_carried),
		cmocka_unit_test(a_dead_host_link_leaves_no_route),
		cmocka_unit_test(failures_leave_all_shortest_live_paths),
		cmocka_unit_test(detours_wider_than_a_group_are_cut),
		cmocka_unit_test(equal_links_give_equal_tables),
		cmocka_unit_test(the_hash_seed_is_left_alone),
		cmocka_unit_test(ports_that_choose_are_those_with_a_choice),
		cmocka_unit_test(too_wide_a_group_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
