/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "engine/event_heap.h"

#define EVENTS 1000

struct bench {
	struct event items[EVENTS];
	struct event_heap heap;
};

static struct event_heap *bench_heap(struct bench *b)
{
	b->heap = (struct event_heap){.items = b->items, .capacity = EVENTS};
	return &b->heap;
}

static struct event take(struct event_heap *h)
{
	struct event e = event_heap_take(h);

	event_heap_settle(h);
	return e;
}

static void assert_same(struct event a, struct event b)
{
	assert_int_equal(a.time_ps, b.time_ps);
	assert_int_equal(a.key, b.key);
}

static int compare_events(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	return event_before(a, b) ? -1 : event_before(b, a);
}

static enum event_kind any_kind(uint64_t *rng)
{
	return (enum event_kind)rng_below(rng, EVENT_PAUSE + 1);
}

static void fields_come_back(void **state)
{
	static const uint32_t indices[] = {0, 1, 63, 1u << 24, 0x7fffffff};

	(void)state;
	for (int kind = EVENT_TX_DONE; kind <= EVENT_PAUSE; kind++)
		for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
			struct event e = event_make(1ull << 40, (enum event_kind)kind, indices[i]);

			assert_int_equal(event_kind(&e), kind);
			assert_int_equal(event_index(&e), indices[i]);
			assert_int_equal(e.time_ps, 1ull << 40);
		}
}

static void earlier_goes_first(void **state)
{
	struct bench b;
	struct event_heap *h = bench_heap(&b);

	(void)state;
	event_heap_push(h, event_make(1ull << 33, EVENT_TX_DONE, 0));
	event_heap_push(h, event_make(5, EVENT_START, 9));
	event_heap_push(h, event_make(UINT32_MAX, EVENT_ARRIVE, 1));
	event_heap_push(h, event_make(6, EVENT_TX_DONE, 2));
	assert_int_equal(take(h).time_ps, 5);
	assert_int_equal(take(h).time_ps, 6);
	assert_int_equal(take(h).time_ps, UINT32_MAX);
	assert_int_equal(take(h).time_ps, 1ull << 33);
	assert_int_equal(h->count, 0);
}

/* A line that falls free gives its room before the arrival that needs it, whichever the ports. */
static void ties_go_by_kind(void **state)
{
	uint64_t rng = 1;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct bench b;
		struct event_heap *h = bench_heap(&b);
		uint64_t now = rng_take(&rng);

		for (int i = 0; i < 32; i++)
			event_heap_push(h, event_make(now, any_kind(&rng), rng_below(&rng, 64)));
		for (enum event_kind last = EVENT_TX_DONE; h->count;) {
			struct event e = take(h);

			assert_true(event_kind(&e) >= last);
			last = event_kind(&e);
		}
	}
}

/* With all hosts in step most arrivals are ties: each port must win as often as the others. */
static void ties_favour_no_port(void **state)
{
	enum { PORTS = 16, ROUNDS = 16000 };
	static const uint64_t steps_ps[] = {335520, 1000, 1048576, 83880, 7};

	(void)state;
	for (size_t s = 0; s < sizeof(steps_ps) / sizeof(steps_ps[0]); s++) {
		unsigned first[PORTS] = {0}, ahead = 0;

		for (uint64_t round = 1; round <= ROUNDS; round++) {
			struct bench b;
			struct event_heap *h = bench_heap(&b);
			struct event e;

			for (uint32_t port = 0; port < PORTS; port++)
				event_heap_push(
					h, event_make(round * steps_ps[s], EVENT_ARRIVE, port));
			e = take(h);
			first[event_index(&e)]++;
			for (uint32_t one = PORTS; h->count; one = event_index(&e)) {
				e = take(h);
				ahead += one < PORTS && one < event_index(&e);
			}
		}
		for (uint32_t port = 0; port < PORTS; port++)
			assert_in_range(first[port], ROUNDS / PORTS / 2, ROUNDS / PORTS * 2);
		/* of neighbours in that order, the lower number is ahead half of the time */
		assert_in_range(
			ahead, ROUNDS * (PORTS - 2) * 4 / 10, ROUNDS * (PORTS - 2) * 6 / 10);
	}
}

/* Fills a heap with n events of few different times, and want with the same ones in order. */
static void fill(struct event_heap *h, struct event *want, uint32_t n, uint64_t *rng)
{
	for (uint32_t i = 0; i < n; i++) {
		want[i] = event_make(rng_below(rng, 50), any_kind(rng), i);
		event_heap_push(h, want[i]);
	}
	qsort(want, n, sizeof(*want), compare_events);
}

