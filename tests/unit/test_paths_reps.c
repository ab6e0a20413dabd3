/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * REPS (arXiv 2407.21625): which path follows from which answers, and what a timeout does. The last
 * test runs beside a copy of the listing that keeps validity entry by entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "transport/control/control.h"
#include "transport/paths/paths.h"
#include "transport/paths/reps.h"

#define FREEZE 1000
#define BDP    6 /* packets, of the environment below */

static const struct paths_kind *const kind = &paths_kind_reps;
static const struct transport_env env = {
	.mtu = 1000, .host_rate_bps = 8000000000, .base_rtt_ps = 6500000};

struct fixture {
	uint64_t state[128];
	uint64_t now;
};

static void open_with(struct fixture *f, uint32_t ring, uint64_t freeze)
{
	const struct reps_options o = {.ring = ring, .freeze_ps = freeze};

	*f = (struct fixture){0};
	assert_int_equal(control_bdp(&env) / env.mtu, BDP);
	assert_true(kind->state_bytes + kind->more_bytes(&o) <= sizeof(f->state));
	assert_int_equal(kind->state_bytes % 8, 0);
	assert_int_equal(kind->more_bytes(&o) % 8, 0);
	kind->open(f->state, &env, &o, 7, 0);
}

static uint16_t choose(struct fixture *f)
{
	uint16_t path = kind->choose(f->state, &(struct path_request){.now_ps = f->now});

	assert_true(path < PATHS_ALL);
	return path;
}

static void answer(struct fixture *f, uint16_t path, bool bad)
{
	kind->on_answer(
		f->state, &(struct path_answer){.now_ps = f->now, .path = path, .bad = bad});
}

/* The next packets take other paths than 1 to 99, which answers below name. */
static void expect_random(struct fixture *f, int packets)
{
	uint32_t used = kind->used(f->state);

	for (int i = 0; i < packets; i++)
		assert_true(choose(f) >= 100);
	assert_int_equal(kind->used(f->state), used + (uint32_t)packets);
}

static void expect_paths(struct fixture *f, const uint16_t *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(choose(f), want[i]);
}

#define EXPECT(f, ...)                                                                             \
	expect_paths(f, (const uint16_t[]){__VA_ARGS__}, COUNT(((const uint16_t[]){__VA_ARGS__})))

static void random_until_something_comes_back(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 8, FREEZE);
	expect_random(&f, 40);
}

static void unmarked_answers_are_taken_again_once_each(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 8, FREEZE);
	answer(&f, 1, false);
	answer(&f, 2, true);
	answer(&f, 3, false);
	EXPECT(&f, 1, 3);
	expect_random(&f, 3);
	answer(&f, 4, false);
	EXPECT(&f, 4);
	expect_random(&f, 1);
}

static void a_full_ring_forgets_the_oldest(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 8, FREEZE);
	for (uint16_t i = 1; i <= 11; i++)
		answer(&f, i, false);
	EXPECT(&f, 4, 5, 6, 7, 8, 9, 10, 11);
	expect_random(&f, 1);
}

static void frozen_it_takes_the_ring_in_turn(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 4, FREEZE);
	for (uint16_t i = 1; i <= 3; i++)
		answer(&f, i, false);
	EXPECT(&f, 1, 2); /* they stay in the ring all the same */
	f.now = 10;
	kind->on_timeout(f.state, f.now);
	EXPECT(&f, 1, 2, 3, 1, 2, 3, 1);
	answer(&f, 4, false); /* answers go on to be entered */
	answer(&f, 5, false);
	answer(&f, 6, true);
	EXPECT(&f, 2, 3, 4, 5, 2, 3, 4, 5);
}

static void with_nothing_to_freeze_paths_stay_random(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 4, FREEZE);
	kind->on_timeout(f.state, 0);
	expect_random(&f, 3);
	answer(&f, 9, false);
	EXPECT(&f, 9, 9, 9);
}

static void it_thaws_and_explores_a_bdp(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 4, FREEZE);
	answer(&f, 1, false);
	f.now = 10;
	kind->on_timeout(f.state, f.now);
	f.now = 500;
	kind->on_timeout(f.state, f.now); /* does not make it longer */
	f.now = 10 + FREEZE;
	EXPECT(&f, 1, 1);
	f.now++;
	expect_random(&f, 1);             /* the ring is empty */
	answer(&f, 2, false);             /* kept for later */
	kind->on_timeout(f.state, f.now); /* it does not freeze what it explores */
	expect_random(&f, BDP - 1);
	EXPECT(&f, 2);
	expect_random(&f, 1);
	/* an answer thaws it too, and is the first of the new ring */
	answer(&f, 3, false);
	kind->on_timeout(f.state, f.now);
	f.now += FREEZE + 1;
	answer(&f, 4, false);
	expect_random(&f, BDP);
	EXPECT(&f, 4);
}

static void it_need_not_freeze(void **state)
{
	struct fixture f;

	(void)state;
	open_with(&f, 4, 0);
	answer(&f, 1, false);
	kind->on_timeout(f.state, 5);
	EXPECT(&f, 1);
	expect_random(&f, 1);
}

/* The authors' ring: an entry has a bit that says whether it was not taken yet. */
struct listing {
	uint16_t ev[REPS_RING_MAX];
	bool valid[REPS_RING_MAX];
	uint32_t size, head, count;
};

static void listing_add(struct listing *l, uint16_t ev)
{
	l->count += l->count < l->size;
	l->ev[l->head] = ev;
	l->valid[l->head] = true;
	l->head = (l->head + 1) % l->size;
}

/* The first valid one from the head on, which is the oldest; -1: none. */
static int listing_take(struct listing *l)
{
	for (uint32_t i = 0; i < l->size; i++) {
		uint32_t at = (l->head + i) % l->size;

		if (l->valid[at]) {
			l->valid[at] = false;
			return l->ev[at];
		}
	}
	return -1;
}

static void equals_the_listing_step_by_step(void **state)
{
	static const uint32_t sizes[] = {1, 2, 7, 8, 64, REPS_RING_MAX};
	uint64_t rng = 3;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct listing l = {.size = sizes[i]};
		struct fixture f;

		open_with(&f, sizes[i], FREEZE);
		for (int step = 0; step < 3000; step++) {
			uint16_t path = (uint16_t)rng_below(&rng, 100);
			bool bad = rng_below(&rng, 3) == 0;
			int want;

			if (rng_below(&rng, 5) < 3) {
				answer(&f, path, bad);
				if (!bad)
					listing_add(&l, path);
				continue;
			}
			want = listing_take(&l);
			if (want < 0)
				choose(&f);
			else
				assert_int_equal(choose(&f), want);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_until_something_comes_back),
		cmocka_unit_test(unmarked_answers_are_taken_again_once_each),
		cmocka_unit_test(a_full_ring_forgets_the_oldest),
		cmocka_unit_test(frozen_it_takes_the_ring_in_turn),
		cmocka_unit_test(with_nothing_to_freeze_paths_stay_random),
		cmocka_unit_test(it_thaws_and_explores_a_bdp),
		cmocka_unit_test(it_need_not_freeze),
		cmocka_unit_test(equals_the_listing_step_by_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
