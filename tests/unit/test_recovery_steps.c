/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recoveries of assembled transports step by step, and under answers that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/recovery_bench.h"
#include "base/rng_stream.h"

#define SIZE 1000u /* of a packet */

/* Both ends of a flow, without a network. */
struct pair {
	const struct recovery_kind *kind;
	struct transport_env env;
	struct flow_spec flow;
	struct endpoint ends[2]; /* receiver, sender */
	struct recovery *r[2];
	struct recovery_news news; /* of the last answer or timer */
	struct recovery_answer last;
};

static void open_pair_at(struct pair *p, const char *name, const void *options, uint32_t packets,
	uint32_t messages, uint64_t rtt_ps)
{
	*p = (struct pair){
		.kind = recovery_bench_kind(name),
		.env = {.mtu = SIZE, .host_rate_bps = 100 * GBPS, .base_rtt_ps = rtt_ps},
		.flow = {.bytes = packets * SIZE, .more = messages - 1},
	};
	for (int sender = 0; sender < 2; sender++) {
		p->r[sender] = calloc(1, p->kind->size(&p->env, options, &p->flow, sender));
		assert_non_null(p->r[sender]);
		*p->r[sender] = (struct recovery){
			.ep = &p->ends[sender],
			.env = &p->env,
			.options = options,
			.packets = {(uint64_t)packets * messages * SIZE, packets * messages,
				packets, SIZE, SIZE},
			.base_rtt_ps = rtt_ps,
			.rto_ps = transport_rto(0, p->kind->rto_least_ps, rtt_ps),
			.rng = 1,
			.messages = messages,
			.released = 1,
		};
		p->kind->open(p->r[sender], sender, 0);
	}
}

static void open_pair(
	struct pair *p, const char *name, const void *options, uint32_t packets, uint32_t messages)
{
	open_pair_at(p, name, options, packets, messages, RTT);
}

static void close_pair(struct pair *p)
{
	free(p->r[0]);
	free(p->r[1]);
}

static bool has(struct pair *p, uint64_t now)
{
	return p->kind->has(p->r[1], now);
}

static struct recovery_data next(struct pair *p, uint64_t now)
{
	struct recovery_data d = {0};

	assert_true(has(p, now));
	p->kind->next(p->r[1], &d, now);
	d.sent_ps = now;
	return d;
}

/* All that there is, one each picosecond; returns how many. d: room for as many. */
static uint32_t next_all(struct pair *p, struct recovery_data *d, uint64_t now)
{
	uint32_t n = 0;

	while (has(p, now + n)) {
		d[n] = next(p, now + n);
		n++;
	}
	return n;
}

/* Hands the packet to the receiver, which answers. */
static void arrive(struct pair *p, const struct recovery_data *d, bool trimmed)
{
	p->last =
		(struct recovery_answer){.psn = d->psn, .subflow = d->subflow, .trimmed = trimmed};
	assert_true((trimmed ? p->kind->on_trimmed : p->kind->on_data)(p->r[0], d, &p->last, 1));
	p->last.sent_ps = d->sent_ps;
}

/* Hands an answer to the sender. */
static bool hear(struct pair *p, const struct recovery_answer *a, uint64_t now)
{
	p->news = (struct recovery_news){0};
	return p->kind->on_answer(p->r[1], a, &p->news, now);
}

static void deliver(struct pair *p, const struct recovery_data *d, uint64_t now)
{
	arrive(p, d, false);
	assert_true(hear(p, &p->last, now));
}

