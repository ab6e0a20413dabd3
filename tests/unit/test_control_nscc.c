/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NSCC: its four quadrants, quick adapt and what it makes of losses. Functions of uet-htsim's
 * sim/uec.cpp are named where formulas come from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "control_fixture.h"

/* A BDP is 150 KB, so that no constant is scaled; the target is a round trip. */
#define MTU 1500
#define RTT (12 * US)

static void open_at(struct control_bench *b, const char *control)
{
	control_open(b, control, 100000000000, RTT, MTU, PS_PER_S);
}

/* With a window of 150000 bytes, of at most 225000. */
static void open_below(struct control_bench *b, const char *keys)
{
	char text[256];

	snprintf(text, sizeof(text), "nscc: {quick_adapt: off%s}", keys);
	open_at(b, text);
	expect_window(b, 225000); /* initNscc: 1.5 BDP */
	control_lose(b, 75000);
	expect_window(b, 150000);
}

/* A packet arrived with so much queueing delay. */
static void ack(struct control_bench *b, uint64_t delay_ps, bool marked)
{
	control_answer(b, RTT + delay_ps, MTU, marked, false);
}

/* proportional_increase: alpha * bytes * (target - delay) / cwnd, once 8 packets have come */
static void without_marks_and_delay_it_grows_in_proportion(void **state)
{
	struct control_bench b;

	(void)state;
	open_below(&b, "");
	for (unsigned i = 0; i < 9; i++) {
		expect_window(&b, 150000);
		ack(&b, RTT / 2, false);
	}
	expect_window(&b, 150000 + 9 * 4.0 * MTU * MTU / 2 / 150000);
	control_close(&b);
	open_below(&b, ", proportional: 8, target_delay: 6us");
	for (unsigned i = 0; i < 9; i++)
		ack(&b, 4 * US, false);
	expect_window(&b, 150000 + 9 * 8.0 * MTU * MTU * 2 / 12 / 150000);
	control_close(&b);
}

/* fair_increase: delay without marks is of queues that go down */
static void unmarked_delay_grows_evenly(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct control_bench b;

		(void)state;
		open_below(&b, "");
		for (unsigned i = 0; i < 9; i++)
			ack(&b, late ? 7 * RTT : RTT, false);
		expect_window(&b, 150000 + 9 * 5.0 * MTU * MTU / 150000);
		control_close(&b);
	}
}

/* A mark without delay is for the choice of paths. */
static void a_mark_alone_does_nothing(void **state)
{
	struct control_bench b;

	(void)state;
	open_below(&b, "");
	for (unsigned i = 0; i < 100; i++)
		ack(&b, RTT - 1, true);
	expect_window(&b, 150000);
	control_close(&b);
}

/* multiplicative_decrease: 1 - gamma * (average - target) / average, at least half, once an RTT */
static void marks_and_delay_shrink_it(void **state)
{
	struct control_bench b;
	double cwnd = 150000;

	(void)state;
	open_below(&b, ", delay_gain: 1, eta: 0");
	ack(&b, 2 * RTT, true);
	expect_window(&b, cwnd); /* a round trip since it was opened is not over */
	b.now += RTT + 1;
	ack(&b, 2 * RTT, true);
	cwnd *= 1 - 0.8 / 2;
	expect_window(&b, cwnd);
	b.now += RTT;
	ack(&b, 2 * RTT, true);
	expect_window(&b, cwnd);
	b.now += 1;
	ack(&b, 4 * RTT, true);
	cwnd *= 1 - 0.8 * 3 / 4 < 0.5 ? 0.5 : 1 - 0.8 * 3 / 4;
	expect_window(&b, cwnd);
	control_close(&b);
}

/* update_delay: what counts is the average, in which unmarked delay is a quarter of a round trip */
static void the_average_decides(void **state)
{
	struct control_bench b;
	double average = 6; /* half of the round trip that the loss stands for */

	(void)state;
	open_below(&b, ", delay_gain: 0.5, eta: 0, fair: 0");
	b.now += RTT + 1;
	ack(&b, 100 * US, false);
	average = average / 2 + 3.0 / 2;
	ack(&b, 18 * US, true); /* 11.25: not above the target */
	average = average / 2 + 9;
	expect_window(&b, 150000);
	ack(&b, 30 * US, true);
	average = average / 2 + 15;
	expect_window(&b, 150000 * (1 - 0.8 * (average - 12) / average));
	control_close(&b);
}

/* fast_increase: a window's worth without a queue, then a quarter of what arrives */
static void an_empty_fabric_is_filled_fast(void **state)
{
	struct control_bench b;

	(void)state;
	open_below(&b, ", proportional: 0, eta: 0");
	for (unsigned i = 0; i < 100; i++)
		ack(&b, US - 1, false);
	expect_window(&b, 150000);
	for (unsigned i = 1; i < 10; i++) {
		ack(&b, US - 1, false);
		expect_window(&b, 150000 + i * 375);
	}
	ack(&b, US, false); /* a queue: from the start again */
	for (unsigned i = 0; i < 100; i++)
		ack(&b, 0, false);
	expect_window(&b, 150000 + 9 * 375);
	control_close(&b);

	/* it lasts, though the window grows by more than what arrives */
	control_open(
		&b, "nscc: {quick_adapt: off, proportional: 0, eta: 0}", 800000000000, RTT, MTU, 0);
	control_lose(&b, 900000);
	for (unsigned i = 0; i < 610; i++)
		ack(&b, 0, false);
	expect_window(&b, 900000 + 10 * 2 * MTU);
	control_close(&b);
}

