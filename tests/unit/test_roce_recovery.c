/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RoCEv2 on a wire that loses, reorders and lies: go-back-N, and what it costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/roce_bench.h"
#include "base/rng_stream.h"
#include "lib/headers_parse.h"
#include "transport/headers.h"
#include "transport/roce_receiver.h"
#include "transport/roce_sender.h"

static const struct roce_options usual = ROCE_OPTIONS_DEFAULT;

#define RTT     (8 * US)
#define MTU     4096u
#define PACKETS 200u
#define MESSAGE ((uint64_t)PACKETS * MTU)

enum victim { NOBODY, DATA, ACK, NAK };

/* What the hooks lose and delay. */
struct trouble {
	struct roce_bench *b;
	enum victim victim;
	uint32_t psn, times; /* data of that PSN, or ACKs and NAKs at all: lost so often */
	uint64_t held_ps;    /* the first frame of data with that PSN is held back */
	uint64_t dead_from, dead_until;
	uint64_t rng;
	uint32_t loss_per_million, jitter_ps;
	uint64_t lost, naks, resent_at[8], resends;
};

static uint32_t syndrome_of(const struct fake_packet *p)
{
	struct rx_frame rx;

	assert_int_equal(headers_parse(p->bytes, p->captured, &rx), 0);
	return headers_extension(&rx, sizeof(struct aeth_hdr))[0];
}

static enum victim kind_of(const struct fake_packet *p)
{
	if (p->forward)
		return DATA;
	if (p->opcode != RC_ACK)
		return NOBODY;
	return syndrome_of(p) == AETH_NAK ? NAK : ACK;
}

static bool dropped(struct trouble *t, const struct fake_packet *p)
{
	uint64_t now = t->b->wire.now;

	if (t->loss_per_million && p->forward && rng_below(&t->rng, 1000000) < t->loss_per_million)
		return true;
	if (now >= t->dead_from && now < t->dead_until)
		return true;
	if (!t->times || kind_of(p) != t->victim || (p->forward && p->psn != t->psn))
		return false;
	t->times--;
	return true;
}

static bool drop(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;
	bool lost = dropped(t, p);

	t->lost += lost;
	t->naks += kind_of(p) == NAK;
	if (p->forward && p->psn == t->psn && t->resends < 8)
		t->resent_at[t->resends++] = t->b->wire.now;
	return lost;
}

static uint64_t delay(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;
	uint64_t held = t->held_ps;

	if (held && p->forward && p->psn == t->psn) {
		t->held_ps = 0;
		return held;
	}
	return t->jitter_ps ? rng_below(&t->rng, t->jitter_ps) : 0;
}

static void prepare(struct roce_bench *b, struct trouble *t)
{
	roce_bench_prepare(b, 1, MESSAGE, 400, RTT);
	*t = (struct trouble){.b = b, .rng = 1};
	b->options.dcqcn = false;
	b->options.rto_ps = 100 * US;
	b->config.hooks = (struct fake_hooks){.arg = t, .drop = drop, .delay = delay};
}

static const struct endpoint_stats *sent(struct roce_bench *b)
{
	return &roce_bench_sender(b, 0)->stats;
}

static const struct endpoint_stats *got(struct roce_bench *b)
{
	return &roce_bench_receiver(b, 0)->stats;
}

static uint64_t completion(struct roce_bench *b)
{
	return roce_bench_sender(b, 0)->finished_ps;
}

/* ---- one loss -------------------------------------------------------------------------------- */

