/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Levels and roles, by messages that come in any order, are lost, or were never sent. What must
 * come out is measured from the hosts, over the whole fabric at once, which no switch can see.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "control/port_roles.h"
#include "lib/hand_fabric.h"
#include "lib/rng_unit.h"

#define SEEDS       40u
#define LOST_ROUNDS 100u

/* What a node said, on its way to a port. */
struct claim {
	uint32_t to;
	uint32_t level;
};

/* A fabric, its nodes' knowledge, and what is under way. */
struct world {
	struct fabric *f;
	const struct net *net;
	struct roles *r;
	bool *mute;  /* by node: it sends nothing */
	bool *fresh; /* by node: it sends as though it had just started */
	struct claim *claims;
	uint32_t claim_count, claim_room;
	uint32_t delivered;
	uint64_t dice;
};

static struct world world_new(struct fabric *f, uint64_t seed)
{
	struct world w = {.f = f, .net = &f->net, .dice = rng_stream(seed, "roles", 0)};

	assert_int_equal(roles_new(&w.r, w.net), 0);
	w.mute = calloc(w.net->node_count, sizeof(*w.mute));
	w.fresh = calloc(w.net->node_count, sizeof(*w.fresh));
	assert_true(w.mute && w.fresh);
	return w;
}

static void world_free(struct world *w)
{
	roles_free(w->r);
	free(w->mute);
	free(w->fresh);
	free(w->claims);
	hand_fabric_free(w->f);
}

/* A node says its level on all its ports. */
static void announce(struct world *w, uint32_t n)
{
	const struct net_node *node = &w->net->nodes[n];

	if (w->mute[n])
		return;
	for (uint32_t i = 0; i < node->port_count; i++) {
		if (w->claim_count == w->claim_room) {
			w->claim_room = w->claim_room ? 2 * w->claim_room : 64;
			w->claims = realloc(w->claims, w->claim_room * sizeof(*w->claims));
			assert_non_null(w->claims);
		}
		w->claims[w->claim_count++] = (struct claim){
			.to = w->net->ports[node->first_port + i].peer,
			.level = w->fresh[n] ? ROLES_UNKNOWN : roles_level(w->r, n),
		};
	}
}

static void announce_all(struct world *w)
{
	for (uint32_t n = 0; n < w->net->node_count; n++)
		announce(w, n);
}

/* Delivers what is under way in random order, each lost with that chance, until all is quiet. */
static void settle(struct world *w, double loss)
{
	while (w->claim_count) {
		uint32_t i = rng_below(&w->dice, w->claim_count);
		struct claim c = w->claims[i];

		w->claims[i] = w->claims[--w->claim_count];
		if (rng_unit(&w->dice) < loss)
			continue;
		w->delivered++;
		if (roles_learn(w->r, c.to, c.level, false) & ROLES_LEVEL_CHANGED)
			announce(w, w->net->ports[c.to].node);
	}
}

/* Links to the nearest host that speaks; hosts pass nothing on. Slow and plain on purpose. */
static void measure(const struct world *w, uint32_t *dist)
{
	bool again = true;

	for (uint32_t n = 0; n < w->net->node_count; n++)
		dist[n] = w->net->nodes[n].kind == NODE_HOST ? 0 : ROLES_UNKNOWN;
	while (again) {
		again = false;
		for (uint32_t p = PORT_FIRST; p < PORT_FIRST + w->net->port_count; p++) {
			uint32_t to = w->net->ports[p].node;
			uint32_t from = w->net->ports[w->net->ports[p].peer].node;

			if (w->mute[from] || dist[from] == ROLES_UNKNOWN ||
				dist[to] <= dist[from] + 1)
				continue;
			dist[to] = dist[from] + 1;
			again = true;
		}
	}
}

static enum port_role role_by_distance(const struct world *w, const uint32_t *dist, uint32_t port)
{
	uint32_t node = w->net->ports[port].node;
	uint32_t peer = w->net->ports[w->net->ports[port].peer].node;

