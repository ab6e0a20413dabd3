/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Swift, by algorithm 1 and section 3.5 of its paper. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "control_fixture.h"

#define MTU 1000
#define RTT (10 * US) /* a BDP is 125 packets */

static void open_at(struct control_bench *b, const char *control)
{
	control_open(b, control, 100000000000, RTT, MTU, PS_PER_S);
}

/* A packet is acknowledged that took so long. */
static void ack(struct control_bench *b, uint64_t rtt_ps)
{
	control_answer(b, rtt_ps, MTU, false, false);
}

/* "cwnd + ai / cwnd * num_acked" */
static void below_the_target_the_window_grows_by_ai_a_round_trip(void **state)
{
	struct control_bench b;
	double cwnd = 100;

	(void)state;
	open_at(&b, "swift: {window: 100000B, ai: 2}");
	expect_window(&b, 100000);
	for (unsigned i = 0; i < 100; i++) {
		ack(&b, RTT - 1);
		cwnd += 2 / cwnd;
		expect_window(&b, cwnd * MTU);
	}
	expect_window(&b, 101980);
	control_answer(&b, RTT - 1, 10 * MTU, false, false);
	expect_window(&b, cwnd * MTU + 20 / cwnd * MTU);
	cwnd = (double)control_window_now(&b);
	control_answer(&b, RTT - 1, 0, false, false);
	expect_window(&b, cwnd);
	/* marks are nothing to it */
	control_answer(&b, RTT - 1, 0, true, false);
	expect_window(&b, cwnd);
	control_close(&b);
}

/* "max(1 - beta * (delay - target) / delay, 1 - max_mdf) * cwnd", if can_decrease */
static void above_the_target_it_shrinks_once_a_round_trip(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "swift");
	expect_window(&b, 187500); /* 150% BDP: beyond fs_max_cwnd */
	b.hops = 3;                /* 10 us + 3 * 10 us / 6 */
	b.now += RTT;
	ack(&b, 15 * US - NS);
	expect_window(&b, 187505.3);
	b.now += 20 * US;
	ack(&b, 20 * US);
	expect_window(&b, 187505.3 * 0.8);
	b.now += 20 * US - 1;
	ack(&b, 20 * US);
	expect_window(&b, 187505.3 * 0.8);
	b.now += 1;
	ack(&b, 20 * US);
	expect_window(&b, 187505.3 * 0.64);
	/* at the target it is not below: nothing is taken away, and the round trip goes on */
	b.now += 20 * US;
	ack(&b, 15 * US);
	expect_window(&b, 187505.3 * 0.64);
	b.now += 25 * US;
	ack(&b, 30 * US); /* 0.4 */
	expect_window(&b, 187505.3 * 0.64 * 0.6);
	b.now += PS_PER_S;
	ack(&b, 900 * US); /* 0.79 is more than max_mdf */
	expect_window(&b, 187505.3 * 0.64 * 0.3);
	control_close(&b);
}

/* Section 3.5: alpha / sqrt(cwnd) + beta, between 0 and fs_range */
static void small_windows_have_a_higher_target(void **state)
{
	static const double windows[] = {1, 4, 25, 99, 100, 150};
	double alpha = 50e6 / (1 / sqrt(0.1) - 1 / sqrt(100)), beta = -alpha / sqrt(100);

	(void)state;
	for (size_t i = 0; i < COUNT(windows); i++) {
		for (int above = 0; above < 2; above++) {
			double fs = alpha / sqrt(windows[i]) + beta;
			uint64_t target = RTT + 2 * US + (fs > 0 ? (uint64_t)fs : 0);
			struct control_bench b;
			char text[64];

			snprintf(text, sizeof(text), "swift: {window: %.0fB, hop_delay: 1us}",
				windows[i] * MTU);
			open_at(&b, text);
			b.hops = 2;
			b.now += PS_PER_S;
			ack(&b, above ? target + NS : target - NS);
			assert_true(above ? control_window_now(&b) < windows[i] * MTU
					  : control_window_now(&b) > windows[i] * MTU);
			control_close(&b);
		}
	}
}

/* At fs_min_cwnd and below the range is all there is; without one the target is flat. */
static void the_range_ends(void **state)
{
	struct control_bench b;
	uint64_t gap;

	(void)state;
	for (int range = 0; range < 2; range++) {
		open_at(&b, range ? "swift: {fs_range: 7us}" : "swift: {fs_range: 0us}");
		for (unsigned i = 0; i < 20; i++, b.now += RTT)
			control_lose(&b, MTU);
		gap = b.kind->ready(b.state, b.now);
		assert_true(gap > 100 * RTT);
		b.now += PS_PER_S;
		ack(&b, range ? 17 * US : 10 * US); /* at the target: not below */
		assert_true(control_window_now(&b) < MTU);
		ack(&b, range ? 17 * US - NS : 10 * US - NS);
		expect_window(&b, MTU);
		control_close(&b);
	}
}

