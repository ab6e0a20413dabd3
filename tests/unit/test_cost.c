/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's predicted memory: figures of ports and nodes, and of where packets go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lib/small_session.h"
#include "session/cost.h"

#define POOL (64 * 4096) /* of a port that frames come to */

/* Bytes beyond what the process takes. */
static uint64_t kernel_bytes(const char *topology, const char *rest)
{
	uint64_t in_process, all;
	struct small_session s;
	char text[512];

	snprintf(text, sizeof(text), "name: c\ntopology: {%s}\n%s\n", topology, rest);
	small_session_load(&s, text, NULL, 0);
	assert_int_equal(cost_memory(&in_process, s.scenario, s.fabric, false, false), 0);
	assert_int_equal(cost_memory(&all, s.scenario, s.fabric, true, false), 0);
	small_session_close(&s);
	assert_true(all > in_process);
	return all - in_process;
}

static uint64_t pools(const char *topology, const char *rest, const char *than)
{
	return (kernel_bytes(topology, rest) - kernel_bytes(topology, than)) / POOL;
}

#define K4      "fat_tree: {k: 4}"
#define PAIR(b) "workload: [{pairs: {from: [h0], to: [" b "], message: 1MB}}]"

static void pools_are_of_ports_on_shortest_paths(void **state)
{
	(void)state;
	/* of a pair below one switch: both ends of two links */
	assert_int_equal(pools(K4, PAIR("h2"), PAIR("h1")), 2 * 2 * 2);
	/* in another pod: two links each to the aggregation, four to the cores, per side */
	assert_int_equal(pools(K4, PAIR("h15"), PAIR("h1")), 2 * (2 * 2 + 2 * 4));
	assert_int_equal(
		pools(K4, "workload: [permutation: {message: 1KB, count: 9}]", PAIR("h1")), 96 - 4);
	/* neighbours tell each other everywhere */
	assert_int_equal(pools(K4, "switch: {lldp: on}\n" PAIR("h1"), PAIR("h1")), 96 - 4);
	/* a way round that is longer is none */
	assert_int_equal(
		pools("custom: {hosts: [h0, h1, h2], switches: [a, b, c],\n"
		      "  links: [h0-a, h1-b, h2-c, a-b, b-c, c-a]}",
			"workload: [{pairs: {from: [h0, h1], to: [h1, h0], message: 1MB}}]",
			"workload: [{pairs: {from: [h0], to: [h2], message: 1MB}}]"),
		0);
}

static void nodes_and_ports_cost_what_was_measured(void **state)
{
	uint64_t few, nodes, links;

	(void)state;
	few = kernel_bytes("leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1}", PAIR("h1"));
	nodes = kernel_bytes("leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}", PAIR("h2"));
	links = kernel_bytes("leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}", PAIR("h1"));
	/* two hosts and their links; a switch with two links, that packets pass */
	assert_int_equal(nodes - few, 2 * (250 << 10) + 4 * (78 << 10));
	assert_int_equal(links - few, (250 << 10) + 4 * (78 << 10) + 4 * POOL);
}

/* Of a process, with that policy of load balancing; lasting: of a fabric that stays. */
static uint64_t process_bytes(const char *policy, bool lasting)
{
	struct small_session s;
	uint64_t bytes;
	char text[256];

	snprintf(
		text, sizeof(text), "name: c\ntopology: {" K4 "}\nswitch: {balance: %s}\n", policy);
	small_session_load(&s, text, NULL, 0);
	assert_int_equal(cost_memory(&bytes, s.scenario, s.fabric, false, lasting), 0);
	small_session_close(&s);
	return bytes;
}

static void flow_tables_count(void **state)
{
	(void)state;
	/* 20 switches: 64 bytes a flow, and a page each, whatever the policy */
	assert_int_equal(process_bytes("drill", false), process_bytes("ecmp", false));
	assert_int_equal(process_bytes("{core: flowlet, flows: 1000}", false) -
				 process_bytes("drill", false),
		20 * 1000 * 64);
	/* one that needs flows may be swapped in */
	assert_int_equal(
		process_bytes("ecmp", true) - process_bytes("ecmp", false), 20 * 1024 * 64);
	assert_int_equal(process_bytes("{policy: flowlet, flows: 1000}", true),
		process_bytes("{policy: flowlet, flows: 1000}", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_are_of_ports_on_shortest_paths),
		cmocka_unit_test(nodes_and_ports_cost_what_was_measured),
		cmocka_unit_test(flow_tables_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
