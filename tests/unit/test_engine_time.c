/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Model time on idle chains, against docs/closed-forms.md; and what faults do to it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/datagram.h"
#include "lib/small_net.h"

#define FOREVER    (100 * PS_PER_S)
#define LINKS_MAX  8
#define MTU        4096u
#define FULL_FRAME (MTU + 74) /* IPv4 */

/* 3, 7 and 400.000001 Gbps leave fractions of a picosecond at every frame. */
static const uint64_t rates[] = {
	100 * GBPS, 800 * GBPS, 25 * GBPS, 3 * GBPS, 7 * GBPS, 400000001000ull, 999999937, 1000000};
static const uint64_t delays[] = {1000000, 0, 1, 999, 2000000, 123456789};
#define RATES  (sizeof(rates) / sizeof(rates[0]))
#define DELAYS (sizeof(delays) / sizeof(delays[0]))

struct result {
	uint64_t fct_ps, delivered_ps;
};

/* One message over an idle chain, from h0 to h1. */
static struct result send_one(struct small_net *s, const struct small_config *c, uint64_t bytes)
{
	struct engine_flow_result r;

	small_net_open(s, c);
	small_net_flow(s, 0, 1, bytes, 5000);
	small_net_run(s, FOREVER);
	assert_int_equal(engine_check_balance(s->engine), 0);
	assert_int_equal(small_net_dropped(s), 0);
	engine_flow_result(s->engine, 0, &r);
	assert_int_equal(r.start_ps, 5000);
	assert_int_not_equal(r.finish_ps, 0);
	return (struct result){r.finish_ps - 5000, r.delivered_ps - 5000};
}

/* Written out once by hand: 100 Gbps, 1 us, a full packet over two links and the SACK back. */
static void one_packet_by_hand(void **state)
{
	static const uint64_t rate[] = {100 * GBPS, 100 * GBPS}, delay[] = {1000000, 1000000};
	const struct small_config c = {0};
	struct small_net s;
	struct result r;

	(void)state;
	small_net_chain(&s, 1, rate, delay);
	r = send_one(&s, &c, 4096);
	assert_int_equal(r.delivered_ps, 2 * (335520 + 1000000));
	assert_int_equal(r.fct_ps, 2 * (335520 + 1000000) + 2 * (9760 + 1000000));
	small_net_close(&s);
}

/* Every link of a chain with a rate and a delay of its own. */
static void one_packet_over_mixed_chains(void **state)
{
	static const uint32_t sizes[] = {1, 100, 1023, 4095, 4096};
	uint64_t rng = 1;

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t switches = 1 + round % 6, bytes = sizes[rng_below(&rng, 5)];
		struct small_config c = {.ip6 = round & 1, .seed = round};
		uint64_t rate[LINKS_MAX], delay[LINKS_MAX], there = 0;
		struct small_net s;
		struct result r;

		for (uint32_t i = 0; i <= switches; i++) {
			rate[i] = rates[rng_below(&rng, RATES)];
			delay[i] = delays[rng_below(&rng, DELAYS)];
			there += serialise_ps(data_frame_bytes(bytes, c.ip6), rate[i]) + delay[i];
		}
		small_net_chain(&s, switches, rate, delay);
		r = send_one(&s, &c, bytes);
		assert_int_equal(r.delivered_ps, there);
		assert_int_equal(r.fct_ps, small_net_closed_form(&s, bytes, MTU, c.ip6));
		small_net_close(&s);
	}
}

/*
 * Exact, since the links have one rate: the last one never idles from the first packet on. The last
 * packet is no shorter than an answer, which would wait for the one before.
 */
static void message_over_equal_links(void **state)
{
	static const uint64_t sizes[] = {
		2 << 20, (2 << 20) + 5000, (2 << 20) - 1, 4600, 12288, 100000};

	(void)state;
	for (uint32_t round = 0; round < 48; round++) {
		uint32_t switches = 1 + round % 6;
		uint64_t bytes = sizes[round % 5 == 4 ? 5 : round % 6];
		struct small_config c = {.ip6 = round / 6 & 1, .mtu = round & 8 ? 1500 : MTU};
		uint64_t rate[LINKS_MAX], delay[LINKS_MAX];
		struct small_net s;
		struct result r;

		for (uint32_t i = 0; i <= switches; i++) {
			rate[i] = rates[round % 6];
			delay[i] = delays[(round / 2) % 4];
		}
		small_net_chain(&s, switches, rate, delay);
		r = send_one(&s, &c, bytes);
		assert_int_equal(r.fct_ps, small_net_closed_form(&s, bytes, c.mtu, c.ip6));
		small_net_close(&s);
	}
}

