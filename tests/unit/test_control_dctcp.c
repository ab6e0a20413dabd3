/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DCTCP by RFC 8257, and without marks NewReno by RFC 5681 and 6582. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "control_fixture.h"

#define MTU 1000
#define RTT (10 * US)

static void open_at(struct control_bench *b, const char *control)
{
	control_open(b, control, 100000000000, RTT, MTU, PS_PER_S);
}

/* A packet is acknowledged of a window that is full. */
static void ack(struct control_bench *b, bool marked)
{
	b->unacked = (uint32_t)(control_window_now(b) / MTU - 1) * MTU;
	control_answer(b, RTT, MTU, marked, false);
}

/* Out of slow start, with a window of so many packets and alpha 1. */
static void open_steady(struct control_bench *b, uint32_t packets)
{
	char text[64];

	snprintf(text, sizeof(text), "dctcp: {initial_window: %u}", 2 * packets);
	open_at(b, text);
	b->unacked = 2 * packets * MTU;
	control_lose(b, MTU);
	expect_window(b, packets * MTU);
	b->now += RTT;
	b->unacked = packets * MTU;
	/* all that was under way: recovery is over */
	control_answer(b, RTT, 2 * packets * MTU, false, false);
	expect_window(b, packets * MTU);
	b->now += RTT;
}

/* RFC 6928; RFC 5681, equation 2: min(N, SMSS) for each answer, a doubling in a round trip */
static void a_window_starts_small_and_doubles(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "dctcp");
	expect_window(&b, 10 * MTU);
	b.now += RTT;
	for (unsigned i = 0; i < 10; i++)
		ack(&b, false);
	expect_window(&b, 20 * MTU);
	control_answer(&b, RTT, 300, false, false);
	expect_window(&b, 20 * MTU + 300);
	control_answer(&b, RTT, 5 * MTU, false, false);
	expect_window(&b, 21 * MTU + 300);
	control_answer(&b, RTT, 0, false, false);
	expect_window(&b, 21 * MTU + 300);
	control_close(&b);
}

/* RFC 5681, section 3.1: a packet in a round trip */
static void past_slow_start_it_grows_a_packet_a_round_trip(void **state)
{
	struct control_bench b;
	double cwnd = 50 * MTU;

	(void)state;
	open_steady(&b, 50);
	for (unsigned i = 0; i < 50; i++) {
		ack(&b, false);
		cwnd += MTU * (MTU / cwnd);
		expect_window(&b, cwnd);
	}
	assert_in_range(control_window_now(&b), 50 * MTU + 980, 51 * MTU);
	control_close(&b);
}

/* What is not used does not grow: RFC 7661. */
static void a_window_that_is_not_filled_stays(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "dctcp: {initial_window: 100}");
	b.unacked = 48 * MTU;
	control_answer(&b, RTT, MTU, false, false); /* 49 of 100 */
	expect_window(&b, 100 * MTU);
	b.unacked = 50 * MTU;
	control_answer(&b, RTT, MTU, false, false);
	expect_window(&b, 101 * MTU);
	control_close(&b);
	open_steady(&b, 50);
	b.unacked = 47 * MTU;
	control_answer(&b, RTT, MTU, false, false); /* 48 of 50 */
	expect_window(&b, 50 * MTU);
	control_close(&b);
}

/*
 * RFC 8257, section 3.3: alpha = alpha * (1 - g) + g * M, once a window, and cwnd * (1 - alpha / 2)
 */
static void marks_cut_by_alpha(void **state)
{
	struct control_bench b;
	double alpha = 1;

	(void)state;
	open_at(&b, "dctcp: {gain: 0.25, initial_window: 100}");
	/* the first answer ends the window that the first packet began: M = 0 */
	b.now += RTT;
	control_answer(&b, RTT, MTU, false, false);
	alpha *= 0.75;
	/* a window of 8 packets, 2 of them marked: not yet in alpha at the first mark */
	b.now += RTT / 2;
	control_answer(&b, RTT, 2 * MTU, true, false);
	expect_window(&b, 100 * MTU * (1 - alpha / 2));
	control_answer(&b, RTT, 5 * MTU, false, false);
	b.now += RTT / 2;
	control_answer(&b, RTT, MTU, false, false); /* it left as the second window began */
	alpha = alpha * 0.75 + 0.25 * 2 / 8;
	expect_window(&b, 100 * MTU * (1 - 0.75 / 2));
	/* what left after the cut is marked, and is all of its window */
	b.now += RTT;
	control_answer(&b, RTT / 2, MTU, true, false);
	alpha = alpha * 0.75 + 0.25;
	expect_window(&b, 100 * MTU * (1 - 0.75 / 2) * (1 - alpha / 2));
	control_close(&b);
}

