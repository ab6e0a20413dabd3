/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A run in numbers, the paths to them, and what is expected of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/drop_name.h"
#include "base/units.h"
#include "lib/small_net.h"
#undef expect_check /* cmocka has a macro of that name */
#include "live/expect.h"
#include "telemetry/summary.h"

#define RATE (100 * GBPS)

static const struct summary_info info = {
	.scenario = "s",
	.dataplane = "inline",
	.clock = "stepped",
	.version = "1.2",
	.seed = 7,
	.ideal_ps = 5 * PS_PER_US,
	.wall_s = 2,
	.setup_s = 0.5,
};

static double number(const json_t *summary, const char *path)
{
	double value = -1;

	assert_int_equal(summary_lookup(summary, path, &value), 0);
	return value;
}

static void assert_number(const json_t *summary, const char *path, double want)
{
	double value = number(summary, path);

	if (value < want * (1 - 1e-12) || value > want * (1 + 1e-12))
		fail_msg("%s is %.17g, not %.17g", path, value, want);
}

/* n messages of one packet, each alone on its way, each longer than the one before. */
static void open_messages(struct small_net *s, uint32_t n)
{
	static const uint64_t rate[] = {RATE, RATE}, delay[] = {1000000, 1000000};
	const struct small_config c = {0};

	small_net_chain(s, 1, rate, delay);
	small_net_open(s, &c);
	/* added from the longest on, so that a rank is not a number */
	for (uint32_t i = n; i; i--)
		small_net_flow(s, 0, 1, i, i * 10 * PS_PER_US);
}

static double fct_us(const struct small_net *s, uint32_t bytes)
{
	return (double)small_net_closed_form(s, bytes, 4096, false) / PS_PER_US;
}

/* Nearest rank: the smallest value that at least p% of all do not exceed. */
static void percentiles_are_nearest_rank(void **state)
{
	static const struct {
		uint32_t count, p50, p99;
	} cases[] = {{1, 1, 1}, {2, 1, 2}, {3, 2, 3}, {4, 2, 4}, {5, 3, 5}, {10, 5, 10},
		{50, 25, 50}, {99, 50, 99}, {100, 50, 99}, {101, 51, 100}, {150, 75, 149},
		{200, 100, 198}, {201, 101, 199}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_net s;
		double sum = 0;
		json_t *j;

		open_messages(&s, cases[i].count);
		small_net_run(&s, PS_PER_S);
		j = summary_new(&info, s.engine);
		for (uint32_t k = 1; k <= cases[i].count; k++)
			sum += fct_us(&s, k);
		assert_number(j, "flows.fct_us.p50", fct_us(&s, cases[i].p50));
		assert_number(j, "flows.fct_us.p99", fct_us(&s, cases[i].p99));
		assert_number(j, "flows.fct_us.max", fct_us(&s, cases[i].count));
		assert_number(j, "flows.fct_us.mean", sum / cases[i].count);
		assert_number(j, "slowdown", fct_us(&s, cases[i].count) / 5);
		json_decref(j);
		small_net_close(&s);
	}
}

/* Unfinished ones are counted, and are in no completion time. */
static void half_a_run(void **state)
{
	struct engine_stats stats;
	struct small_net s;
	json_t *j;

	(void)state;
	open_messages(&s, 10);
	/* message 6 is on its way, 7 to 10 have yet to start */
	small_net_run(&s, 60 * PS_PER_US + 1);
	stats = small_net_stats(&s);
	j = summary_new(&info, s.engine);
	assert_number(j, "flows.count", 10);
	assert_number(j, "flows.unfinished", 5);
	assert_number(j, "flows.bytes", 55);
	assert_number(j, "flows.fct_us.p50", fct_us(&s, 3));
	assert_number(j, "flows.fct_us.max", fct_us(&s, 5));
	/* 15 bytes, from the first start to the last finish */
	assert_number(j, "flows.goodput_gbps", 15 * 8 / (1000 * (40 + fct_us(&s, 5))));
	assert_number(j, "packets.sent", 11);
	assert_number(j, "packets.delivered", 10);
	assert_number(j, "packets.in_flight", 1);
	assert_number(j, "packets.dropped", 0);
	assert_number(j, "packets.corrupt", 0);
	assert_number(j, "model_time_us", 60.000001);
	assert_number(j, "hops", 20);
	assert_number(j, "hops_per_s", 10);
	assert_number(j, "setup_s", 0.5);
	assert_number(j, "wall_s", 2);
	assert_number(j, "ideal_us", 5);
	assert_number(j, "seed", 7);
	assert_number(j, "queues.max_depth_bytes", (double)stats.max_queue_bytes);
	assert_number(j, "queues.max_delay_us", 0);
	assert_true(number(j, "peak_rss_mb") > 1);
	assert_string_equal(json_string_value(json_object_get(j, "scenario")), "s");
	assert_string_equal(json_string_value(json_object_get(j, "dataplane")), "inline");
	assert_string_equal(json_string_value(json_object_get(j, "clock")), "stepped");
	assert_string_equal(json_string_value(json_object_get(j, "version")), "1.2");
	assert_int_equal(strtoull(json_string_value(json_object_get(j, "trace_hash")), NULL, 16),
		stats.trace_hash);
	assert_int_equal(strlen(json_string_value(json_object_get(j, "trace_hash"))), 16);
	json_decref(j);
	small_net_close(&s);
}

