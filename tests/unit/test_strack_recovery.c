/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* STrack on a wire that loses, reorders and lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/strack_bench.h"
#include "lib/strack_state.h"
#include "base/rng_stream.h"
#include "transport/headers.h"
#include "transport/strack_sender.h"

#define RTT     (8 * US)
#define PACKETS 512
#define MESSAGE ((uint64_t)PACKETS * MTU)

/* What the hooks lose and delay. */
struct trouble {
	struct strack_bench *b;
	uint32_t psn, count; /* data packets psn..psn + count - 1 ... */
	uint32_t times;      /* ... are each lost so often */
	uint8_t lost[PACKETS];
	uint64_t sacks_from, sacks_until; /* no SACK gets through in between */
	uint64_t data_from, data_until;
	uint32_t dead_path; /* of every 8, until data_until */
	uint64_t rng;
	uint32_t loss_percent;
	uint32_t jitter_ps;
	uint64_t dropped_data;
};

static bool dropped(struct trouble *t, const struct fake_packet *p)
{
	uint64_t now = t->b->wire.now;

	if (t->loss_percent && rng_below(&t->rng, 100) < t->loss_percent)
		return true;
	if (!p->forward)
		return now >= t->sacks_from && now < t->sacks_until;
	if (now >= t->data_from && now < t->data_until &&
		(!t->dead_path || p->path % 8 == t->dead_path))
		return true;
	return p->opcode == STRACK_DATA && p->psn >= t->psn && p->psn < t->psn + t->count &&
	       t->lost[p->psn]++ < t->times;
}

static bool drop(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;
	bool lost = dropped(t, p);

	t->dropped_data += lost && p->opcode == STRACK_DATA;
	return lost;
}

static uint64_t delay(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;

	(void)p;
	return t->jitter_ps ? rng_below(&t->rng, t->jitter_ps) : 0;
}

static void prepare_trouble(struct strack_bench *b, struct trouble *t)
{
	strack_bench_prepare(b, 1, MESSAGE, 400, RTT);
	memset(t, 0, sizeof(*t));
	t->b = b;
	t->rng = 1;
	b->config.hooks = (struct fake_hooks){.arg = t, .drop = drop, .delay = delay};
}

static const struct strack_sender *registry_of(struct strack_bench *b)
{
	return (const struct strack_sender *)strack_bench_sender(b, 0);
}

static void reordering_alone_resends_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct strack_bench b;
		struct trouble t;

		prepare_trouble(&b, &t);
		t.jitter_ps = 2 * US; /* some 24 packets' time */
		t.rng = seed;
		strack_bench_run(&b);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, 0);
		assert_int_equal(strack_bench_receiver(&b, 0)->stats.duplicates, 0);
		fake_wire_close(&b.wire);
	}
}

static void one_loss_is_found_by_counting(void **state)
{
	struct strack_bench b;
	struct trouble t;

	(void)state;
	prepare_trouble(&b, &t);
	t.psn = 100;
	t.count = t.times = 1;
	strack_bench_run(&b);
	assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, 1);
	assert_int_equal(strack_bench_sender(&b, 0)->stats.probes, 0);
	assert_int_equal(strack_bench_sender(&b, 0)->stats.timeouts, 0);
	assert_int_equal(strack_bench_receiver(&b, 0)->stats.duplicates, 0);
	fake_wire_close(&b.wire);
}

/* Each loss once, no packet that had arrived: whatever was lost, and wherever. */
static void bursts_are_resent_once_each(void **state)
{
	static const struct {
		uint32_t psn, count;
	} bursts[] = {{0, 1}, {0, 101}, {1, 30}, {60, 10}, {200, 100}, {300, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		struct strack_bench b;
		struct trouble t;

		prepare_trouble(&b, &t);
		t.psn = bursts[i].psn;
		t.count = bursts[i].count;
		t.times = 1;
		strack_bench_run(&b);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, t.dropped_data);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.timeouts, 0);
		fake_wire_close(&b.wire);
	}
}