/* So many leave in one go, and no more until the first is acknowledged. */
static void senders_stop_where_receivers_forget(void **state)
{
	static struct dupack_options one = {.threshold = 3, .subflows = 1},
				     five = {.threshold = 3, .subflows = 5};
	static struct selective_options o = {.threshold = 3};
	static const struct {
		const char *name;
		const void *options;
		uint64_t rtt_us;
		uint32_t packets, out;
	} cases[] = {
		{"dupack", &one, 8, 3000, 1024},
		{"dupack", &one, 8, 500, 500},
		{"dupack", &one, 90, 10000, 8192}, /* 4 x 1.125 MB */
		{"dupack", &one, 9000, 20000, 16384},
		{"subflow-dupack", &five, 8, 3000, 5 * 256},
		{"trim", &o, 8, 3000, 1024},
		{"sack", &o, 90, 10000, 8192},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct recovery_data d, first;
		struct pair p;
		uint32_t out = 1;

		open_pair_at(&p, cases[i].name, cases[i].options, cases[i].packets, 1,
			cases[i].rtt_us * US);
		for (first = next(&p, 1); has(&p, 1 + out); out++) {
			d = next(&p, 1 + out);
			arrive(&p, &d, false);
		}
		assert_int_equal(out, cases[i].out);
		deliver(&p, &first, 20000);
		assert_int_equal(has(&p, 20001), out < cases[i].packets);
		close_pair(&p);
	}
}

static void expire(struct pair *p, uint64_t now)
{
	p->news = (struct recovery_news){0};
	p->kind->on_timer(p->r[1], &p->news, now);
}

static uint64_t unacked(struct pair *p)
{
	return p->kind->unacked(p->r[1]) / SIZE;
}

/* ---- dupack ---- */

static struct dupack_options tcp = {.threshold = 3, .subflows = 1};

/* RFC 6582, 3.2: the third duplicate ACK; one repeat for each partial ACK; nothing in between. */
static void newreno(void **state)
{
	struct recovery_data d[20], again;
	struct pair p;

	(void)state;
	open_pair(&p, "dupack", &tcp, 20, 1);
	assert_int_equal(next_all(&p, d, 0), 20);
	assert_int_equal(unacked(&p), 20);
	deliver(&p, &d[0], 30);
	assert_int_equal(p.news.acked_bytes, SIZE);
	/* 1, 5 and 6 are lost */
	deliver(&p, &d[2], 31);
	deliver(&p, &d[3], 32);
	assert_false(has(&p, 32));
	assert_int_equal(unacked(&p), 17);
	deliver(&p, &d[4], 33);
	assert_int_equal(p.news.lost_bytes, SIZE);
	again = next(&p, 34);
	assert_int_equal(again.psn, 1);
	assert_true(again.again);
	for (int i = 7; i < 10; i++) {
		deliver(&p, &d[i], 35);
		assert_false(has(&p, 35));
		assert_int_equal(p.news.lost_bytes, 0);
	}
	deliver(&p, &again, 40); /* up to 5: a partial ACK */
	assert_int_equal(p.news.acked_bytes, 4 * SIZE);
	assert_int_equal(p.news.lost_bytes, SIZE);
	assert_int_equal(unacked(&p), 15 - 3);
	again = next(&p, 41);
	assert_int_equal(again.psn, 5);
	for (int i = 10; i < 20; i++)
		deliver(&p, &d[i], 42);
	assert_false(has(&p, 42));
	deliver(&p, &again, 43);
	again = next(&p, 44);
	assert_int_equal(again.psn, 6);
	assert_int_equal(p.ends[1].finished_ps, 0);
	deliver(&p, &again, 45);
	assert_int_equal(p.ends[1].finished_ps, 45);
	assert_int_equal(p.ends[0].delivered_ps, 1);
	assert_int_equal(p.kind->unacked(p.r[1]), 0);
	close_pair(&p);
}

