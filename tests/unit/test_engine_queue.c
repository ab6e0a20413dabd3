/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One egress queue: how long packets wait in it, what it holds, and what it marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/datagram.h"
#include "lib/small_net.h"

#define FOREVER (1000 * PS_PER_S)
#define MTU     4096u
#define FRAME   (MTU + 74u)
#define RATE    (100 * GBPS)
#define FAST    (100000 * GBPS) /* arrivals are then as far apart as they were sent */
#define DELAY   1000000u

/* ---- Poisson arrivals ----------------------------------------------------------------------- */

/*
 * What each packet should find, by Lindley's recursion from the times at which it was sent: first
 * at its host's line, then at the queue that is measured.
 */
struct reckoning {
	uint64_t first_ser_ps, second_ser_ps;
	uint64_t first_free_ps, second_free_ps;
	uint64_t packets, wrong;
	double wait_ps;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void reckon(void *arg, const struct datagram *d)
{
	struct reckoning *r = arg;
	uint64_t at;

	r->first_free_ps = later(d->due_ps, r->first_free_ps) + r->first_ser_ps;
	at = r->first_free_ps + DELAY;
	r->wait_ps += (double)(later(at, r->second_free_ps) - at);
	r->second_free_ps = later(at, r->second_free_ps) + r->second_ser_ps;
	r->wrong += d->now_ps != r->second_free_ps + DELAY;
	r->packets++;
}

/* Mean wait over that of M/D/1, rho / (2 mu (1 - rho)) (Pollaczek 1930, Khinchine 1932). */
static double mean_wait_over_md1(uint64_t seed, double load, uint64_t packets)
{
	struct reckoning r = {.first_ser_ps = serialise_ps(FRAME, FAST),
		.second_ser_ps = serialise_ps(FRAME, RATE)};
	double service = (double)r.second_ser_ps;
	struct datagram_options o = {.mean_gap_ps = (uint64_t)(service / load),
		.linger_ps = PS_PER_S,
		.arrived = reckon,
		.arg = &r};
	const struct small_config c = {
		.transport = &datagram_transport, .options = &o, .seed = seed};
	struct small_net s;

	small_net_star(&s, 2, RATE, FAST, DELAY);
	small_net_open(&s, &c);
	small_net_flow(&s, 1, 0, packets * MTU, 0);
	small_net_run(&s, FOREVER);
	assert_int_equal(r.packets, packets);
	assert_int_equal(r.wrong, 0);
	assert_int_equal(engine_check_balance(s.engine), 0);
	small_net_close(&s);
	return r.wait_ps / (double)packets / (load * service / (2 * (1 - load)));
}

static void poisson_waits_as_md1(void **state)
{
	/* standard deviation: 1% over 1 million packets, 0.6% over 3, 0.2% over 40 */
	uint64_t seeds = getenv("FABRICBED_LONG") ? 40 : 3, packets = 1000000;
	double sum = 0, bound = seeds > 3 ? 0.005 : 0.015;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		double ratio = mean_wait_over_md1(seed, 0.8, packets);

		print_message("# load 0.8, seed %2u: %.4f of M/D/1\n", (unsigned)seed, ratio);
		assert_true(fabs(ratio - 1) < 0.03);
		sum += ratio;
	}
	assert_true(fabs(sum / (double)seeds - 1) < bound);
}

static void light_load_waits_less(void **state)
{
	double ratio = mean_wait_over_md1(7, 0.3, 200000);

	(void)state;
	print_message("# load 0.3: %.4f of M/D/1\n", ratio);
	assert_true(ratio > 0.97 && ratio < 1.03);
}

/* ---- bursts into one queue ------------------------------------------------------------------ */

#define BURST 20

struct seen {
	bool came[BURST], marked[BURST];
};

static void note(void *arg, const struct datagram *d)
{
	struct seen *s = arg;

	assert_in_range(d->number, 0, BURST - 1);
	assert_false(s->came[d->number]);
	s->came[d->number] = true;
	s->marked[d->number] = d->ecn == ECN_CE;
}