/* One NAK; what was in flight beyond the loss is thrown away and sent again, nothing else. */
static void any_one_packet_is_lost(void **state)
{
	(void)state;
	for (uint32_t psn = 0; psn < PACKETS; psn++) {
		struct roce_bench b;
		struct trouble t;

		prepare(&b, &t);
		t.victim = DATA;
		t.psn = psn;
		t.times = 1;
		roce_bench_run(&b);
		assert_int_equal(t.lost, 1);
		if (psn + 1 < PACKETS) {
			assert_int_equal(t.naks, 1);
			assert_int_equal(sent(&b)->naks, 1);
			assert_int_equal(sent(&b)->timeouts, 0);
			assert_int_equal(got(&b)->duplicates, 0);
		} else { /* the last: nothing comes after it to show the gap */
			assert_int_equal(t.naks, 0);
			assert_int_equal(sent(&b)->timeouts, 1);
			/* an ACK for each 16: the seven before it were not acknowledged */
			assert_int_equal(got(&b)->duplicates, 7);
		}
		assert_int_equal(
			sent(&b)->retransmitted, got(&b)->out_of_order + got(&b)->duplicates + 1);
		/* a round trip of them at most, 98 packets here */
		assert_in_range(sent(&b)->retransmitted, 1, 99);
		fake_wire_close(&b.wire);
	}
}

/* The same packet again and again: its gap has had its NAK, so the timeout has to help. */
static void the_repeat_is_lost_too(void **state)
{
	struct roce_bench b;
	struct trouble t;

	(void)state;
	for (uint32_t times = 2; times < 8; times++) {
		prepare(&b, &t);
		t.victim = DATA;
		t.psn = 50;
		t.times = times;
		roce_bench_run(&b);
		assert_int_equal(t.naks, 1);
		assert_int_equal(sent(&b)->timeouts, times - 1);
		fake_wire_close(&b.wire);
	}
}

/* 100 us, 200, 400, ... after one another, and a rise of what is acknowledged starts anew. */
static void timeouts_double(void **state)
{
	struct roce_bench b;
	struct trouble t;

	(void)state;
	prepare(&b, &t);
	b.config.message_bytes = 100;
	t.victim = DATA;
	t.times = 6;
	roce_bench_run(&b);
	assert_int_equal(sent(&b)->timeouts, 6);
	assert_int_equal(t.resends, 7);
	for (uint32_t i = 1; i < 7; i++)
		assert_int_equal(t.resent_at[i] - t.resent_at[i - 1], 100 * US << (i - 1));
	assert_int_equal(((struct roce_sender *)roce_bench_sender(&b, 0))->qps[0].backoff, 0);
	fake_wire_close(&b.wire);
}

static void lost_naks_and_acks(void **state)
{
	struct roce_bench b;
	struct trouble t;
	uint64_t idle;

	(void)state;
	prepare(&b, &t);
	roce_bench_run(&b);
	idle = completion(&b);
	fake_wire_close(&b.wire);

	/* a packet that comes so late that the others were thrown away, and nobody heard of it */
	prepare(&b, &t);
	t.victim = NAK;
	t.times = 1;
	t.psn = 50;
	t.held_ps = 50 * US;
	roce_bench_run(&b);
	assert_int_equal(t.lost, 1);
	assert_int_equal(t.naks, 1);
	assert_int_equal(sent(&b)->naks, 0);
	assert_int_equal(sent(&b)->timeouts, 1);
	assert_int_equal(got(&b)->out_of_order, PACKETS - 51);
	fake_wire_close(&b.wire);

	/* coalesced ACKs stand in for one another, but for the last */
	for (uint32_t times = 1; times <= 13; times++) {
		prepare(&b, &t);
		t.victim = ACK;
		t.times = times;
		roce_bench_run(&b);
		if (times < 13) { /* 12 of 16 packets each, and one of 8 */
			assert_int_equal(completion(&b), idle);
			assert_int_equal(sent(&b)->retransmitted, 0);
		} else {
			assert_true(sent(&b)->timeouts > 0);
			assert_true(got(&b)->duplicates > 0);
		}
		fake_wire_close(&b.wire);
	}
}

