/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "transport/control/strack_window.h"

#define US    1000000ull
#define GBPS  1000000000ull
#define RTT   (12 * US)
#define MTU   1500
#define WHOLE ((double)WINDOW_ONE)

/*
 * 100 Gbps and 12 us, for which table 1 is written: every scaling factor is 1; the BDP is 100
 * packets.
 */
static struct strack_window reference(void)
{
	struct strack_window w;

	strack_window_open(&w, 100 * GBPS, RTT, RTT, RTT, MTU, 100, 0);
	return w;
}

/* The same a round trip later, when the next increase for fairness is not due yet. */
static struct strack_window settled(void)
{
	struct strack_window w = reference();

	w.shuffled_ps = RTT;
	return w;
}

static void near(double value, double want)
{
	if (value < want - 1e-4 || value > want + 1e-4)
		fail_msg("%f is not %f", value, want);
}

static double packets(const struct strack_window *w)
{
	return (double)w->cwnd / WHOLE;
}

static void set(struct strack_window *w, double cwnd, uint64_t avg)
{
	w->cwnd = (uint64_t)(cwnd * WHOLE);
	w->bytes = w->cwnd * w->mtu >> WINDOW_SHIFT;
	w->avg_delay_ps = avg;
}

static void ack(struct strack_window *w, bool marked, uint64_t delay, uint32_t n, uint64_t now)
{
	strack_window_on_ack(w,
		&(struct strack_signal){
			.marked = marked, .delay_ps = delay, .acked_bytes = (uint64_t)n * MTU},
		now);
}

static void first_window_is_the_largest(void **state)
{
	static const struct quantity bdp = {1, QUANTITY_BDP}, more = {1.4, QUANTITY_BDP},
				     bytes = {75000, QUANTITY_BYTES}, none = {1, QUANTITY_BYTES},
				     vast = {1e9, QUANTITY_BYTES};
	struct strack_window w = reference();

	(void)state;
	near(packets(&w), 100);
	assert_int_equal(w.bytes, 150000);
	assert_int_equal(strack_window_packets(100 * GBPS, RTT, 1500, &bdp, 1), 101);
	assert_int_equal(strack_window_packets(400 * GBPS, 8 * US, 4096, &more, 4), 137 + 3);
	assert_int_equal(strack_window_packets(1, 1, 4096, &bdp, 1), 1);
	assert_int_equal(strack_window_packets(100 * GBPS, RTT, 1500, &bytes, 1), 51);
	assert_int_equal(strack_window_packets(100 * GBPS, RTT, 1500, &none, 1), 11);
	assert_int_equal(strack_window_packets(100 * GBPS, RTT, 1500, &vast, 1), 1601);
}

static void line_7_unmarked_and_far_over(void **state)
{
	struct strack_window w = reference();

	(void)state;
	set(&w, 50, 40 * US);
	ack(&w, false, 36 * US + 1, 1, US);
	near(packets(&w), 50 + 5.0 / 50);
	set(&w, 50, 40 * US);
	ack(&w, false, 36 * US + 1, 10, US);
	near(packets(&w), 50 + 10 * 5.0 / 50);
}

static void line_9_unmarked_and_below(void **state)
{
	struct strack_window w = reference();

	(void)state;
	set(&w, 50, 0);
	ack(&w, false, 0, 1, US);
	near(packets(&w), 50 + 4.0 / 50);
	set(&w, 50, 0);
	ack(&w, false, 9 * US, 2, US);
	near(packets(&w), 50 + 2 * 4.0 * 0.25 / 50);
	set(&w, 50, 0);
	ack(&w, false, 9 * US, 0, US); /* nothing new: nothing gained */
	near(packets(&w), 50);
}

static void marked_and_below_changes_nothing(void **state)
{
	struct strack_window w = reference();

	(void)state;
	set(&w, 50, 0);
	ack(&w, true, 0, 4, RTT - 1);
	near(packets(&w), 50);
}

static void line_12_takes_what_was_achieved(void **state)
{
	struct strack_window w = settled();

	(void)state;
	set(&w, 50, 40 * US);
	w.achieved_bytes = 5 * MTU;
	ack(&w, true, 36 * US + 1, 1, RTT + 1);
	near(packets(&w), 5);
	assert_int_equal(w.decreased_ps, RTT + 1);

	/* at an eighth of the largest window it is no longer taken: half is cut instead */
	w = settled();
	set(&w, 50, 400 * US);
	w.achieved_bytes = 100 * MTU / 8;
	ack(&w, true, 36 * US + 1, 1, RTT + 1);
	near(packets(&w), 25);

	/* it is a decrease: what was achieved in better times does not raise the window */
	w = settled();
	set(&w, 3, 40 * US);
	w.achieved_bytes = 5 * MTU;
	ack(&w, true, 36 * US + 1, 1, RTT + 1);
	near(packets(&w), 3);
}

