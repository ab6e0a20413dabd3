/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collectives as scenarios ask for them: keys, what does not fit, placement, and results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/json.h"
#include "base/units.h"
#include "collective_fixture.h"
#include "lib/small_session.h"
#include "scenario_fixture.h"
#include "telemetry/summary.h"

/* ---- keys ---- */

#define STAR                                                                                         \
	"name: a\ntopology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 8}, delay: 100us}\n" \
	"workload:\n  - collective: "

static void wrong_keys_are_explained(void **state)
{
	(void)state;
	expect(STAR "{op: all_to_all, algorithm: ring, size: 1MB}\n",
		"4:45: workload.0.collective.algorithm: there is no all_to_all by ring; expected one of "
		"pairwise, windowed, bruck\n");
	expect(STAR "{op: broadcast, algorithm: halving_doubling, size: 1MB}\n",
		"4:44: workload.0.collective.algorithm: there is no broadcast by halving_doubling; "
		"expected one of ring, tree\n");
	expect(STAR
		"{op: all_to_all, size: 1MB, stragglers: [{rank: 1, delay: 1us}, {rank: 0}, {rank: 1, compute: 2us}]}\n",
		"4:99: workload.0.collective.stragglers.2.rank: rank 1 again; say all of it at once\n");
	expect(STAR "{op: all_to_all, size: 1MB, window: 0}\n",
		"4:53: workload.0.collective.window: 0 is too small; expected a whole number from 1 to "
		"1000000\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks: 1}\n",
		"4:52: workload.0.collective.ranks: 1 is too small; expected a whole number from 2 to "
		"1000000, or all\n");
	expect(STAR "{op: all_reduce, size: 1MB, hosts: [h0, h1, h0]}\n",
		"4:61: workload.0.collective.hosts.2: 'h0' again; ranks_per_host is 1\n");
	expect(STAR "{op: all_reduce, size: 1MB, hosts: [h0, h0, h1, h0], ranks_per_host: 2, "
		    "inside: {rate: 1Tbps}}\n",
		"4:65: workload.0.collective.hosts.3: 'h0' again; ranks_per_host is 2\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks_per_host: 4}\n",
		"4:61: workload.0.collective.ranks_per_host: ranks of a host send to each other inside "
		"it; give the rate of that too, such as inside: {rate: 3.6Tbps}\n");
	expect(STAR "{op: all_reduce, size: 1MB, inside: {rate: 1Tbps}}\n",
		"4:53: workload.0.collective.inside: no ranks share a host; give ranks_per_host: 2 or "
		"more, or leave it out\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks_per_host: 4, inside: {delay: 1us}}\n",
		"4:72: workload.0.collective.inside.rate: missing; expected a rate from 1Mbps to "
		"10Tbps, such as 100Gbps\n");
	expect(STAR "{op: all_reduce, size: 1MB, ranks_per_host: 4, inside: {rate: 0Gbps}}\n",
		"4:79: workload.0.collective.inside.rate: 0Gbps is too small; expected a rate from "
		"1Mbps to 10Tbps, such as 100Gbps\n");
}

static const struct workload_hosts eight_hosts = {.count = 8};