/* fulfill_adjustment: eta in each round trip, whatever is heard */
static void it_grows_a_little_anyway(void **state)
{
	struct control_bench b;

	(void)state;
	open_below(&b, ", eta: 0.5");
	for (unsigned i = 1; i < 5; i++) {
		b.now += RTT;
		control_answer(&b, RTT, 0, true, false);
		control_answer(&b, RTT, 0, true, false);
		expect_window(&b, 150000 + i * 750);
	}
	control_close(&b);
}

/* updateCwndOnNack: what is lost is taken off */
static void losses_are_taken_off(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "nscc: {quick_adapt: off}");
	b.unacked = 97000;
	control_answer(&b, US, 0, false, true);
	expect_window(&b, 225000 - MTU);
	b.unacked = 100000;
	control_lose(&b, 25000 - MTU);
	expect_window(&b, 200000);
	control_time_out(&b); /* all that was under way */
	expect_window(&b, 100000);
	control_lose(&b, UINT32_MAX);
	expect_window(&b, MTU);
	control_close(&b);
}

/* Begins a period, loses in it, and lets so many packets arrive; 31500 bytes are under way. */
static void open_period(struct control_bench *b, const char *control, uint32_t packets)
{
	open_at(b, control);
	control_lose(b, MTU);
	expect_window(b, 225000 - MTU);
	b->unacked = 21 * MTU;
	for (uint32_t i = 0; i < packets; i++)
		ack(b, RTT - 1, true); /* no op */
	b->now += 2 * RTT;
}

/* quick_adapt: after a round trip and the target, if less than an eighth of the most arrived */
static void it_adapts_quickly_to_losses(void **state)
{
	struct control_bench b;

	(void)state;
	open_period(&b, "nscc: {eta: 0}", 10);
	control_lose(&b, MTU);
	expect_window(&b, 225000 - 2 * MTU); /* the period is not over */
	b.now += 1;
	control_lose(&b, MTU);
	expect_window(&b, 15000);
	/* what was under way then has no effect any more ... */
	for (unsigned i = 0; i < 20; i++) {
		control_lose(&b, MTU);
		expect_window(&b, 15000);
	}
	/* ... and that was all of it */
	control_lose(&b, MTU);
	expect_window(&b, 15000 - MTU);
	control_close(&b);

	/* an eighth arrived */
	open_period(&b, "nscc: {eta: 0}", 19);
	b.now += 1;
	control_lose(&b, MTU);
	expect_window(&b, 225000 - 2 * MTU);
	control_close(&b);
	open_period(&b, "nscc: {eta: 0, qa_gate: 2}", 19);
	b.now += 1;
	control_lose(&b, MTU);
	expect_window(&b, 19 * MTU);
	control_close(&b);

	/* any answer notices an earlier loss, with what it acknowledges itself, and once */
	open_period(&b, "nscc: {eta: 0, proportional: 0}", 10);
	b.now += 1;
	ack(&b, RTT / 2, false);
	expect_window(&b, 11 * MTU);
	ack(&b, RTT / 2, false);
	b.now += 2 * RTT + 1;
	ack(&b, RTT / 2, false);
	expect_window(&b, 11 * MTU);
	control_close(&b);
}

/* _qa_threshold: four times the target */
static void it_adapts_quickly_to_delay(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct control_bench b;

		(void)state;
		open_at(&b, "nscc: {eta: 0, fair: 0}");
		ack(&b, RTT, false); /* the period begins */
		ack(&b, RTT, false);
		b.now += 2 * RTT + 1;
		ack(&b, 4 * RTT + (unsigned)late, false);
		expect_window(&b, late ? 2 * MTU : 225000);
		control_close(&b);
	}
}

static void windows_stay_within_their_limits(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "nscc: {window: 100000B}");
	for (unsigned i = 0; i < 100; i++)
		ack(&b, 0, false);
	expect_window(&b, 100000);
	control_close(&b);
	control_survives("nscc", CONTROL_WINDOW_MAX);
	control_survives("nscc: {proportional: 1000, fair: 1000, eta: 1000, window: 1600% BDP}",
		CONTROL_WINDOW_MAX);
	control_survives("nscc: {quick_adapt: off, target_delay: 1ns}", CONTROL_WINDOW_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_marks_and_delay_it_grows_in_proportion),
		cmocka_unit_test(unmarked_delay_grows_evenly),
		cmocka_unit_test(a_mark_alone_does_nothing),
		cmocka_unit_test(marks_and_delay_shrink_it),
		cmocka_unit_test(the_average_decides),
		cmocka_unit_test(an_empty_fabric_is_filled_fast),
		cmocka_unit_test(it_grows_a_little_anyway),
		cmocka_unit_test(losses_are_taken_off),
		cmocka_unit_test(it_adapts_quickly_to_losses),
		cmocka_unit_test(it_adapts_quickly_to_delay),
		cmocka_unit_test(windows_stay_within_their_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