static void a_dead_network_comes_back(void **state)
{
	(void)state;
	for (int dcqcn = 0; dcqcn < 2; dcqcn++) {
		struct roce_bench b;
		struct trouble t;

		prepare(&b, &t);
		b.options.dcqcn = dcqcn;
		b.env.qps = 4;
		t.dead_from = 10 * US;
		t.dead_until = 900 * US;
		roce_bench_run(&b);
		assert_in_range(sent(&b)->timeouts, 4, 4 * 4);
		fake_wire_close(&b.wire);
	}
}

/* ---- answers, one by one --------------------------------------------------------------------- */

struct pair {
	struct transport_env env;
	struct endpoint *ends[2]; /* receiver, sender */
	uint8_t frames[8][HEADERS_MAX], answer[HEADERS_MAX];
	struct rx_frame rx[8];
	struct bth bth; /* of the last answer */
	uint32_t syndrome, msn;
};

/* A message of eight packets, all of them made. */
static void open_pair(struct pair *p)
{
	struct flow_spec flow = {.id = 7, .dst_host = 1, .bytes = 7700};

	memset(p, 0, sizeof(*p));
	p->env = (struct transport_env){.mtu = 1000,
		.host_rate_bps = 100 * GBPS,
		.base_rtt_ps = RTT,
		.qps = 1,
		.options = &usual};
	for (int end = 0; end < 2; end++) {
		p->ends[end] = calloc(1, roce_transport.size(&p->env, &flow, end));
		assert_non_null(p->ends[end]);
		roce_transport.open(p->ends[end], &p->env, &flow, end, 0);
	}
	for (int i = 0; i < 8; i++) {
		struct tx_frame tx = {.bytes = p->frames[i]};

		assert_true(roce_transport.next_packet(p->ends[1], &tx, 0));
		assert_int_equal(headers_parse(p->frames[i], tx.captured, &p->rx[i]), 0);
	}
}

static void close_pair(struct pair *p)
{
	free(p->ends[0]);
	free(p->ends[1]);
}

/* Hands packet n to the receiver; true: it answers. */
static bool give(struct pair *p, uint32_t n)
{
	struct tx_frame reply = {.bytes = p->answer};
	const uint8_t *aeth;
	struct rx_frame rx;

	if (roce_transport.on_packet(p->ends[0], &p->rx[n], &reply, 10) != TRANSPORT_REPLY)
		return false;
	assert_int_equal(headers_parse(p->answer, reply.captured, &rx), 0);
	assert_true(headers_read_bth(&rx, &p->bth));
	assert_int_equal(p->bth.opcode, RC_ACK);
	aeth = headers_extension(&rx, sizeof(struct aeth_hdr));
	assert_non_null(aeth);
	p->syndrome = aeth[0];
	p->msn = (uint32_t)aeth[1] << 16 | (uint32_t)aeth[2] << 8 | aeth[3];
	return true;
}

static void one_nak_a_gap(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p);
	assert_false(give(&p, 0));
	assert_true(give(&p, 2)); /* 1 is missing */
	assert_int_equal(p.syndrome, AETH_NAK);
	assert_int_equal(p.bth.psn, 1);
	assert_int_equal(p.msn, 0);
	for (uint32_t n = 2; n < 8; n++)
		assert_false(give(&p, n));
	assert_false(give(&p, 1));
	assert_true(give(&p, 3)); /* 2 was thrown away: a gap of its own */
	assert_int_equal(p.syndrome, AETH_NAK);
	assert_int_equal(p.bth.psn, 2);
	assert_false(give(&p, 4));
	assert_int_equal(p.ends[0]->stats.out_of_order, 9);
	assert_int_equal(p.ends[0]->stats.naks, 2);

	assert_true(give(&p, 0)); /* duplicates are acknowledged: what has arrived so far */
	assert_int_equal(p.syndrome, 0x1f);
	assert_int_equal(p.bth.psn, 1);
	assert_true(give(&p, 1));
	assert_int_equal(p.ends[0]->stats.duplicates, 2);
	assert_false(give(&p, 5)); /* which is no reason for another NAK */
	for (uint32_t n = 2; n < 7; n++)
		assert_false(give(&p, n));
	assert_int_equal(p.ends[0]->delivered_ps, 0);
	assert_true(give(&p, 7));
	assert_int_equal(p.syndrome, 0x1f);
	assert_int_equal(p.bth.psn, 7);
	assert_int_equal(p.msn, 1);
	assert_int_equal(p.ends[0]->delivered_ps, 10);
	assert_true(give(&p, 3));
	assert_int_equal(p.bth.psn, 7);
	close_pair(&p);
}

