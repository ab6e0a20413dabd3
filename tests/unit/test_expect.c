/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is expected of a run's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#undef expect_check /* cmocka has a macro of that name */
#include "session/expect.h"
#include "scenario/scenario.h"

static bool met(const char *metric, enum expect_bound bound, double value, json_t **ret_found)
{
	struct expect_spec e = {.metric = (char *)metric, .bound = bound, .value = value};
	struct scenario s = {.expects = &e, .expect_count = 1};
	json_t *j =
		json_pack("{s:{s:f, s:i, s:i}}", "flows", "time", 2.5, "count", 3, "unfinished", 0);
	bool all;

	assert_int_equal(expect_check(&s, j, &all), 0);
	*ret_found = json_incref(json_array_get(json_object_get(j, "expect"), 0));
	assert_int_equal(json_array_size(json_object_get(j, "expect")), 2);
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
		assert_string_equal(json_string_value(json_object_get(found, "reason")),
			"this run has no such figure");
		json_decref(found);
	}
}

static json_t *real_if(bool exists, double value)
{
	return exists ? json_real(value) : json_null();
}

/* A summary of so many flows, of which some have not finished. */
static json_t *summary_of(int count, int unfinished)
{
	bool all = count && !unfinished, some = count > unfinished;

	return json_pack("{s:{s:i, s:i, s:{s:o}, s:{s:{s:o}}, s:o}, s:o, s:o}", "flows", "count",
		count, "unfinished", unfinished, "fct_us", "max", real_if(all, 40), "finished",
		"fct_us", "max", real_if(some, 40), "goodput_gbps", real_if(some, 9), "slowdown",
		real_if(all, 4), "slowdown_finished", real_if(some, 4));
}

/*
 * What is not there holds no bound, not even one that 0 would hold, and it is said why; the
 * finished flows stand for all only where that is asked for.
 */
static void flows_that_did_not_finish(void **state)
{
	static const char two[] = "2 of 5 flows have not finished", none[] = "no flow has finished",
			  empty[] = "there was no flow";
	static const struct {
		int count, unfinished;
		const char *metric;
		enum expect_of of;
		const char *reason; /* NULL: it holds */
	} cases[] = {
		{5, 0, "flows.fct_us.max", EXPECT_OF_ALL, NULL},
		{5, 0, "flows.fct_us.max", EXPECT_OF_FINISHED, NULL},
		{5, 0, "slowdown", EXPECT_OF_ALL, NULL},
		{5, 2, "flows.fct_us.max", EXPECT_OF_ALL, two},
		{5, 2, "slowdown", EXPECT_OF_ALL, two},
		{5, 2, "flows.fct_us.max", EXPECT_OF_FINISHED, NULL},
		{5, 2, "slowdown", EXPECT_OF_FINISHED, NULL},
		{5, 2, "flows.goodput_gbps", EXPECT_OF_ALL, NULL},
		{5, 5, "flows.fct_us.max", EXPECT_OF_ALL, none},
		{5, 5, "flows.fct_us.max", EXPECT_OF_FINISHED, none},
		{5, 5, "slowdown", EXPECT_OF_FINISHED, none},
		{5, 5, "flows.goodput_gbps", EXPECT_OF_ALL, none},
		{0, 0, "slowdown", EXPECT_OF_ALL, empty},
		{0, 0, "slowdown", EXPECT_OF_FINISHED, empty},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct expect_spec e[] = {
			{.metric = (char *)cases[i].metric,
				.of = cases[i].of,
				.bound = EXPECT_AT_MOST,
				.value = 50},
			{.metric = (char *)"flows.unfinished", .bound = EXPECT_AT_LEAST},
		};
		struct scenario s = {.expects = e, .expect_count = 2};
		json_t *j = summary_of(cases[i].count, cases[i].unfinished), *found;
		const char *reason;
		bool all;

		assert_int_equal(expect_check(&s, j, &all), 0);
		found = json_array_get(json_object_get(j, "expect"), 0);
		reason = json_string_value(json_object_get(found, "reason"));
		if (all != !cases[i].reason || !reason != !cases[i].reason ||
			(reason && strcmp(reason, cases[i].reason)))
			fail_msg("case %zu: %s", i, reason);
		assert_int_equal(json_is_number(json_object_get(found, "value")), all);
		assert_int_equal(
			json_object_get(found, "of") != NULL, cases[i].of == EXPECT_OF_FINISHED);
		json_decref(j);
	}
}

/* Who expects anything expects the flows to finish, but who says something of that himself. */
static void finishing_is_implied(void **state)
{
	struct expect_spec e[] = {
		{.metric = (char *)"flows.count", .bound = EXPECT_AT_MOST, .value = 5},
		{.metric = (char *)"flows.unfinished", .bound = EXPECT_AT_LEAST, .value = 0},
	};
	struct scenario s = {.expects = e};

	(void)state;
	for (size_t count = 0; count <= 2; count++)
		for (int unfinished = 0; unfinished <= 1; unfinished++) {
			json_t *j = summary_of(5, unfinished), *list, *last;
			bool all;

			s.expect_count = count;
			assert_int_equal(expect_check(&s, j, &all), 0);
			list = json_object_get(j, "expect");
			assert_int_equal(all, count != 1 || !unfinished);
			assert_int_equal(json_array_size(list), count ? 2 : 0);
			last = json_array_get(list, 1);
			assert_int_equal(
				json_is_true(json_object_get(last, "implied")), count == 1);
			if (count == 1) {
				assert_string_equal(
					json_string_value(json_object_get(last, "metric")),
					"flows.unfinished");
				assert_true(json_number_value(json_object_get(last, "value")) ==
					    unfinished);
				assert_true(
					json_number_value(json_object_get(
						json_object_get(last, "bound"), "equals")) == 0);
			}
			json_decref(j);
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
	json_t *j = json_pack("{s:i, s:i, s:{s:{}}, s:{s:i}}", "a", 1, "b", 2, "packets", "dropped",
		"flows", "unfinished", 0);
	json_t *list;
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
		cmocka_unit_test(bounds),
		cmocka_unit_test(unknown_metric_is_not_met),
		cmocka_unit_test(flows_that_did_not_finish),
		cmocka_unit_test(finishing_is_implied),
		cmocka_unit_test(one_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