/* RFC 6582, 3.2, step 4: after a timeout no fast retransmit for what was sent before it. */
static void timeouts_go_back(void **state)
{
	struct recovery_data d[20], again[40];
	struct pair p;

	(void)state;
	open_pair(&p, "dupack", &tcp, 20, 2);
	assert_int_equal(next_all(&p, d, 0), 20);
	assert_int_equal(p.kind->due(p.r[1]), RTO);
	deliver(&p, &d[0], 1000);
	expire(&p, RTO); /* too early by now */
	assert_false(p.news.timeout);
	assert_int_equal(p.kind->due(p.r[1]), RTO + 1000);
	expire(&p, RTO + 1000);
	assert_true(p.news.timeout);
	assert_int_equal(unacked(&p), 0);
	again[0] = next(&p, RTO + 2000);
	assert_int_equal(again[0].psn, 1);
	assert_int_equal(unacked(&p), 1);
	/* it waits twice as long for it */
	assert_int_equal(p.kind->due(p.r[1]), RTO + 2000 + 2 * RTO);
	for (int i = 2; i < 8; i++) {
		deliver(&p, &d[i], RTO + 3000);
		assert_int_equal(p.news.lost_bytes, 0);
	}
	deliver(&p, &again[0], RTO + 4000); /* up to 8, which is sent next: those are skipped */
	again[1] = next(&p, RTO + 5000);
	assert_int_equal(again[1].psn, 8);
	assert_true(again[1].again);
	p.r[1]->released = 2;
	assert_int_equal(next_all(&p, again, RTO + 6000), 11 + 20);
	assert_false(again[11].again);
	assert_int_equal(again[11].message, 1);
	close_pair(&p);
}

static void subflows_count_on_their_own(void **state)
{
	struct dupack_options o = {.threshold = 3, .subflows = 3};
	struct recovery_data d[30], again;
	struct pair p;

	(void)state;
	open_pair(&p, "subflow-dupack", &o, 15, 2);
	p.r[1]->released = 2;
	assert_int_equal(next_all(&p, d, 0), 30);
	for (uint32_t i = 0; i < 30; i++) {
		assert_int_equal(d[i].number, i);
		assert_int_equal(d[i].subflow, i % 3);
		assert_int_equal(d[i].psn, i / 3);
		assert_int_equal(d[i].message, i / 15);
	}
	/* 4 is lost: of its subflow 7, 10 and 13 come after it */
	for (uint32_t i = 0; i < 13; i++)
		if (i != 4)
			deliver(&p, &d[i], 50);
	assert_false(has(&p, 50));
	deliver(&p, &d[13], 51);
	assert_true(has(&p, 51));
	deliver(&p, &d[14], 51);
	deliver(&p, &d[15], 51);
	assert_int_equal(p.ends[0].done, 0);
	assert_int_equal(p.ends[0].stats.out_of_order, 3);
	again = next(&p, 52);
	assert_int_equal(again.number, 4);
	deliver(&p, &again, 53);
	assert_int_equal(p.ends[0].done, 1);
	assert_int_equal(p.ends[1].done, 1);
	for (uint32_t i = 16; i < 30; i++)
		deliver(&p, &d[i], 54);
	assert_int_equal(p.ends[0].done, 2);
	assert_int_equal(p.ends[1].done, 2);
	assert_int_equal(p.ends[1].finished_ps, 54);
	close_pair(&p);
}

/* ---- go-back-n ---- */

static void one_nak_a_gap(void **state)
{
	struct recovery_bench_go_back o = {0};
	struct recovery_data d[8], again[8];
	struct pair p;

	(void)state;
	open_pair(&p, "go-back-n", &o, 8, 1);
	assert_int_equal(next_all(&p, d, 10), 8);
	deliver(&p, &d[0], 30);
	arrive(&p, &d[3], false); /* 1 is missing */
	assert_true(p.last.nak);
	assert_int_equal(p.last.expected, 1);
	assert_true(hear(&p, &p.last, 31));
	assert_int_equal(p.ends[1].stats.naks, 1);
	assert_int_equal(p.news.lost_bytes, 7 * SIZE);
	assert_int_equal(unacked(&p), 0);
	arrive(&p, &d[2], false);
	assert_false(p.last.nak);
	assert_int_equal(next_all(&p, again, 32), 7);
	assert_true(hear(&p, &p.last, 33));
	assert_false(has(&p, 33));
	deliver(&p, &d[1], 50); /* it was late alone */
	arrive(&p, &d[4], false);
	assert_true(p.last.nak); /* for 2, which is on its way again: sent before it went back */
	assert_true(hear(&p, &p.last, 51));
	assert_false(has(&p, 51));
	for (int i = 0; i < 7; i++)
		deliver(&p, &again[i], 60);
	assert_int_equal(p.ends[0].stats.duplicates, 1);
	assert_int_equal(p.ends[0].stats.out_of_order, 3);
	assert_int_equal(p.ends[1].finished_ps, 60);
	close_pair(&p);
}