static void nothing_achieved_never_becomes_the_window(void **state)
{
	struct strack_window w = settled();

	(void)state;
	set(&w, 50, 400 * US);
	w.achieved_bytes = 0;
	ack(&w, true, 36 * US + 1, 1, RTT + 1);
	near(packets(&w), 25);
}

static void line_15_cuts_by_the_average(void **state)
{
	struct strack_window w = settled();

	(void)state;
	set(&w, 50, 16 * US);
	ack(&w, true, 16 * US, 1, RTT + 1); /* the average stays */
	near(packets(&w), 50 * (1 - 0.8 * 4 / 16));
	assert_int_equal(w.decreased_ps, RTT + 1);

	/* unmarked between target and high counts as congested too */
	w = settled();
	set(&w, 50, 16 * US);
	ack(&w, false, 16 * US, 1, RTT + 1);
	near(packets(&w), 40);

	/* never more than half */
	w = settled();
	set(&w, 50, 30 * US);
	w.avg_delay_ps = 1000 * US;
	ack(&w, true, 20 * US, 1, RTT + 1);
	near(packets(&w), 25);
}

static void what_holds_a_decrease_back(void **state)
{
	struct strack_window w = settled();

	(void)state;
	set(&w, 50, 16 * US);
	ack(&w, true, 16 * US, 1, RTT); /* not yet longer than a base RTT */
	near(packets(&w), 50);
	ack(&w, true, 16 * US, 1, RTT + 1);
	near(packets(&w), 40);
	ack(&w, true, 16 * US, 1, RTT + 2); /* once a base RTT */
	near(packets(&w), 40);

	w = settled();
	set(&w, 50, 0);
	ack(&w, true, 16 * US, 1, RTT + 1); /* one late packet is not the average */
	near(packets(&w), 50);

	w = settled();
	set(&w, 50, 16 * US);
	ack(&w, true, 12 * US, 1, RTT + 1); /* the average is over, this packet is not */
	near(packets(&w), 50);
}

static void line_20_adds_eta_a_round_trip(void **state)
{
	struct strack_window w = reference();

	(void)state;
	set(&w, 50, 0);
	ack(&w, true, 0, 1, RTT);
	near(packets(&w), 50);
	ack(&w, true, 0, 1, RTT + 1);
	near(packets(&w), 50.15);
	ack(&w, true, 0, 1, RTT + 2);
	near(packets(&w), 50.15);
	ack(&w, true, 0, 1, 2 * RTT + 2);
	near(packets(&w), 50.30);
}

static void the_window_stays_between_one_packet_and_its_maximum(void **state)
{
	struct strack_window w = reference();

	(void)state;
	ack(&w, false, 0, 100, RTT + 1);
	near(packets(&w), 100);
	for (uint64_t i = 2; i < 200; i++)
		ack(&w, true, 30 * US, 1, i * (RTT + 1));
	assert_true(w.cwnd >= WINDOW_ONE);
	assert_true(packets(&w) < 1.4);
	assert_true(w.bytes >= MTU);
	set(&w, 1, 40 * US);
	w.shuffled_ps = ~0ull >> 1;
	w.achieved_bytes = 1;
	w.decreased_ps = 0;
	w.rx_cleared_ps = ~0ull >> 1;
	ack(&w, true, 40 * US, 1, (~0ull >> 1) + RTT / 2);
	near(packets(&w), 1);
}

static void algorithm_2(void **state)
{
	struct strack_window w = reference();
	struct strack_signal probe = {.probe = true, .acked_bytes = 7 * MTU};

	(void)state;
	/* the first period begins with the first answer */
	ack(&w, false, 0, 9, 5 * RTT);
	ack(&w, false, 0, 3, 5 * RTT + 10);
	ack(&w, false, 0, 4, 7 * RTT); /* not yet longer than base RTT and target */
	assert_int_equal(w.achieved_bytes, 0);
	strack_window_on_ack(&w, &probe, 7 * RTT);
	ack(&w, false, 0, 1, 7 * RTT + 1);
	assert_int_equal(w.achieved_bytes, 8 * MTU);
	ack(&w, false, 0, 0, 9 * RTT + 2);
	assert_int_equal(w.achieved_bytes, 0);
}

static void the_base_only_sinks(void **state)
{
	struct strack_window w = reference();

	(void)state;
	assert_int_equal(strack_window_delay(&w, RTT + 5, true), 5);
	assert_int_equal(strack_window_delay(&w, RTT - 10, false), 0);
	assert_int_equal(w.base_rtt_ps, RTT);
	assert_int_equal(strack_window_delay(&w, RTT - 10, true), 0);
	assert_int_equal(w.base_rtt_ps, RTT - 10);
	assert_int_equal(strack_window_delay(&w, RTT, true), 10);
}

/*
 * One SACK of four packets moves the window as four SACKs of one do, but for what they change
 * between.
 */
