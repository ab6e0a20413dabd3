/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What faults have done: begun, ended, found again, told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "session/active_faults.h"
#include "scenario/scenario.h"

static struct fault_spec faults[] = {
	{.effect = {.kind = FAULT_DOWN}},
	{.effect = {.kind = FAULT_LOSS}},
	{.effect = {.kind = FAULT_DOWN}},
	{.effect = {.kind = FAULT_RATE}},
};
static const struct scenario scenario = {.faults = faults, .fault_count = 4};

static void begins_and_ends(void **state)
{
	struct active_faults d = ACTIVE_FAULTS_INIT;

	(void)state;
	assert_false(active_faults_end(&d, 0, 7, 5));
	assert_int_equal(active_faults_begin(&d, 0, 7, 10), 0);
	assert_int_equal(active_faults_begin(&d, 0, 8, 10), 0);
	assert_false(active_faults_end(&d, 0, 9, 20));
	assert_false(active_faults_end(&d, 1, 7, 20));
	assert_true(active_faults_end(&d, 0, 7, 20));
	assert_false(active_faults_end(&d, 0, 7, 30)); /* once */
	assert_int_equal(d.items[0].since_ps, 10);
	assert_int_equal(d.items[0].until_ps, 20);
	assert_int_equal(d.items[1].until_ps, ACTIVE_FAULT_LASTS);
	active_faults_release(&d);
	assert_int_equal(d.count, 0);
	active_faults_release(&d);
}

static void grows(void **state)
{
	struct active_faults d = ACTIVE_FAULTS_INIT;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(active_faults_begin(&d, i % 4, i, i), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(d.items[i].target, i);
		assert_true(active_faults_end(&d, i % 4, i, 2000));
	}
	active_faults_release(&d);
}

/* By its kind, whichever fault it is of; what is over is not found. */
static void finds_what_is_in_force(void **state)
{
	struct active_faults d = ACTIVE_FAULTS_INIT;
	uint32_t found = 99;

	(void)state;
	active_faults_begin(&d, 0, 7, 10);
	assert_false(active_faults_find(&d, &scenario, &faults[1], 7, &found));
	assert_false(active_faults_find(&d, &scenario, &faults[2], 8, &found));
	assert_int_equal(found, 99);
	assert_true(active_faults_find(&d, &scenario, &faults[2], 7, &found));
	assert_int_equal(found, 0);
	active_faults_end(&d, 0, 7, 20);
	assert_false(active_faults_find(&d, &scenario, &faults[2], 7, &found));
	active_faults_begin(&d, 2, 7, 30);
	assert_true(active_faults_find(&d, &scenario, &faults[2], 7, &found));
	assert_int_equal(found, 2);
	active_faults_release(&d);
}

static void tells_alike(void **state)
{
	struct active_faults d = ACTIVE_FAULTS_INIT;
	struct active_fault one = {.fault = 99};

	(void)state;
	assert_false(active_faults_alike(&d, 0, &one));
	active_faults_begin(&d, 0, 7, 10);
	active_faults_begin(&d, 1, 7, 11);
	active_faults_begin(&d, 0, 8, 10);
	assert_int_equal(one.fault, 99);
	assert_true(active_faults_alike(&d, 0, &one));
	assert_int_equal(one.since_ps, 10);
	assert_int_equal(one.until_ps, ACTIVE_FAULT_LASTS);
	active_faults_end(&d, 0, 8, 20);
	assert_false(active_faults_alike(&d, 0, &one));
	active_faults_end(&d, 0, 7, 20);
	assert_true(active_faults_alike(&d, 0, &one));
	assert_int_equal(one.until_ps, 20);
	active_faults_begin(&d, 0, 9, 12);
	active_faults_end(&d, 0, 9, 20);
	assert_false(active_faults_alike(&d, 0, &one));
	active_faults_release(&d);
}

/* Beginnings and ends of what routes follow, and of nothing else. */
static void tells_cuts(void **state)
{
	struct active_faults d = ACTIVE_FAULTS_INIT;

	(void)state;
	active_faults_begin(&d, 0, 7, 10);
	active_faults_begin(&d, 1, 7, 11);
	assert_true(active_faults_cut(&d, &scenario, 10));
	assert_false(active_faults_cut(&d, &scenario, 11));
	assert_false(active_faults_cut(&d, &scenario, 20));
	active_faults_end(&d, 0, 7, 20);
	active_faults_end(&d, 1, 7, 21);
	assert_true(active_faults_cut(&d, &scenario, 10));
	assert_true(active_faults_cut(&d, &scenario, 20));
	assert_false(active_faults_cut(&d, &scenario, 21));
	active_faults_release(&d);
}

static void sorts(void **state)
{
	static const uint32_t want[][2] = {{0, 3}, {0, 5}, {1, 0}, {1, 9}, {3, 2}};
	struct active_faults d = ACTIVE_FAULTS_INIT;

	(void)state;
	active_faults_sort(&d);
	active_faults_begin(&d, 1, 9, 0);
	active_faults_begin(&d, 3, 2, 0);
	active_faults_begin(&d, 0, 5, 0);
	active_faults_begin(&d, 1, 0, 0);
	active_faults_begin(&d, 0, 3, 0);
	active_faults_sort(&d);
	for (size_t i = 0; i < d.count; i++) {
		assert_int_equal(d.items[i].fault, want[i][0]);
		assert_int_equal(d.items[i].target, want[i][1]);
	}
	active_faults_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_and_ends),
		cmocka_unit_test(grows),
		cmocka_unit_test(finds_what_is_in_force),
		cmocka_unit_test(tells_alike),
		cmocka_unit_test(tells_cuts),
		cmocka_unit_test(sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