static void order_is_that_of_a_sort(void **state)
{
	struct event want[EVENTS];
	uint64_t rng = 2;

	(void)state;
	for (uint32_t n = 1; n <= EVENTS; n += n < 40 ? 1 : 97) {
		struct bench b;
		struct event_heap *h = bench_heap(&b);

		fill(h, want, n, &rng);
		for (uint32_t i = 0; i < n; i++)
			assert_same(take(h), want[i]);
		assert_int_equal(h->count, 0);
	}
}

/* The same events, armed in 100 different orders, come out in one. */
static void arming_order_does_not_matter(void **state)
{
	struct event events[200], want[200];
	uint64_t rng = 3;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		events[i] = event_make(i % 3, any_kind(&rng), i);
	memcpy(want, events, sizeof(want));
	qsort(want, 200, sizeof(*want), compare_events);
	for (int round = 0; round < 100; round++) {
		struct bench b;
		struct event_heap *h = bench_heap(&b);

		for (uint32_t i = 200; i-- > 1;) {
			uint32_t j = rng_below(&rng, i + 1);
			struct event e = events[i];

			events[i] = events[j];
			events[j] = e;
		}
		for (uint32_t i = 0; i < 200; i++)
			event_heap_push(h, events[i]);
		for (uint32_t i = 0; i < 200; i++)
			assert_same(take(h), want[i]);
	}
}

/* The earliest leaves a hole that the first push fills, be it the new earliest or the last. */
static void push_fills_the_hole(void **state)
{
	static const uint64_t times[] = {1, 2, 15, 100};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct bench b;
		struct event_heap *h = bench_heap(&b);
		uint64_t last = 0;

		for (uint64_t t = 1; t <= 20; t++)
			event_heap_push(h, event_make(t, EVENT_ARRIVE, 7));
		assert_int_equal(event_heap_take(h).time_ps, 1);
		assert_true(h->hole);
		event_heap_push(h, event_make(times[i], EVENT_TX_DONE, 1));
		assert_false(h->hole);
		assert_int_equal(h->count, 20);
		event_heap_push(h, event_make(times[i], EVENT_TX_DONE, 2));
		event_heap_settle(h);
		assert_int_equal(h->count, 21);
		while (h->count) {
			struct event e = take(h);

			assert_true(e.time_ps >= last);
			last = e.time_ps;
		}
	}
}

static void hole_in_the_last_one(void **state)
{
	struct bench b;
	struct event_heap *h = bench_heap(&b);

	(void)state;
	event_heap_push(h, event_make(1, EVENT_TIMER, 1));
	event_heap_take(h);
	event_heap_settle(h);
	assert_int_equal(h->count, 0);
	event_heap_settle(h);
	assert_int_equal(h->count, 0);
	event_heap_push(h, event_make(2, EVENT_TIMER, 2));
	event_heap_take(h);
	event_heap_push(h, event_make(3, EVENT_TIMER, 3));
	event_heap_settle(h);
	assert_int_equal(h->count, 1);
	assert_int_equal(take(h).time_ps, 3);
}

static int reference_take(struct event *sorted, uint32_t *count, struct event *ret)
{
	if (!*count)
		return -1;
	*ret = sorted[0];
	memmove(sorted, sorted + 1, --*count * sizeof(*sorted));
	return 0;
}

static void reference_push(struct event *sorted, uint32_t *count, struct event e)
{
	uint32_t i = (*count)++;

	for (; i && event_before(&e, &sorted[i - 1]); i--)
		sorted[i] = sorted[i - 1];
	sorted[i] = e;
}

/* Takes and pushes as an engine does: each event arms 0 to 3 later ones, before it is settled. */
static void matches_a_sorted_list(void **state)
{
	struct event sorted[EVENTS], want;
	uint32_t count = 0, number = 0;
	struct bench b;
	struct event_heap *h = bench_heap(&b);
	uint64_t rng = 4;

	(void)state;
	for (int step = 0; step < 100000; step++) {
		uint32_t pushes = h->count < 4 ? 3 : rng_below(&rng, h->count < 300 ? 4 : 2);
		uint64_t now = 0;

		if (reference_take(sorted, &count, &want) == 0) {
			assert_same(event_heap_take(h), want);
			now = want.time_ps;
		}
		for (uint32_t i = 0; i < pushes; i++) {
			struct event e =
				event_make(now + rng_below(&rng, 20), any_kind(&rng), number++);

			reference_push(sorted, &count, e);
			event_heap_push(h, e);
		}
		event_heap_settle(h);
		assert_int_equal(h->count, count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_come_back),
		cmocka_unit_test(earlier_goes_first),
		cmocka_unit_test(ties_go_by_kind),
		cmocka_unit_test(ties_favour_no_port),
		cmocka_unit_test(order_is_that_of_a_sort),
		cmocka_unit_test(arming_order_does_not_matter),
		cmocka_unit_test(push_fills_the_hole),
		cmocka_unit_test(hole_in_the_last_one),
		cmocka_unit_test(matches_a_sorted_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
