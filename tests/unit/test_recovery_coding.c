/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Erasure coding as a recovery: how many symbols it takes, and that no loss of any holds it up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/recovery_bench.h"
#include "base/rng_stream.h"

#define PACKETS 48u

static struct recovery_bench_coding exact, more = {.overhead = 0.05};

/* ---- symbols of a message ---- */

static struct recovery *open_receiver(const struct transport_env *env, struct endpoint *ep,
	const struct recovery_bench_coding *o, uint64_t bytes, uint32_t messages)
{
	const struct recovery_kind *kind = recovery_bench_kind("coding");
	const struct flow_spec flow = {.bytes = bytes, .more = messages - 1};
	struct recovery *r = calloc(1, kind->size(env, o, &flow, false));

	assert_non_null(r);
	*r = (struct recovery){.ep = ep,
		.env = env,
		.options = o,
		.packets = packets_of_flow(env, &flow),
		.base_rtt_ps = RTT,
		.rto_ps = RTO,
		.messages = messages};
	kind->open(r, false, 1);
	return r;
}

/* Packets that the receiver takes until it has all messages; each answer says how far it is. */
static uint32_t symbols_taken(uint64_t bytes, uint32_t mtu, double overhead, uint32_t messages)
{
	struct recovery_bench_coding o = {.overhead = overhead};
	const struct recovery_kind *kind = recovery_bench_kind("coding");
	const struct transport_env env = {.mtu = mtu, .host_rate_bps = GBPS, .base_rtt_ps = RTT};
	struct endpoint ep = {0};
	struct recovery *r = open_receiver(&env, &ep, &o, bytes, messages);
	uint32_t taken = 0, of_message = 0;

	while (!ep.delivered_ps) {
		struct recovery_data d = {.number = 1000 + taken, .message = ep.done};
		struct recovery_answer a = {0};
		uint64_t offset;
		uint32_t length, done = ep.done;

		assert_true(kind->place(r, &d, &offset, &length));
		assert_true(length <= mtu);
		d.message++; /* of which the sender can't have heard that it is wanted */
		assert_false(kind->on_data(r, &d, &a, taken));
		d.message--;
		assert_true(kind->on_data(r, &d, &a, ++taken));
		of_message = ep.done == done ? of_message + 1 : 0;
		assert_int_equal(a.expected, ep.done);
		assert_int_equal(a.count, of_message);
		if (of_message)
			assert_true(ep.received <= bytes * (done + 1));
		else
			assert_int_equal(ep.received, bytes * ep.done);
	}
	assert_int_equal(ep.done, messages);
	assert_int_equal(ep.delivered_ps, taken);
	assert_int_equal(ep.stats.duplicates, 0);
	free(r);
	return taken;
}

/* ceil(message x (1 + overhead) / symbol), to the symbol. */
static void so_many_symbols_complete_a_message(void **state)
{
	static const uint32_t packets[] = {1, 2, 3, 7, 10, 25, 48, 75, 90, 99, 100};

	(void)state;
	for (size_t i = 0; i < COUNT(packets); i++)
		for (uint32_t k = 0; k <= 100; k++)
			assert_int_equal(symbols_taken(packets[i] * 4096ull, 4096, k / 100.0, 1),
				(packets[i] * (100 + k) + 99) / 100);
	assert_int_equal(symbols_taken(1, 4096, 0, 1), 1);
	assert_int_equal(symbols_taken(1, 4096, 0.05, 1), 2);
	assert_int_equal(symbols_taken(4097, 4096, 0, 1), 2); /* of 2,049 bytes */
	assert_int_equal(symbols_taken(4097, 4096, 0.5, 1), 3);
	assert_int_equal(symbols_taken(4097, 4096, 1, 1), 4);
	assert_int_equal(symbols_taken(100 * 1000 + 1, 1000, 0, 1), 101);
	assert_int_equal(symbols_taken(100 * 1000 + 1, 1000, 0.05, 1), 106); /* of 991 bytes */
	assert_int_equal(symbols_taken(48 * 4096, 4096, 0.05, 3), 3 * 51);
}

