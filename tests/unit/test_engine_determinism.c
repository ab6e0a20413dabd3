/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The trace of a run follows from its scenario and its seed, and from nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "lib/small_net.h"
#include "lib/small_session.h"

#define WHOLE     0
#define RANDOM    1 /* slices of random lengths */
#define RATE      (100 * GBPS)
#define SLICES(a) (sizeof(a) / sizeof((a)[0]))

/* What a run leaves behind, all of which must be equal. */
struct outcome {
	struct engine_stats stats;
	uint64_t now_ps, longest_ps;
};

static void assert_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->stats.trace_hash, b->stats.trace_hash);
	assert_int_equal(a->stats.hops, b->stats.hops);
	assert_int_equal(a->now_ps, b->now_ps);
	assert_int_equal(a->longest_ps, b->longest_ps);
	assert_memory_equal(&a->stats, &b->stats, sizeof(a->stats));
}

static struct outcome outcome_of(const struct engine *e)
{
	struct outcome o = {.now_ps = engine_now(e)};

	engine_stats(e, &o.stats);
	for (uint32_t i = 0; i < o.stats.flows; i++) {
		struct engine_flow_result r;

		engine_flow_result(e, i, &r);
		if (r.finish_ps && r.finish_ps - r.start_ps > o.longest_ps)
			o.longest_ps = r.finish_ps - r.start_ps;
	}
	return o;
}

static uint64_t next_stop(uint64_t slice, uint64_t now, uint64_t *rng)
{
	if (slice == WHOLE)
		return UINT64_MAX;
	if (slice == RANDOM)
		return now + 1 + rng_below(rng, 3000000);
	return now + slice;
}

static struct outcome run_session(
	const char *text, const char *const *sets, size_t set_count, uint64_t slice)
{
	struct small_session s;
	struct error why = ERROR_INIT;
	struct outcome o;
	uint64_t rng = slice;

	small_session_open(&s, text, sets, set_count, NULL);
	while (!session_done(s.session)) {
		uint64_t now = engine_now(session_engine(s.session));

		assert_int_equal(
			session_advance(s.session, next_stop(slice, now, &rng), NULL, &why), 0);
	}
	o = outcome_of(session_engine(s.session));
	assert_int_equal(engine_check_balance(session_engine(s.session)), 0);
	small_session_close(&s);
	return o;
}

static const char fat_tree[] = "name: cut\n"
			       "topology:\n"
			       "  fat_tree: {k: 4}\n"
			       "  delay: 2us\n"
			       "host:\n"
			       "  transport: {strack: {rto: 3us}}\n"
			       "workload:\n"
			       "  - permutation: {message: 100KB}\n"
			       "faults:\n"
			       "  - {at: 10us, until: 40us, link: agg0.1-core2, do: down}\n";

/* Marks, drops, a slow link, waiting messages and unequal delays. */
static const char busy[] = "name: busy\n"
			   "topology:\n"
			   "  leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 4}\n"
			   "  delay: 300ns\n"
			   "  links:\n"
			   "    - {match: \"leaf*-spine1\", delay: 700ns}\n"
			   "switch:\n"
			   "  buffer: {per_port: 24KB}\n"
			   "  ecn: {kmin: 8KB, kmax: 16KB}\n"
			   "  reroute: 5us\n"
			   "host:\n"
			   "  transport: {strack: {rto: 20us}}\n"
			   "  ip: 6\n"
			   "workload:\n"
			   "  - incast: {senders: 8, to: h0, message: 60KB}\n"
			   "  - permutation: {message: 30KB, repeat: 2, gap: 1us}\n"
			   "faults:\n"
			   "  - {at: 5us, until: 25us, link: leaf0-spine0, do: down}\n"
			   "  - {at: 8us, until: 30us, link: leaf1-spine*, do: {rate: 25%}}\n";

static void twenty_runs_one_hash(void **state)
{
	struct outcome first = run_session(busy, NULL, 0, WHOLE);

	(void)state;
	assert_true(first.stats.dropped[DROP_BUFFER] && first.stats.dropped[DROP_LINK_DOWN] &&
		    first.stats.marked);
	assert_int_equal(first.stats.flows_done, first.stats.flows);
	for (int i = 1; i < 20; i++) {
		struct outcome again = run_session(busy, NULL, 0, WHOLE);

		assert_same(&again, &first);
	}
}

/* Each seed's hash differs from all others'. */
static void another_seed_another_hash(void **state)
{
	enum { MOST = 100 };
	uint64_t hashes[MOST], seeds = getenv("FABRICBED_LONG") ? MOST : 12;

	(void)state;
	for (uint64_t seed = 0; seed < seeds; seed++) {
		char set[32];
		const char *sets[] = {set};

		snprintf(set, sizeof(set), "seed=%u", (unsigned)seed);
		hashes[seed] = run_session(fat_tree, sets, 1, WHOLE).stats.trace_hash;
		for (uint64_t i = 0; i < seed; i++)
			assert_int_not_equal(hashes[i], hashes[seed]);
	}
}