/*
 * Congestion everywhere: the answers that CNPs took the place of, as more comes at the same time.
 */
static void answers_that_wait_for_a_cnp(void **state)
{
	struct tx_frame reply = {0};
	struct rx_frame rx;
	struct pair p;

	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		open_pair(&p);
		reply.bytes = p.answer;
		assert_false(give(&p, 0));
		p.rx[2].ecn = ECN_CE;
		assert_int_equal(roce_transport.on_packet(p.ends[0], &p.rx[2], &reply, 10),
			TRANSPORT_REPLY); /* the CNP; a NAK for 1 is due */
		assert_int_equal(p.ends[0]->stats.marks, 1);
		assert_int_equal(p.ends[0]->deadline_ps, 10);
		if (!closed) { /* an ACK says less than a NAK */
			assert_true(give(&p, 0));
			assert_int_equal(p.syndrome, AETH_NAK);
			assert_int_equal(p.bth.psn, 1);
			assert_int_equal(roce_transport.on_timer(p.ends[0], &reply, 10), 0);
		} else { /* the gap is no more */
			assert_false(give(&p, 1));
			assert_int_equal(
				roce_transport.on_timer(p.ends[0], &reply, 10), TRANSPORT_REPLY);
			assert_int_equal(headers_parse(p.answer, reply.captured, &rx), 0);
			assert_true(headers_read_bth(&rx, &p.bth));
			assert_int_equal(p.bth.psn, 1);
			assert_int_equal(headers_extension(&rx, sizeof(struct aeth_hdr))[0], 0x1f);
		}
		close_pair(&p);
	}
}

/* From the first packet that asked and had no answer, however many have asked since. */
static void the_timeout_counts_from_the_first(void **state)
{
	struct transport_env env = {.mtu = 1000,
		.host_rate_bps = 100 * GBPS,
		.base_rtt_ps = RTT,
		.qps = 1,
		.options = &usual};
	struct flow_spec flow = {.dst_host = 1, .bytes = 10000000};
	struct endpoint *s = calloc(1, roce_transport.size(&env, &flow, true));
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes};
	uint64_t now = 0;

	(void)state;
	assert_non_null(s);
	roce_transport.open(s, &env, &flow, true, 0);
	while (!s->deadline_ps || now + US < s->deadline_ps) {
		now += US;
		assert_true(roce_transport.next_packet(s, &tx, now));
	}
	/*
	 * at 1, 2, ... us; the ninth, more than a round trip after the start, was the first to
	 * ask
	 */
	assert_int_equal(s->deadline_ps, 1009 * US);
	roce_transport.on_timer(s, &tx, s->deadline_ps);
	assert_int_equal(s->stats.timeouts, 1);
	free(s);
}