/*
 * The one exception, 0.001%: a last packet that is shorter than the SACK which the one before it,
 * the fourth since the last SACK, has caused. Its own SACK finds the line busy for the difference.
 */
static void last_sack_behind_another(void **state)
{
	static const uint64_t rate[] = {800 * GBPS, 800 * GBPS, 800 * GBPS},
			      delay[] = {1000000, 1000000, 1000000};
	const struct small_config c = {0};
	uint64_t bytes = 512 * MTU + 1, held;
	struct small_net s;
	struct result r;

	(void)state;
	held = serialise_ps(sack_frame_bytes(false), 800 * GBPS) -
	       serialise_ps(data_frame_bytes(1, false), 800 * GBPS);
	small_net_chain(&s, 2, rate, delay);
	r = send_one(&s, &c, bytes);
	assert_int_equal(r.fct_ps, small_net_closed_form(&s, bytes, MTU, false) + held);
	small_net_close(&s);
}

/* The goodput that a 2 MB message leaves on the receiver's link is what the line can carry. */
static void message_fills_the_line(void **state)
{
	static const uint64_t rate[] = {100 * GBPS, 100 * GBPS, 100 * GBPS},
			      delay[] = {1000000, 1000000, 1000000};
	const struct small_config c = {0};
	uint64_t bytes = 2 << 20, idle;
	struct small_net s;
	double share;

	(void)state;
	small_net_chain(&s, 2, rate, delay);
	idle = send_one(&s, &c, bytes).fct_ps - small_net_closed_form(&s, MTU, MTU, false);
	/* 511 packets more than one packet takes */
	share = 511.0 * (double)serialise_ps(FULL_FRAME, 100 * GBPS) / (double)idle;
	assert_true(share > 0.999 && share < 1.001);
	small_net_close(&s);
}

/* A later message of the same host waits for the gap after the end of the one before. */
static void after_means_after_its_end(void **state)
{
	static const uint64_t rate[] = {100 * GBPS, 100 * GBPS}, delay[] = {1000000, 1000000};
	const struct small_config c = {0};
	const struct operation then = {.src_host = 0, .dst_host = 1, .bytes = 100, .start_ps = 777};
	const struct wait wait = {0, 1, OPERATION_ENDED};
	struct engine_flow_result a, b;
	struct small_net s;

	(void)state;
	small_net_chain(&s, 1, rate, delay);
	small_net_open(&s, &c);
	small_net_flow(&s, 0, 1, 4096, 3);
	assert_int_equal(engine_add_flows(s.engine, &then, 1, &wait, 1), 0);
	small_net_run(&s, FOREVER);
	engine_flow_result(s.engine, 0, &a);
	engine_flow_result(s.engine, 1, &b);
	assert_int_equal(b.start_ps, a.finish_ps + 777);
	assert_int_equal(b.finish_ps - b.start_ps, small_net_closed_form(&s, 100, MTU, false));
	assert_true(engine_done(s.engine));
	small_net_close(&s);
}