/* "DCTCP does not react to congestion indications more than once for every window of data." */
static void marks_cut_once_a_window(void **state)
{
	struct control_bench b;
	uint64_t cut;

	(void)state;
	open_steady(&b, 64);
	ack(&b, true);
	cut = control_window_now(&b);
	assert_in_range(cut, 32 * MTU, 40 * MTU);
	for (unsigned i = 0; i < 63; i++) {
		b.now += RTT / 64;
		ack(&b, true); /* they left before, and marked answers do not increase either */
		assert_int_equal(control_window_now(&b), cut);
	}
	b.now += RTT / 64 + 64;
	ack(&b, true);
	assert_in_range(control_window_now(&b), cut / 2, cut * 6 / 10);
	control_close(&b);
}

/* Without marks alpha goes to 0, and a mark then costs next to nothing. */
static void alpha_fades(void **state)
{
	struct control_bench b;
	uint64_t before;

	(void)state;
	open_steady(&b, 64);
	for (unsigned i = 0; i < 200; i++) {
		b.now += RTT;
		ack(&b, false);
	}
	before = control_window_now(&b);
	ack(&b, true);
	assert_in_range(control_window_now(&b), before - 10, before);
	control_close(&b);
}

/* RFC 6582, section 3.2: half, and no more until all that was under way then has arrived */
static void losses_halve_once_a_window(void **state)
{
	for (int trimmed = 0; trimmed < 2; trimmed++) {
		struct control_bench b;

		(void)state;
		open_steady(&b, 50);
		for (unsigned i = 0; i < 50; i++) {
			b.now += RTT / 50;
			if (trimmed) {
				b.unacked = 49 * MTU; /* without it */
				control_answer(&b, RTT, 0, false, true);
			} else {
				control_lose(&b, MTU);
			}
			expect_window(&b, 25 * MTU);
			control_answer(&b, RTT, MTU, i == 7, false);
			expect_window(&b, 25 * MTU); /* nor does it grow, nor do marks matter */
		}
		b.now += RTT;
		b.unacked = 25 * MTU;
		control_answer(&b, RTT, MTU, false, false);
		expect_window(&b, 25 * MTU + 40);
		control_lose(&b, MTU);
		expect_window(&b, 12500); /* what is under way counts, and not the window */
		control_close(&b);
	}
}

/* RFC 5681, equation 4 and section 3.1 */
static void timeouts_start_again_at_one_packet(void **state)
{
	struct control_bench b;

	(void)state;
	open_steady(&b, 50);
	control_time_out(&b);
	expect_window(&b, MTU);
	control_time_out(&b); /* in a row: ssthresh stays */
	expect_window(&b, MTU);
	b.now += RTT;
	for (unsigned i = 0; i < 24; i++)
		ack(&b, false);
	expect_window(&b, 25 * MTU);
	ack(&b, false); /* ssthresh is 25 packets */
	expect_window(&b, 25 * MTU + 40);
	/* a loss at one packet: ssthresh is 2 packets, and the window is not raised to it */
	control_time_out(&b);
	b.unacked = 0;
	control_lose(&b, MTU);
	expect_window(&b, MTU);
	control_answer(&b, RTT, MTU, false, false); /* what was missing */
	b.now += 2 * RTT;
	for (unsigned i = 0; i < 2; i++)
		ack(&b, false);
	expect_window(&b, 2 * MTU + MTU / 2);
	control_close(&b);
}

/* Marks and losses leave two packets. */
static void windows_stay_within_their_limits(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "dctcp: {initial_window: 3, gain: 1}");
	for (unsigned i = 0; i < 3; i++) {
		b.now += 2 * RTT;
		ack(&b, true);
	}
	expect_window(&b, 2 * MTU);
	control_lose(&b, MTU);
	expect_window(&b, 2 * MTU);
	control_close(&b);
	control_survives("dctcp", CONTROL_WINDOW_MAX);
	control_survives("dctcp: {gain: 1, initial_window: 1000000}", CONTROL_WINDOW_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_starts_small_and_doubles),
		cmocka_unit_test(past_slow_start_it_grows_a_packet_a_round_trip),
		cmocka_unit_test(a_window_that_is_not_filled_stays),
		cmocka_unit_test(marks_cut_by_alpha),
		cmocka_unit_test(marks_cut_once_a_window),
		cmocka_unit_test(alpha_fades),
		cmocka_unit_test(losses_halve_once_a_window),
		cmocka_unit_test(timeouts_start_again_at_one_packet),
		cmocka_unit_test(windows_stay_within_their_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