static void assert_refused(const struct collective *c, const char *why)
{
	char text[WORKLOAD_REFUSAL];

	assert_string_equal(workload_kind_collective.refuse(c, &eight_hosts, text), why);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct straggler late = {.rank = 4};
	struct collective c = plain(ALL_REDUCE, RING, 1000);
	char text[WORKLOAD_REFUSAL];

	(void)state;
	assert_null(workload_kind_collective.refuse(&c, &eight_hosts, text));
	c.ranks = 9;
	assert_refused(
		&c, "ranks: 1 job of 9 ranks; ranks_per_host is 1, and the fabric has 8 hosts");
	c.ranks = 4;
	c.jobs = 3;
	assert_refused(
		&c, "ranks: 3 jobs of 4 ranks; ranks_per_host is 1, and the fabric has 8 hosts");
	c.placement.ranks_per_host = 2;
	assert_null(workload_kind_collective.refuse(&c, &eight_hosts, text));
	c.jobs = 5;
	assert_refused(
		&c, "ranks: 5 jobs of 4 ranks; ranks_per_host is 2, and the fabric has 8 hosts");
	c.placement.ranks_per_host = 1;
	c.ranks = 0;
	c.jobs = 5;
	assert_refused(
		&c, "jobs: 5 of 8 hosts; a job needs at least 2 ranks, and ranks_per_host is 1");
	c.jobs = 1;
	c.ranks = 3;
	c.placement.host_count = 4;
	assert_refused(&c, "hosts: 4 for 1 job of 3 ranks; expected 3");
	c.placement.host_count = 0;
	c.algorithm = HALVING_DOUBLING;
	c.ranks = 6;
	assert_refused(&c, "ranks: 6 is no power of two, which halving_doubling needs");
	c.ranks = 4;
	assert_null(workload_kind_collective.refuse(&c, &eight_hosts, text));
	c.stragglers = &late;
	c.straggler_count = 1;
	assert_refused(&c, "stragglers.0.rank: there is no rank 4; they are 0 to 3");
	c = plain(BROADCAST, RING, 1000);
	c.root = 8;
	assert_refused(&c, "root: there is no rank 8; they are 0 to 7");
}

/* ---- placement */

static uint32_t host_number(const void *fabric, const char *name)
{
	(void)fabric;
	return (uint32_t)strtoul(name + 1, NULL, 10);
}

/* The host of each of n ranks, of which each sends to all others. */
static void placed(uint32_t *ret, struct collective *c, uint32_t n, uint64_t seed)
{
	const struct workload_hosts hosts = {.count = 8, .mtu = MTU, .number = host_number};
	const struct workload_params p = {.seed = seed};
	struct operations m = OPERATIONS_INIT;
	uint32_t *next = ret;

	c->ranks = n;
	assert_int_equal(workload_kind_collective.operations(&m, &p, c, &hosts), 0);
	/* the first step has a message of each rank, in their order */
	for (size_t i = 0; next < ret + n; i++) {
		assert_true(i < m.count);
		if (operation_is_message(&m.items[i]) || m.items[i].stream)
			*next++ = m.items[i].src_host;
	}
	operations_release(&m);
}

/* In order and at random consecutive ranks fill a host; a list says of each rank where it is. */
static void ranks_are_where_they_are_placed(void **state)
{
	static char *const names[] = {"h3", "h1", "h3", "h7", "h1"};
	struct collective c = plain(ALL_TO_ALL, PAIRWISE, 6400);
	uint32_t hosts[20], again[20], other[20];
	bool seen[8] = {false}, moved = false;

	(void)state;
	placed(hosts, &c, 8, 1);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(hosts[i], i);
	c.placement.ranks_per_host = 3;
	c.placement.inside.rate_bps = INSIDE;
	placed(hosts, &c, 20, 1);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(hosts[i], i / 3);
	c.placement.order = RANDOM;
	placed(hosts, &c, 20, 1);
	placed(again, &c, 20, 1);
	placed(other, &c, 20, 2);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(hosts[i], hosts[i / 3 * 3]);
		assert_int_equal(hosts[i], again[i]);
		assert_true(i % 3 || !seen[hosts[i]]);
		seen[hosts[i]] = true;
		moved |= hosts[i] != other[i];
	}
	assert_true(moved);
	c.placement.hosts = (char **)names;
	c.placement.host_count = 5;
	placed(hosts, &c, 5, 1);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(hosts[i], host_number(NULL, names[i]));
}