static void flows_that_make_no_sense(void **state)
{
	static const struct operation bad[] = {{.src_host = 0, .dst_host = 0, .bytes = 1},
		{.src_host = 0, .dst_host = 2, .bytes = 1},
		{.src_host = 2, .dst_host = 0, .bytes = 1}, {.src_host = 0, .dst_host = 1},
		{.src_host = OPERATION_BARRIER, .dst_host = 1},
		{.src_host = OPERATION_BARRIER, .dst_host = OPERATION_BARRIER, .bytes = 1},
		{.src_host = 0, .dst_host = OPERATION_BARRIER, .bytes = 1}};
	static const uint64_t rate[] = {GBPS, GBPS}, delay[] = {0, 0};
	const struct small_config c = {0};
	struct small_net s;

	(void)state;
	small_net_chain(&s, 1, rate, delay);
	small_net_open(&s, &c);
	small_net_flow(&s, 0, 1, 1, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(engine_add_flows(s.engine, &bad[i], 1, NULL, 0), -EINVAL);
	/* none of no flows, as often as one likes */
	assert_int_equal(engine_add_flows(s.engine, bad, 0, NULL, 0), 0);
	assert_int_equal(engine_add_flows(s.engine, bad, 0, NULL, 0), 0);
	small_net_run(&s, FOREVER);
	assert_int_equal(small_net_stats(&s).flows, 1);
	assert_int_equal(small_net_stats(&s).flows_done, 1);
	small_net_close(&s);
}

static void run_without_flows_is_done(void **state)
{
	static const uint64_t rate[] = {GBPS, GBPS}, delay[] = {0, 0};
	const struct small_config c = {0};
	struct small_net s;

	(void)state;
	small_net_chain(&s, 1, rate, delay);
	small_net_open(&s, &c);
	assert_int_equal(engine_add_flows(s.engine, NULL, 0, NULL, 0), 0);
	assert_int_equal(engine_add_flows(s.engine, NULL, 0, NULL, 0), 0);
	assert_true(engine_done(s.engine));
	assert_int_equal(engine_next(s.engine), UINT64_MAX);
	small_net_run(&s, 1000);
	assert_int_equal(engine_now(s.engine), 0);
	small_net_close(&s);
}

/* ---- datagrams, which arrive when they arrive ---------------------------------------------- */

struct arrivals {
	uint64_t at_ps[600];
	uint32_t count;
};

static void note_arrival(void *arg, const struct datagram *d)
{
	struct arrivals *a = arg;

	assert_true(a->count < sizeof(a->at_ps) / sizeof(a->at_ps[0]));
	assert_int_equal(d->number, a->count);
	a->at_ps[a->count++] = d->now_ps;
}

static const uint64_t pair_rate[] = {100 * GBPS, 100 * GBPS};
static const uint64_t pair_delay[] = {1000000, 1000000};

/* h0 sends n full packets in a row through one switch. */
static void open_stream(
	struct small_net *s, struct datagram_options *o, struct arrivals *a, uint32_t n)
{
	const struct small_config c = {.transport = &datagram_transport, .options = o};

	*a = (struct arrivals){.count = 0};
	*o = (struct datagram_options){
		.linger_ps = 100 * PS_PER_US, .arrived = note_arrival, .arg = a};
	small_net_chain(s, 1, pair_rate, pair_delay);
	small_net_open(s, &c);
	small_net_flow(s, 0, 1, (uint64_t)n * MTU, 0);
}

/* Half of the rate is half of the goodput, from the next packet on, and whole again after. */
static void rate_fault(void **state)
{
	const uint64_t ser = serialise_ps(FULL_FRAME, 100 * GBPS);
	const uint64_t first = 2 * (ser + 1000000);
	struct datagram_options o;
	struct arrivals a;
	struct small_net s;

	(void)state;
	open_stream(&s, &o, &a, 300);
	/* the receiver's link; a packet starts at each ser + 1 us + i ser */
	small_net_run(&s, ser + 1000000 + 100 * ser - 1);
	engine_set_link_rate(s.engine, small_net_port(&s, 2, 1), 50 * GBPS);
	small_net_run(&s, ser + 1000000 + 100 * ser + 2 * 50 * ser - 1);
	engine_set_link_rate(s.engine, small_net_port(&s, 1, 2), 100 * GBPS);
	small_net_run(&s, FOREVER);
	assert_int_equal(a.count, 300);
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t slow = i < 100 ? 0 : i < 150 ? i - 99 : 50;

		assert_int_equal(a.at_ps[i], first + i * ser + slow * ser);
	}
	small_net_close(&s);
}

/* By when a change at the same picosecond as a packet's start comes: it counts for it. */
static void rate_fault_at_a_start(void **state)
{
	const uint64_t ser = serialise_ps(FULL_FRAME, 100 * GBPS);
	struct datagram_options o;
	struct arrivals a;
	struct small_net s;

	(void)state;
	for (uint64_t late = 0; late < 2; late++) {
		open_stream(&s, &o, &a, 3);
		small_net_run(&s, ser + late);
		engine_set_link_rate(s.engine, small_net_port(&s, 0, 2), 25 * GBPS);
		small_net_run(&s, FOREVER);
		assert_int_equal(a.count, 3);
		assert_int_equal(a.at_ps[0], 2 * ser + 2000000);
		assert_int_equal(a.at_ps[1], (late ? 3 : 6) * ser + 2000000);
		small_net_close(&s);
	}
}

