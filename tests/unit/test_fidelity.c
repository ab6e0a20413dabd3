/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How faithful a run was, of lateness and load that are known beforehand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "telemetry/fidelity.h"

static struct fidelity *make(uint64_t delay_ps, double slowdown)
{
	struct fidelity *f = NULL;

	assert_int_equal(fidelity_new(&f, delay_ps, slowdown), 0);
	return f;
}

/* The number at "key" or "key.key" of what it says. */
static double number(const struct fidelity *f, const char *key, const char *inner)
{
	json_t *all = fidelity_json(f), *at = json_object_get(all, key);
	double value;

	if (inner)
		at = json_object_get(at, inner);
	assert_true(json_is_number(at));
	value = json_number_value(at);
	json_decref(all);
	return value;
}

static void assert_number(const struct fidelity *f, const char *key, double want)
{
	double value = number(f, key, NULL);

	if (fabs(value - want) > 1e-9 * fabs(want))
		fail_msg("%s is %.12g, not %.12g", key, value, want);
}

static void assert_faithful(const struct fidelity *f)
{
	json_t *all = fidelity_json(f);

	assert_true(fidelity_is_faithful(f));
	assert_string_equal(json_string_value(json_object_get(all, "verdict")), "faithful");
	assert_null(json_object_get(all, "reason"));
	json_decref(all);
}

static void assert_degraded(const struct fidelity *f, const char *reason)
{
	json_t *all = fidelity_json(f);

	assert_false(fidelity_is_faithful(f));
	assert_string_equal(json_string_value(json_object_get(all, "verdict")), "degraded");
	assert_string_equal(json_string_value(json_object_get(all, "reason")), reason);
	json_decref(all);
}

static void nothing_is_faithful(void **state)
{
	struct fidelity *f = make(PS_PER_US, 3);

	(void)state;
	fidelity_late(f, 5 * PS_PER_US, 0, false);
	assert_faithful(f);
	assert_number(f, "smallest_delay_us", 1);
	assert_number(f, "clock_slowdown", 3);
	assert_number(f, "sufficient_clock_slowdown", 3);
	assert_number(f, "busy", 0);
	assert_number(f, "slipped_us", 0);
	assert_number(f, "lost", 0);
	assert_true(number(f, "late_us", "p50") == 0 && number(f, "late_us", "max") == 0);
	fidelity_free(f);
	fidelity_free(NULL);
}

/* All keys, in the order in which they are shown. */
static void keys_are_in_order(void **state)
{
	static const char *const keys[] = {"verdict", "now", "degraded_s", "passed_s", "reason",
		"late_us", "smallest_delay_us", "clock_slowdown", "sufficient_clock_slowdown",
		"busy", "others_degraded_s", "others_took_s", "slipped_us", "lost"};
	struct fidelity *f = make(PS_PER_US, 1);
	const char *key;
	json_t *all, *value;
	size_t i = 0;

	(void)state;
	fidelity_lost(f, 1);
	all = fidelity_json(f);
	json_object_foreach(all, key, value) assert_string_equal(key, keys[i++]);
	assert_int_equal(i, sizeof(keys) / sizeof(keys[0]));
	json_decref(all);
	fidelity_free(f);
}

/* One event in a hundred may be later than the delay, to the picosecond and to the event. */
static void p99_is_exact_at_the_delay(void **state)
{
	struct fidelity *f = make(PS_PER_US, 1);

	(void)state;
	fidelity_late(f, PS_PER_US, 99, false);
	assert_faithful(f);
	fidelity_late(f, PS_PER_US + 1, 1, false);
	assert_faithful(f);
	assert_true(number(f, "late_us", "p99") == 1);
	fidelity_late(f, PS_PER_US + 1, 1, false);
	assert_degraded(
		f, "events ran up to 1 us late at p99, and the shortest link has a delay of 1 us");
	assert_number(f, "sufficient_clock_slowdown", 1.3);
	fidelity_free(f);
}

/* No quantile is too small, nor by 1/32 too large, over the whole range. */
static void quantiles_are_close(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 63; bit++)
		for (unsigned part = 0; part < 97; part++) {
			uint64_t late = (1ull << bit) + ((1ull << bit) / 97) * part;
			struct fidelity *f = make(PS_PER_US, 1);
			double p50, p99;

			fidelity_late(f, late, 60, false);
			fidelity_late(f, (1ull << 63) - 1, 40, false);
			p50 = number(f, "late_us", "p50") * PS_PER_US;
			p99 = number(f, "late_us", "p99") * PS_PER_US;
			if (p50 < (double)late * (1 - 1e-12) || p50 > (double)late * (1 + 1.0 / 32))
				fail_msg(
					"%llu ps is taken for %.0f", (unsigned long long)late, p50);
			assert_true(p99 > 9.2e18);
			fidelity_free(f);
		}
}