/* Neither end believes what it cannot use: it waits for the NAK and the timeout that will come. */
static void headers_without_payload_are_counted(void **state)
{
	struct tx_frame none = {0};
	struct pair p;

	(void)state;
	open_pair(&p);
	p.rx[0].trimmed = true;
	assert_false(give(&p, 0));
	assert_int_equal(p.ends[0]->stats.trimmed, 1);
	p.rx[0].trimmed = false;
	p.rx[0].returned = true;
	assert_int_equal(roce_transport.on_packet(p.ends[1], &p.rx[0], &none, 5), 0);
	assert_int_equal(p.ends[1]->stats.returned, 1);
	p.rx[0].returned = false;
	assert_true(give(&p, 1));
	assert_int_equal(p.syndrome, AETH_NAK);
	assert_int_equal(p.bth.psn, 0);
	close_pair(&p);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* The completion time with one packet held back for so long, over that with none. */
static double held_back(uint64_t bytes, bool dcqcn, uint64_t held_ps)
{
	uint64_t times[2];

	for (int held = 0; held < 2; held++) {
		struct roce_bench b;
		struct trouble t;

		prepare(&b, &t);
		b.options.dcqcn = dcqcn;
		b.config.message_bytes = bytes;
		t.psn = (uint32_t)(bytes / MTU / 4);
		t.held_ps = held ? held_ps : 0;
		roce_bench_run(&b);
		times[held] = completion(&b);
		assert_int_equal(t.naks > 0, held);
		assert_int_equal(sent(&b)->timeouts, 0);
		fake_wire_close(&b.wire);
	}
	return (double)times[1] / (double)times[0];
}

/*
 * 400 Gbps, 8 us; the packet a quarter into the message comes two round trips late, so that all
 * that were in flight overtake it. Measured in SeqBalance, table I: 5.77 and 3.01. Going back
 * costs a round trip or so; the rest is the slow restart.
 */
static void one_packet_held_back(void **state)
{
	static const uint64_t sizes[] = {64 << 10, 1 << 20};

	(void)state;
	for (int i = 0; i < 2; i++) {
		double with = held_back(sizes[i], true, 2 * RTT);
		double without = held_back(sizes[i], false, 2 * RTT);

		print_message("%4llu KB, one packet two round trips late: %.2f times as long, "
			      "%.2f at line rate throughout\n",
			(unsigned long long)sizes[i] >> 10, with, without);
		assert_true(with >= 3);
		assert_true(without > 1.2 && without < 3);
	}
}

/* Of the goodput without loss, over eight seeds. */
static double goodput(uint32_t loss_per_million, bool dcqcn)
{
	double sum = 0;
	uint64_t idle = 0;

	for (uint64_t seed = 0; seed <= 8; seed++) {
		struct roce_bench b;
		struct trouble t;

		prepare(&b, &t);
		roce_bench_prepare(&b, 1, 32 << 20, 100, RTT);
		b.options.dcqcn = dcqcn;
		b.config.hooks = (struct fake_hooks){.arg = &t, .drop = drop};
		t.rng = seed;
		t.loss_per_million = seed ? loss_per_million : 0;
		roce_bench_run(&b);
		if (!seed)
			idle = completion(&b);
		else
			sum += (double)idle / (double)completion(&b);
		fake_wire_close(&b.wire);
	}
	return sum / 8;
}

/* 100 Gbps, 8 us, 4 KB packets: a BDP of 24 packets. */
static void goodput_falls_with_loss(void **state)
{
	static const uint32_t losses[] = {0, 100, 1000, 10000};
	double with[4], without[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		with[i] = goodput(losses[i], true);
		without[i] = goodput(losses[i], false);
		print_message("loss %g: goodput %.1f%%; %.1f%% at line rate throughout\n",
			losses[i] / 1e6, 100 * with[i], 100 * without[i]);
	}
	assert_true(with[0] == 1 && without[0] == 1);
	assert_true(with[1] > 0.9 && with[1] < 0.99);
	assert_true(with[2] > 0.6 && with[2] < 0.8); /* figure 20: about 30% lost */
	assert_true(with[3] < 0.35);
	/* each loss costs a BDP: 1 / (1 + 24 p) and some timeouts */
	assert_true(without[2] > 0.95 && without[2] < 0.99);
	assert_true(without[3] > 0.6 && without[3] < 0.83);
}

/* ---- anything -------------------------------------------------------------------------------- */

static void anything_at_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint64_t rng = rng_stream(seed, "test", 0);
		struct roce_bench b;
		struct trouble t;

		prepare(&b, &t);
		t.rng = seed;
		t.loss_per_million = rng_below(&rng, 3) * 30000;
		t.jitter_ps = rng_below(&rng, 3) * US;
		b.config.seed = seed;
		b.config.senders = 1 + rng_below(&rng, 3);
		b.config.message_bytes = 1 + rng_below(&rng, MESSAGE / 4);
		b.config.kmax_bytes = rng_below(&rng, 2) * 100000;
		b.options.dcqcn = rng_below(&rng, 2);
		b.options.ack_every = 1 + rng_below(&rng, 40);
		b.env.qps = (uint8_t)(1 + rng_below(&rng, 9));
		b.env.ip6 = rng_below(&rng, 2);
		roce_bench_run(&b);
		fake_wire_close(&b.wire);
	}
}