	if (w->net->nodes[node].kind == NODE_HOST)
		return ROLE_UP;
	if (w->mute[peer] || dist[node] == ROLES_UNKNOWN || dist[peer] == ROLES_UNKNOWN)
		return ROLE_UNKNOWN;
	if (dist[peer] == dist[node])
		return ROLE_CROSS;
	return dist[peer] > dist[node] ? ROLE_UP : ROLE_DOWN;
}

static void assert_true_to_distance(const struct world *w)
{
	uint32_t *dist = calloc(w->net->node_count, sizeof(*dist));

	assert_non_null(dist);
	measure(w, dist);
	for (uint32_t n = 0; n < w->net->node_count; n++)
		assert_int_equal(roles_level(w->r, n), dist[n]);
	for (uint32_t p = PORT_FIRST; p < PORT_FIRST + w->net->port_count; p++)
		assert_int_equal(roles_of(w->r, p), role_by_distance(w, dist, p));
	free(dist);
}

static struct fabric *leaf_spine(uint32_t leaves, uint32_t spines, uint32_t hosts_per_leaf)
{
	uint32_t hosts = leaves * hosts_per_leaf, n = 0, links[256][2];

	assert_true(hosts + leaves * spines <= 256);
	for (uint32_t h = 0; h < hosts; h++, n++) {
		links[n][0] = h;
		links[n][1] = hosts + h / hosts_per_leaf;
	}
	for (uint32_t leaf = 0; leaf < leaves; leaf++)
		for (uint32_t spine = 0; spine < spines; spine++, n++) {
			links[n][0] = hosts + leaf;
			links[n][1] = hosts + leaves + spine;
		}
	return hand_fabric(hosts, leaves + spines, (const uint32_t(*)[2])links, n);
}

/*
 * Crosslinks between leaves and between spines, a host on two leaves, a pair of parallel links, a
 * chain that leads away (9, 10, 11), and two switches (12, 13) without any host.
 */
#define CROSSED_HOSTS    4u
#define CROSSED_SWITCHES 10u
static struct fabric *crossed(void)
{
	static const uint32_t links[][2] = {
		{0, 4},
		{1, 5},
		{2, 6},
		{3, 4},
		{3, 5},
		{4, 5},
		{5, 6},
		{4, 7},
		{4, 8},
		{5, 7},
		{6, 8},
		{6, 8},
		{7, 8},
		{8, 9},
		{9, 10},
		{10, 11},
		{12, 13},
	};

	return hand_fabric(
		CROSSED_HOSTS, CROSSED_SWITCHES, links, sizeof(links) / sizeof(links[0]));
}

static struct fabric *fabric_number(uint32_t i)
{
	switch (i) {
	case 0:
		return hand_fat_tree(4);
	case 1:
		return hand_fat_tree(6);
	case 2:
		return leaf_spine(5, 3, 4);
	case 3:
		return leaf_spine(1, 1, 1);
	default:
		return crossed();
	}
}
#define FABRICS 5u

static void at_first_only_hosts_know(void **state)
{
	struct world w = world_new(hand_fat_tree(4), 1);

	(void)state;
	for (uint32_t n = 0; n < w.net->node_count; n++) {
		const struct net_node *node = &w.net->nodes[n];
		bool host = node->kind == NODE_HOST;

		assert_int_equal(roles_level(w.r, n), host ? 0 : ROLES_UNKNOWN);
		for (uint32_t i = 0; i < node->port_count; i++) {
			assert_int_equal(
				roles_of(w.r, node->first_port + i), host ? ROLE_UP : ROLE_UNKNOWN);
			assert_int_equal(
				roles_neighbour_level(w.r, node->first_port + i), ROLES_UNKNOWN);
		}
	}
	world_free(&w);
}

/* Not by the reference alone: what a fat-tree's levels are is known without any program. */
static void a_fat_tree_is_recognised(void **state)
{
	struct world w = world_new(hand_fat_tree(4), 7);
	uint32_t tors = w.net->host_count, aggs = tors + 8, cores = aggs + 8;

	(void)state;
	announce_all(&w);
	settle(&w, 0);
	for (uint32_t n = tors; n < w.net->node_count; n++) {
		const struct net_node *node = &w.net->nodes[n];
		uint32_t down = 0, up = 0;

		assert_int_equal(roles_level(w.r, n), n < aggs ? 1 : n < cores ? 2 : 3);
		for (uint32_t i = 0; i < node->port_count; i++) {
			down += roles_of(w.r, node->first_port + i) == ROLE_DOWN;
			up += roles_of(w.r, node->first_port + i) == ROLE_UP;
		}
		assert_int_equal(down, n < cores ? 2 : 4);
		assert_int_equal(up, n < cores ? 2 : 0);
	}
	world_free(&w);
}