/* It would be ignored; and in place of it there would be no NAK for what is lost later. */
static void no_nak_for_what_left_before_it_went_back(void **state)
{
	for (int whole = 0; whole < 2; whole++) {
		struct recovery_bench_go_back o = {.whole = whole};
		struct recovery_data d[8], again[8];
		uint32_t first = whole ? 0 : 1;
		struct pair p;

		(void)state;
		open_pair(&p, "go-back-n", &o, 8, 1);
		assert_int_equal(next_all(&p, d, 10), 8);
		deliver(&p, &d[0], 30);
		deliver(&p, &d[2], 31);
		assert_int_equal(p.last.expected, first);
		assert_int_equal(next_all(&p, again, 32), 8 - first);
		deliver(&p, &again[0], 60);
		deliver(&p, &d[5], 61); /* it took a longer path */
		assert_false(p.last.nak);
		assert_int_equal(p.last.expected, first + 1);
		deliver(&p, &again[2], 62); /* again[1] is lost */
		assert_true(p.last.nak);
		assert_int_equal(p.last.expected, whole ? 0 : 2);
		assert_true(has(&p, 63));
		close_pair(&p);
	}
}

/* Of the message nothing is kept; of the one before it all is. */
static void back_to_the_start_of_the_message(void **state)
{
	struct recovery_bench_go_back o = {.whole = true};
	struct recovery_data d[16], again[16];
	struct recovery_answer late;
	struct pair p;

	(void)state;
	open_pair(&p, "go-back-n", &o, 8, 2);
	p.r[1]->released = 2;
	assert_int_equal(next_all(&p, d, 10), 16);
	for (int i = 0; i < 12; i++)
		deliver(&p, &d[i], 30);
	late = p.last;
	assert_int_equal(p.ends[0].done, 1);
	arrive(&p, &d[13], false);
	assert_true(p.last.nak);
	assert_int_equal(p.last.expected, 8);
	assert_true(hear(&p, &p.last, 31));
	assert_int_equal(next_all(&p, again, 32), 8);
	assert_int_equal(again[0].psn, 8);
	assert_true(hear(&p, &late, 33)); /* says 12, which is no longer so */
	assert_int_equal(p.news.acked_bytes, 0);
	assert_int_equal(unacked(&p), 8);
	assert_int_equal(p.ends[0].received, 12 * SIZE);
	for (int i = 0; i < 4; i++)
		deliver(&p, &again[i], 60);
	assert_int_equal(p.ends[0].received, 12 * SIZE);
	for (int i = 4; i < 8; i++)
		deliver(&p, &again[i], 60);
	assert_int_equal(p.ends[0].received, 16 * SIZE);
	assert_int_equal(p.ends[1].done, 2);
	assert_int_equal(p.ends[1].finished_ps, 60);
	close_pair(&p);
}

/* ---- sack ---- */