/* Nothing follows to be counted; the probe finds it, four round trips after the last SACK. */
static void a_lost_tail_is_found_by_a_probe(void **state)
{
	static const uint32_t tails[] = {1, 2, 10, 60};
	uint64_t idle;
	struct strack_bench b;

	(void)state;
	strack_bench_prepare(&b, 1, MESSAGE, 400, RTT);
	strack_bench_run(&b);
	idle = strack_bench_sender(&b, 0)->finished_ps;
	fake_wire_close(&b.wire);
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		struct trouble t;

		prepare_trouble(&b, &t);
		t.psn = PACKETS - tails[i];
		t.count = tails[i];
		t.times = 1;
		strack_bench_run(&b);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, tails[i]);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.probes, 1);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.timeouts, 0);
		assert_true(strack_bench_sender(&b, 0)->finished_ps < idle + 6 * RTT);
		/* a probe's own round trip is shorter, and no measure for a packet's */
		assert_int_equal(registry_of(&b)->window.base_rtt_ps, b.env.base_rtt_ps);
		fake_wire_close(&b.wire);
	}
}

/* A message of one packet has neither followers nor a second chance of a SACK. */
static void one_packet_alone(void **state)
{
	struct strack_bench b;
	struct trouble t;

	(void)state;
	for (uint32_t times = 1; times < 12; times++) {
		prepare_trouble(&b, &t);
		b.config.message_bytes = 100;
		t.count = 1;
		t.times = times;
		strack_bench_run(&b);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, times);
		fake_wire_close(&b.wire);
	}
}

static void a_lost_retransmission(void **state)
{
	(void)state;
	for (uint32_t times = 2; times < 6; times++) {
		struct strack_bench b;
		struct trouble t;

		prepare_trouble(&b, &t);
		t.psn = 100;
		t.count = 1;
		t.times = times;
		strack_bench_run(&b);
		assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, times);
		assert_int_equal(strack_bench_receiver(&b, 0)->stats.duplicates, 0);
		fake_wire_close(&b.wire);
	}
}

static void sacks_lost_for_a_while(void **state)
{
	struct strack_bench b;
	struct trouble t;

	(void)state;
	prepare_trouble(&b, &t);
	t.sacks_from = 20 * US;
	t.sacks_until = 70 * US; /* probes bridge it: nothing is sent twice */
	strack_bench_run(&b);
	assert_true(strack_bench_sender(&b, 0)->stats.probes > 0);
	assert_int_equal(strack_bench_sender(&b, 0)->stats.retransmitted, 0);
	fake_wire_close(&b.wire);

	prepare_trouble(&b, &t);
	t.sacks_from = 20 * US;
	t.sacks_until = 2000 * US;
	strack_bench_run(&b);
	/* timeouts 100 us, 200, 400, ... apart: they are doubled */
	assert_in_range(strack_bench_sender(&b, 0)->stats.timeouts, 3, 5);
	fake_wire_close(&b.wire);
}

static void a_dead_network_comes_back(void **state)
{
	struct strack_bench b;
	struct trouble t;

	(void)state;
	prepare_trouble(&b, &t);
	t.data_from = 15 * US;
	t.data_until = 600 * US;
	strack_bench_run(&b);
	assert_in_range(strack_bench_sender(&b, 0)->stats.timeouts, 1, 4);
	assert_int_equal(registry_of(&b)->backoff, 0);
	fake_wire_close(&b.wire);
}

/* One link of eight dies: all the others go on. */
static void a_dead_path(void **state)
{
	struct strack_bench b;
	struct trouble t;

	(void)state;
	prepare_trouble(&b, &t);
	t.data_until = 200 * US;
	t.dead_path = 3;
	strack_bench_run(&b);
	assert_true(t.dropped_data > 0);
	fake_wire_close(&b.wire);
}

static void anything_at_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t rng = rng_stream(seed, "test", 0);
		struct strack_bench b;
		struct trouble t;

		prepare_trouble(&b, &t);
		t.rng = seed;
		t.loss_percent = 1 + rng_below(&rng, 30);
		t.jitter_ps = rng_below(&rng, 4) * 4 * US;
		b.config.seed = seed;
		b.config.senders = 1 + rng_below(&rng, 3);
		b.config.message_bytes = 1 + rng_below(&rng, MESSAGE);
		b.options.sack_packets = 1 + rng_below(&rng, 8);
		b.options.spray = (enum strack_spray)rng_below(&rng, 3);
		b.env.ip6 = rng_below(&rng, 2);
		strack_bench_run(&b);
		fake_wire_close(&b.wire);
	}
}