/* Nearest rank: of 1..1000 us the 500th and the 990th. */
static void quantiles_are_of_their_rank(void **state)
{
	struct fidelity *f = make(PS_PER_S, 1);

	(void)state;
	for (uint64_t us = 1000; us; us--)
		fidelity_late(f, us * PS_PER_US, 1, false);
	assert_true(number(f, "late_us", "p50") >= 500 &&
		    number(f, "late_us", "p50") < 500 * 33 / 32.0);
	assert_true(number(f, "late_us", "p99") >= 990 && number(f, "late_us", "p99") <= 1000);
	assert_true(number(f, "late_us", "max") == 1000);
	fidelity_free(f);
}

/* 41 times the delay of 1 us, at 2.5, and a quarter more: 128.1, in two digits 130. */
static void lateness_says_the_slowdown(void **state)
{
	struct fidelity *f = make(PS_PER_US, 2.5);

	(void)state;
	fidelity_late(f, 100000, 97, false);
	fidelity_late(f, 41 * PS_PER_US, 3, false);
	assert_degraded(
		f, "events ran up to 41 us late at p99, and the shortest link has a delay of 1 us");
	assert_number(f, "sufficient_clock_slowdown", 130);
	assert_true(number(f, "late_us", "p50") < 0.1 * 33 / 32);
	assert_true(number(f, "late_us", "p99") == 41);
	fidelity_free(f);
}

/* A busy box alone is faithful; where it is not, the busiest 100 ms count, and no shorter while. */
static void load_says_the_slowdown(void **state)
{
	struct fidelity *f = make(PS_PER_MS, 2);

	(void)state;
	fidelity_busy(f, 50 * PS_PER_MS, 50 * PS_PER_MS);
	fidelity_busy(f, 46 * PS_PER_MS, 50 * PS_PER_MS); /* 96% of 100 ms */
	fidelity_busy(f, 4 * PS_PER_MS, 100 * PS_PER_MS);
	fidelity_busy(f, 90 * PS_PER_MS, 90 * PS_PER_MS); /* too short to tell */
	assert_faithful(f);
	assert_number(f, "sufficient_clock_slowdown", 2);
	assert_number(f, "busy", 190.0 / 290);
	fidelity_lost(f, 1);
	assert_number(f, "sufficient_clock_slowdown", 2.4); /* 0.96 / 0.8 */
	fidelity_late(f, 3 * PS_PER_MS, 99, false);
	assert_number(f, "sufficient_clock_slowdown", 7.5);
	fidelity_free(f);
}

/* Three quarters of the time slipped: four times as slow would have done. */
static void slips_are_told(void **state)
{
	struct fidelity *f = make(PS_PER_US, 2);

	(void)state;
	fidelity_late(f, 0, 1000, false);
	fidelity_busy(f, 0, PS_PER_S);
	fidelity_slip(f, 300 * PS_PER_MS, false);
	fidelity_slip(f, 75 * PS_PER_MS, false);
	assert_degraded(f, "model time was held back by 375 ms, since events could not keep up");
	assert_number(f, "sufficient_clock_slowdown", 8);
	assert_number(f, "slipped_us", 375000);
	fidelity_free(f);
}

/* What tells nothing of how much would do: twice. */
static void losses_are_told(void **state)
{
	struct fidelity *f = make(PS_PER_US, 1.5);

	(void)state;
	fidelity_lost(f, 1);
	assert_degraded(f, "1 frame of the hosts' stacks was not taken in time and lost");
	assert_number(f, "sufficient_clock_slowdown", 3);
	fidelity_lost(f, 16);
	fidelity_late(f, 2 * PS_PER_US, 1, false);
	fidelity_slip(f, 1000, false);
	assert_degraded(f,
		"events ran up to 2 us late at p99, and the shortest link has a delay of 1 us; "
		"model time was held back by 1 ns, since events could not keep up; "
		"17 frames of the hosts' stacks were not taken in time and lost");
	assert_number(f, "lost", 17);
	assert_number(f, "sufficient_clock_slowdown", 3.8);
	fidelity_free(f);
}

/* Two digits, up, whatever the size; what has two stays. A quarter is added before. */
static void slowdowns_are_rounded_up(void **state)
{
	static const struct {
		double slowdown;
		uint64_t late_ns; /* of 1 us */
		double want;
	} cases[] = {{1, 1001, 1.3}, {1, 1040, 1.3}, {1, 1041, 1.4}, {1, 7921, 10}, {1, 8000, 10},
		{1, 9600, 12}, {1, 9601, 13}, {1, 792001, 1000}, {1, 98765, 130},
		{0.01, 1600, 0.02}, {0.01, 1608, 0.021}, {1000, 1600, 2000}, {0.2, 4800, 1.2}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fidelity *f = make(PS_PER_US, cases[i].slowdown);

		fidelity_late(f, cases[i].late_ns * PS_PER_NS, 1, false);
		assert_number(f, "sufficient_clock_slowdown", cases[i].want);
		fidelity_free(f);
	}
}

