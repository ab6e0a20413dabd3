/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "routing_world.h"

#define FAR UINT32_MAX

/* The port of a switch towards a neighbour, as groups number it. */
static uint32_t local_port(const struct world *w, const char *from, const char *to)
{
	const struct net_node *sw = &w->net->nodes[fixture_node(w->f, from)];
	uint32_t peer = fixture_node(w->f, to);

	for (uint32_t i = 0; i < sw->port_count; i++)
		if (w->net->ports[w->net->ports[sw->first_port + i].peer].node == peer)
			return i;
	fail_msg("%s has no link to %s", from, to);
	return 0;
}

/*
 * That the switch sends what is for the host to these neighbours ("a b c", in the order of ports),
 * and no other.
 */
static void assert_sends_to(
	const struct world *w, const char *from, const char *host, const char *neighbours)
{
	uint32_t sw = w->net->nodes[fixture_node(w->f, from)].number, n = 0;
	const struct group *g = group_of(w, sw, fixture_node(w->f, host));
	char words[128], *save = NULL;

	assert_true(strlen(neighbours) < sizeof(words));
	strcpy(words, neighbours);
	assert_non_null(g);
	for (char *to = strtok_r(words, " ", &save); to; to = strtok_r(NULL, " ", &save)) {
		assert_true(n < g->count);
		assert_int_equal(g->port[n++], local_port(w, from, to));
	}
	assert_int_equal(n, g->count);
}

static void cut(struct world *w, const char *link)
{
	uint32_t l = fixture_link(w->f, link);

	assert_int_not_equal(l, UINT32_MAX);
	w->up[l] = false;
}

/* The lossless paper's figure 21: h6 and h7 are leaf 3's. */
static void a_spine_bounces_over_the_other_leaves(void **state)
{
	struct scenario s = fixture_leaf_spine(4, 2, 2, 1);
	struct world w = world_new(&s);
	struct group *before, *after;

	(void)state;
	routing_compute(w.r, w.up, &w.t);
	before = snapshot(&w);
	cut(&w, "leaf3-spine0");
	/* spine 0 to leaf 3's two hosts; leaf 3 to the six others */
	assert_int_equal(routing_repair(w.r, w.up, &w.t), 2 + 6);
	assert_sends_to(&w, "spine0", "h6", "leaf0 leaf1 leaf2");
	assert_sends_to(&w, "spine0", "h7", "leaf0 leaf1 leaf2");
	for (uint32_t h = 0; h < 6; h++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", h);
		assert_sends_to(&w, "leaf3", name, "spine1");
	}
	/* of all that the others do not know */
	assert_sends_to(&w, "leaf0", "h7", "spine0 spine1");
	after = snapshot(&w);
	assert_int_equal(differences(&w, before, after), 2 + 6);
	free(before);
	free(after);
	world_free(&w);
}

/* Every core leads to every aggregation switch: up is a way. */
static void an_aggregation_switch_bounces_up(void **state)
{
	static struct fixture_custom c;
	struct scenario s = fixture_custom(&c, "h0 h1 h2", "t0 t1 t2 a0 a1 c0 c1",
		"h0-t0 h1-t1 h2-t2 t0-a0 t0-a1 t1-a0 t1-a1 t2-a0 t2-a1 a0-c0 a0-c1 a1-c0 a1-c1");
	struct world w = world_new(&s);

	(void)state;
	cut(&w, "a0-t1");
	routing_repair(w.r, w.up, &w.t);
	assert_sends_to(&w, "a0", "h1", "c0 c1");
	assert_sends_to(&w, "a0", "h0", "t0");
	assert_sends_to(&w, "t1", "h0", "a1");
	cut(&w, "a0-c0");
	routing_repair(w.r, w.up, &w.t);
	assert_sends_to(&w, "a0", "h1", "c1");
	cut(&w, "a0-c1");
	routing_repair(w.r, w.up, &w.t);
	assert_sends_to(&w, "a0", "h1", "t0 t2");
	world_free(&w);
}

/*
 * A fat-tree's core leads to one aggregation switch of a pod alone: not up, but over the pod's
 * other edge switches.
 */
static void a_bounce_avoids_those_that_know_no_other_way(void **state)
{
	struct scenario s = fixture_fat_tree(6);
	struct world w = world_new(&s);

	(void)state;
	cut(&w, "agg0.0-tor0.1");
	routing_repair(w.r, w.up, &w.t);
	assert_sends_to(&w, "agg0.0", "h3", "tor0.0 tor0.2");
	assert_sends_to(&w, "agg0.0", "h0", "tor0.0");
	assert_sends_to(&w, "core0", "h3", "agg0.0");
	/* nobody is left but those above */
	cut(&w, "agg0.0-tor0.0");
	cut(&w, "agg0.0-tor0.2");
	routing_repair(w.r, w.up, &w.t);
	assert_sends_to(&w, "agg0.0", "h3", "core0 core1 core2");
	/* and a core that lost the pod goes by way of the others */
	cut(&w, "core0-agg0.0");
	routing_repair(w.r, w.up, &w.t);
	assert_sends_to(&w, "core0", "h0", "agg1.0 agg2.0 agg3.0 agg4.0 agg5.0");
	world_free(&w);
}