static void within_the_bitmap(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;
	const struct strack_sender *s = registry_of(t->b);

	if (p->opcode == STRACK_DATA)
		assert_true(p->psn < s->epsn + s->flow.ring_bits);
}

/* Several times round the bitmaps, with one packet that holds them up. */
static void messages_far_longer_than_the_bitmaps(void **state)
{
	static const uint64_t rtts[] = {8, 20, 50, 100};

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		struct strack_bench b;
		struct trouble t;

		prepare_trouble(&b, &t);
		strack_bench_prepare(&b, 1, 10000 * MTU, 400, rtts[i % 4] * US);
		b.config.hooks = (struct fake_hooks){
			.arg = &t, .drop = drop, .delay = delay, .see = within_the_bitmap};
		t.psn = 300;
		t.count = 1;
		t.times = 4;
		t.loss_percent = i / 4 * 3;
		t.jitter_ps = US;
		strack_bench_run(&b);
		fake_wire_close(&b.wire);
	}
}

/* Makes a frame of noise in a plausible shape. */
static void noise(uint64_t *rng, uint8_t *bytes, struct rx_frame *rx)
{
	static const uint8_t opcodes[] = {STRACK_DATA, STRACK_SACK, STRACK_PROBE, 4};

	for (uint32_t i = 0; i < HEADERS_MAX; i++)
		bytes[i] = rng_below(rng, 3) ? 0 : (uint8_t)rng_below(rng, 256);
	bytes[42] = opcodes[rng_below(rng, 4)];
	*rx = (struct rx_frame){
		.bytes = bytes,
		.captured = rng_below(rng, 4) ? HEADERS_MAX : rng_below(rng, HEADERS_MAX),
		.transport_offset = rng_below(rng, 8) ? 42 : rng_below(rng, 2 * HEADERS_MAX),
		.transport_length = rng_below(rng, 2) ? 12 + 16 + MTU + 4 : rng_below(rng, 9000),
		.ecn = (uint8_t)rng_below(rng, 4),
	};
}

static void noise_in_the_middle_of_a_flow(void **state)
{
	uint64_t rng = 1;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct strack_bench b;

		strack_bench_prepare(&b, 1, MESSAGE, 400, RTT);
		fake_wire_open(&b.wire, &b.config);
		fake_wire_run(&b.wire, 30 * US);
		for (int i = 0; i < 20000; i++) {
			uint8_t bytes[HEADERS_MAX], answer[HEADERS_MAX];
			struct tx_frame reply = {.bytes = answer};
			struct endpoint *ep =
				i % 2 ? strack_bench_sender(&b, 0) : strack_bench_receiver(&b, 0);
			struct rx_frame rx;

			noise(&rng, bytes, &rx);
			ep->ops->on_packet(ep, &rx, &reply, b.wire.now + 1);
			assert_true(strack_cwnd(strack_bench_sender(&b, 0)) >= 1);
			assert_true(strack_inflight(strack_bench_sender(&b, 0)) <= MESSAGE);
		}
		fake_wire_run(&b.wire, FOREVER);
		fake_wire_close(&b.wire);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reordering_alone_resends_nothing),
		cmocka_unit_test(one_loss_is_found_by_counting),
		cmocka_unit_test(bursts_are_resent_once_each),
		cmocka_unit_test(a_lost_tail_is_found_by_a_probe),
		cmocka_unit_test(one_packet_alone),
		cmocka_unit_test(a_lost_retransmission),
		cmocka_unit_test(sacks_lost_for_a_while),
		cmocka_unit_test(a_dead_network_comes_back),
		cmocka_unit_test(a_dead_path),
		cmocka_unit_test(anything_at_random),
		cmocka_unit_test(messages_far_longer_than_the_bitmaps),
		cmocka_unit_test(noise_in_the_middle_of_a_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
