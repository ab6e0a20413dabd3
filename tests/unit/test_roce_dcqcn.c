/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DCQCN's reaction point against closed forms, on 40 Gbps with its paper's values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/wiretime.h"
#include "transport/control/dcqcn.h"

#define US    1000000ull
#define LINE  40000000000ull
#define AI    40000000ull
#define HAI   200000000ull
#define BYTES 10000000ull
#define FRAME 4154u
#define EPS   200.0 /* bps: alpha has 30 bits, of which one is 37 bps here */

static const struct dcqcn_params paper = {
	.line_bps = LINE,
	.min_bps = LINE / 1000,
	.additive_bps = AI,
	.hyper_bps = HAI,
	.increase_ps = 55 * US,
	.increase_bytes = BYTES,
	.alpha_ps = 55 * US,
	.alpha_start = DCQCN_ALPHA_ONE,
	.gain = DCQCN_ALPHA_ONE / 256,
	.rounds = 5,
};

/* No rounds of the byte counter, whatever is sent. */
static struct dcqcn_params timer_only(void)
{
	struct dcqcn_params p = paper;

	p.increase_bytes = UINT64_MAX;
	return p;
}

static void expect(uint64_t have, double want)
{
	if (fabs((double)have - want) > EPS)
		fail_msg("%llu instead of %.1f", (unsigned long long)have, want);
}

static double alpha_of(const struct dcqcn *d)
{
	return (double)d->alpha / DCQCN_ALPHA_ONE;
}

static void starts_at_line_rate(void **state)
{
	struct dcqcn d;

	(void)state;
	dcqcn_open(&d, &paper);
	for (uint64_t now = 0; now < 1000 * US; now += US) {
		assert_int_equal(dcqcn_ready(&d, &paper, now), 0);
		dcqcn_on_send(&d, &paper, FRAME, now);
	}
	assert_int_equal(d.rate_bps, LINE);
	assert_int_equal(d.alpha, DCQCN_ALPHA_ONE);
}

/*
 * R_C (1 - alpha/2), alpha (1 - g) + g: at once after one another, so that no timer comes
 * between.
 */
static void a_cut_is_half_alpha(void **state)
{
	struct dcqcn_params p = timer_only();
	double rate = LINE, alpha = 1;
	struct dcqcn d;

	(void)state;
	p.min_bps = 1;
	dcqcn_open(&d, &p);
	d.alpha = DCQCN_ALPHA_ONE / 4;
	alpha = 0.25;
	for (uint64_t now = 1; now < 100; now++) {
		dcqcn_on_cnp(&d, &p, now);
		expect(d.target_bps, rate);
		rate *= 1 - alpha / 2;
		alpha = alpha * 255 / 256 + 1 / 256.0;
		expect(d.rate_bps, rate);
		assert_true(fabs(alpha_of(&d) - alpha) < 1e-6);
	}
}

static void the_first_cut_halves(void **state)
{
	struct dcqcn d;

	(void)state;
	dcqcn_open(&d, &paper);
	dcqcn_on_cnp(&d, &paper, 1);
	assert_int_equal(d.rate_bps, LINE / 2);
	assert_int_equal(d.target_bps, LINE);
	assert_int_equal(d.alpha, DCQCN_ALPHA_ONE);
}

/* What the timer did before a notification counts, though nobody had looked. */
static void a_cut_is_of_the_rate_that_holds(void **state)
{
	struct dcqcn d;
	double left;

	(void)state;
	dcqcn_open(&d, &paper);
	dcqcn_on_cnp(&d, &paper, 1);
	dcqcn_on_cnp(&d, &paper, 1 + 110 * US);
	expect(d.target_bps, LINE * 0.875);
	dcqcn_open(&d, &paper);
	dcqcn_on_loss(&d, &paper, 1);
	dcqcn_on_cnp(&d, &paper, 1 + 110 * US);
	expect(d.target_bps, LINE * (1 - 0.999 / 4));
	/* and a loss keeps the target that the additive rounds have led to */
	for (int i = 0; i < 3; i++)
		dcqcn_on_cnp(&d, &paper, 1 + 111 * US);
	left = (double)d.target_bps;
	dcqcn_on_loss(&d, &paper, 1 + (111 + 8 * 55) * US);
	expect(d.target_bps, left + 3.0 * AI);
}

/* (1 - g)^n after n times K without a notification, whoever looks and how often. */
static void alpha_decays(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 600; n += 7) {
		struct dcqcn d;
		double alpha = pow(255 / 256.0, n);

		dcqcn_open(&d, &paper);
		dcqcn_on_cnp(&d, &paper, 1);
		dcqcn_on_cnp(&d, &paper, 1 + n * 55 * US + 54 * US);
		alpha = alpha * 255 / 256 + 1 / 256.0;
		assert_true(fabs(alpha_of(&d) - alpha) < 1e-5);
	}
}