static void only_its_own_switch_knows_of_a_dead_host_link(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct world w = world_new(&s);
	uint32_t tor = w.net->nodes[fixture_node(w.f, "tor1.0")].number;

	(void)state;
	routing_compute(w.r, w.up, &w.t);
	cut(&w, "h5-tor1.0");
	assert_int_equal(routing_repair(w.r, w.up, &w.t), 1);
	for (uint32_t i = 0; i < w.net->switch_count; i++)
		assert_int_equal(!group_of(&w, i, 5), i == tor);
	world_free(&w);
}

/*
 * Each group is what the whole fabric's has of live ports; if that is nothing, live ports to
 * switches, if there are any.
 */
static void assert_routes_are_repaired(struct world *w, const struct group *whole)
{
	uint32_t hosts = w->net->host_count;

	for (uint32_t i = 0; i < w->net->switch_count * hosts; i++) {
		const struct net_node *sw = &w->net->nodes[hosts + i / hosts];
		const struct group *g = group_of(w, i / hosts, i % hosts);
		struct group left = {0};
		bool local = false;
		uint32_t bridges = 0;

		for (uint32_t k = 0; k < whole[i].count; k++) {
			const struct net_port *port =
				&w->net->ports[sw->first_port + whole[i].port[k]];

			local |= w->net->ports[port->peer].node < hosts;
			if (w->up[port->link])
				left.port[left.count++] = whole[i].port[k];
		}
		for (uint32_t k = 0; k < sw->port_count; k++) {
			const struct net_port *port = &w->net->ports[sw->first_port + k];

			bridges += w->up[port->link] && w->net->ports[port->peer].node >= hosts;
		}
		if (left.count) {
			assert_non_null(g);
			assert_int_equal(g->count, left.count);
			assert_memory_equal(g->port, left.port, 2u * left.count);
			continue;
		}
		assert_int_equal(!g, local || !bridges || !whole[i].count);
		for (uint32_t k = 0; g && k < g->count; k++) {
			const struct net_port *port = &w->net->ports[sw->first_port + g->port[k]];

			assert_true(w->up[port->link]);
			assert_true(w->net->ports[port->peer].node >= hosts);
		}
	}
}

static void try_repairs(const struct scenario *s, int rounds, uint64_t rng)
{
	struct world w = world_new(s);
	struct group *whole, *after;

	routing_compute(w.r, w.up, &w.t);
	whole = snapshot(&w);
	for (int round = 0; round < rounds; round++) {
		struct group *before = snapshot(&w);
		uint32_t changed;

		break_some_links(&w, &rng);
		changed = routing_repair(w.r, w.up, &w.t);
		after = snapshot(&w);
		assert_int_equal(changed, differences(&w, before, after));
		assert_routes_are_repaired(&w, whole);
		free(before);
		free(after);
	}
	memset(w.up, true, w.net->link_count);
	routing_repair(w.r, w.up, &w.t);
	after = snapshot(&w);
	assert_int_equal(differences(&w, whole, after), 0);
	free(whole);
	free(after);
	world_free(&w);
}

static void repairs_leave_live_ports(void **state)
{
	static struct fixture_custom c;
	struct scenario tree = fixture_fat_tree(4), bigger = fixture_fat_tree(6);
	struct scenario leaves = fixture_leaf_spine(5, 3, 8, 2);
	struct scenario ring = fixture_custom(&c, "a b c d e f g", "s t u v w",
		"a-s b-t c-s d-u e-v f-t g-s s-t t-u u-v v-w w-s s-t t-w");

	(void)state;
	try_repairs(&tree, 40, 1);
	try_repairs(&bigger, 6, 2);
	try_repairs(&leaves, 30, 3);
	try_repairs(&ring, 60, 4);
}

/*
 * Sends a packet of a flow from a switch as the program does: by its hash, but never out of the
 * port that it came in by. Returns the hops to the host, or FAR.
 */