/* Before anything has happened there is a number for everything, and none is NaN. */
static void nothing_has_happened(void **state)
{
	static const char *const zero[] = {"flows.fct_us.mean", "flows.fct_us.p50",
		"flows.fct_us.p99", "flows.fct_us.max", "flows.goodput_gbps", "packets.sent",
		"slowdown", "hops_per_s", "model_time_us"};
	struct summary_info none = info;
	struct small_net s;
	json_t *j;

	(void)state;
	none.wall_s = 0;
	none.ideal_ps = 0;
	open_messages(&s, 3);
	j = summary_new(&none, s.engine);
	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		assert_true(number(j, zero[i]) == 0);
	assert_number(j, "flows.unfinished", 3);
	json_decref(j);
	small_net_close(&s);
}

static void drops_by_reason(void **state)
{
	const struct small_config c = {.buffer_bytes = 9000, .seed = 1};
	struct engine_stats stats;
	struct small_net s;
	json_t *j;

	(void)state;
	small_net_star(&s, 5, RATE, RATE, 1000000);
	small_net_open(&s, &c);
	for (uint32_t i = 1; i < 5; i++)
		small_net_flow(&s, i, 0, 100000, 0);
	small_net_run(&s, 15 * PS_PER_US);
	engine_set_link_up(s.engine, small_net_port(&s, 5, 0), false);
	small_net_run(&s, 20 * PS_PER_US);
	stats = small_net_stats(&s);
	assert_true(stats.dropped[DROP_BUFFER] && stats.dropped[DROP_LINK_DOWN]);
	j = summary_new(&info, s.engine);
	assert_number(j, "packets.dropped.buffer", (double)stats.dropped[DROP_BUFFER]);
	assert_number(j, "packets.dropped.link_down", (double)stats.dropped[DROP_LINK_DOWN]);
	assert_number(j, "packets.dropped",
		(double)(stats.dropped[DROP_BUFFER] + stats.dropped[DROP_LINK_DOWN]));
	/* only those that occurred are written; the others are 0 all the same */
	assert_int_equal(
		json_object_size(json_object_get(json_object_get(j, "packets"), "dropped")), 2);
	assert_true(number(j, "packets.dropped.ttl") == 0);
	json_decref(j);
	small_net_close(&s);
}

static void paths_that_lead_nowhere(void **state)
{
	static const char *const bad[] = {"", ".", "flows", "flows.", "flows.fct_us",
		"flows.fct_us.p98", "flows.count.x", ".flows.count", "flows..count", "scenario",
		"trace_hash", "packets.dropped.", "packets.dropped.gremlins",
		"packets.dropped.none", "packets.dropped.buffer.x", "Flows.count", "list", "list.0",
		"a.very.long.path.that.is.far.longer.than.anything.in.a.summary.could.ever.be.xxxxxxx",
		"averylongkeythatisfarlongerthananythinginasummarycouldeverbeaveryverylongkeyindeed"};
	json_t *j = json_pack("{s:s, s:s, s:{s:i, s:{s:f}}, s:{s:{s:i}}, s:[i]}", "scenario", "x",
		"trace_hash", "00", "flows", "count", 3, "fct_us", "p50", 1.5, "packets", "dropped",
		"buffer", 4, "list", 1);

	(void)state;
	assert_non_null(j);
	assert_number(j, "flows.count", 3);
	assert_number(j, "flows.fct_us.p50", 1.5);
	assert_number(j, "packets.dropped.buffer", 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		double untouched = 99;

		if (summary_lookup(j, bad[i], &untouched) != -ENOENT || untouched != 99)
			fail_msg("\"%s\" is %g", bad[i], untouched);
	}
	for (unsigned i = DROP_BUFFER + 1; drop_name(i); i++) {
		char path[64];

		snprintf(path, sizeof(path), "packets.dropped.%s", drop_name(i));
		assert_true(number(j, path) == 0);
	}
	json_decref(j);
}