/* A repeat is judged by what was sent after it, whatever the numbers. */
static void repeats_are_judged_by_what_follows_them(void **state)
{
	struct selective_options o = {.threshold = 3};
	struct recovery_data d[20], again;
	struct pair p;

	(void)state;
	open_pair(&p, "sack", &o, 20, 1);
	for (int i = 0; i < 10; i++)
		d[i] = next(&p, 10 + (uint64_t)i);
	deliver(&p, &d[1], 30);
	deliver(&p, &d[2], 30);
	assert_int_equal(p.news.lost_bytes, 0);
	assert_int_equal(unacked(&p), 8);
	assert_true(hear(&p, &p.last, 30)); /* a copy of an answer is no arrival */
	assert_int_equal(p.news.lost_bytes, 0);
	deliver(&p, &d[3], 30);
	assert_int_equal(p.news.lost_bytes, SIZE);
	assert_int_equal(unacked(&p), 6);
	again = next(&p, 31);
	assert_int_equal(again.psn, 0);
	for (int i = 4; i < 10; i++)
		deliver(&p, &d[i], 32); /* higher, but sent before */
	assert_int_equal(p.news.lost_bytes, 0);
	for (int i = 10; i < 13; i++)
		d[i] = next(&p, 23 + (uint64_t)i);
	deliver(&p, &d[10], 40);
	deliver(&p, &d[11], 40);
	assert_int_equal(p.news.lost_bytes, 0);
	deliver(&p, &d[12], 40);
	assert_int_equal(p.news.lost_bytes, SIZE);
	again = next(&p, 41);
	assert_int_equal(again.psn, 0);
	deliver(&p, &again, 42);
	assert_int_equal(p.news.acked_bytes, SIZE);
	assert_int_equal(unacked(&p), 0);
	close_pair(&p);
}

/* Those sent at about the same time time out one after the other, and count once. */
static void timeouts_of_selective_repeat(void **state)
{
	struct selective_options o = {.threshold = 3};
	struct recovery_data d[4], again;
	struct pair p;

	(void)state;
	open_pair(&p, "sack", &o, 4, 1);
	for (int i = 0; i < 4; i++)
		d[i] = next(&p, 10 * (uint64_t)(1 + i));
	assert_int_equal(p.kind->due(p.r[1]), RTO + 10);
	expire(&p, RTO + 10);
	assert_true(p.news.timeout);
	again = next(&p, RTO + 10);
	assert_int_equal(again.psn, 0);
	assert_false(has(&p, RTO + 10));
	assert_int_equal(p.kind->due(p.r[1]), RTO + 20);
	expire(&p, RTO + 20);
	assert_false(p.news.timeout);
	assert_int_equal(next(&p, RTO + 20).psn, 1);
	expire(&p, RTO + 40);
	assert_int_equal(next_all(&p, d, RTO + 40), 2);
	/* the repeats have twice the time */
	assert_int_equal(p.kind->due(p.r[1]), RTO + 10 + 2 * RTO);
	deliver(&p, &d[1], RTO + 50); /* until something arrives */
	assert_int_equal(p.kind->due(p.r[1]), RTO + 10 + RTO);
	close_pair(&p);
}

/* ---- trim ---- */

static void old_news_of_a_cut(void **state)
{
	struct selective_options o = {.desync_ps = 0};
	struct recovery_data d[4], again;
	struct recovery_answer first;
	struct pair p;

	(void)state;
	open_pair(&p, "trim", &o, 4, 1);
	assert_int_equal(next_all(&p, d, 10), 4);
	arrive(&p, &d[2], true);
	first = p.last;
	assert_true(hear(&p, &first, 30));
	assert_int_equal(unacked(&p), 3);
	assert_true(hear(&p, &first, 31)); /* a copy */
	again = next(&p, 32);
	assert_int_equal(again.psn, 2);
	assert_true(hear(&p, &first, 33)); /* of the first one, not of the repeat */
	assert_false(has(&p, 33));
	arrive(&p, &again, true);
	assert_true(hear(&p, &p.last, 40));
	assert_true(has(&p, 40));
	deliver(&p, &d[0], 50);
	arrive(&p, &d[2], false); /* another copy did arrive: its repeat is not needed */
	assert_true(hear(&p, &p.last, 51));
	assert_false(has(&p, 51));
	close_pair(&p);
}