static uint32_t walk_detours(const struct world *w, uint32_t s, uint32_t host, uint64_t flow)
{
	uint32_t node = w->net->host_count + s, in = 0;

	for (uint32_t hops = 0; hops < 32; hops++) {
		const struct net_node *at = &w->net->nodes[node];
		const struct group *g;
		uint32_t pick, port;

		if (node == host)
			return hops;
		g = group_of(w, at->number, host);
		if (!g)
			return FAR;
		pick = (uint32_t)(rng_stream(flow, "pick", node) % g->count);
		port = at->first_port + g->port[pick];
		if (port == in)
			port = at->first_port + g->port[(pick + 1) % g->count];
		if (port == in || !w->up[w->net->ports[port].link])
			return FAR;
		in = w->net->ports[port].peer;
		node = w->net->ports[in].node;
	}
	return FAR;
}

static void try_single_failures(const struct scenario *s, uint32_t max_hops)
{
	struct world w = world_new(s);
	uint32_t hosts = w.net->host_count;

	for (uint32_t l = 0; l < w.net->link_count; l++) {
		if (w.net->ports[w.f->links[l].a].node < hosts)
			continue;
		w.up[l] = false;
		routing_repair(w.r, w.up, &w.t);
		for (uint32_t h = 0; h < hosts; h++)
			for (uint32_t from = 0; from < w.net->switch_count; from++)
				for (uint64_t flow = 0; flow < 4; flow++)
					assert_in_range(
						walk_detours(&w, from, h, flow), 1, max_hops);
		w.up[l] = true;
	}
	world_free(&w);
}

/* Packets arrive, at most a bounce of two hops later, whichever link is dead. */
static void a_single_failure_loses_nothing(void **state)
{
	static struct fixture_custom c;
	struct scenario leaves = fixture_leaf_spine(4, 2, 2, 1), tree = fixture_fat_tree(6);
	struct scenario parallel = fixture_leaf_spine(3, 2, 1, 2);
	struct scenario cores = fixture_custom(&c, "h0 h1 h2", "t0 t1 t2 a0 a1 c0 c1",
		"h0-t0 h1-t1 h2-t2 t0-a0 t0-a1 t1-a0 t1-a1 t2-a0 t2-a1 a0-c0 a0-c1 a1-c0 a1-c1");

	(void)state;
	try_single_failures(&leaves, 3 + 2);
	try_single_failures(&parallel, 3);
	try_single_failures(&tree, 5 + 2);
	try_single_failures(&cores, 4 + 2);
}

/* Both modes see the same fabric as long as it is whole, in either order. */
static void modes_agree_while_all_links_are_up(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct world a = world_new(&s), b = world_new(&s);

	(void)state;
	assert_int_equal(routing_compute(a.r, a.up, &a.t), a.net->host_count * a.net->switch_count);
	assert_int_equal(routing_repair(b.r, b.up, &b.t), b.net->host_count * b.net->switch_count);
	assert_memory_equal(a.t.routes, b.t.routes, a.t.count.routes * sizeof(*a.t.routes));
	assert_memory_equal(a.t.groups, b.t.groups, a.t.count.groups * sizeof(*a.t.groups));
	assert_memory_equal(a.t.switches, b.t.switches, a.t.count.switches * sizeof(*a.t.switches));
	assert_int_equal(routing_repair(a.r, a.up, &a.t), 0);
	cut(&a, "agg0.0-tor0.1");
	cut(&b, "agg0.0-tor0.1");
	assert_int_not_equal(routing_repair(a.r, a.up, &a.t), 0);
	routing_compute(a.r, a.up, &a.t);
	routing_compute(b.r, b.up, &b.t);
	assert_memory_equal(a.t.routes, b.t.routes, a.t.count.routes * sizeof(*a.t.routes));
	assert_memory_equal(a.t.groups, b.t.groups, a.t.count.groups * sizeof(*a.t.groups));
	world_free(&a);
	world_free(&b);
}

static void wide_bounces_are_cut(void **state)
{
	struct scenario s = fixture_leaf_spine(300, 2, 1, 1);
	struct world w = world_new(&s);
	const struct group *g;

	(void)state;
	cut(&w, "leaf5-spine0");
	/* the very last group of the table */
	cut(&w, "leaf299-spine1");
	routing_repair(w.r, w.up, &w.t);
	g = group_of(&w, 300, 5);
	assert_non_null(g);
	assert_int_equal(g->count, GROUP_PORTS);
	for (uint32_t i = 0; i < g->count; i++)
		assert_int_equal(g->port[i], i < 5 ? i : i + 1);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spine_bounces_over_the_other_leaves),
		cmocka_unit_test(an_aggregation_switch_bounces_up),
		cmocka_unit_test(a_bounce_avoids_those_that_know_no_other_way),
		cmocka_unit_test(only_its_own_switch_knows_of_a_dead_host_link),
		cmocka_unit_test(repairs_leave_live_ports),
		cmocka_unit_test(a_single_failure_loses_nothing),
		cmocka_unit_test(modes_agree_while_all_links_are_up),
		cmocka_unit_test(wide_bounces_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