static void cuts_do_not_show(const char *text)
{
	static const uint64_t slices[] = {3333, 777777, 1000000, RANDOM, 335520};
	uint64_t seeds = getenv("FABRICBED_LONG") ? 100 : 3;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct outcome whole;
		char set[32];
		const char *sets[] = {set};

		snprintf(set, sizeof(set), "seed=%u", (unsigned)seed);
		whole = run_session(text, sets, 1, WHOLE);
		for (size_t i = 0; i < SLICES(slices); i++) {
			struct outcome cut = run_session(text, sets, 1, slices[i]);

			assert_same(&cut, &whole);
		}
	}
}

static void cuts_of_a_fat_tree_do_not_show(void **state)
{
	(void)state;
	cuts_do_not_show(fat_tree);
}

static void cuts_of_a_busy_run_do_not_show(void **state)
{
	(void)state;
	cuts_do_not_show(busy);
}

/* What is sampled, and how often, changes nothing of what happens. */
static void sampling_does_not_show(void **state)
{
	const char *sets[] = {"telemetry.queues=123456ps", "telemetry.ports=234567ps",
		"telemetry.flows=345678ps", "telemetry.imbalance=456789ps"};
	struct outcome with = run_session(busy, sets, COUNT(sets), WHOLE);
	struct outcome without = run_session(busy, NULL, 0, WHOLE);

	(void)state;
	assert_same(&with, &without);
}

/* A run that is given up has its end where the scenario says, however it is cut. */
static void cuts_of_an_unfinished_run_do_not_show(void **state)
{
	const char *sets[] = {"until=23456789ps"};
	struct outcome whole = run_session(busy, sets, 1, WHOLE);
	struct outcome cut = run_session(busy, sets, 1, 10007);

	(void)state;
	assert_int_equal(whole.now_ps, 23456789);
	assert_true(whole.stats.flows_done < whole.stats.flows && whole.stats.in_flight);
	assert_same(&cut, &whole);
}

/* ---- engines by hand ------------------------------------------------------------------------ */

static void open_fabric(struct small_net *s, uint64_t seed, uint32_t max_batch)
{
	const struct small_config c = {.seed = seed,
		.max_batch = max_batch,
		.buffer_bytes = 60000,
		.kmin_bytes = 10000,
		.kmax_bytes = 40000};

	small_net_fabric(s, 4, 2, 3, RATE, 500000);
	small_net_open(s, &c);
	for (uint32_t i = 0; i < 12; i++)
		small_net_flow(s, i, (i + 5) % 12, 150000, 0);
}

static struct outcome run_fabric(uint64_t seed, uint32_t max_batch)
{
	struct small_net s;
	struct outcome o;

	open_fabric(&s, seed, max_batch);
	small_net_run(&s, PS_PER_S);
	o = outcome_of(s.engine);
	small_net_close(&s);
	return o;
}

/* Nothing is shared: two engines that take turns do what each does alone. */
static void interleaved_engines_are_as_alone(void **state)
{
	struct outcome alone[2] = {run_fabric(1, 0), run_fabric(2, 0)}, beside[2];
	struct small_net s[2];
	uint64_t rng = 9;

	(void)state;
	for (uint64_t i = 0; i < 2; i++)
		open_fabric(&s[i], i + 1, 0);
	while (!engine_done(s[0].engine) || !engine_done(s[1].engine)) {
		struct engine *e = s[rng_below(&rng, 2)].engine;

		assert_int_equal(
			engine_run(e, engine_now(e) + 1 + rng_below(&rng, 500000), NULL), 0);
	}
	for (int i = 0; i < 2; i++) {
		beside[i] = outcome_of(s[i].engine);
		assert_same(&beside[i], &alone[i]);
		small_net_close(&s[i]);
	}
	assert_int_not_equal(alone[0].stats.trace_hash, alone[1].stats.trace_hash);
}

/* How many frames a dataplane takes at once is its own affair. */
static void batches_do_not_show(void **state)
{
	struct outcome plain = run_fabric(3, 0);

	(void)state;
	for (uint32_t batch = 1; batch <= 5; batch++) {
		struct outcome o = run_fabric(3, batch);

		assert_same(&o, &plain);
	}
}

static struct outcome run_with_buffer(uint32_t buffer_bytes)
{
	const struct small_config c = {.seed = 5,
		.max_batch = 16,
		.buffer_bytes = buffer_bytes,
		.kmin_bytes = 10000,
		.kmax_bytes = 40000};
	struct small_net s;
	struct outcome o;

	small_net_fabric(&s, 4, 2, 3, RATE, 500000);
	small_net_open(&s, &c);
	for (uint32_t i = 0; i < 12; i++)
		small_net_flow(&s, i, (i + 5) % 12, 150000, 0);
	small_net_run(&s, PS_PER_S);
	o = outcome_of(s.engine);
	small_net_close(&s);
	return o;
}

/*
 * With room for all that may come the program runs ahead of time; with a buffer that is just deep
 * enough it has to wait for each arrival. Neither loses a packet, so nothing may differ.
 */