/* Of 200 packets, which do not come if h0's link is down from down_ps until up_ps. */
static void losses(uint64_t down_ps, uint64_t up_ps, uint64_t *ret_first, uint64_t *ret_count)
{
	struct datagram_options o = {.linger_ps = 100 * PS_PER_US};
	const struct small_config c = {.transport = &datagram_transport, .options = &o};
	struct small_net s;

	small_net_chain(&s, 1, pair_rate, pair_delay);
	small_net_open(&s, &c);
	small_net_flow(&s, 0, 1, 200 * MTU, 0);
	small_net_run(&s, down_ps);
	*ret_first = small_net_stats(&s).hops;
	engine_set_link_up(s.engine, small_net_port(&s, 2, 0), false);
	small_net_run(&s, up_ps);
	engine_set_link_up(s.engine, small_net_port(&s, 0, 2), true);
	small_net_run(&s, FOREVER);
	*ret_count = small_net_stats(&s).dropped[DROP_LINK_DOWN];
	assert_int_equal(small_net_dropped(&s), *ret_count);
	assert_int_equal(small_net_stats(&s).delivered, 200 - *ret_count);
	assert_int_equal(engine_check_balance(s.engine), 0);
	small_net_close(&s);
}

/*
 * Packet i starts at i ser and has arrived at (i + 1) ser + 1 us. It comes through if that is
 * before the link goes down, or its start not before it is up: two counts, to the picosecond.
 */
static void link_fault_takes_what_is_on_the_wire(void **state)
{
	const uint64_t ser = serialise_ps(FULL_FRAME, 100 * GBPS);
	uint64_t rng = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		/* most of the times are within a picosecond of a start or an arrival */
		uint64_t down = 1000000 + (1 + rng_below(&rng, 80)) * ser + rng_below(&rng, 3) - 1;
		uint64_t up = (90 + rng_below(&rng, 80)) * ser + rng_below(&rng, 3) - 1;
		uint64_t lost = 0, first, count;

		if (round & 1)
			up = down + rng_below(&rng, 2000000);
		for (uint64_t i = 0; i < 200; i++)
			lost += (i + 1) * ser + 1000000 >= down && i * ser < up;
		losses(down, up, &first, &count);
		assert_int_equal(count, lost);
	}
}

/* Down and up at one moment: the wire's content is gone all the same, and nothing else. */
static void link_that_blinks(void **state)
{
	const uint64_t ser = serialise_ps(FULL_FRAME, 100 * GBPS);
	uint64_t first, count;

	(void)state;
	losses(10 * ser, 10 * ser, &first, &count);
	assert_int_equal(
		count, 3); /* 7 to 9: number 6 is there already, number 10 starts just then */
	losses(10 * ser + 1, 10 * ser + 1, &first, &count);
	assert_int_equal(count, 4);
	losses(0, 0, &first, &count);
	assert_int_equal(count, 0);
	losses(0, 1, &first, &count);
	assert_int_equal(count, 1);
}

/* A frame with its last bit due at until_ps has not arrived when time gets there. */
static void until_is_exclusive(void **state)
{
	const uint64_t ser = serialise_ps(FULL_FRAME, 100 * GBPS);
	struct datagram_options o;
	struct arrivals a;
	struct small_net s;

	(void)state;
	open_stream(&s, &o, &a, 1);
	small_net_run(&s, 2 * (ser + 1000000));
	assert_int_equal(engine_now(s.engine), 2 * (ser + 1000000));
	assert_int_equal(engine_next(s.engine), 2 * (ser + 1000000));
	assert_int_equal(a.count, 0);
	assert_int_equal(small_net_stats(&s).in_flight, 1);
	small_net_run(&s, 2 * (ser + 1000000) + 1);
	assert_int_equal(a.count, 1);
	/* time does not go back */
	small_net_run(&s, 5);
	assert_int_equal(engine_now(s.engine), 2 * (ser + 1000000) + 1);
	small_net_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_packet_by_hand),
		cmocka_unit_test(one_packet_over_mixed_chains),
		cmocka_unit_test(message_over_equal_links),
		cmocka_unit_test(last_sack_behind_another),
		cmocka_unit_test(message_fills_the_line),
		cmocka_unit_test(after_means_after_its_end),
		cmocka_unit_test(flows_that_make_no_sense),
		cmocka_unit_test(run_without_flows_is_done),
		cmocka_unit_test(rate_fault),
		cmocka_unit_test(rate_fault_at_a_start),
		cmocka_unit_test(link_fault_takes_what_is_on_the_wire),
		cmocka_unit_test(link_that_blinks),
		cmocka_unit_test(until_is_exclusive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