/* Of a window that moves on with the latest; what is behind it may have come. */
static void symbols_count_once(void **state)
{
	static const struct {
		uint32_t number;
		bool counts;
	} symbols[] = {{5, true}, {5, false}, {3, true}, {1028, true}, {4, false}, {6, true},
		{6, false}, {5, false}, {9000, true}, {1028, false}, {7977, true}, {7976, false},
		{UINT32_MAX - 1, true}, {0, false}};
	const struct recovery_kind *kind = recovery_bench_kind("coding");
	const struct transport_env env = {.mtu = MTU, .host_rate_bps = GBPS, .base_rtt_ps = RTT};
	struct endpoint ep = {0};
	struct recovery *r = open_receiver(&env, &ep, &exact, 8 * MTU, 2);
	uint32_t counted = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(symbols); i++) {
		const struct recovery_data d = {.number = symbols[i].number};
		struct recovery_answer a = {0};

		assert_true(kind->on_data(r, &d, &a, 1 + i));
		counted += symbols[i].counts;
		assert_int_equal(a.count, counted);
		assert_int_equal(ep.stats.duplicates, i + 1 - counted);
	}
	/* the last that the first message lacks; the next one begins anew */
	for (uint32_t i = 0; i < 9; i++) {
		const struct recovery_data d = {
			.number = i ? i : UINT32_MAX - 2, .message = ep.done};
		struct recovery_answer a = {0};

		assert_int_equal(ep.done, i > 0);
		assert_int_equal(ep.delivered_ps, 0);
		assert_true(kind->on_data(r, &d, &a, 100));
	}
	assert_int_equal(ep.delivered_ps, 100);
	free(r);
}

/* ---- on the wire ---- */

struct trouble {
	struct recovery_bench *b;
	bool answers;        /* those of data, or of answers, are lost: */
	uint32_t nth, times; /* that one, and those after it */
	uint32_t seen;       /* of them */
	uint32_t held;       /* data of that number is late */
	uint64_t held_ps;
	bool twice;            /* answers come twice */
	bool copies;           /* data does */
	uint32_t loss_percent; /* of all */
	uint64_t rng;
	uint64_t sent_ps[64]; /* of data; those after that many are not kept */
	uint32_t data;
};

static bool drop(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;

	if (t->loss_percent && rng_below(&t->rng, 100) < t->loss_percent)
		return true;
	if (t->answers == p->forward)
		return false;
	return t->seen++ >= t->nth && t->seen <= t->nth + t->times;
}

static uint64_t delay(void *arg, const struct fake_packet *p)
{
	const struct trouble *t = arg;

	return p->forward && t->data == t->held + 1 ? t->held_ps : 0;
}

/* Called before delay(), of which t->data then is the number, from 1. */
static void see(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;

	if (p->forward && t->data < COUNT(t->sent_ps))
		t->sent_ps[t->data] = p->sent_ps;
	t->data += p->forward;
}

static bool twice(void *arg, const struct fake_packet *p)
{
	const struct trouble *t = arg;

	return p->forward ? t->copies : t->twice;
}

static void prepare(struct recovery_bench *b, struct trouble *t, void *options)
{
	recovery_bench_prepare(b, "coding", options, PACKETS);
	*t = (struct trouble){.b = b, .held = UINT32_MAX - 1, .rng = 1};
	b->config.hooks = (struct fake_hooks){
		.arg = t, .drop = drop, .delay = delay, .see = see, .twice = twice};
}

static const struct endpoint *sender(struct recovery_bench *b)
{
	return recovery_bench_sender(b);
}

static const struct endpoint *receiver(struct recovery_bench *b)
{
	return recovery_bench_receiver(b);
}

/* To the end, of which all must hold; symbols: of all messages. */
static void run(struct recovery_bench *b, uint32_t symbols)
{
	uint32_t messages = 1 + b->config.more;

	fake_wire_open(&b->wire, &b->config);
	fake_wire_run(&b->wire, FOREVER);
	assert_true(fake_wire_finished(&b->wire));
	assert_int_equal(b->wire.malformed, 0);
	assert_int_equal(receiver(b)->received, b->config.message_bytes * messages);
	assert_int_equal(receiver(b)->done, messages);
	assert_int_equal(sender(b)->done, messages);
	assert_int_equal(sender(b)->stats.retransmitted, 0);
	/* all but those that it took came too late */
	assert_int_equal(receiver(b)->stats.duplicates, b->wire.flows[0].data_arrived - symbols);
	assert_true(receiver(b)->delivered_ps > 0);
	assert_true(receiver(b)->delivered_ps <= sender(b)->finished_ps);
	assert_int_equal(sender(b)->deadline_ps, 0);
}

static uint64_t packet_ps(const struct recovery_bench *b)
{
	return fake_wire_time(MTU + 14 + 20 + 8 + sizeof(struct bth_hdr) +
				      sizeof(struct assembled_data) + ICRC_BYTES,
		b->config.rate_bps);
}

/* Without losses: when the last symbol that it takes has come, and when its answer has. */
static void idle(void *options, uint32_t symbols, uint64_t *ret_delivered, uint64_t *ret_finished)
{
	struct recovery_bench b;
	struct trouble t;

	prepare(&b, &t, options);
	run(&b, symbols);
	*ret_delivered = receiver(&b)->delivered_ps;
	*ret_finished = sender(&b)->finished_ps;
	/* it goes on until it hears: for a round trip, less what it has sent already */
	assert_in_range(
		sender(&b)->stats.packets_sent, symbols + 1, symbols + 1 + RTT / packet_ps(&b));
	fake_wire_close(&b.wire);
}

