/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is expected of a run's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#undef expect_check /* cmocka has a macro of that name */
#include "live/expect.h"

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
		cmocka_unit_test(bounds),
		cmocka_unit_test(unknown_metric_is_not_met),
		cmocka_unit_test(one_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
