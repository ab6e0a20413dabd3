/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* STrack over switches that cut the payload off what finds no room, and its window held fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/strack_bench.h"
#include "lib/strack_state.h"
#include "base/rng_stream.h"
#include "lib/headers_parse.h"
#include "transport/headers.h"
#include "transport/strack_sender.h"

#define RTT     (8 * US)
#define PACKETS 512
#define MESSAGE ((uint64_t)PACKETS * MTU)

/* What the hooks cut, lose and hold back. */
struct knife {
	enum fake_cut how;
	uint32_t psn, times; /* this packet is cut so often */
	uint64_t held_ps;    /* and its headers are held back for so long */
	uint64_t rng;
	uint32_t cut_percent, loss_percent, jitter_ps;
	uint64_t lost;
};

static enum fake_cut cut(void *arg, const struct fake_packet *p)
{
	struct knife *k = arg;

	if (p->opcode != STRACK_DATA)
		return FAKE_WHOLE;
	if (p->psn == k->psn && k->times) {
		k->times--;
		return k->how;
	}
	return k->cut_percent && rng_below(&k->rng, 100) < k->cut_percent ? k->how : FAKE_WHOLE;
}

static bool drop(void *arg, const struct fake_packet *p)
{
	struct knife *k = arg;
	bool lost = k->loss_percent && rng_below(&k->rng, 100) < k->loss_percent;

	(void)p;
	k->lost += lost;
	return lost;
}

static uint64_t delay(void *arg, const struct fake_packet *p)
{
	struct knife *k = arg;

	if (p->opcode == STRACK_DATA && p->psn == k->psn && k->times)
		return k->held_ps;
	return k->jitter_ps ? rng_below(&k->rng, k->jitter_ps) : 0;
}

static void prepare(struct strack_bench *b, struct knife *k, enum fake_cut how)
{
	strack_bench_prepare(b, 1, MESSAGE, 400, RTT);
	*k = (struct knife){.how = how, .psn = UINT32_MAX, .rng = 1};
	b->config.hooks = (struct fake_hooks){.arg = k, .drop = drop, .delay = delay, .cut = cut};
}

static uint64_t told(struct strack_bench *b, uint32_t flow, enum fake_cut how)
{
	return how == FAKE_TRIMMED ? strack_bench_receiver(b, flow)->stats.trimmed
				   : strack_bench_sender(b, flow)->stats.returned;
}

/* Resent as often as it was cut, and nothing else, wherever in the message: not even a probe. */
static void each_cut_is_resent_once(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 2 * PACKETS; round++) {
		enum fake_cut how = round % 2 ? FAKE_TRIMMED : FAKE_RETURNED;
		uint32_t times = 1 + round % 3;
		struct strack_bench b;
		struct knife k;

		prepare(&b, &k, how);
		k.psn = round / 2;
		k.times = times;
		strack_bench_run(&b);
		assert_int_equal(told(&b, 0, how), times);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, times);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.probes, 0);
		/* headers overtake the queue: their round trip is no measure for a packet's */
		assert_int_equal(
			((struct strack_sender *)strack_bench_sender(&b, 0))->window.base_rtt_ps,
			b.env.base_rtt_ps);
		assert_int_equal(strack_bench_receiver(&b, 0)->stats.duplicates, 0);
		fake_wire_close(&b.wire);
	}
}

/* A cut packet costs a round trip and no more, even the last one, which nothing follows. */
static void a_cut_tail_costs_a_round_trip(void **state)
{
	struct strack_bench b;
	struct knife k;
	uint64_t idle;

	(void)state;
	prepare(&b, &k, FAKE_TRIMMED);
	strack_bench_run(&b);
	idle = strack_bench_sender(&b, 0)->finished_ps;
	fake_wire_close(&b.wire);
	prepare(&b, &k, FAKE_TRIMMED);
	k.psn = PACKETS - 1;
	k.times = 1;
	strack_bench_run(&b);
	assert_in_range(strack_bench_sender(&b, 0)->finished_ps, idle + 1, idle + RTT);
	fake_wire_close(&b.wire);
}

/* 32 senders, a window of one BDP each whatever happens: every payload that is lost is told of. */
static void incast_loses_nothing_silently(void **state)
{
	(void)state;
	for (enum fake_cut how = FAKE_TRIMMED; how <= FAKE_RETURNED; how++) {
		uint64_t heard = 0, again = 0;
		struct strack_bench b;

		strack_bench_prepare(&b, 32, MESSAGE / 2, 400, RTT);
		b.options.fixed = true;
		b.options.window.value = 1;
		b.config.overflow = how;
		strack_bench_run(&b);
		assert_int_equal(b.wire.drops, 0);
		assert_true(b.wire.cuts > 1000);
		for (uint32_t i = 0; i < 32; i++) {
			const struct endpoint *s = strack_bench_sender(&b, i);

			heard += told(&b, i, how);
			again += s->stats.retransmitted;
			assert_int_equal(s->stats.timeouts, 0);
			assert_int_equal(strack_bench_receiver(&b, i)->stats.duplicates, 0);
		}
		assert_int_equal(heard, b.wire.cuts);
		assert_int_equal(again, b.wire.cuts);
		fake_wire_close(&b.wire);
	}
}

