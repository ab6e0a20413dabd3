/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Load Balancing for AI Training Workloads, section 4, "Per-Flowlet LB": the path changes at most
 * every so many packets, and if 40% of the recent answers are marked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "transport/paths/paths.h"
#include "transport/paths/plb.h"

static const struct paths_kind *const kind = &paths_kind_plb;

struct fixture {
	uint64_t state[8];
};

static void open_with(struct fixture *f, uint32_t packets, double marked)
{
	const struct plb_options o = {.packets = packets, .marked = marked};

	*f = (struct fixture){0};
	assert_true(kind->state_bytes <= sizeof(f->state));
	kind->open(f->state, NULL, &o, 1, 0);
}

static uint16_t choose(struct fixture *f)
{
	uint16_t path = kind->choose(f->state, &(struct path_request){0});

	assert_true(path < PATHS_ALL);
	return path;
}

static void answer(struct fixture *f, uint16_t path, bool bad, int times)
{
	for (; times; times--)
		kind->on_answer(f->state, &(struct path_answer){.path = path, .bad = bad});
}

static void a_path_stays_while_few_are_marked(void **state)
{
	struct fixture f;
	uint16_t path;

	(void)state;
	open_with(&f, 10, 0.4);
	path = choose(&f);
	for (int round = 0; round < 5; round++) {
		answer(&f, path, true, 3);
		answer(&f, path, false, 7);
	}
	assert_int_equal(choose(&f), path);
	assert_int_equal(kind->used(f.state), 1);
}

static void at_the_threshold_it_is_left_but_not_before_its_packets(void **state)
{
	struct fixture f;
	uint16_t path, other;

	(void)state;
	open_with(&f, 10, 0.4);
	path = choose(&f);
	answer(&f, path, false, 2);
	answer(&f, path, true, 7);
	assert_int_equal(choose(&f), path);
	answer(&f, path, false, 1);
	other = choose(&f);
	assert_int_not_equal(other, path);
	assert_int_equal(choose(&f), other);

	/* exactly 4 of 10 */
	answer(&f, other, true, 4);
	answer(&f, other, false, 5);
	assert_int_equal(choose(&f), other);
	answer(&f, other, false, 1);
	assert_int_not_equal(choose(&f), other);
	assert_int_equal(kind->used(f.state), 3);
}

static void late_answers_of_a_path_that_was_left_do_not_count(void **state)
{
	struct fixture f;
	uint16_t path, other;

	(void)state;
	open_with(&f, 10, 0.4);
	path = choose(&f);
	answer(&f, path, true, 10);
	other = choose(&f);
	answer(&f, path, true, 100);
	assert_int_equal(choose(&f), other);
	answer(&f, path, false, 6);
	answer(&f, other, true, 10);
	assert_int_not_equal(choose(&f), other);
}

static void looks_do_not_add_up(void **state)
{
	struct fixture f;
	uint16_t path;

	(void)state;
	open_with(&f, 4, 0.5);
	path = choose(&f);
	/* half of eight, but one and three of four each */
	answer(&f, path, false, 3);
	answer(&f, path, true, 1);
	assert_int_equal(choose(&f), path);
	answer(&f, path, true, 1);
	answer(&f, path, false, 3);
	assert_int_equal(choose(&f), path);
	answer(&f, path, true, 2);
	answer(&f, path, false, 2);
	assert_int_not_equal(choose(&f), path);
}

static void a_timeout_leaves_the_path(void **state)
{
	struct fixture f;
	uint16_t path, other;

	(void)state;
	open_with(&f, 10, 0.4);
	path = choose(&f);
	answer(&f, path, true, 9);
	kind->on_timeout(f.state, 1);
	other = choose(&f);
	assert_int_not_equal(other, path);
	/* and what was counted is forgotten */
	answer(&f, other, false, 9);
	assert_int_equal(choose(&f), other);
	answer(&f, other, true, 1);
	assert_int_equal(choose(&f), other);
}

/* A share that is no whole number of packets: "at least" rounds it up. */
static void shares_are_rounded_up(void **state)
{
	static const struct {
		uint32_t packets;
		double marked;
		int least;
	} cases[] = {{16, 0.4, 7}, {10, 0.4, 4}, {1, 0.4, 1}, {3, 1, 3}, {1000, 0.0001, 1},
		{100, 0.07, 7}, {1, 1e-9, 1}};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (int less = 0; less < 2; less++) {
			int bad = cases[i].least - less;
			uint16_t path;

			open_with(&f, cases[i].packets, cases[i].marked);
			path = choose(&f);
			answer(&f, path, true, bad);
			answer(&f, path, false, (int)cases[i].packets - bad);
			assert_int_equal(choose(&f) == path, less);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_stays_while_few_are_marked),
		cmocka_unit_test(at_the_threshold_it_is_left_but_not_before_its_packets),
		cmocka_unit_test(late_answers_of_a_path_that_was_left_do_not_count),
		cmocka_unit_test(looks_do_not_add_up),
		cmocka_unit_test(a_timeout_leaves_the_path),
		cmocka_unit_test(shares_are_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