static void any_order_ends_the_same(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FABRICS; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct world w = world_new(fabric_number(i), seed);

			announce_all(&w);
			settle(&w, 0);
			assert_true_to_distance(&w);
			world_free(&w);
		}
}

/* Switches have heard of each other, and of nobody, when the hosts begin to speak. */
static void late_hosts_are_found(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FABRICS; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct world w = world_new(fabric_number(i), seed);

			memset(w.mute, true, w.net->host_count);
			announce_all(&w);
			settle(&w, 0);
			assert_true_to_distance(&w);
			for (uint32_t s = 0; s < w.net->switch_count; s++)
				assert_int_equal(
					roles_level(w.r, w.net->host_count + s), ROLES_UNKNOWN);
			/* one by one, so that levels are too high for a while */
			for (uint32_t h = 0; h < w.net->host_count; h++) {
				w.mute[h] = false;
				announce(&w, h);
				settle(&w, 0);
				assert_true_to_distance(&w);
			}
			world_free(&w);
		}
}

static void loss_delays_and_no_more(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FABRICS; i++) {
		struct world w = world_new(fabric_number(i), i);

		for (uint32_t round = 0; round < LOST_ROUNDS; round++) {
			announce_all(&w);
			settle(&w, 0.7);
		}
		assert_true_to_distance(&w);
		world_free(&w);
	}
}

/* Hosts and switches that are dead from the start: distances go around them. */
static void the_dead_are_not_counted(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FABRICS; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct world w = world_new(fabric_number(i), seed);

			for (uint32_t n = 0; n < w.net->node_count; n++)
				w.mute[n] = rng_below(&w.dice, 3) == 0;
			announce_all(&w);
			settle(&w, 0);
			assert_true_to_distance(&w);
			memset(w.mute, false, w.net->node_count);
			announce_all(&w);
			settle(&w, 0);
			assert_true_to_distance(&w);
			world_free(&w);
		}
}

/* Dead nodes say nothing, those that return say that they know nothing: no role changes. */
static void roles_survive_failures(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FABRICS; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct world w = world_new(fabric_number(i), seed);

			announce_all(&w);
			settle(&w, 0);
			for (uint32_t n = w.net->host_count; n < w.net->node_count; n++) {
				w.mute[n] = rng_below(&w.dice, 3) == 0;
				w.fresh[n] = rng_below(&w.dice, 3) == 0;
			}
			for (int round = 0; round < 3; round++) {
				announce_all(&w);
				settle(&w, 0.1);
			}
			memset(w.mute, false, w.net->node_count);
			assert_true_to_distance(&w);
			world_free(&w);
		}
}

/* h0 - s0 - s1: ports 2, 3 and 4, 5. */
static struct fabric *chain(void)
{
	static const uint32_t links[][2] = {{0, 1}, {1, 2}};

	return hand_fabric(1, 2, links, 2);
}

static void a_level_is_corrected_downwards(void **state)
{
	struct world w = world_new(chain(), 1);

	(void)state;
	assert_int_equal(roles_learn(w.r, 4, 6, false), ROLES_LEVEL_CHANGED | ROLES_PORTS_CHANGED);
	assert_int_equal(roles_level(w.r, 1), 7);
	assert_int_equal(roles_of(w.r, 4), ROLE_DOWN);
	assert_int_equal(roles_of(w.r, 3), ROLE_UNKNOWN);
	/* the same again, a higher one, an unknown one */
	assert_int_equal(roles_learn(w.r, 4, 6, false), 0);
	assert_int_equal(roles_learn(w.r, 4, 9, false), 0);
	assert_int_equal(roles_learn(w.r, 4, ROLES_UNKNOWN, false), 0);
	assert_int_equal(roles_neighbour_level(w.r, 4), 6);
	assert_int_equal(roles_learn(w.r, 3, 0, false), ROLES_LEVEL_CHANGED | ROLES_PORTS_CHANGED);
	assert_int_equal(roles_level(w.r, 1), 1);
	assert_int_equal(roles_of(w.r, 3), ROLE_DOWN);
	assert_int_equal(roles_of(w.r, 4), ROLE_UP);
	/* lower, but still higher than this switch: nothing that anyone sees */
	assert_int_equal(roles_learn(w.r, 4, 2, false), 0);
	assert_int_equal(roles_neighbour_level(w.r, 4), 2);
	assert_int_equal(roles_learn(w.r, 4, 1, false), ROLES_PORTS_CHANGED);
	assert_int_equal(roles_of(w.r, 4), ROLE_CROSS);
	world_free(&w);
}

