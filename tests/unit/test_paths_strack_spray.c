/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "transport/paths/strack_spray.h"

#define AGE 1000

struct fixture {
	struct strack_paths s;
	uint64_t words[2 * STRACK_PATHS_MAX / 64];
};

static void open_with(struct fixture *f, uint32_t paths, enum strack_spray spray, uint64_t age)
{
	memset(f, 0, sizeof(*f));
	strack_spray_open(&f->s, spray, paths, true, age, f->words, 0);
}

static void expect_paths(struct fixture *f, uint32_t window, const int *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(strack_spray_choose(&f->s, window, 1), want[i]);
}

#define EXPECT(f, window, ...)                                                                     \
	expect_paths(f, window, (const int[]){__VA_ARGS__},                                        \
		sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void all_in_turn_while_nothing_is_known(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 256, STRACK_ADAPTIVE, AGE);
	EXPECT(&f, 4, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1);
}

/* A SACK for several packets speaks of one path; the others would get less than their turn. */
static void a_coalesced_sack_moves_nothing_but_marks(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 256, STRACK_ADAPTIVE, AGE);
	f.s.recycle = false;
	EXPECT(&f, 4, 0, 1);
	strack_spray_on_ack(&f.s, 7, false);
	EXPECT(&f, 4, 2);
	strack_spray_on_ack(&f.s, 3, true);
	EXPECT(&f, 4, 4, 5);
}

static void a_marked_path_sits_out_once(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 256, STRACK_ADAPTIVE, AGE);
	strack_spray_on_ack(&f.s, 3, true);
	EXPECT(&f, 4, 0, 1, 2, 4, 5, 6, 7, 0, 1, 2, 3, 4);
}

static void one_packet_clears_one_bit(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 256, STRACK_ADAPTIVE, AGE);
	strack_spray_on_ack(&f.s, 1, true);
	strack_spray_on_ack(&f.s, 2, true);
	EXPECT(&f, 4, 0, 3, 4, 5, 6, 7, 0, 1, 3, 4, 5, 6, 7, 0, 1, 2);
}

static void a_full_circle_ends(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 256, STRACK_ADAPTIVE, AGE);
	for (uint32_t i = 0; i < 8; i++)
		strack_spray_on_ack(&f.s, i, true);
	/*
	 * 0 is cleared, then found; from there 1 is cleared and 0 is the first clear one; and so
	 * on.
	 */
	EXPECT(&f, 4, 0, 0, 1, 0, 1, 2);
}

static void an_unmarked_answer_clocks_out_the_next_packet(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 256, STRACK_ADAPTIVE, AGE);
	EXPECT(&f, 4, 0, 1);
	strack_spray_on_ack(&f.s, 5, false);
	EXPECT(&f, 4, 5, 2);                 /* the turn of the others goes on where it was */
	strack_spray_on_ack(&f.s, 0, false); /* path 0 counts, unlike in the paper's listing */
	EXPECT(&f, 4, 0, 3);
	strack_spray_on_ack(&f.s, 6, false);
	strack_spray_on_ack(&f.s, 4, true); /* the later answer invalidates it */
	EXPECT(&f, 4, 5, 6);
	strack_spray_on_ack(&f.s, 2, true);
	strack_spray_on_ack(&f.s, 2, false); /* and an unmarked one clears the bit */
	EXPECT(&f, 4, 2, 7, 0, 1, 2, 3, 4);
}

static void paths_follow_the_window(void **state)
{
	static const struct {
		uint32_t paths, window, used;
	} cases[] = {{256, 1, 8}, {256, 4, 8}, {256, 5, 10}, {256, 100, 200}, {256, 128, 256},
		{256, 1000, 256}, {4, 100, 4}, {1, 100, 1}, {1024, 5000, 1024}, {100, 49, 98}};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_with(&f, cases[i].paths, STRACK_ADAPTIVE, AGE);
		for (uint32_t n = 0; n < 3 * cases[i].used; n++)
			assert_int_equal(
				strack_spray_choose(&f.s, cases[i].window, 1), n % cases[i].used);
		assert_int_equal(f.s.used_count, cases[i].used);
	}
}