/* BURST full packets that all arrive before the first of them has left. */
static struct engine_stats burst(const struct small_config *given, struct seen *seen)
{
	struct datagram_options o = {.linger_ps = PS_PER_MS, .arrived = note, .arg = seen};
	struct small_config c = *given;
	struct engine_stats stats;
	uint32_t frame = data_frame_bytes(MTU, c.ip6), port;
	struct small_net s;

	*seen = (struct seen){0};
	c.transport = &datagram_transport;
	c.options = &o;
	small_net_star(&s, 2, RATE, FAST, DELAY);
	small_net_open(&s, &c);
	small_net_flow(&s, 1, 0, BURST * MTU, 0);
	small_net_run(&s, FOREVER);
	stats = small_net_stats(&s);
	port = small_net_port(&s, 2, 0);
	assert_int_equal(engine_check_balance(s.engine), 0);
	assert_int_equal(engine_queue_depth(s.engine, port, 0), 0);
	assert_int_equal(s.dp->tables.queues[port * CLASSES].depth_frames, 0);
	assert_int_equal(s.dp->tables.ports[port].tx_frames, stats.delivered);
	assert_int_equal(s.dp->tables.ports[port].tx_bytes, stats.delivered * frame);
	assert_int_equal(
		s.dp->tables.queues[port * CLASSES].max_depth_bytes, stats.max_queue_bytes);
	assert_int_equal(s.dp->tables.drops[port].frames[DROP_BUFFER], stats.dropped[DROP_BUFFER]);
	small_net_close(&s);
	return stats;
}

/* A buffer of so many frames holds so many, the one on the line included; a byte less, one less. */
static void tail_drop_at_capacity(void **state)
{
	struct seen seen;

	(void)state;
	for (uint32_t room = 1; room <= BURST + 1; room++)
		for (uint32_t less = 0; less < 2; less++) {
			const struct small_config c = {.buffer_bytes = room * FRAME - less};
			struct engine_stats s = burst(&c, &seen);
			uint32_t fit = room - less < BURST ? room - less : BURST;

			assert_int_equal(s.delivered, fit);
			assert_int_equal(s.dropped[DROP_BUFFER], BURST - fit);
			assert_int_equal(s.max_queue_bytes, fit * FRAME);
			for (uint32_t i = 0; i < BURST; i++)
				assert_int_equal(seen.came[i], i < fit);
		}
}

/* Packet i is there after i first serialisations, and leaves after i second ones. */
static void longest_wait_is_the_last_ones(void **state)
{
	const struct small_config c = {0};
	struct seen seen;
	struct engine_stats s = burst(&c, &seen);

	(void)state;
	assert_int_equal(s.max_queue_delay_ps,
		(BURST - 1) * (serialise_ps(FRAME, RATE) - serialise_ps(FRAME, FAST)));
}

/*
 * Packet i leaves with BURST - 1 - i packets behind it; the endpoint sees the mark of those that
 * left more than kmin behind. Of the first, which did not wait, nothing was behind yet.
 */
static void mark_reaches_the_endpoint(void **state)
{
	(void)state;
	for (uint32_t ip6 = 0; ip6 < 2; ip6++)
		for (uint32_t k = 0; k <= BURST; k++) {
			uint32_t frame = data_frame_bytes(MTU, ip6), marks = 0;
			const struct small_config c = {
				.ip6 = ip6, .kmin_bytes = k * frame, .kmax_bytes = k * frame + 1};
			struct seen seen;
			struct engine_stats s = burst(&c, &seen);

			for (uint32_t i = 0; i < BURST; i++) {
				assert_int_equal(seen.marked[i], i && BURST - 1 - i > k);
				marks += seen.marked[i];
			}
			assert_int_equal(s.marked, marks);
		}
}

/* ---- ties ----------------------------------------------------------------------------------- */