static void another_neighbour_begins_anew(void **state)
{
	struct world w = world_new(chain(), 1);

	(void)state;
	announce_all(&w);
	settle(&w, 0);
	assert_true_to_distance(&w);
	/* the host gave way to something that knows nothing */
	assert_int_equal(roles_learn(w.r, 3, ROLES_UNKNOWN, true),
		ROLES_LEVEL_CHANGED | ROLES_PORTS_CHANGED);
	assert_int_equal(roles_of(w.r, 3), ROLE_UNKNOWN);
	assert_int_equal(roles_level(w.r, 1), 3);
	/* and that, once more, to a host */
	assert_int_equal(roles_learn(w.r, 3, 0, true), ROLES_LEVEL_CHANGED | ROLES_PORTS_CHANGED);
	assert_true_to_distance(&w);
	/* another of the same level is no news */
	assert_int_equal(roles_learn(w.r, 3, 0, true), 0);
	/* whom a host hears is all the same to it */
	assert_int_equal(roles_learn(w.r, 2, 5, true), 0);
	assert_int_equal(roles_of(w.r, 2), ROLE_UP);
	assert_int_equal(roles_level(w.r, 0), 0);
	world_free(&w);
}

/* Two switches whose only host has gone: each is the other's way to it. */
static void nobody_counts_to_infinity(void **state)
{
	struct world w = world_new(chain(), 1);

	(void)state;
	announce_all(&w);
	settle(&w, 0);
	w.mute[0] = true;
	w.delivered = 0;
	roles_learn(w.r, 3, ROLES_UNKNOWN, true);
	announce(&w, 1);
	settle(&w, 0);
	assert_int_equal(w.delivered, 2);
	assert_int_equal(roles_level(w.r, 2), 2);
	world_free(&w);
}

static void the_highest_level_is_254(void **state)
{
	struct world w = world_new(chain(), 1);

	(void)state;
	assert_int_equal(roles_learn(w.r, 4, ROLES_UNKNOWN, false), 0);
	assert_int_equal(roles_learn(w.r, 4, 254, false), 0);
	assert_int_equal(roles_level(w.r, 1), ROLES_UNKNOWN);
	assert_int_equal(roles_of(w.r, 4), ROLE_UNKNOWN);
	assert_int_equal(
		roles_learn(w.r, 4, 253, false), ROLES_LEVEL_CHANGED | ROLES_PORTS_CHANGED);
	assert_int_equal(roles_level(w.r, 1), 254);
	assert_int_equal(roles_of(w.r, 4), ROLE_DOWN);
	world_free(&w);
}

static void freeing_nothing_is_fine(void **state)
{
	(void)state;
	roles_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_first_only_hosts_know),
		cmocka_unit_test(a_fat_tree_is_recognised),
		cmocka_unit_test(any_order_ends_the_same),
		cmocka_unit_test(late_hosts_are_found),
		cmocka_unit_test(loss_delays_and_no_more),
		cmocka_unit_test(the_dead_are_not_counted),
		cmocka_unit_test(roles_survive_failures),
		cmocka_unit_test(a_level_is_corrected_downwards),
		cmocka_unit_test(another_neighbour_begins_anew),
		cmocka_unit_test(nobody_counts_to_infinity),
		cmocka_unit_test(the_highest_level_is_254),
		cmocka_unit_test(freeing_nothing_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