/* Makes a frame of noise in a plausible shape. */
static void noise(uint64_t *rng, uint8_t *bytes, struct rx_frame *rx)
{
	static const uint8_t opcodes[] = {RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST,
		RC_WRITE_ONLY, RC_ACK, ROCE_CNP, STRACK_DATA, 0};

	for (uint32_t i = 0; i < HEADERS_MAX; i++)
		bytes[i] = rng_below(rng, 3) ? 0 : (uint8_t)rng_below(rng, 256);
	bytes[42] = opcodes[rng_below(rng, 8)];
	bytes[47] = (uint8_t)rng_below(rng, 2);
	bytes[48] = bytes[46] = 0;
	bytes[49] = (uint8_t)rng_below(rng, 10);
	*rx = (struct rx_frame){
		.bytes = bytes,
		.captured = rng_below(rng, 4) ? HEADERS_MAX : rng_below(rng, HEADERS_MAX),
		.transport_offset = rng_below(rng, 8) ? 42 : rng_below(rng, 2 * HEADERS_MAX),
		.transport_length = rng_below(rng, 2) ? 12 + 16 + MTU + 4 : rng_below(rng, 9000),
		.ecn = (uint8_t)rng_below(rng, 4),
		.trimmed = !rng_below(rng, 8),
		.returned = !rng_below(rng, 8),
	};
}

/* Fed with noise for a while; never done before all is sent. */
static void noise_in_the_middle_of_a_flow(void **state)
{
	uint64_t rng = 1;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct roce_bench b;
		struct trouble t;

		prepare(&b, &t);
		b.env.qps = (uint8_t)(1 + round % 4);
		fake_wire_open(&b.wire, &b.config);
		fake_wire_run(&b.wire, 2 * US);
		for (int i = 0; i < 20000; i++) {
			uint8_t bytes[HEADERS_MAX], answer[HEADERS_MAX];
			struct tx_frame reply = {.bytes = answer};
			struct endpoint *ep =
				i % 2 ? roce_bench_sender(&b, 0) : roce_bench_receiver(&b, 0);
			struct rx_frame rx;

			noise(&rng, bytes, &rx);
			ep->ops->on_packet(ep, &rx, &reply, b.wire.now + 1);
			assert_int_equal(roce_bench_sender(&b, 0)->finished_ps, 0);
		}
		fake_wire_run(&b.wire, FOREVER);
		fake_wire_close(&b.wire);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_one_packet_is_lost),
		cmocka_unit_test(the_repeat_is_lost_too),
		cmocka_unit_test(timeouts_double),
		cmocka_unit_test(lost_naks_and_acks),
		cmocka_unit_test(a_dead_network_comes_back),
		cmocka_unit_test(one_nak_a_gap),
		cmocka_unit_test(answers_that_wait_for_a_cnp),
		cmocka_unit_test(the_timeout_counts_from_the_first),
		cmocka_unit_test(headers_without_payload_are_counted),
		cmocka_unit_test(one_packet_held_back),
		cmocka_unit_test(goodput_falls_with_loss),
		cmocka_unit_test(anything_at_random),
		cmocka_unit_test(noise_in_the_middle_of_a_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
