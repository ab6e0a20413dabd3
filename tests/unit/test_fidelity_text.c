/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words for a fidelity, and that they fit a terminal of 80 columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "report/fidelity_text.h"

#define SHOW_INDENT 14 /* columns before what show says of it */
#define TOP_INDENT  10

static struct fidelity_text read_text(const char *verdict, const char *now, double degraded,
	double passed, double others, double slowdown)
{
	json_t *f = json_pack(
		"{s:s, s:s, s:f, s:f, s:f, s:f, s:o, s:{s:f, s:f, s:f}, s:f, s:f, s:f, s:i}",
		"verdict", verdict, "now", now, "degraded_s", degraded, "passed_s", passed,
		"others_degraded_s", others, "others_took_s", others / 2,
		"sufficient_clock_slowdown", slowdown > 0 ? json_real(slowdown) : json_null(),
		"late_us", "p50", 0.1, "p99", 3959.4, "max", 7746800.0, "smallest_delay_us", 100.0,
		"busy", 0.09, "slipped_us", 1634609.6, "lost", 17);
	struct fidelity_text t;

	assert_non_null(f);
	fidelity_text(&t, f);
	json_decref(f);
	return t;
}

static void all_is_well(void **state)
{
	struct fidelity_text t = read_text("faithful", "faithful", 0, 95, 0, 1);

	(void)state;
	assert_true(t.good);
	assert_string_equal(t.now, "faithful");
	assert_string_equal(t.whole, "faithful");
	assert_string_equal(t.remedy, "");
	assert_string_equal(t.in_short, "");
	assert_string_equal(
		t.late, "late p50 0.1 us, p99 3.96 ms, max 7.75 s; shortest link 100 us");
	assert_string_equal(t.load, "busy 9%; model time held back by 1.63 s; 17 frames lost");
}

static void now_and_the_whole(void **state)
{
	struct fidelity_text t = read_text("degraded", "faithful", 12, 95, 12, 0);

	(void)state;
	assert_false(t.good);
	assert_string_equal(t.now, "faithful now; degraded 12 s of 95");
	assert_string_equal(t.whole, "DEGRADED for 12 s of 95");
	assert_string_equal(
		t.remedy, "other processes had the CPU for 6.0 s: no slowdown cures that");
	t = read_text("degraded", "degraded", 2, 95, 0, 8.5);
	assert_string_equal(t.now, "DEGRADED now, for 2.0 s of 95");
	assert_string_equal(t.remedy, "a slowdown of 8.5 would do");
	t = read_text("degraded", "degraded", 12, 95, 10, 3);
	assert_string_equal(
		t.remedy, "a slowdown of 3 would do for 2.0 s; else others had the CPU");
	t = read_text("faithful", "faithful", 1, 95, 1, 1);
	assert_string_equal(t.now, "faithful now; degraded 1.0 s of 95");
	assert_string_equal(t.whole, "faithful; degraded 1.0 s of 95");
	assert_string_equal(t.remedy, "");
}

/* A day, and the largest slowdown that there is. */
static void all_of_it_fits(void **state)
{
	static const char *const verdicts[] = {"faithful", "degraded"};

	(void)state;
	for (int i = 0; i < 8; i++) {
		double others = i & 2 ? 86000 : 0, slowdown = i & 4 ? 1.2e6 : 0;
		struct fidelity_text t =
			read_text("degraded", verdicts[i & 1], 86399, 86400, others, slowdown);

		assert_true(SHOW_INDENT + strlen(t.now) <= 80);
		assert_true(SHOW_INDENT + strlen(t.whole) <= 80);
		assert_true(SHOW_INDENT + strlen(t.remedy) <= 80);
		assert_true(SHOW_INDENT + strlen(t.late) <= 80);
		assert_true(SHOW_INDENT + strlen(t.load) <= 80);
		assert_true(TOP_INDENT + strlen(t.now) + 2 + strlen(t.in_short) <= 80);
		assert_int_equal(!*t.remedy, !others && !slowdown);
		assert_int_equal(!*t.in_short, !*t.remedy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(now_and_the_whole),
		cmocka_unit_test(all_of_it_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