static void marks_are_forgotten_with_age(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 256, STRACK_ADAPTIVE, AGE);
	strack_spray_on_ack(&f.s, 0, true);
	strack_spray_on_ack(&f.s, 1, true);
	assert_int_equal(strack_spray_choose(&f.s, 4, AGE - 1), 2);
	assert_int_equal(f.words[0], 1 << 1);
	strack_spray_choose(&f.s, 4, AGE);
	assert_int_equal(f.words[0], 0);
	strack_spray_on_ack(&f.s, 6, true);
	strack_spray_choose(&f.s, 4, 2 * AGE - 1);
	assert_int_equal(f.words[0], 1 << 6);
	strack_spray_choose(&f.s, 4, 2 * AGE);
	assert_int_equal(f.words[0], 0);

	open_with(&f, 256, STRACK_ADAPTIVE, 0);
	strack_spray_on_ack(&f.s, 5, true);
	strack_spray_choose(&f.s, 4, 1ull << 60);
	assert_int_equal(f.words[0], 1 << 5);
}

static void the_baselines_ignore_marks(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 5, STRACK_OBLIVIOUS, AGE);
	for (uint32_t i = 0; i < 5; i++)
		strack_spray_on_ack(&f.s, i, true);
	strack_spray_on_ack(&f.s, 3, false);
	EXPECT(&f, 1, 0, 1, 2, 3, 4, 0, 1);
	assert_int_equal(f.s.used_count, 5);

	open_with(&f, 5, STRACK_SINGLE, AGE);
	strack_spray_on_ack(&f.s, 3, false);
	EXPECT(&f, 100, 0, 0, 0);
	assert_int_equal(f.s.used_count, 1);
}

/* Algorithm 3 line by line, with the meaning of the bits that its text gives, but for line 13. */
struct listing {
	bool marked[STRACK_PATHS_MAX];
	int next, rr, max_paths;
};

static void listing_update(struct listing *l, bool ecn, int path)
{
	l->next = ecn ? -1 : path;
	l->marked[path] = ecn;
}

static int listing_choose(struct listing *l, int cwnd)
{
	int paths = 2 * cwnd < 8 ? 8 : 2 * cwnd;
	bool flag = false;

	if (paths > l->max_paths)
		paths = l->max_paths;
	if (l->next >= 0) {
		/* line 13 would set rr too */
		int path = l->next;

		l->next = -1;
		return path;
	}
	l->rr = (l->rr + 1) % paths;
	while (l->marked[l->rr]) {
		if (!flag) {
			l->marked[l->rr] = false;
			flag = true;
		}
		l->rr = (l->rr + 1) % paths;
	}
	return l->rr;
}

static void equals_the_listing_step_by_step(void **state)
{
	static const int sizes[] = {1, 7, 8, 63, 64, 65, 256, 1000, 1024};
	uint64_t rng = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct listing l = {.next = -1, .max_paths = sizes[i], .rr = -1};
		struct fixture f;

		open_with(&f, (uint32_t)sizes[i], STRACK_ADAPTIVE, 0);
		for (int step = 0; step < 20000; step++) {
			uint32_t window = 1 + rng_below(&rng, (uint32_t)sizes[i]);
			uint32_t path = rng_below(&rng, (uint32_t)sizes[i]);

			if (rng_below(&rng, 2)) {
				bool ecn = rng_below(&rng, 8);

				strack_spray_on_ack(&f.s, path, ecn);
				listing_update(&l, ecn, (int)path);
			}
			assert_int_equal(strack_spray_choose(&f.s, window, 1),
				listing_choose(&l, (int)window));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_in_turn_while_nothing_is_known),
		cmocka_unit_test(a_coalesced_sack_moves_nothing_but_marks),
		cmocka_unit_test(a_marked_path_sits_out_once),
		cmocka_unit_test(one_packet_clears_one_bit),
		cmocka_unit_test(a_full_circle_ends),
		cmocka_unit_test(an_unmarked_answer_clocks_out_the_next_packet),
		cmocka_unit_test(paths_follow_the_window),
		cmocka_unit_test(marks_are_forgotten_with_age),
		cmocka_unit_test(the_baselines_ignore_marks),
		cmocka_unit_test(equals_the_listing_step_by_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