/* Whichever is lost, the next one stands in for it: not a packet's time more is lost. */
static void the_next_symbol_stands_in_for_any(void **state)
{
	void *options[] = {&exact, &more};
	uint32_t symbols[] = {PACKETS, 51};

	(void)state;
	for (size_t i = 0; i < COUNT(options); i++) {
		uint64_t delivered, finished;

		idle(options[i], symbols[i], &delivered, &finished);
		for (uint32_t n = 0; n < symbols[i]; n++) {
			for (uint32_t times = 1; times < 4; times++) {
				uint32_t lost = n + times > symbols[i] ? symbols[i] - n : times;
				struct recovery_bench b;
				struct trouble t;

				prepare(&b, &t, options[i]);
				t.nth = n;
				t.times = lost;
				run(&b, symbols[i]);
				assert_int_equal(sender(&b)->stats.timeouts, 0);
				assert_int_equal(receiver(&b)->delivered_ps,
					delivered + lost * packet_ps(&b));
				assert_int_equal(
					sender(&b)->finished_ps, finished + lost * packet_ps(&b));
				fake_wire_close(&b.wire);
			}
		}
	}
}

/* The answer to any surplus symbol says the same. */
static void answers_are_lost(void **state)
{
	uint64_t delivered, finished;

	(void)state;
	idle(&exact, PACKETS, &delivered, &finished);
	for (uint32_t n = 0; n < PACKETS + 3; n++) {
		struct recovery_bench b;
		struct trouble t;

		prepare(&b, &t, &exact);
		t.answers = true;
		t.nth = n;
		t.times = 2;
		run(&b, PACKETS);
		assert_int_equal(sender(&b)->stats.timeouts, 0);
		assert_int_equal(receiver(&b)->delivered_ps, delivered);
		assert_int_equal(
			sender(&b)->finished_ps, finished + (n == PACKETS - 1          ? 2
								    : n == PACKETS - 2 ? 1
										       : 0) *
								    packet_ps(&b));
		fake_wire_close(&b.wire);
	}
}

/* A late one holds up none: at the worst the next stands in for it. */
static void symbols_are_overtaken(void **state)
{
	uint64_t delivered, finished;

	(void)state;
	idle(&exact, PACKETS, &delivered, &finished);
	for (uint32_t by = 1; by < 2 * PACKETS; by += 3) {
		struct recovery_bench b;
		struct trouble t;

		prepare(&b, &t, &exact);
		t.held = 10;
		t.held_ps = by * packet_ps(&b) + US / 10;
		run(&b, PACKETS);
		assert_int_equal(sender(&b)->stats.timeouts, 0);
		assert_in_range(receiver(&b)->delivered_ps, delivered, delivered + packet_ps(&b));
		fake_wire_close(&b.wire);
	}
}

static void answers_come_twice(void **state)
{
	uint64_t delivered, finished;
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	idle(&exact, PACKETS, &delivered, &finished);
	prepare(&b, &t, &exact);
	t.twice = true;
	run(&b, PACKETS);
	assert_int_equal(sender(&b)->finished_ps, finished);
	fake_wire_close(&b.wire);
}

/* It takes as many different ones, each of which comes behind the copy of the one before. */
static void symbols_come_twice(void **state)
{
	uint64_t delivered, finished;
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	idle(&exact, PACKETS, &delivered, &finished);
	prepare(&b, &t, &exact);
	t.copies = true;
	run(&b, PACKETS);
	assert_true(receiver(&b)->delivered_ps >= delivered + (PACKETS - 1) * packet_ps(&b));
	fake_wire_close(&b.wire);
}

/* One after the other, each of so many symbols; sizes that are no multiple of the MTU too. */
static void messages_follow_each_other(void **state)
{
	static const struct {
		void *options;
		uint64_t bytes;
		uint32_t more, symbols;
	} cases[] = {
		{&exact, PACKETS * MTU, 4, 5 * PACKETS},
		{&more, PACKETS * MTU, 4, 5 * 51},
		{&exact, MTU, 20, 21},
		{&exact, (PACKETS - 1) * MTU + 1, 0, PACKETS},
		{&more, PACKETS * MTU - 1, 0, 51},
		{&more, 1, 0, 2},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (uint32_t loss = 0; loss <= 40; loss += 10) {
			struct recovery_bench b;
			struct trouble t;

			prepare(&b, &t, cases[i].options);
			b.config.message_bytes = cases[i].bytes;
			b.config.more = cases[i].more;
			t.loss_percent = loss;
			run(&b, cases[i].symbols);
			fake_wire_close(&b.wire);
		}
	}
}