/* "pacing_delay = rtt / cwnd", and "cwnd + ai * num_acked" below one packet */
static void below_one_packet_it_paces(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "swift: {window: 1000B}");
	assert_true(b.kind->ready(b.state, b.now) <= b.now);
	assert_true(b.kind->rate(b.state, b.now) == SENDER_NONE);
	b.now += RTT;
	b.kind->on_send(b.state, 1100, b.now);
	control_lose(&b, MTU);
	expect_window(&b, 500);
	assert_int_equal(b.kind->ready(b.state, b.now), b.now + 2 * RTT);
	assert_int_equal(b.kind->rate(b.state, b.now), 8 * MTU * 50000ull);
	b.now += RTT;
	control_lose(&b, MTU);
	expect_window(&b, 250);
	assert_int_equal(b.kind->ready(b.state, b.now), b.now + 3 * RTT); /* from the last one on */
	b.now += 3 * RTT;
	b.kind->on_send(b.state, 1100, b.now);
	ack(&b, RTT); /* the target of so small a window is higher */
	expect_window(&b, 1250);
	assert_true(b.kind->ready(b.state, b.now) <= b.now);
	control_close(&b);
}

/* "On retransmit timeout", RETX_RESET_THRESHOLD */
static void timeouts_in_a_row_end_at_the_smallest_window(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "swift: {window: 100000B, retx_reset: 3}");
	b.now += RTT;
	control_time_out(&b);
	expect_window(&b, 50000);
	control_time_out(&b); /* within a round trip */
	expect_window(&b, 50000);
	control_answer(&b, RTT, 0, false, false); /* not in a row */
	control_time_out(&b);
	control_lose(&b, 0); /* nor here */
	control_time_out(&b);
	control_time_out(&b);
	expect_window(&b, 50000);
	control_time_out(&b);
	expect_window(&b, 1);
	b.kind->on_send(b.state, 1100, b.now);
	assert_int_equal(b.kind->ready(b.state, b.now), b.now + 1000 * RTT);
	control_close(&b);
}

/* "On fast recovery"; headers without payload tell of a loss, and of nothing else. */
static void losses_shrink_it_once_a_round_trip(void **state)
{
	for (int trimmed = 0; trimmed < 2; trimmed++) {
		struct control_bench b;

		(void)state;
		open_at(&b, "swift: {window: 100000B, max_mdf: 0.25}");
		for (unsigned i = 0; i < 4; i++) {
			b.now += RTT / 2;
			if (trimmed)
				control_answer(&b, US, MTU, false, true);
			else
				control_lose(&b, MTU);
			expect_window(&b, i < 1 ? 100000 : i < 3 ? 75000 : 56250);
		}
		control_close(&b);
	}
}

/* The bounds of algorithm 1's end */
static void windows_stay_within_their_limits(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "swift: {window: 400% BDP, max_window: 120% BDP, min_cwnd: 0.5}");
	expect_window(&b, 150000);
	ack(&b, RTT - NS);
	expect_window(&b, 150000);
	for (unsigned i = 0; i < 30; i++, b.now += RTT)
		control_lose(&b, MTU);
	expect_window(&b, 500);
	control_close(&b);
	control_survives("swift: {max_window: 300% BDP}", CONTROL_WINDOW_MAX);
	control_survives(
		"swift: {min_cwnd: 0.0001, ai: 10000, fs_min_cwnd: 0.0001}", CONTROL_WINDOW_MAX);
	expect(SMALL
		"host: {transport: {assembled: {control: {swift: {fs_min_cwnd: 8, fs_max_cwnd: 8}}}}}\n",
		"3:63: host.transport.assembled.control.swift.fs_min_cwnd: it is not below fs_max_cwnd\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(below_the_target_the_window_grows_by_ai_a_round_trip),
		cmocka_unit_test(above_the_target_it_shrinks_once_a_round_trip),
		cmocka_unit_test(small_windows_have_a_higher_target),
		cmocka_unit_test(the_range_ends),
		cmocka_unit_test(below_one_packet_it_paces),
		cmocka_unit_test(timeouts_in_a_row_end_at_the_smallest_window),
		cmocka_unit_test(losses_shrink_it_once_a_round_trip),
		cmocka_unit_test(windows_stay_within_their_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