/* ---- expectations ----------------------------------------------------------------------------- */

static bool met(const char *metric, enum expect_bound bound, double value, json_t **ret_found)
{
	struct expect_spec e = {.metric = (char *)metric, .bound = bound, .value = value};
	struct scenario s = {.expects = &e, .expect_count = 1};
	json_t *j = json_pack("{s:{s:f, s:i}}", "flows", "time", 2.5, "count", 3);
	bool all;

	assert_int_equal(expect_check(&s, j, &all), 0);
	*ret_found = json_incref(json_array_get(json_object_get(j, "expect"), 0));
	assert_int_equal(json_array_size(json_object_get(j, "expect")), 1);
	json_decref(j);
	return all;
}

static void bounds(void **state)
{
	static const struct {
		enum expect_bound bound;
		double value;
		bool ok;
	} cases[] = {{EXPECT_AT_MOST, 2.5, true}, {EXPECT_AT_MOST, 2.6, true},
		{EXPECT_AT_MOST, 2.4, false}, {EXPECT_AT_LEAST, 2.5, true},
		{EXPECT_AT_LEAST, 2.4, true}, {EXPECT_AT_LEAST, 2.6, false},
		{EXPECT_EQUALS, 2.5, true}, {EXPECT_EQUALS, 2.499999, false},
		{EXPECT_EQUALS, 2.500001, false}};
	static const char *const names[] = {
		[EXPECT_AT_MOST] = "at_most",
		[EXPECT_AT_LEAST] = "at_least",
		[EXPECT_EQUALS] = "equals",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *found, *want, *bound;

		assert_int_equal(
			met("flows.time", cases[i].bound, cases[i].value, &found), cases[i].ok);
		bound = json_pack("{s:f}", names[cases[i].bound], cases[i].value);
		want = json_pack("{s:s, s:o, s:f, s:b}", "metric", "flows.time", "bound", bound,
			"value", 2.5, "ok", (int)cases[i].ok);
		assert_true(json_equal(found, want));
		json_decref(want);
		json_decref(found);
	}
}

/* A figure that the run has not: not met, whatever the bound, and its value is null. */
static void unknown_metric_is_not_met(void **state)
{
	(void)state;
	for (enum expect_bound b = EXPECT_AT_MOST; b <= EXPECT_EQUALS; b++) {
		json_t *found;

		assert_false(met("collective_us", b, 0, &found));
		assert_true(json_is_null(json_object_get(found, "value")));
		assert_true(json_is_false(json_object_get(found, "ok")));
		json_decref(found);
	}
}

/* All in their order, and one that fails fails the run. */
static void one_of_many(void **state)
{
	struct expect_spec e[] = {
		{.metric = (char *)"a", .bound = EXPECT_AT_MOST, .value = 1},
		{.metric = (char *)"b", .bound = EXPECT_EQUALS, .value = 9},
		{.metric = (char *)"packets.dropped.ttl", .bound = EXPECT_EQUALS, .value = 0},
	};
	struct scenario s = {.expects = e, .expect_count = 3};
	json_t *j = json_pack("{s:i, s:i, s:{s:{}}}", "a", 1, "b", 2, "packets", "dropped"), *list;
	bool all = true;

	(void)state;
	assert_int_equal(expect_check(&s, j, &all), 0);
	assert_false(all);
	list = json_object_get(j, "expect");
	for (size_t i = 0; i < 3; i++) {
		json_t *item = json_array_get(list, i);

		assert_string_equal(
			json_string_value(json_object_get(item, "metric")), e[i].metric);
		assert_int_equal(json_is_true(json_object_get(item, "ok")), i != 1);
	}
	s.expect_count = 1;
	assert_int_equal(expect_check(&s, j, &all), 0);
	assert_true(all);
	s.expect_count = 0;
	assert_int_equal(expect_check(&s, j, &all), 0);
	assert_true(all);
	assert_int_equal(json_array_size(json_object_get(j, "expect")), 0);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_nearest_rank),
		cmocka_unit_test(half_a_run),
		cmocka_unit_test(nothing_has_happened),
		cmocka_unit_test(drops_by_reason),
		cmocka_unit_test(paths_that_lead_nowhere),
		cmocka_unit_test(bounds),
		cmocka_unit_test(unknown_metric_is_not_met),
		cmocka_unit_test(one_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