/* Two packets from two hosts to a buffer of one; returns how many were dropped. */
static uint64_t second_after(uint64_t gap_ps)
{
	struct datagram_options o = {.linger_ps = PS_PER_MS};
	const struct small_config c = {
		.transport = &datagram_transport, .options = &o, .buffer_bytes = FRAME};
	struct small_net s;
	uint64_t dropped;

	small_net_star(&s, 3, RATE, FAST, DELAY);
	small_net_open(&s, &c);
	small_net_flow(&s, 1, 0, MTU, 1000);
	small_net_flow(&s, 2, 0, MTU, 1000 + gap_ps);
	small_net_run(&s, FOREVER);
	dropped = small_net_stats(&s).dropped[DROP_BUFFER];
	assert_int_equal(small_net_stats(&s).delivered, 2 - dropped);
	small_net_close(&s);
	return dropped;
}

/* At the same picosecond the line gives its room before the arrival asks for it. */
static void room_is_there_when_the_line_is_free(void **state)
{
	uint64_t ser = serialise_ps(FRAME, RATE);

	(void)state;
	assert_int_equal(second_after(0), 1);
	assert_int_equal(second_after(ser - 1), 1);
	assert_int_equal(second_after(ser), 0);
	assert_int_equal(second_after(ser + 1), 0);
}

/*
 * A host's card serves its senders in turn, a packet each. Of those that start together the first
 * is alone when it starts, and so one packet ahead.
 */
static void senders_take_turns(void **state)
{
	enum { FLOWS = 5 };
	struct datagram_options o = {.linger_ps = PS_PER_MS};
	const struct small_config c = {.transport = &datagram_transport, .options = &o};
	struct small_net s;

	(void)state;
	small_net_star(&s, FLOWS + 1, RATE, RATE, DELAY);
	small_net_open(&s, &c);
	for (uint32_t i = 0; i < FLOWS; i++)
		small_net_flow(&s, 0, 1 + i, 40 * MTU, 0);
	for (uint32_t sent = 1; sent < 35 * FLOWS; sent++) {
		uint64_t least = UINT64_MAX, most = 0;

		/* the last bit of packet `sent` is then leaving the switch */
		small_net_run(&s, (sent + 1) * serialise_ps(FRAME, RATE) + DELAY + 1);
		for (uint32_t i = 0; i < FLOWS; i++) {
			uint32_t port = small_net_port(&s, FLOWS + 1, 1 + i);
			uint64_t frames = s.dp->tables.ports[port].tx_frames;

			least = frames < least ? frames : least;
			most = frames > most ? frames : most;
		}
		assert_int_equal(least, (sent - 1) / FLOWS);
		assert_int_equal(most, sent == 1 ? 1 : (sent - 2) / FLOWS + 2);
	}
	small_net_close(&s);
}

/* A host that sends without a pause answers all the same: its SACK waits for one frame. */
static void answers_go_first(void **state)
{
	static const uint64_t rate[] = {RATE, RATE}, delay[] = {DELAY, DELAY};
	const struct small_config c = {0};

	(void)state;
	for (uint64_t start = 0; start < 20 * PS_PER_US; start += 1234567) {
		struct small_net s;
		uint64_t idle, fct;

		small_net_chain(&s, 1, rate, delay);
		small_net_open(&s, &c);
		idle = small_net_closed_form(&s, 100, MTU, false);
		small_net_flow(&s, 0, 1, 2 << 20, 0);
		small_net_flow(&s, 1, 0, 100, start);
		small_net_run(&s, FOREVER);
		fct = small_net_fct(&s, 1);
		/* at the switch that frame is ahead; at h1 there may be a SACK on the line */
		assert_in_range(fct, idle,
			idle + 2 * serialise_ps(FRAME, RATE) +
				serialise_ps(sack_frame_bytes(false), RATE));
		small_net_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poisson_waits_as_md1),
		cmocka_unit_test(light_load_waits_less),
		cmocka_unit_test(tail_drop_at_capacity),
		cmocka_unit_test(longest_wait_is_the_last_ones),
		cmocka_unit_test(mark_reaches_the_endpoint),
		cmocka_unit_test(room_is_there_when_the_line_is_free),
		cmocka_unit_test(senders_take_turns),
		cmocka_unit_test(answers_go_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
