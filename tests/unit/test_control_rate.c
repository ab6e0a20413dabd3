/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fixed rate and fixed window as controls, without a network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/wiretime.h"
#include "control_fixture.h"

#define MTU   4096u
#define FRAME (MTU + 82)
#define LINE  100000000000ull
#define RTT   (8 * US)

/* Opens it again, for a flow with that share, at `now`. */
static void open_rate(
	struct control_bench *b, const char *control, uint64_t fair_bps, uint64_t rng, uint64_t now)
{
	control_open(b, control, LINE, RTT, MTU, now);
	memset(b->state, 0, sizeof(b->state));
	b->flow.fair_bps = fair_bps;
	b->kind->open(b->state, &b->env,
		((const struct assembled_options *)b->scenario->host.transport.options)
			->control_options,
		&b->flow, rng, now);
}

static uint64_t ready(struct control_bench *b)
{
	return b->kind->ready(b->state, b->now);
}

/* Packets that leave as soon as they may: a frame's time at coefficient x fair share. */
static void gaps_are_the_frames_time(void **state)
{
	static const struct {
		const char *control;
		uint64_t fair_bps, bps;
	} cases[] = {
		{"rate: 1", LINE / 127, LINE / 127},
		{"rate: 0.5", LINE / 4, LINE / 8},
		{"rate: {coefficient: 0.001}", 10, 1},
		{"rate", 0, LINE}, /* nobody knows the share */
		{"rate: 0.25", 0, LINE / 4},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct control_bench b;

		open_rate(&b, cases[i].control, cases[i].fair_bps, 1, US);
		assert_true(b.kind->share);
		assert_int_equal(b.kind->rate(b.state, US), cases[i].bps);
		for (uint32_t n = 0; n < 100; n++) {
			uint32_t frame = n % 3 ? FRAME : 64 + n;
			uint64_t at = ready(&b);

			b.kind->on_send(b.state, frame, at);
			assert_int_equal(ready(&b), at + serialise_ps(frame, cases[i].bps));
		}
		control_close(&b);
	}
}

/* Evenly, from no jitter to all of it. */
static void jitter_is_added(void **state)
{
	const uint64_t gap = serialise_ps(FRAME, LINE / 100), most = gap + gap / 5;
	uint64_t sum = 0, least = UINT64_MAX, longest = 0;
	struct control_bench b;

	(void)state;
	open_rate(&b, "rate: {jitter: 20%}", LINE / 100, 1, US);
	for (uint32_t n = 0; n < 2000; n++) {
		uint64_t at = ready(&b), found;

		b.kind->on_send(b.state, FRAME, at);
		found = ready(&b) - at;
		assert_in_range(found, gap, most);
		sum += found;
		least = min_u64(least, found);
		longest = max_u64(longest, found);
	}
	assert_in_range(least, gap, gap + gap / 500);
	assert_in_range(longest, most - gap / 500, most);
	assert_in_range(sum / 2000, gap + gap / 11, gap + gap / 9);
	control_close(&b);
}

static void flows_start_within_a_gap(void **state)
{
	const uint64_t gap = serialise_ps(MTU, LINE / 10);
	uint64_t sum = 0, first = UINT64_MAX, last = 0;
	struct control_bench b;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		uint64_t after;

		open_rate(&b, "rate", LINE / 10, rng_stream(1, "flow", seed), 5 * US);
		after = ready(&b) - 5 * US;
		assert_in_range(after, 0, gap);
		sum += after;
		first = min_u64(first, after);
		last = max_u64(last, after);
		control_close(&b);
	}
	assert_true(first < gap / 8 && last > gap - gap / 8);
	assert_in_range(sum / 50, gap / 3, 2 * gap / 3);
}

/* The line was busy when a packet might have left: those after it leave no later for it. */
static void a_wait_for_the_line_is_made_up_for(void **state)
{
	const uint64_t gap = serialise_ps(FRAME, LINE / 10);
	struct control_bench b;
	uint64_t at;

	(void)state;
	open_rate(&b, "rate", LINE / 10, 1, US);
	at = ready(&b);
	b.kind->on_send(b.state, FRAME, at + gap / 2);
	assert_int_equal(ready(&b), at + gap);
	b.kind->on_send(b.state, FRAME, at + 2 * gap - 1);
	assert_int_equal(ready(&b), at + 2 * gap);
	/* but for no longer than a packet: nothing was there to send */
	for (uint64_t late = gap; late < 1000 * gap; late *= 3) {
		at = ready(&b);
		b.kind->on_send(b.state, FRAME, at + late);
		assert_int_equal(ready(&b), at + late);
		b.kind->on_send(b.state, FRAME, at + late);
		assert_int_equal(ready(&b), at + late + gap);
	}
	control_close(&b);
}

/* Nothing that happens moves it. */
static void a_window_stays(void **state)
{
	static const struct {
		const char *control;
		uint64_t bytes;
	} cases[] = {
		{"window", 100000}, /* a BDP */
		{"window: 50% BDP", 50000}, {"window: {bytes: 64KiB}", 65536},
		{"window: 1B", MTU}, /* a packet */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct control_bench b;

		control_open(&b, cases[i].control, LINE, RTT, MTU, US);
		expect_window(&b, (double)cases[i].bytes);
		assert_null(b.kind->on_answer);
		assert_null(b.kind->on_loss);
		assert_null(b.kind->ready);
		control_close(&b);
	}
}

static void it_survives(void **state)
{
	(void)state;
	control_survives("window: 1TB", CONTROL_WINDOW_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_are_the_frames_time),
		cmocka_unit_test(jitter_is_added),
		cmocka_unit_test(flows_start_within_a_gap),
		cmocka_unit_test(a_wait_for_the_line_is_made_up_for),
		cmocka_unit_test(a_window_stays),
		cmocka_unit_test(it_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