/*
 * The headers come after the timeout has claimed the packet anyway: they tell of a copy that has
 * been replaced. Held back and simply lost make the same run.
 */
static void late_headers_claim_nothing(void **state)
{
	(void)state;
	for (uint32_t psn = 0; psn < PACKETS; psn += 37) {
		struct strack_bench b;
		struct knife k;

		prepare(&b, &k, FAKE_TRIMMED);
		k.psn = psn;
		k.times = 1;
		k.held_ps = 45 * US; /* past the counting and past the probe */
		strack_bench_run(&b);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, 1);
		assert_int_equal(strack_bench_receiver(&b, 0)->stats.duplicates, 0);
		fake_wire_close(&b.wire);
	}
}

static void cuts_and_losses_at_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t rng = rng_stream(seed, "test", 0);
		struct strack_bench b;
		struct knife k;

		prepare(&b, &k, seed % 2 ? FAKE_TRIMMED : FAKE_RETURNED);
		k.rng = seed;
		k.cut_percent = 1 + rng_below(&rng, 40);
		k.loss_percent = rng_below(&rng, 3) * 5;
		k.jitter_ps = rng_below(&rng, 4) * 4 * US;
		b.config.message_bytes = 1 + rng_below(&rng, MESSAGE);
		b.options.sack_packets = 1 + rng_below(&rng, 8);
		b.options.fixed = rng_below(&rng, 2);
		b.env.ip6 = rng_below(&rng, 2);
		strack_bench_run(&b);
		if (!k.loss_percent)
			assert_int_equal(told(&b, 0, k.how), b.wire.cuts);
		fake_wire_close(&b.wire);
	}
}

/* The path that had no room sits out a turn, as if it had been marked. */
static void the_path_is_marked(void **state)
{
	uint8_t bytes[HEADERS_MAX];
	struct strack_bench b;
	struct strack_sender *s;
	uint8_t answer[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes}, reply = {.bytes = answer}, none = {0};
	struct rx_frame rx;
	struct endpoint *r;

	(void)state;
	strack_bench_prepare(&b, 1, MESSAGE, 400, RTT);
	fake_wire_open(&b.wire, &b.config);
	fake_wire_run(&b.wire, 0);
	s = (struct strack_sender *)strack_bench_sender(&b, 0);
	assert_true(s->flow.ep.ops->next_packet(&s->flow.ep, &tx, 100));
	assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
	rx.returned = true;
	assert_int_equal(s->paths.marked[0], 0);
	s->flow.ep.ops->on_packet(&s->flow.ep, &rx, &none, 200);
	assert_int_equal(s->paths.marked[0], 2); /* path 0 went with the first packet, at 0 */
	assert_int_equal(s->lost_count, 1);
	assert_int_equal(strack_inflight(&s->flow.ep), MTU);
	/* the same headers again: there is nothing left to lose */
	s->flow.ep.ops->on_packet(&s->flow.ep, &rx, &none, 300);
	assert_int_equal(s->lost_count, 1);

	/* the same of another, by way of the receiver */
	r = strack_bench_receiver(&b, 0);
	for (int i = 0; i < 2; i++)
		assert_true(s->flow.ep.ops->next_packet(&s->flow.ep, &tx, 400));
	assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
	rx.trimmed = true;
	assert_int_equal(r->ops->on_packet(r, &rx, &reply, 500), TRANSPORT_REPLY);
	assert_int_equal(headers_parse(answer, reply.captured, &rx), 0);
	assert_int_equal(s->lost_count, 0);
	s->flow.ep.ops->on_packet(&s->flow.ep, &rx, &none, 600);
	assert_int_equal(s->lost_count, 1);
	assert_int_equal(s->paths.marked[0], 1 << 1 | 1 << 3);
	fake_wire_close(&b.wire);
}

static void watch_window(void *arg, const struct fake_packet *p)
{
	struct strack_bench *b = arg;

	if (p->opcode == STRACK_DATA)
		assert_true(strack_cwnd(strack_bench_sender(b, p->flow)) ==
			    (double)(b->bdp_bytes * 2 / MTU + 1));
}

/* Eight senders, a queue that is always full and marks: the window does not care. */
static void a_fixed_window_stays(void **state)
{
	struct strack_bench b;

	(void)state;
	strack_bench_prepare(&b, 8, MESSAGE, 400, RTT);
	b.options.fixed = true;
	b.options.window.value = 2;
	b.config.hooks = (struct fake_hooks){.arg = &b, .see = watch_window};
	strack_bench_run(&b);
	assert_true(b.wire.drops > 0);
	fake_wire_close(&b.wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cut_is_resent_once),
		cmocka_unit_test(a_cut_tail_costs_a_round_trip),
		cmocka_unit_test(incast_loses_nothing_silently),
		cmocka_unit_test(late_headers_claim_nothing),
		cmocka_unit_test(cuts_and_losses_at_random),
		cmocka_unit_test(the_path_is_marked),
		cmocka_unit_test(a_fixed_window_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