/* Each asks for its own while; the run's verdict stays. */
static void windows_begin_anew(void **state)
{
	struct fidelity *f = make(PS_PER_US, 1);

	(void)state;
	assert_true(fidelity_window(f));
	fidelity_late(f, 2 * PS_PER_US, 1, false);
	assert_false(fidelity_window(f));
	assert_true(fidelity_window(f));
	fidelity_slip(f, 1, false);
	assert_false(fidelity_window(f));
	fidelity_lost(f, 1);
	assert_false(fidelity_window(f));
	fidelity_late(f, PS_PER_US, 99, false);
	fidelity_late(f, 2 * PS_PER_US, 1, false);
	assert_true(fidelity_window(f));
	assert_false(fidelity_is_faithful(f));
	fidelity_free(f);
}

/* A second of the wall's clock: 1,000 events of which so many were that late, busy for so long,
 * held back and without CPU. */
struct second {
	uint64_t beyond, late_us, busy_ms, slipped_ms, taken_ms;
};

static void pass(struct fidelity *f, struct second s)
{
	fidelity_late(f, 0, 1000 - s.beyond, false);
	fidelity_late(f, s.late_us * PS_PER_US, s.beyond, false);
	for (int i = 0; i < 10; i++)
		fidelity_busy(f, s.busy_ms * PS_PER_MS / 10, 100 * PS_PER_MS);
	if (s.slipped_ms)
		fidelity_slip(f, s.slipped_ms * PS_PER_MS, false);
	fidelity_taken(f, s.taken_ms * PS_PER_MS);
	assert_int_equal(fidelity_window_ps(f), PS_PER_S);
	fidelity_window(f);
}

static void assert_null_slowdown(const struct fidelity *f)
{
	json_t *all = fidelity_json(f);

	assert_true(json_is_null(json_object_get(all, "sufficient_clock_slowdown")));
	json_decref(all);
}

static const struct second calm = {.late_us = 0, .busy_ms = 90, .taken_ms = 2};

/* As it was seen on a box with four busy processes: links of 100 us, a load of 9%. */
static void others_are_told_and_no_slowdown(void **state)
{
	struct fidelity *f = make(100 * PS_PER_US, 1);

	(void)state;
	pass(f, calm);
	pass(f, (struct second){.beyond = 300,
			.late_us = 3960,
			.busy_ms = 90,
			.slipped_ms = 600,
			.taken_ms = 700});
	assert_degraded(f,
		"other processes had the CPU for 700 ms; events ran up to 3.96 ms late at p99, and the shortest "
		"link has a delay of 100 us; model time was held back by 600 ms, since events could not keep up");
	assert_null_slowdown(f);
	assert_number(f, "others_degraded_s", 1);
	assert_number(f, "others_took_s", 0.7);
	assert_number(f, "degraded_s", 1);
	assert_number(f, "passed_s", 2);
	fidelity_free(f);
}

/* The same lateness while nobody else had the CPU: 3.96 ms of 100 us, and a quarter. */
static void the_own_load_is_told_apart(void **state)
{
	struct fidelity *f = make(100 * PS_PER_US, 1);

	(void)state;
	pass(f, (struct second){.beyond = 300, .late_us = 3960, .busy_ms = 90, .taken_ms = 9});
	assert_number(f, "sufficient_clock_slowdown", 50);
	assert_number(f, "others_degraded_s", 0);
	fidelity_free(f);
}

/* 200 ms were held back, and others had 15: they are not why. With 100 they may be. */
static void a_slip_is_explained_or_not(void **state)
{
	struct fidelity *f = make(100 * PS_PER_US, 1), *g = make(100 * PS_PER_US, 1);

	(void)state;
	pass(f, (struct second){.busy_ms = 300, .slipped_ms = 200, .taken_ms = 15});
	assert_number(f, "sufficient_clock_slowdown", 1.3); /* 1 / 0.8 */
	pass(g, (struct second){.busy_ms = 300, .slipped_ms = 200, .taken_ms = 100});
	assert_null_slowdown(g);
	fidelity_free(f);
	fidelity_free(g);
}

