/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LLDP agents over a whole fabric: the roles in the switches' tables, and their robustness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "lib/small_session.h"

#define FAR UINT32_MAX

/* Hops to the nearest host of every node, by going over all links until nothing changes. */
static uint32_t *levels_of(const struct fabric *f)
{
	uint32_t *level = calloc(f->net.node_count, sizeof(*level));
	bool changed = true;

	assert_non_null(level);
	for (uint32_t n = 0; n < f->net.node_count; n++)
		level[n] = f->net.nodes[n].kind == NODE_HOST ? 0 : FAR;
	while (changed) {
		changed = false;
		for (uint32_t p = PORT_FIRST; p < PORT_FIRST + f->net.port_count; p++) {
			uint32_t *to = &level[f->net.ports[p].node];
			uint32_t from = level[f->net.ports[f->net.ports[p].peer].node];

			if (from == FAR || from + 1 >= *to)
				continue;
			*to = from + 1;
			changed = true;
		}
	}
	return level;
}

/* The role of a port, seen from above. */
static enum port_role role_of(const struct fabric *f, const uint32_t *level, uint32_t port)
{
	uint32_t here = level[f->net.ports[port].node];
	uint32_t there = level[f->net.ports[f->net.ports[port].peer].node];

	return there > here ? ROLE_UP : there < here ? ROLE_DOWN : ROLE_CROSS;
}

static void advance(struct small_session *s, uint64_t us)
{
	struct error why = ERROR_INIT;

	if (session_advance(s->session, us * PS_PER_US, NULL, &why) < 0)
		fail_msg("%s", why.text);
}

static const struct port *ports_of(const struct small_session *s)
{
	return engine_tables(session_engine(s->session))->ports;
}

/* Whether all ports have their roles; fails where one has a wrong one. */
static bool roles_are_known(const struct small_session *s)
{
	const struct fabric *f = s->fabric;
	uint32_t *level = levels_of(f);
	bool known = true;

	for (uint32_t p = PORT_FIRST; p < PORT_FIRST + f->net.port_count; p++) {
		uint8_t role = ports_of(s)[p].role;

		if (role == ROLE_UNKNOWN)
			known = false;
		else if (role != role_of(f, level, p))
			fail_msg("%s->%s: role %u", f->nodes[f->net.ports[p].node].name,
				f->nodes[f->net.ports[f->net.ports[p].peer].node].name, role);
	}
	free(level);
	return known;
}

#define REST                                                                                       \
	"workload:\n"                                                                              \
	"  - pairs: {from: [h0], to: [h1], message: 1KB, start: 1ms}\n"                            \
	"switch: {lldp: {every: 20us}}\n"

static const char fat_tree[] = "name: t\ntopology: {fat_tree: {k: 4}}\n" REST;
static const char leaf_spine[] =
	"name: t\ntopology: {leaf_spine: {leaves: 4, spines: 3, hosts_per_leaf: 2}}\n" REST;
static const char parallel[] =
	"name: t\n"
	"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1, links_per_pair: 3}}\n" REST;
/* with crosslinks, and switches that hear of hosts late, from one side */
static const char odd[] =
	"name: t\n"
	"topology:\n"
	"  custom:\n"
	"    hosts: [h0, h1]\n"
	"    switches: [a, b, c, d, e, f, g]\n"
	"    links: [h0-a, h1-b, a-b, a-c, b-c, c-d, d-e, e-f, f-a, g-d, g-e]\n" REST;

static const char *const fabrics[] = {fat_tree, leaf_spine, parallel, odd};
#define FABRICS (sizeof(fabrics) / sizeof(fabrics[0]))

/* What arrives in one interval takes effect at the next; a change of level does not wait. */
static void roles_are_those_of_the_levels(void **state)
{
	(void)state;
	for (size_t i = 0; i < FABRICS; i++) {
		struct small_session s;

		small_session_open(&s, fabrics[i], NULL, 0, NULL);
		advance(&s, 19);
		assert_false(roles_are_known(&s));
		advance(&s, 41);
		assert_true(roles_are_known(&s));
		advance(&s, 1000);
		assert_true(roles_are_known(&s));
		small_session_close(&s);
	}
}

/* One that is as the scenario text says, up to some time. */
static void open_until(struct small_session *s, const char *text, const char *faults, uint64_t us)
{
	char whole[2048];

	snprintf(whole, sizeof(whole), "%s%s", text, faults);
	small_session_open(s, whole, NULL, 0, NULL);
	advance(s, us);
}

/* What was learnt stays when links are cut and switches die. */
static void roles_survive_failures(void **state)
{
	struct small_session s;

	(void)state;
	open_until(&s, fat_tree,
		"faults:\n"
		"  - {at: 100us, link: \"agg0.*-core*\", do: down}\n"
		"  - {at: 100us, link: tor1.0-agg1.1, do: down}\n"
		"  - {at: 150us, until: 300us, switch: agg2.0, do: down}\n"
		"  - {at: 150us, switch: \"core[01]\", do: down}\n",
		99);
	for (uint64_t us = 99; us < 1000; us += 10) {
		advance(&s, us);
		assert_true(roles_are_known(&s));
	}
	small_session_close(&s);
}

/* A port whose neighbour was dead from the beginning has no role; when it comes, all do. */
static void a_switch_that_comes_late(void **state)
{
	struct small_session s;
	uint32_t core;

	(void)state;
	open_until(&s, fat_tree, "faults:\n  - {at: 0us, until: 205us, switch: core2, do: down}\n",
		199);
	assert_false(roles_are_known(&s));
	assert_true(fabric_find_node(s.fabric, "core2", &core));
	for (uint32_t p = PORT_FIRST; p < PORT_FIRST + s.fabric->net.port_count; p++) {
		const struct net_port *port = &s.fabric->net.ports[p];
		bool leads_there =
			port->node == core || s.fabric->net.ports[port->peer].node == core;

		assert_int_equal(ports_of(&s)[p].role == ROLE_UNKNOWN, leads_there);
	}
	advance(&s, 241);
	assert_true(roles_are_known(&s));
	small_session_close(&s);
}

/* Every port at each interval, and a switch's ports once more when it has found its level. */
static void frames_are_sent_when_due(void **state)
{
	struct engine_stats stats;
	struct small_session s;

	(void)state;
	open_until(&s, fat_tree, "", 55);
	engine_stats(session_engine(s.session), &stats);
	assert_int_equal(stats.made, 3 * 96 + 20 * 4);
	assert_int_equal(stats.consumed, stats.made);
	assert_int_equal(stats.sent, 0);
	assert_int_equal(stats.hops, stats.made);
	small_session_close(&s);
}

/* Those of hosts are known at the start, the others at the first interval after it. */
static void changes_are_events(void **state)
{
	char directory[SMALL_PATH], *text;
	struct error why = ERROR_INIT;
	struct small_session s;

	(void)state;
	small_directory(directory);
	small_session_open(&s, fat_tree, NULL, 0, directory);
	advance(&s, 500);
	assert_int_equal(session_write(s.session, NULL, NULL, &why), 0);
	text = small_file(directory, "events.jsonl");
	assert_string_equal(text, "{\"t_us\":0.0,\"event\":\"roles\",\"ports_changed\":16}\n"
				  "{\"t_us\":20.0,\"event\":\"roles\",\"ports_changed\":80}\n");
	free(text);
	small_session_close(&s);
	small_directory_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_are_those_of_the_levels),
		cmocka_unit_test(roles_survive_failures),
		cmocka_unit_test(a_switch_that_comes_late),
		cmocka_unit_test(frames_are_sent_when_due),
		cmocka_unit_test(changes_are_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