/* ---- answers that lie ---- */

/* Ten packets were sent; of them 0, 1 and 3 have arrived. */
static void contradictions_are_refused(void **state)
{
	static const struct recovery_answer good = {.psn = 3, .expected = 2, .count = 1, .base = 2};
	static const struct {
		struct recovery_answer a;
		bool tcp, in_order, selective; /* refused by it */
	} cases[] = {
		{{.psn = 10, .expected = 2, .count = 1, .base = 2}, true, true, true},
		{{.psn = 3, .expected = 11, .base = 11}, true, true, true},
		{{.psn = 2, .expected = 2, .base = 2}, true, true, true},  /* then it expects 3 */
		{{.psn = 3, .expected = 2, .base = 2}, true, false, true}, /* then count is 1 */
		{{.psn = 3, .expected = 2, .count = 8, .base = 2}, true, true, true},
		{{.psn = 3, .expected = 2, .count = 1, .base = 2, .subflow = 1}, true, true, true},
		{{.psn = 3, .expected = 2, .count = 1, .base = 2, .trimmed = true}, true, true,
			false},
		{{.psn = 3, .expected = 2, .count = 1, .base = 2, .nak = true}, true, true, true},
		{{.psn = 1, .expected = 2, .base = 2, .nak = true}, true, true, true},
		{{.psn = 3, .expected = 2, .count = 1, .base = 1}, false, true, true},
		{{.psn = 3, .expected = 2, .count = 1, .base = 11}, false, true, true},
		{{.psn = 3, .expected = 2, .count = 1, .base = 2, .bitmap = 1}, false, true, true},
		{{.psn = 3, .expected = 2, .count = 1, .base = 3, .bitmap = 1 << 7}, false, true,
			true},
	};
	static struct selective_options o = {.threshold = 3};
	static const struct recovery_bench_go_back packet;
	static const char *const names[] = {"dupack", "go-back-n", "sack"};
	const void *options[] = {&tcp, &packet, &o};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct recovery_data d[10];
		struct recovery_answer a = good;
		struct pair p;

		open_pair(&p, names[i], options[i], 10, 1);
		assert_int_equal(next_all(&p, d, 10), 10);
		for (size_t k = 0; k < COUNT(cases); k++) {
			bool refused[] = {cases[k].tcp, cases[k].in_order, cases[k].selective};

			if (refused[i])
				assert_false(hear(&p, &cases[k].a, 30));
		}
		a.count = i != 1;
		assert_true(hear(&p, &a, 30));
		close_pair(&p);
	}
}

static const struct scheme {
	const char *name;
	const void *options;
} schemes[] = {
	{"dupack", &tcp},
	{"subflow-dupack", &(struct dupack_options){.threshold = 1, .subflows = 5}},
	{"go-back-n", &(struct recovery_bench_go_back){.whole = false}},
	{"go-back-n", &(struct recovery_bench_go_back){.whole = true}},
	{"trim", &(struct selective_options){.desync_ps = 30}},
	{"return", &(struct selective_options){.desync_ps = 30}},
	{"sack", &(struct selective_options){.threshold = 2}},
};

#define LOSSY_STEPS 3000

static uint32_t small(uint64_t *rng, uint32_t range)
{
	return rng_below(rng, 8) ? rng_below(rng, range) : (uint32_t)rng_take(rng);
}