/* The distance to the target is halved five times; the sixth round moves the target. */
static void five_rounds_of_fast_recovery(void **state)
{
	struct dcqcn_params p = timer_only();
	struct dcqcn d;
	double target, rate;

	(void)state;
	dcqcn_open(&d, &p);
	for (int i = 0; i < 3; i++)
		dcqcn_on_cnp(&d, &p, 1);
	target = (double)d.target_bps;
	rate = (double)d.rate_bps;
	for (int round = 1; round <= 5; round++) {
		dcqcn_ready(&d, &p, round * 55 * US); /* 1 ps too early */
		expect(d.rate_bps, target - (target - rate) / pow(2, round - 1));
		dcqcn_ready(&d, &p, 1 + round * 55 * US);
		expect(d.rate_bps, target - (target - rate) / pow(2, round));
		expect(d.target_bps, target);
	}
	rate = (double)d.rate_bps;
	for (int round = 6; round < 60; round++) {
		dcqcn_ready(&d, &p, 1 + round * 55 * US);
		target += AI;
		rate = (rate + target) / 2;
		expect(d.target_bps, target);
		expect(d.rate_bps, rate);
	}
}

/* Both counters past F: the target grows by i R_HAI, i the rounds beyond F that both have had. */
static void hyper_increase(void **state)
{
	struct dcqcn_params p = paper;
	struct dcqcn d;
	double target, rate;

	(void)state;
	p.increase_bytes = FRAME;
	dcqcn_open(&d, &p);
	for (int i = 0; i < 8; i++)
		dcqcn_on_cnp(&d, &p, 1);
	dcqcn_ready(&d, &p, 1 + 7 * 55 * US); /* seven rounds of the timer: two of them additive */
	assert_int_equal(d.timer_rounds, 7);
	target = (double)d.target_bps;
	rate = (double)d.rate_bps;
	for (int round = 1; round <= 9; round++) {
		dcqcn_on_send(&d, &p, FRAME, 1 + 7 * 55 * US);
		target += round > 5 ? HAI * (round < 7 ? round - 5 : 2) : AI;
		rate = (rate + target) / 2;
		expect(d.target_bps, target);
		expect(d.rate_bps, rate);
	}
	assert_int_equal(d.byte_rounds, 9);
}

static void the_byte_counter_counts_frames(void **state)
{
	struct dcqcn_params p = paper;
	uint64_t sent = 0, last = 0;
	struct dcqcn d;

	(void)state;
	p.increase_ps = 1000000 * US;
	dcqcn_open(&d, &p);
	dcqcn_on_cnp(&d, &p, 1);
	for (uint64_t now = 2; d.byte_rounds < 4; now++) {
		sent += FRAME;
		dcqcn_on_send(&d, &p, FRAME, now);
		assert_int_equal(d.byte_rounds, sent / BYTES);
		last = now;
	}
	assert_true(last > 4 * BYTES / FRAME);
	dcqcn_on_cnp(&d, &p, last + 1); /* which starts all over */
	assert_int_equal(d.byte_rounds, 0);
	assert_int_equal(d.bytes, 0);
}

static void rates_stay_within_their_bounds(void **state)
{
	struct dcqcn d;

	(void)state;
	dcqcn_open(&d, &paper);
	for (uint64_t now = 1; now < 1000; now++) {
		dcqcn_on_cnp(&d, &paper, now);
		assert_true(d.rate_bps >= LINE / 1000);
	}
	assert_int_equal(d.rate_bps, LINE / 1000);
	/* 1,000 additive rounds lead back, and five before, and some halves after */
	dcqcn_ready(&d, &paper, 1040 * 55 * US);
	assert_int_equal(d.rate_bps, LINE);
	assert_int_equal(d.target_bps, LINE);
	assert_false(d.limited);
}

/* The gap between two frames is the frame's time at the rate that holds, whenever it changes. */
static void frames_are_paced(void **state)
{
	struct dcqcn_params p = timer_only();
	uint64_t start, half, ready;
	double left;
	struct dcqcn d;

	(void)state;
	dcqcn_open(&d, &p);
	dcqcn_on_cnp(&d, &p, 1);
	start = 10 * US;
	half = serialise_ps(FRAME, LINE / 2);
	assert_int_equal(dcqcn_ready(&d, &p, start), 0);
	dcqcn_on_send(&d, &p, FRAME, start);
	assert_int_equal(dcqcn_ready(&d, &p, start), start + half);
	/* half way a second cut to a quarter: what is left of the gap doubles */
	dcqcn_on_cnp(&d, &p, start + half / 2);
	expect(dcqcn_ready(&d, &p, start + half / 2), (double)start + (double)half * 1.5);

	/* from the lowest rate a round of the timer ends a wait that would have lasted 845 us */
	dcqcn_open(&d, &p);
	dcqcn_on_loss(&d, &p, 1);
	dcqcn_on_send(&d, &p, FRAME, 1);
	ready = 1 + serialise_ps(FRAME, LINE / 1000);
	assert_int_equal(d.ready_ps, ready);
	assert_int_equal(dcqcn_ready(&d, &p, 2), 1 + 55 * US); /* look again then */
	ready = dcqcn_ready(&d, &p, 1 + 55 * US);
	assert_int_equal(ready, d.ready_ps);
	left = (double)(serialise_ps(FRAME, LINE / 1000) - 55 * US);
	expect(ready, 1 + 55e6 + left * (LINE / 1000.0) / (LINE / 1000.0 + LINE * 0.999 / 2));
}