/* A machine overloaded by the fabric itself: others are not to blame, unless they took much. */
static void overload_with_others(void **state)
{
	struct fidelity *f = make(100 * PS_PER_US, 1), *g = make(100 * PS_PER_US, 1);

	(void)state;
	pass(f, (struct second){.beyond = 999,
			.late_us = 120,
			.busy_ms = 1000,
			.slipped_ms = 20,
			.taken_ms = 60});
	assert_number(f, "sufficient_clock_slowdown", 1.5); /* a quarter more than 120 us for 100 */
	pass(g, (struct second){.busy_ms = 1000, .slipped_ms = 500, .taken_ms = 400});
	assert_null_slowdown(g);
	fidelity_free(f);
	fidelity_free(g);
}

/* The worst second counts, not the mean of a life in which little happened. */
static void a_slip_is_that_of_its_second(void **state)
{
	struct fidelity *f = make(PS_PER_MS, 1);

	(void)state;
	for (int i = 0; i < 50; i++)
		pass(f, calm);
	pass(f, (struct second){.busy_ms = 1000, .slipped_ms = 500});
	pass(f, (struct second){.beyond = 500, .late_us = 5000, .busy_ms = 100, .taken_ms = 300});
	assert_number(f, "sufficient_clock_slowdown", 2.5); /* 2 for what was held back, and 80% */
	assert_number(f, "others_degraded_s", 1);
	assert_number(f, "degraded_s", 2);
	fidelity_free(f);
}

/* A large request, say: the engine stopped for 300 ms, at any slowdown. */
static void a_stall_has_no_cure(void **state)
{
	struct fidelity *f = make(100 * PS_PER_US, 1);

	(void)state;
	fidelity_slip(f, 300 * PS_PER_MS, true);
	pass(f, calm);
	assert_degraded(f, "model time was held back by 300 ms, since events could not keep up");
	assert_null_slowdown(f);
	assert_number(f, "others_degraded_s", 0);
	pass(f, (struct second){.busy_ms = 1000, .slipped_ms = 500});
	assert_number(f, "sufficient_clock_slowdown", 2.5);
	fidelity_free(f);
}

/* What has been seen of a window that has just begun is no load of the fabric's own. */
static void a_moment_is_like_the_second_before(void **state)
{
	struct fidelity *f = make(100 * PS_PER_US, 1);

	(void)state;
	pass(f, (struct second){.beyond = 300, .late_us = 3960, .busy_ms = 90, .taken_ms = 700});
	fidelity_busy(f, PS_PER_MS, 2 * PS_PER_MS);
	fidelity_slip(f, 30 * PS_PER_MS, false);
	assert_null_slowdown(f);
	assert_number(f, "others_degraded_s", 1.002);
	fidelity_free(f);
}

static void now_is_not_the_life(void **state)
{
	struct fidelity *f = make(PS_PER_MS, 1);
	json_t *all;

	(void)state;
	assert_true(fidelity_is_faithful_now(f));
	fidelity_late(
		f, 2 * PS_PER_MS, 1, false); /* the first window is the latest that there is */
	assert_false(fidelity_is_faithful_now(f));
	fidelity_free(f);
	f = make(PS_PER_MS, 1);
	pass(f, (struct second){.beyond = 500, .late_us = 5000});
	assert_false(fidelity_is_faithful_now(f));
	fidelity_busy(f, 0, 300 * PS_PER_MS);
	assert_false(fidelity_is_faithful_now(f));
	for (int i = 0; i < 3; i++) {
		all = fidelity_json(f); /* changes nothing */
		assert_string_equal(json_string_value(json_object_get(all, "now")), "degraded");
		json_decref(all);
	}
	assert_number(f, "passed_s", 1.3);
	fidelity_window(f);
	assert_true(fidelity_is_faithful_now(f));
	assert_number(f, "degraded_s", 1);
	fidelity_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_faithful),
		cmocka_unit_test(keys_are_in_order),
		cmocka_unit_test(p99_is_exact_at_the_delay),
		cmocka_unit_test(quantiles_are_close),
		cmocka_unit_test(quantiles_are_of_their_rank),
		cmocka_unit_test(lateness_says_the_slowdown),
		cmocka_unit_test(load_says_the_slowdown),
		cmocka_unit_test(slips_are_told),
		cmocka_unit_test(losses_are_told),
		cmocka_unit_test(slowdowns_are_rounded_up),
		cmocka_unit_test(windows_begin_anew),
		cmocka_unit_test(others_are_told_and_no_slowdown),
		cmocka_unit_test(the_own_load_is_told_apart),
		cmocka_unit_test(a_slip_is_explained_or_not),
		cmocka_unit_test(overload_with_others),
		cmocka_unit_test(a_slip_is_that_of_its_second),
		cmocka_unit_test(a_stall_has_no_cure),
		cmocka_unit_test(a_moment_is_like_the_second_before),
		cmocka_unit_test(now_is_not_the_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
