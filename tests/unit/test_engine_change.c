/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links that change rate and delay during a run, and a switch that dies: to the ps and frame. */
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

#define MTU     1000u
#define FRAME   (MTU + 74u)
#define RATE    (100 * GBPS)
#define DELAY   1000000u
#define PACKETS 2000u
#define CHANGES 64u

/* From a time on, a link is like that. */
struct change {
	uint64_t at_ps, rate_bps, extra_ps;
	uint32_t link;
};

/* The links of h0 - s - h1, and what each has sent so far. */
struct reckoning {
	const struct change *changes;
	uint32_t count, packets;
	uint64_t free_ps[2], last_ps[2];
	uint64_t held; /* that had to wait on the wire for what was before them */
};

/* When a packet that may leave at from_ps arrives at the link's other end. */
static uint64_t pass(struct reckoning *r, uint32_t link, uint64_t from_ps)
{
	uint64_t start = from_ps > r->free_ps[link] ? from_ps : r->free_ps[link], at;
	const struct change *as = NULL;

	for (uint32_t i = 0; i < r->count && r->changes[i].at_ps <= start; i++)
		if (r->changes[i].link == link)
			as = &r->changes[i];
	r->free_ps[link] = start + serialise_ps(FRAME, as ? as->rate_bps : RATE);
	at = r->free_ps[link] + DELAY + (as ? as->extra_ps : 0);
	if (at < r->last_ps[link]) {
		at = r->last_ps[link];
		r->held++;
	}
	r->last_ps[link] = at;
	return at;
}

static void reckon(void *arg, const struct datagram *d)
{
	struct reckoning *r = arg;

	assert_int_equal(d->number, r->packets);
	assert_int_equal(d->now_ps, pass(r, 1, pass(r, 0, 0)));
	r->packets++;
}

/* PACKETS from h0 to h1 back to back; returns how many were held up on a wire. */
static uint64_t run_changes(const struct change *changes, uint32_t count)
{
	static const uint64_t rates[] = {RATE, RATE}, delays[] = {DELAY, DELAY};
	struct reckoning r = {.changes = changes, .count = count};
	struct datagram_options o = {.linger_ps = PS_PER_S, .arrived = reckon, .arg = &r};
	const struct small_config c = {.transport = &datagram_transport, .options = &o, .mtu = MTU};
	struct small_net s;

	small_net_chain(&s, 1, rates, delays);
	small_net_open(&s, &c);
	small_net_flow(&s, 0, 1, PACKETS * MTU, 0);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t port = small_net_port(&s, 2, changes[i].link);

		small_net_run(&s, changes[i].at_ps);
		/* by either of its ports */
		engine_set_link_rate(
			s.engine, i & 1 ? port : s.net.ports[port].peer, changes[i].rate_bps);
		engine_set_link_delay(
			s.engine, i & 1 ? s.net.ports[port].peer : port, changes[i].extra_ps);
	}
	small_net_run(&s, 2 * PS_PER_S);
	assert_int_equal(r.packets, PACKETS);
	assert_int_equal(engine_check_balance(s.engine), 0);
	small_net_close(&s);
	return r.held;
}

/* A packet takes 87.84 ns: 50 us hold some 570. */
static void shrinking_delay_does_not_reorder(void **state)
{
	static const struct change once[] = {
		{10 * PS_PER_US, RATE, 20 * PS_PER_US, 0}, {50 * PS_PER_US, RATE, 0, 0}};
	static const struct change twice[] = {{10 * PS_PER_US, RATE, 20 * PS_PER_US, 1},
		{50 * PS_PER_US, RATE, 5 * PS_PER_US, 1}, {55 * PS_PER_US, RATE, 0, 1}};
	static const struct change grows[] = {
		{10 * PS_PER_US, RATE, 1, 0}, {20 * PS_PER_US, RATE, 9 * PS_PER_US, 0}};

	(void)state;
	/* those that start within 20 us */
	assert_int_equal(run_changes(once, 2), 227);
	assert_int_not_equal(run_changes(twice, 3), 0);
	assert_int_equal(run_changes(grows, 2), 0);
}

static void any_changes(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 200 : 20, held = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct change changes[CHANGES];
		uint64_t rng = seed, at = 0;

		for (uint32_t i = 0; i < CHANGES; i++) {
			at += rng_below(&rng, 6 * PS_PER_US);
			changes[i] = (struct change){.at_ps = at,
				.rate_bps = (1 + rng_below(&rng, 16)) * RATE / 8 +
					    rng_below(&rng, 2) * 12345,
				.extra_ps = rng_below(&rng, 2) * rng_below(&rng, 10 * PS_PER_US),
				.link = rng_below(&rng, 2)};
		}
		held += run_changes(changes, CHANGES);
	}
	assert_int_not_equal(held, 0);
}

/* ---- a switch that dies ---------------------------------------------------------------------- */

struct heard {
	uint64_t frames, bytes;
	uint32_t port;
};

static void hear(void *arg, uint64_t now_ps, uint32_t port, enum drop_reason reason,
	const uint8_t *frame, uint32_t captured, uint32_t bytes)
{
	struct heard *h = arg;

	(void)frame;
	(void)captured;
	(void)now_ps;
	if (reason != DROP_SWITCH_DOWN)
		return;
	h->frames++;
	h->bytes += bytes;
	h->port = port;
}

/*
 * Two hosts send to h0 at once: when the switch is emptied, half of what has come is in front of
 * h0, all but the frame on the line. It can be admitted anew at once.
 */
static void emptied_of_all_it_held(void **state)
{
	struct heard heard = {0};
	struct datagram_options o = {.linger_ps = PS_PER_MS};
	const struct small_config c = {.transport = &datagram_transport,
		.options = &o,
		.mtu = MTU,
		.observer = {.dropped = hear, .arg = &heard}};
	struct small_net s;
	uint32_t port, depth;

	(void)state;
	small_net_star(&s, 3, RATE, RATE, DELAY);
	small_net_open(&s, &c);
	small_net_flow(&s, 1, 0, 100 * MTU, 0);
	small_net_flow(&s, 2, 0, 100 * MTU, 0);
	port = small_net_port(&s, 3, 0);
	small_net_run(&s, 5 * PS_PER_US);
	/* 45 have come from each in the 4 us after the delay, 44 have left */
	depth = engine_queue_depth(s.engine, port, 0);
	assert_int_equal(depth, 46 * FRAME);
	engine_empty_switch(s.engine, 3);
	assert_int_equal(engine_queue_depth(s.engine, port, 0), FRAME);
	assert_int_equal(s.dp->tables.queues[port * CLASSES].depth_frames, 1);
	assert_int_equal(heard.frames, 45);
	assert_int_equal(heard.bytes, depth - FRAME);
	assert_int_equal(heard.port, port);
	assert_int_equal(s.dp->tables.drops[port].frames[DROP_SWITCH_DOWN], 45);
	assert_int_equal(engine_check_balance(s.engine), 0);
	engine_empty_switch(s.engine, 3);
	assert_int_equal(heard.frames, 45);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(small_net_stats(&s).delivered, 200 - 45);
	assert_int_equal(engine_queue_depth(s.engine, port, 0), 0);
	assert_int_equal(engine_check_balance(s.engine), 0);
	small_net_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shrinking_delay_does_not_reorder),
		cmocka_unit_test(any_changes),
		cmocka_unit_test(emptied_of_all_it_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