/* Now near to what could be true, and now anything; expected: no more than that. */
static struct recovery_answer lie(uint64_t *rng, uint32_t packets, uint32_t expected, uint64_t now)
{
	uint32_t bits = rng_below(rng, 3);
	struct recovery_answer a = {
		.psn = small(rng, packets + 2),
		.expected = small(rng, packets + 2),
		.count = rng_below(rng, 2) ? small(rng, packets) : 0,
		.base = small(rng, packets + 2),
		.bitmap = bits ? rng_take(rng) >> rng_below(rng, 64) : 0,
		.subflow = (uint16_t)(rng_below(rng, 4) ? 0 : small(rng, 6)),
		.trimmed = !rng_below(rng, 3),
		.nak = !rng_below(rng, 3),
		.sent_ps = now ? rng_take(rng) % now : 0,
	};

	if (a.expected > expected)
		a.expected = expected;
	if (rng_below(rng, 2))
		a.base = a.expected;
	return a;
}

/* One step of a flow whose packets are cut and lost, and its answers. False: one was refused. */
static bool step(struct pair *p, uint64_t *rng, bool lossy, uint64_t now)
{
	uint64_t due = p->kind->due(p->r[1]);
	struct recovery_data d;

	if (due && due <= now)
		expire(p, now);
	if (!has(p, now))
		return true;
	d = next(p, now);
	if (lossy && !rng_below(rng, 4))
		return true;
	arrive(p, &d, lossy && p->kind->on_trimmed && !rng_below(rng, 4));
	return (lossy && !rng_below(rng, 4)) || hear(p, &p->last, now + 1);
}

static uint32_t reached(const struct pair *p, uint32_t subflow)
{
	/* of the last answer, which only lags behind */
	return p->last.subflow == subflow ? p->last.expected : 0;
}

/* What is refused changes nothing; and what is believed stops no flow. */
static void lies_stop_no_flow(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (uint64_t seed = 1; seed <= 30; seed++) {
			uint32_t packets = 1 + (uint32_t)seed * 3, refused = 0;
			uint64_t now = 1, rng = seed, steps = 0;
			struct pair p;
			size_t size;
			uint8_t *before;

			open_pair(&p, schemes[i].name, schemes[i].options, packets, 1);
			size = p.kind->size(&p.env, schemes[i].options, &p.flow, true);
			before = malloc(size);
			assert_non_null(before);
			for (; !p.ends[1].finished_ps; now += RTT / 10) {
				struct recovery_answer a;

				assert_true(steps++ < 2 * LOSSY_STEPS);
				assert_true(step(&p, &rng, steps < LOSSY_STEPS, now));
				/* the last answer is true: of a lie none can tell */
				a = lie(&rng, packets, 0, now);
				a.expected = reached(&p, a.subflow);
				if (rng_below(&rng, 2))
					a.base = a.expected;
				if (p.ends[1].finished_ps || steps > LOSSY_STEPS)
					continue;
				memcpy(before, p.r[1], size);
				if (!hear(&p, &a, now + 1)) {
					refused++;
					assert_memory_equal(before, p.r[1], size);
				}
			}
			assert_true(p.ends[0].delivered_ps > 0);
			assert_true(refused > 0 || packets < 10);
			free(before);
			close_pair(&p);
		}
	}
}

/* Whatever is said: the books stay in order, which the sanitizers and these limits watch. */
static void any_answer(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (uint64_t seed = 1; seed <= 20; seed++) {
			uint32_t packets = 1 + (uint32_t)seed * 11;
			uint64_t now = 1, rng = seed;
			struct pair p;

			open_pair(&p, schemes[i].name, schemes[i].options, packets, 1);
			for (int k = 0; k < 500 && !p.ends[1].finished_ps; k++, now += RTT / 10) {
				struct recovery_answer a = lie(&rng, packets, UINT32_MAX, now);
				struct recovery_data d = {.psn = small(&rng, packets + 2),
					.number = small(&rng, packets + 2),
					.subflow = (uint16_t)small(&rng, 6),
					.sent_ps = rng_take(&rng) % now};

				step(&p, &rng, true, now);
				if (p.ends[1].finished_ps)
					break;
				hear(&p, &a, now + 1);
				p.kind->on_data(p.r[0], &d, &a, now + 1);
				if (p.kind->on_trimmed)
					p.kind->on_trimmed(p.r[0], &d, &a, now + 1);
				if (p.kind->on_returned)
					p.kind->on_returned(p.r[1], &d, &p.news, now + 1);
				assert_true(unacked(&p) <= packets);
				assert_true(p.ends[0].received <= (uint64_t)packets * SIZE);
			}
			close_pair(&p);
		}
	}
}