/* Its packets are lost so many times: only time tells, each time twice as late. */
static void a_lost_window_times_out(void **state)
{
	(void)state;
	for (uint32_t window = 1; window <= 8; window *= 2) {
		for (uint32_t times = 0; times <= 5; times++) {
			uint32_t from = window == 1 ? 3 : 0; /* of the packets */
			struct recovery_bench b;
			struct trouble t;

			prepare(&b, &t, &exact);
			b.window.value = window * MTU;
			t.nth = from;
			t.times = times * window;
			run(&b, PACKETS);
			assert_int_equal(sender(&b)->stats.timeouts, times);
			for (uint32_t i = 1; i <= times; i++)
				assert_int_equal(t.sent_ps[from + i * window] -
							 t.sent_ps[from + (i - 1) * window],
					RTO << (i - 1));
			fake_wire_close(&b.wire);
		}
	}
}

/* With a window, and with losses both ways, it always ends. */
static void nothing_stalls(void **state)
{
	(void)state;
	for (uint32_t window = 1; window <= 64; window *= 4) {
		for (uint64_t seed = 1; seed <= 8; seed++) {
			struct recovery_bench b;
			struct trouble t;

			prepare(&b, &t, seed % 2 ? &more : &exact);
			b.window.value = window * MTU;
			b.config.more = 2;
			t.loss_percent = (uint32_t)seed * 5;
			t.rng = seed;
			run(&b, 3 * (seed % 2 ? 51 : PACKETS));
			fake_wire_close(&b.wire);
		}
	}
}

/* ---- answers that lie ---- */

/* They say that a message is complete of which too few symbols were sent, or one that was not. */
static void answers_ahead_of_what_was_sent(void **state)
{
	struct recovery_news news = {0};
	const struct recovery_kind *kind = recovery_bench_kind("coding");
	const struct transport_env env = {.mtu = MTU, .host_rate_bps = GBPS, .base_rtt_ps = RTT};
	const struct flow_spec flow = {.bytes = 4 * MTU, .more = 2};
	struct endpoint ep = {0};
	struct recovery *r = calloc(1, kind->size(&env, &exact, &flow, true));
	struct recovery_answer a = {0};
	struct recovery_data d;

	(void)state;
	assert_non_null(r);
	*r = (struct recovery){.ep = &ep,
		.env = &env,
		.options = &exact,
		.packets = packets_of_flow(&env, &flow),
		.base_rtt_ps = RTT,
		.rto_ps = RTO,
		.messages = 3,
		.released = 1};
	kind->open(r, true, 1);
	for (uint32_t sent = 1; sent <= 4; sent++) {
		kind->next(r, &d, sent);
		a.expected = 2;
		assert_false(kind->on_answer(r, &a, &news, 10));
		a.expected = UINT32_MAX;
		assert_false(kind->on_answer(r, &a, &news, 10));
		a.expected = 1;
		assert_int_equal(kind->unacked(r), sent * MTU);
		assert_int_equal(kind->on_answer(r, &a, &news, 10), sent == 4);
	}
	assert_int_equal(ep.done, 1);
	assert_int_equal(kind->unacked(r), 0);
	assert_int_equal(kind->due(r), 0);
	assert_false(kind->has(r, 11)); /* only one was released */
	r->released = 3;
	assert_true(kind->has(r, 11));
	kind->next(r, &d, 11);
	assert_int_equal(d.message, 1);
	/* surplus symbols of the first: nothing is known of those of the second */
	a = (struct recovery_answer){.expected = 1, .psn = 5};
	assert_true(kind->on_answer(r, &a, &news, 12));
	a.psn = 0;
	assert_true(kind->on_answer(r, &a, &news, 12));
	assert_int_equal(kind->unacked(r), MTU);
	a.base = 1;
	assert_true(kind->on_answer(r, &a, &news, 12));
	assert_int_equal(kind->unacked(r), 0);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_symbols_complete_a_message),
		cmocka_unit_test(the_next_symbol_stands_in_for_any),
		cmocka_unit_test(answers_are_lost),
		cmocka_unit_test(symbols_are_overtaken),
		cmocka_unit_test(answers_come_twice),
		cmocka_unit_test(symbols_come_twice),
		cmocka_unit_test(symbols_count_once),
		cmocka_unit_test(messages_follow_each_other),
		cmocka_unit_test(a_lost_window_times_out),
		cmocka_unit_test(nothing_stalls),
		cmocka_unit_test(answers_ahead_of_what_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