static void it_is_written_as_it_was_read(void **state)
{
	static const char given[] = STAR
		"{op: all_gather, size: 1MB, hosts: [h3, h1], chunk: off, compute: 1us, stragglers: "
		"[{rank: 1, delay: 2us}, {rank: 0, compute: 0}], ranks_per_host: 4, "
		"inside: {rate: 3.6Tbps, delay: 700ns}}\n";
	struct scenario *s = load(given), *again;
	char *text = write_text(s), *second;
	const struct collective *c = (const struct collective *)s->workloads[0].options;

	(void)state;
	assert_int_equal(c->chunk, 0);
	assert_int_equal(c->common.bytes, 1 << 20);
	assert_int_equal(c->straggler_count, 2);
	assert_int_equal(c->stragglers[0].compute_ps, COMPUTE_AS_OTHERS);
	assert_int_equal(c->stragglers[1].compute_ps, 0);
	assert_int_equal(c->placement.ranks_per_host, 4);
	assert_int_equal(c->placement.inside.rate_bps, 3600 * GBPS);
	assert_int_equal(c->placement.inside.delay_ps, 700000);
	again = load(text);
	second = write_text(again);
	assert_string_equal(text, second);
	free(text);
	free(second);
	scenario_free(s);
	scenario_free(again);
}

/* ---- results ---- */

static double figure(const json_t *summary, const char *path)
{
	double value;

	assert_int_equal(summary_lookup(summary, path, &value), 0);
	return value;
}

/* Two jobs of four ranks in two rounds: times, bandwidths and who was last. */
static void results_tell_of_each_round(void **state)
{
	struct small_session s;
	json_t *summary, *round;
	double took = 0, bytes = 4096;
	bool met;
	size_t i;

	(void)state;
	small_session_open(&s,
		STAR "{op: reduce_scatter, size: 4KB, ranks: 4, jobs: 2, repeat: 2, start: 5us, "
		     "stragglers: [{rank: 2, delay: 900us}]}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "collectives.count"), 4);
	assert_int_equal(figure(summary, "collectives.unfinished"), 0);
	assert_int_equal(json_array_size(look(summary, "collectives.entries")), 1);
	json_array_foreach(look(summary, "collectives.rounds"), i, round)
	{
		double time = figure(round, "time_us");

		took += time / 4;
		assert_int_equal(figure(round, "job"), i / 2);
		assert_int_equal(figure(round, "round"), i % 2);
		assert_true(i % 2 || figure(round, "start_us") == 5);
		/* ranks begin the second round as they have done with the first */
		assert_true(time > 900 + 200 && time < 900 + 3 * 200 * 1.01);
		assert_true(i % 2 || time > 900 + 3 * 200);
		assert_float_equal(figure(round, "algbw"), bytes / time / 1000, 1e-9);
		assert_float_equal(figure(round, "busbw"), bytes / time / 1000 * 3 / 4, 1e-9);
		assert_float_equal(figure(round, "last.after_us"), time, 1e-9);
		assert_true(figure(round, "first.after_us") < time);
		/* three messages of a packet */
		assert_float_equal(
			figure(round, "ideal_us"), 3.0 * (1024 + 74 + 24) * 8 / 100e9 * 1e6, 1e-9);
	}
	assert_int_equal(i, 4);
	assert_float_equal(figure(summary, "collectives.time_us.mean"), took, 1e-9);
	json_decref(summary);
	small_session_close(&s);
}

/* Of four ranks below each of two leaves 16 blocks cross, and 7 leave a NIC; a fault slows some. */
static void the_ideal_knows_links_between_switches(void **state)
{
	const struct {
		const char *spines, *faults;
		double blocks;
	} cases[] = {{"1", "", 16}, {"4", "", 7},
		{"4", "faults: [{at: 0, link: \"leaf0-spine[123]\", do: down}]\n", 16},
		{"4", "faults: [{at: 0, link: h5-leaf1, do: {rate: 25%}}]\n", 28}};
	double one = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct small_session s;
		json_t *summary;
		char text[300];
		double ideal;
		bool met;

		snprintf(text, sizeof(text),
			"name: a\ntopology: {leaf_spine: {leaves: 2, spines: %s, hosts_per_leaf: 4}}\n"
			"workload: [{collective: {op: all_to_all, size: 8MB}}]\n%s",
			cases[i].spines, cases[i].faults);
		small_session_open(&s, text, NULL, 0, NULL);
		small_session_run(&s);
		summary = small_session_summary(&s, &met);
		ideal = json_number_value(
			look(json_array_get(look(summary, "collectives.rounds"), 0), "ideal_us"));
		one = i ? one : ideal / cases[i].blocks;
		assert_float_equal(ideal, one * cases[i].blocks, 1e-3);
		assert_true(figure(summary, "collectives.time_us.max") > ideal);
		json_decref(summary);
		small_session_close(&s);
	}
}