/* Memory is asked for without a share; what a flow takes once its share is known fits into it. */
static void shares_take_no_more_memory(void **state)
{
	static const uint64_t rtts_us[] = {10, 90, 400};
	const struct dupack_options o = {.threshold = 3};
	const struct recovery_kind *kind = recovery_bench_kind("subflow-dupack");

	(void)state;
	for (size_t i = 0; i < COUNT(rtts_us); i++) {
		struct transport_env env = {
			.mtu = 4096, .host_rate_bps = 400 * GBPS, .base_rtt_ps = rtts_us[i] * US};

		for (env.queue_bytes = 32768; env.queue_bytes < 1 << 22; env.queue_bytes *= 5) {
			struct flow_spec flow = {.bytes = 1ull << 40};
			size_t room[] = {
				kind->size(&env, &o, &flow, 0), kind->size(&env, &o, &flow, 1)};

			for (uint64_t n = 1; n < 128; n++) {
				flow.fair_bps = env.host_rate_bps / n;
				assert_true(kind->size(&env, &o, &flow, 0) <= room[0]);
				assert_true(kind->size(&env, &o, &flow, 1) <= room[1]);
			}
		}
	}
}

/* And it holds what is set up in it: beyond it nothing is written. */
static void shares_take_what_they_said(void **state)
{
	const struct dupack_options o = {.threshold = 3};
	struct endpoint ep = {0};
	struct transport_env env = {.mtu = 4096,
		.host_rate_bps = 400 * GBPS,
		.base_rtt_ps = 90 * US,
		.queue_bytes = 32768};
	const struct recovery_kind *kind = recovery_bench_kind("subflow-dupack");

	(void)state;
	for (uint64_t n = 1; n < 16; n++) {
		struct flow_spec flow = {.bytes = 10000 * 4096, .fair_bps = env.host_rate_bps / n};
		struct recovery *r = calloc(1, kind->size(&env, &o, &flow, false));
		struct recovery_answer a = {0};

		assert_non_null(r);
		*r = (struct recovery){.ep = &ep,
			.env = &env,
			.options = &o,
			.packets = packets_of_flow(&env, &flow),
			.fair_bps = flow.fair_bps,
			.messages = 1};
		kind->open(r, false, 0);
		for (uint32_t i = 0, k = subflows_needed(32768, 4096, 3, 8 * n, 8); i < 4394; i++) {
			struct recovery_data d = {
				.psn = i / k, .number = i, .subflow = (uint16_t)(i % k)};

			/* the first of each is missing: all bits are taken */
			if (i >= k)
				assert_true(kind->on_data(r, &d, &a, 0));
		}
		free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senders_stop_where_receivers_forget),
		cmocka_unit_test(newreno),
		cmocka_unit_test(timeouts_go_back),
		cmocka_unit_test(subflows_count_on_their_own),
		cmocka_unit_test(one_nak_a_gap),
		cmocka_unit_test(no_nak_for_what_left_before_it_went_back),
		cmocka_unit_test(back_to_the_start_of_the_message),
		cmocka_unit_test(repeats_are_judged_by_what_follows_them),
		cmocka_unit_test(timeouts_of_selective_repeat),
		cmocka_unit_test(old_news_of_a_cut),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(lies_stop_no_flow),
		cmocka_unit_test(any_answer),
		cmocka_unit_test(shares_take_no_more_memory),
		cmocka_unit_test(shares_take_what_they_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