static void coalescing_changes_little(void **state)
{
	static const uint64_t delays[] = {0, 6 * US, 40 * US};

	(void)state;
	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		struct strack_window one = reference(), four = reference();

		set(&one, 20, 0);
		set(&four, 20, 0);
		for (uint64_t n = 0; n < 40; n++)
			ack(&one, false, delays[i], 1, n);
		for (uint64_t n = 0; n < 10; n++)
			ack(&four, false, delays[i], 4, n);
		/* the average is one of SACKs: after 40 of them it has arrived */
		assert_true(one.avg_delay_ps >= four.avg_delay_ps);
		assert_true(one.avg_delay_ps >= delays[i] * 99 / 100);
		if (packets(&four) < packets(&one) || packets(&four) > packets(&one) * 1.01)
			fail_msg("%f and %f", packets(&one), packets(&four));
	}
}

/* The sample of a path counts once, however many packets the SACK stands for. */
static void the_average_takes_one_sample_a_sack(void **state)
{
	struct strack_window w = reference();

	(void)state;
	ack(&w, true, 8 * US, 32, 1);
	assert_int_equal(w.avg_delay_ps, US);
}

/* A probe's answer stands for a round where the queue has gone: STrack, 3, scenario 4. */
static void a_late_probe_without_a_mark_is_a_round(void **state)
{
	struct strack_window w = reference();
	struct strack_signal probe = {.probe = true, .delay_ps = 40 * US};

	(void)state;
	set(&w, 10, 0);
	strack_window_on_ack(&w, &probe, 1);
	near(packets(&w), 15);
	set(&w, 10, 0);
	probe.marked = true;
	strack_window_on_ack(&w, &probe, 2);
	assert_true(packets(&w) <= 10);
}

/* A flow over fewer links starts from its own RTT; table 1 scales by the fabric's. */
static void a_flow_has_its_own_base(void **state)
{
	struct strack_window w;

	(void)state;
	strack_window_open(&w, 100 * GBPS, RTT, RTT / 3, RTT, MTU, 100, 0);
	assert_int_equal(strack_window_delay(&w, RTT, true), RTT - RTT / 3);
	assert_int_equal(w.target_ps, RTT);
	assert_int_equal(w.alpha, reference().alpha);
	assert_int_equal(w.alpha_ps, reference().alpha_ps);
}

/* Table 1, in floating point, against what a window gains in a round. */
static void scales_with_rate_and_round_trip(void **state)
{
	static const uint64_t gbps[] = {10, 25, 100, 200, 400, 800, 1600};
	static const uint64_t us[] = {2, 5, 8, 12, 20, 50, 100, 10000};

	(void)state;
	for (size_t i = 0; i < sizeof(gbps) / sizeof(gbps[0]); i++) {
		for (size_t j = 0; j < sizeof(us) / sizeof(us[0]); j++) {
			double bdp = (double)(gbps[i] * us[j]) * 1000 / 8, sf = bdp / 150000;
			double delay_sf = us[j] < 12 ? (double)us[j] / 12 : 1;
			struct strack_window w;

			strack_window_open(&w, gbps[i] * GBPS, us[j] * US, us[j] * US, us[j] * US,
				MTU, 1 << 20, 0);
			/* one window's worth acknowledged adds the whole of it */
			set(&w, 1000, 0);
			ack(&w, false, 0, 1000, 1);
			near(packets(&w) / (1000 + 4 * sf * delay_sf), 1);
			set(&w, 1000, 0);
			ack(&w, false, 4 * us[j] * US, 1000, 1);
			near(packets(&w) / (1000 + 5 * sf), 1);
			set(&w, 1000, 0);
			ack(&w, true, 0, 1, us[j] * US + 1);
			near(packets(&w) / (1000 + 0.15 * sf), 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_window_is_the_largest),
		cmocka_unit_test(the_average_takes_one_sample_a_sack),
		cmocka_unit_test(a_late_probe_without_a_mark_is_a_round),
		cmocka_unit_test(a_flow_has_its_own_base),
		cmocka_unit_test(line_7_unmarked_and_far_over),
		cmocka_unit_test(line_9_unmarked_and_below),
		cmocka_unit_test(marked_and_below_changes_nothing),
		cmocka_unit_test(line_12_takes_what_was_achieved),
		cmocka_unit_test(nothing_achieved_never_becomes_the_window),
		cmocka_unit_test(line_15_cuts_by_the_average),
		cmocka_unit_test(what_holds_a_decrease_back),
		cmocka_unit_test(line_20_adds_eta_a_round_trip),
		cmocka_unit_test(the_window_stays_between_one_packet_and_its_maximum),
		cmocka_unit_test(algorithm_2),
		cmocka_unit_test(the_base_only_sinks),
		cmocka_unit_test(coalescing_changes_little),
		cmocka_unit_test(scales_with_rate_and_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