/*
 * Twice two ranks on two hosts, the second time with a slow way inside: what is sent there counts
 * in times and in the bound, and not as sent by the fabric.
 */
static void results_count_what_is_inside(void **state)
{
	struct small_session s;
	json_t *summary, *entry, *round;
	bool met;
	size_t i;

	(void)state;
	small_session_open(&s,
		STAR
		"{op: all_reduce, size: 800, ranks: 4, ranks_per_host: 2, inside: {rate: 1Tbps}}\n"
		"  - collective: {op: all_reduce, size: 800, hosts: [h4, h4, h3, h3], "
		"ranks_per_host: 2, start: 1s, inside: {rate: 1Gbps, delay: 2us}}\n"
		"  - collective: {op: all_gather, size: 4KB, hosts: [h1, h2], start: 2s}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "collectives.unfinished"), 0);
	/* six steps, and two of four ranks send to another host; two ranks send once */
	assert_int_equal(figure(summary, "flows.count"), 2 * 6 * 2 + 2);
	json_array_foreach(look(summary, "collectives.entries"), i, entry)
	{
		/* six messages of 200 bytes on a link, or inside a host */
		double ideal[] = {6 * (200 + 74 + 24) * 8 / 100e3, 6 * 200 * 8 / 1e3};

		assert_int_equal(figure(entry, "ranks_per_host"), i == 2 ? 1 : 2);
		if (i == 2)
			break;
		assert_float_equal(figure(entry, "ideal_us"), ideal[i], 1e-9);
		/* three messages of either kind follow each other: 200 us, or none; 3.6 us */
		assert_float_equal(figure(entry, "time_us"), i ? 610.8 : 600, 1);
	}
	assert_int_equal(i, 2);
	round = json_array_get(look(summary, "collectives.rounds"), 1);
	assert_float_equal(figure(round, "last.after_us"), figure(round, "time_us"), 1e-9);
	json_decref(summary);
	small_session_close(&s);
}

/* All of it inside a host: no packet is sent, and the run waits for what is queued at a port. */
static void a_host_is_enough(void **state)
{
	struct small_session s;
	json_t *summary, *entry;
	bool met;

	(void)state;
	small_session_open(&s,
		STAR
		"{op: all_to_all, algorithm: windowed, window: 7, size: 56GB, chunk: off, ranks: 8, "
		"ranks_per_host: 8, repeat: 3, inside: {rate: 1Tbps, delay: 9us}}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	summary = small_session_summary(&s, &met);
	assert_int_equal(figure(summary, "packets.sent"), 0);
	assert_int_equal(figure(summary, "collectives.unfinished"), 0);
	entry = json_array_get(look(summary, "collectives.entries"), 0);
	/* seven messages of 7 GB, which a port has at once */
	assert_float_equal(figure(entry, "ideal_us"), 7 * 56 * 1073.741824, 1e-3);
	assert_float_equal(figure(entry, "min_us"), figure(entry, "ideal_us") + 9, 1e-3);
	json_decref(summary);
	small_session_close(&s);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_keys_are_explained),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(ranks_are_where_they_are_placed),
		cmocka_unit_test(it_is_written_as_it_was_read),
		cmocka_unit_test(results_tell_of_each_round),
		cmocka_unit_test(the_ideal_knows_links_between_switches),
		cmocka_unit_test(results_count_what_is_inside),
		cmocka_unit_test(a_host_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
