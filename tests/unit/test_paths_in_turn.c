/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Subflows, adaptive and oblivious as parts. STrack's spray is in test_paths_strack_spray.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "transport/paths/in_turn.h"
#include "transport/paths/paths.h"
#include "transport/paths/strack_spray.h"

#define MTU 1000
#define RTT 500

static const struct transport_env env = {.mtu = MTU, .base_rtt_ps = RTT};

struct fixture {
	const struct paths_kind *kind;
	uint64_t state[64];
	uint64_t now;
};

static void open_with(struct fixture *f, const struct paths_kind *kind, uint32_t paths)
{
	const struct in_turn_options o = {.paths = paths, .bitmap_rtts = 8};

	*f = (struct fixture){.kind = kind, .now = 1};
	assert_true(kind->state_bytes + kind->more_bytes(&o) <= sizeof(f->state));
	assert_int_equal(kind->state_bytes % 8, 0);
	assert_int_equal(kind->more_bytes(&o) % 8, 0);
	assert_int_equal(kind->count(&o), paths);
	kind->open(f->state, &env, &o, 1, 0);
}

static void expect_paths(struct fixture *f, uint64_t window, const int *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(f->kind->choose(f->state, &(struct path_request){.now_ps = f->now,
								   .window_bytes = window}),
			want[i]);
}

#define EXPECT(f, window, ...)                                                                     \
	expect_paths(f, window, (const int[]){__VA_ARGS__}, COUNT(((const int[]){__VA_ARGS__})))

static void answer(struct fixture *f, uint16_t path, bool bad)
{
	if (f->kind->on_answer)
		f->kind->on_answer(f->state,
			&(struct path_answer){.now_ps = f->now, .path = path, .bad = bad});
}

static void subflows_are_dealt_to_in_turn(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, &paths_kind_subflows, 3);
	EXPECT(&f, SENDER_NONE, 0, 1, 2, 0, 1);
	answer(&f, 1, true);
	answer(&f, 2, false);
	EXPECT(&f, MTU, 2, 0, 1, 2);
	assert_int_equal(f.kind->used(f.state), 3);

	open_with(&f, &paths_kind_subflows, STRACK_PATHS_MAX);
	for (int i = 0; i < 2 * STRACK_PATHS_MAX; i++)
		EXPECT(&f, SENDER_NONE, i % STRACK_PATHS_MAX);
}

static void oblivious_takes_all_whatever_their_marks(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, &paths_kind_oblivious, 5);
	for (uint16_t i = 0; i < 5; i++)
		answer(&f, i, true);
	EXPECT(&f, MTU, 0, 1, 2, 3, 4, 0);
	assert_int_equal(f.kind->used(f.state), 5);
}

/* STrack, algorithm 3: line 18 counts the window in packets; without one all paths serve. */
static void adaptive_goes_by_window_marks_and_age(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, &paths_kind_adaptive, 16);
	answer(&f, 2, true);
	EXPECT(&f, 4 * MTU, 0, 1, 3, 4, 5, 6, 7, 0);
	answer(&f, 6, false);
	EXPECT(&f, 4 * MTU, 6, 1);
	EXPECT(&f, 5 * MTU + 999, 2, 3, 4, 5, 6, 7, 8, 9, 0);
	EXPECT(&f, SENDER_NONE, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0);
	answer(&f, 1, true);
	f.now = 8 * RTT - 1;
	EXPECT(&f, SENDER_NONE, 2);
	answer(&f, 3, true);
	f.now++;
	EXPECT(&f, SENDER_NONE, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subflows_are_dealt_to_in_turn),
		cmocka_unit_test(oblivious_takes_all_whatever_their_marks),
		cmocka_unit_test(adaptive_goes_by_window_marks_and_age),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