/* Slow restart: the rate falls to the lowest, the target stays. */
static void a_loss_restarts_slowly(void **state)
{
	struct dcqcn d;

	(void)state;
	dcqcn_open(&d, &paper);
	dcqcn_on_loss(&d, &paper, 1);
	assert_int_equal(d.rate_bps, LINE / 1000);
	assert_int_equal(d.target_bps, LINE);
	assert_int_equal(d.alpha, DCQCN_ALPHA_ONE);
	for (int round = 1; round <= 8; round++) {
		dcqcn_ready(&d, &paper, 1 + round * 55 * US);
		expect(d.rate_bps, LINE - LINE * 0.999 / pow(2, round));
		assert_int_equal(d.target_bps, LINE);
	}
	dcqcn_on_loss(&d, &paper, 9 * 55 * US);
	assert_int_equal(d.target_bps, LINE);
}

/* As in NICs: of cuts without a timer round between them only the first moves the target. */
static void a_target_may_be_kept(void **state)
{
	struct dcqcn_params p = timer_only();
	struct dcqcn d;
	double rate;

	(void)state;
	p.keep_target = true;
	dcqcn_open(&d, &p);
	for (uint64_t now = 1; now < 5; now++)
		dcqcn_on_cnp(&d, &p, now);
	assert_int_equal(d.target_bps, LINE);
	assert_int_equal(d.rate_bps, LINE / 16);
	/* half way back at one blow; a cut after that is of what it has reached */
	rate = (LINE / 16.0 + LINE) / 2;
	for (uint64_t now = 5; now < 8; now++) {
		dcqcn_on_cnp(&d, &p, now + 55 * US);
		expect(d.target_bps, rate);
	}
}

/* Without a byte counter, by the timer alone: F halves, one additive step, then R_HAI. */
static void no_byte_counter(void **state)
{
	struct dcqcn_params p = paper;
	struct dcqcn d;
	double target, rate;

	(void)state;
	p.increase_bytes = 0;
	p.rounds = 2;
	dcqcn_open(&d, &p);
	for (int i = 0; i < 8; i++)
		dcqcn_on_cnp(&d, &p, 1);
	for (int i = 0; i < 1000; i++)
		dcqcn_on_send(&d, &p, FRAME, 1);
	assert_int_equal(d.byte_rounds, 0);
	target = (double)d.target_bps;
	rate = (double)d.rate_bps;
	for (int round = 1; round <= 9; round++) {
		dcqcn_ready(&d, &p, 1 + round * 55 * US);
		target += round > 3 ? HAI : round > 2 ? AI : 0;
		rate = (rate + target) / 2;
		expect(d.target_bps, target);
		expect(d.rate_bps, rate);
	}
}

/* The first cut is of half the alpha that a flow starts with, which then moves by the gain. */
static void alpha_starts_and_moves_as_told(void **state)
{
	struct dcqcn_params p = timer_only();
	struct dcqcn d;

	(void)state;
	p.alpha_start = DCQCN_ALPHA_ONE / 2;
	p.gain = DCQCN_ALPHA_ONE / 4;
	dcqcn_open(&d, &p);
	dcqcn_on_cnp(&d, &p, 1);
	assert_int_equal(d.rate_bps, LINE / 4 * 3);
	assert_true(alpha_of(&d) == 0.625);
	dcqcn_on_cnp(&d, &p, 1 + 54 * US);
	assert_true(alpha_of(&d) == 0.71875);
	dcqcn_on_cnp(&d, &p, 1 + (54 + 2 * 55) * US);
	assert_true(fabs(alpha_of(&d) - (0.71875 * 9 / 16 * 3 / 4 + 0.25)) < 1e-8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_at_line_rate),
		cmocka_unit_test(the_first_cut_halves),
		cmocka_unit_test(a_cut_is_half_alpha),
		cmocka_unit_test(a_cut_is_of_the_rate_that_holds),
		cmocka_unit_test(alpha_decays),
		cmocka_unit_test(five_rounds_of_fast_recovery),
		cmocka_unit_test(hyper_increase),
		cmocka_unit_test(the_byte_counter_counts_frames),
		cmocka_unit_test(rates_stay_within_their_bounds),
		cmocka_unit_test(frames_are_paced),
		cmocka_unit_test(a_loss_restarts_slowly),
		cmocka_unit_test(a_target_may_be_kept),
		cmocka_unit_test(no_byte_counter),
		cmocka_unit_test(alpha_starts_and_moves_as_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