static void running_ahead_does_not_show(void **state)
{
	struct outcome roomy = run_with_buffer(100000000);
	struct outcome tight = run_with_buffer((uint32_t)roomy.stats.max_queue_bytes);

	(void)state;
	assert_true(roomy.stats.marked && roomy.stats.max_queue_bytes > 40000);
	assert_int_equal(tight.stats.dropped[DROP_BUFFER], 0);
	assert_same(&tight, &roomy);
}

/* All that is in flight when delays shrink arrives at once: more than a window's usual. */
static struct outcome run_with_shrinking_delays(uint32_t max_batch)
{
	const struct small_config c = {.seed = 11,
		.max_batch = max_batch,
		.buffer_bytes = 150000,
		.base_rtt_ps = 200 * PS_PER_US};
	struct small_net s;
	struct outcome o;

	small_net_fabric(&s, 4, 2, 3, RATE, 500000);
	small_net_open(&s, &c);
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + s.net.port_count; port++)
		engine_set_link_delay(s.engine, port, 20 * PS_PER_US);
	for (uint32_t i = 0; i < 12; i++)
		small_net_flow(&s, i, (i + 3) % 12, 2000000, 0);
	assert_int_equal(engine_run(s.engine, 60 * PS_PER_US, NULL), 0);
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + s.net.port_count; port++)
		engine_set_link_delay(s.engine, port, 0);
	small_net_run(&s, PS_PER_S);
	o = outcome_of(s.engine);
	small_net_close(&s);
	return o;
}

static void a_bunch_is_not_run_ahead(void **state)
{
	struct outcome one = run_with_shrinking_delays(1), many = run_with_shrinking_delays(16);

	(void)state;
	assert_true(one.stats.dropped[DROP_BUFFER]);
	assert_true(one.stats.max_queue_bytes <= 150000);
	assert_same(&many, &one);
}

/* Links that become faster than any at first shorten the windows. */
static void faster_links_are_as_if_always_fast(void **state)
{
	static const uint64_t slow[] = {GBPS, GBPS, GBPS},
			      fast[] = {800 * GBPS, 800 * GBPS, 800 * GBPS}, delay[] = {0, 0, 0};
	const struct small_config c = {.base_rtt_ps = 10 * PS_PER_US};
	struct engine_flow_result a, b;
	struct small_net s, t;

	(void)state;
	small_net_chain(&s, 2, slow, delay);
	small_net_chain(&t, 2, fast, delay);
	small_net_open(&s, &c);
	small_net_open(&t, &c);
	for (uint32_t port = PORT_FIRST; port < PORT_FIRST + s.net.port_count; port++)
		engine_set_link_rate(s.engine, port, 800 * GBPS);
	/* a packet each way, so that neither depends on a window that the rate is part of */
	for (uint32_t i = 0; i < 2; i++) {
		small_net_flow(&s, i, 1 - i, 4096, i * 60000);
		small_net_flow(&t, i, 1 - i, 4096, i * 60000);
	}
	small_net_run(&s, PS_PER_S);
	small_net_run(&t, PS_PER_S);
	for (uint32_t i = 0; i < 2; i++) {
		engine_flow_result(s.engine, i, &a);
		engine_flow_result(t.engine, i, &b);
		assert_int_equal(a.finish_ps, b.finish_ps);
		assert_int_equal(a.delivered_ps, b.delivered_ps);
	}
	assert_int_equal(small_net_stats(&s).trace_hash, small_net_stats(&t).trace_hash);
	small_net_close(&s);
	small_net_close(&t);
}

/* Stopped, an engine goes on where it was. */
static void stop_and_go(void **state)
{
	volatile bool stop = true;
	struct outcome plain = run_fabric(4, 0), o;
	struct small_net s;

	(void)state;
	open_fabric(&s, 4, 0);
	assert_int_equal(engine_run(s.engine, PS_PER_S, &stop), 0);
	assert_int_equal(engine_now(s.engine), 0);
	stop = false;
	assert_int_equal(engine_run(s.engine, PS_PER_US, &stop), 0);
	assert_int_equal(engine_now(s.engine), PS_PER_US);
	small_net_run(&s, PS_PER_S);
	o = outcome_of(s.engine);
	assert_same(&o, &plain);
	small_net_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twenty_runs_one_hash),
		cmocka_unit_test(another_seed_another_hash),
		cmocka_unit_test(cuts_of_a_fat_tree_do_not_show),
		cmocka_unit_test(cuts_of_a_busy_run_do_not_show),
		cmocka_unit_test(sampling_does_not_show),
		cmocka_unit_test(cuts_of_an_unfinished_run_do_not_show),
		cmocka_unit_test(interleaved_engines_are_as_alone),
		cmocka_unit_test(batches_do_not_show),
		cmocka_unit_test(running_ahead_does_not_show),
		cmocka_unit_test(a_bunch_is_not_run_ahead),
		cmocka_unit_test(faster_links_are_as_if_always_fast),
		cmocka_unit_test(stop_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
