/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recoveries of assembled transports on a wire that loses, holds back, repeats and cuts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/recovery_bench.h"
#include "base/rng_stream.h"

#define PACKETS 48u

static struct dupack_options tcp = {.threshold = 3, .subflows = 1};
static struct dupack_options slow = {.threshold = 3, .subflows = 1, .timeouts_only = true};
static struct dupack_options four = {.threshold = 3, .subflows = 4};
static struct dupack_options many = {.threshold = 2, .subflows = 100};
static struct recovery_bench_go_back packet, message = {.whole = true};
static struct selective_options cut_short = {.desync_ps = SELECTIVE_DESYNC_AUTO};
static struct selective_options by_order = {.threshold = 3};

/* What each is to do about a loss that later packets show: nothing too much, and at once. */
static const struct scheme {
	const char *name;
	void *options;
	uint32_t shown_by; /* packets after it that show a loss; 0: only time does */
	uint32_t rto_us;
} schemes[] = {
	{"dupack", &tcp, 3, 100},
	{"dupack", &slow, 0, 100},
	{"subflow-dupack", &four, 3 * 4, 100},
	{"subflow-dupack", &many, 0, 100},
	{"go-back-n", &packet, 1, 1000},
	{"go-back-n", &message, 1, 1000},
	{"trim", &cut_short, 0, 100},
	{"return", &cut_short, 0, 100},
	{"sack", &by_order, 3, 100},
};

/* What the hooks do to frames. */
struct trouble {
	struct recovery_bench *b;
	uint32_t nth, times; /* of data, or of answers: that one and those after it are lost */
	bool answers;
	uint32_t seen;
	uint32_t held;       /* data of that number on its way, and from then on each .. th */
	uint32_t held_every; /* 0: only that one */
	uint64_t held_ps;
	uint64_t dead_from, dead_until;
	uint64_t rng;
	uint32_t loss_percent, twice_percent, cut_percent, jitter_ps;
	enum fake_cut how;
	uint32_t cut_nth, cut_times, data;
};

static bool is_dropped(struct trouble *t, const struct fake_packet *p)
{
	uint64_t now = t->b->wire.now;

	if (t->loss_percent && rng_below(&t->rng, 100) < t->loss_percent)
		return true;
	if (now >= t->dead_from && now < t->dead_until)
		return true;
	if (t->answers == p->forward)
		return false;
	return t->seen++ >= t->nth && t->seen <= t->nth + t->times;
}

static bool drop(void *arg, const struct fake_packet *p)
{
	return is_dropped(arg, p);
}

static uint64_t delay(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;

	if (t->held_ps && p->forward) {
		uint32_t n = t->data++;

		return n == t->held || (t->held_every && n % t->held_every == t->held) ? t->held_ps
										       : 0;
	}
	return t->jitter_ps ? rng_below(&t->rng, t->jitter_ps) : 0;
}

static bool twice(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;

	(void)p;
	return t->twice_percent && rng_below(&t->rng, 100) < t->twice_percent;
}

static enum fake_cut cut(void *arg, const struct fake_packet *p)
{
	struct trouble *t = arg;

	(void)p;
	if (t->cut_times) {
		uint32_t n = t->data++;

		return n >= t->cut_nth && n < t->cut_nth + t->cut_times ? t->how : FAKE_WHOLE;
	}
	return t->cut_percent && rng_below(&t->rng, 100) < t->cut_percent ? t->how : FAKE_WHOLE;
}

static void prepare(struct recovery_bench *b, struct trouble *t, const struct scheme *s)
{
	recovery_bench_prepare(b, s->name, s->options, PACKETS);
	*t = (struct trouble){.b = b, .rng = 1};
	b->config.hooks = (struct fake_hooks){
		.arg = t, .drop = drop, .delay = delay, .cut = cut, .twice = twice};
}

static const struct endpoint_stats *sent(struct recovery_bench *b)
{
	return &recovery_bench_sender(b)->stats;
}

static const struct endpoint_stats *got(struct recovery_bench *b)
{
	return &recovery_bench_receiver(b)->stats;
}

static uint64_t took(struct recovery_bench *b)
{
	return recovery_bench_sender(b)->finished_ps;
}

static void nothing_is_sent_twice_for_nothing(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (int rest = 0; rest < 2; rest++) {
			prepare(&b, &t, &schemes[i]);
			b.config.message_bytes -= (uint64_t)rest * (MTU - 1);
			recovery_bench_run(&b);
			assert_int_equal(sent(&b)->retransmitted, 0);
			assert_int_equal(sent(&b)->timeouts, 0);
			assert_int_equal(got(&b)->out_of_order, 0);
			fake_wire_close(&b.wire);
		}
	}
}

/* Any packet: what came after it shows it, or time does where nothing or too little came. */
static void one_packet_is_lost(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		const struct scheme *s = &schemes[i];
		bool in_order = !strcmp(s->name, "go-back-n");

		for (uint32_t n = 0; n < PACKETS; n++) {
			bool shown = s->shown_by && n + s->shown_by < PACKETS;

			prepare(&b, &t, s);
			t.nth = n;
			t.times = 1;
			recovery_bench_run(&b);
			assert_int_equal(sent(&b)->timeouts, !shown);
			if (shown) {
				assert_true(took(&b) < RTO);
				assert_int_equal(got(&b)->duplicates, 0);
			}
			if (shown && !in_order)
				assert_int_equal(sent(&b)->retransmitted, 1);
			if (in_order && shown) {
				assert_int_equal(sent(&b)->naks, 1);
				assert_int_equal(got(&b)->naks, 1);
			}
			assert_true(took(&b) < (s->rto_us + 60) * US);
			fake_wire_close(&b.wire);
		}
	}
}

/* Only time tells of them, and it tells of the repeats too, each time twice as late. */
static void a_packet_is_lost_again_and_again(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (uint32_t times = 1; times < 6; times++) {
			prepare(&b, &t, &schemes[i]);
			b.config.message_bytes = 1;
			t.times = times;
			recovery_bench_run(&b);
			assert_int_equal(sent(&b)->timeouts, times);
			assert_int_equal(sent(&b)->retransmitted, times);
			assert_in_range(took(&b), schemes[i].rto_us * US * ((1 << times) - 1),
				schemes[i].rto_us * US * ((1 << times) - 1) + 2 * RTT);
			fake_wire_close(&b.wire);
		}
	}
}

/* An answer stands in for those before it: only the last of a sequence is waited for. */
static void answers_are_lost(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		uint32_t tail = !strcmp(schemes[i].name, "subflow-dupack")
					? ((struct dupack_options *)schemes[i].options)->subflows
					: 1;

		for (uint32_t n = 0; n < PACKETS; n++) {
			prepare(&b, &t, &schemes[i]);
			t.answers = true;
			t.nth = n;
			t.times = 1;
			recovery_bench_run(&b);
			assert_int_equal(sent(&b)->timeouts, n + tail >= PACKETS);
			/* the start of the message, from where on it is sent until they come */
			if (schemes[i].options != &message)
				assert_int_equal(sent(&b)->retransmitted, n + tail >= PACKETS);
			fake_wire_close(&b.wire);
		}
		for (uint32_t times = 2; times < 3 * PACKETS; times *= 2) {
			prepare(&b, &t, &schemes[i]);
			t.answers = true;
			t.nth = 5;
			t.times = times;
			recovery_bench_run(&b);
			fake_wire_close(&b.wire);
		}
	}
}

static void a_dead_network_comes_back(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (uint64_t from = 0; from < 20 * US; from += 3 * US) {
			prepare(&b, &t, &schemes[i]);
			t.dead_from = from;
			t.dead_until = from + 900 * US;
			recovery_bench_run(&b);
			assert_true(took(&b) < 2300 * US);
			fake_wire_close(&b.wire);
		}
	}
}

/* Everything at once, both ways, over two messages of a connection. */
static void any_pattern_of_losses(void **state)
{
	static const uint32_t percents[] = {2, 10, 40};
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (size_t p = 0; p < COUNT(percents); p++) {
			for (uint64_t seed = 1; seed < 5; seed++) {
				/* of a message that begins again all must come in one go */
				bool again = schemes[i].options == &message;

				prepare(&b, &t, &schemes[i]);
				b.config.more = seed % 2;
				t.rng = seed;
				t.loss_percent = again ? 1 : percents[p];
				t.twice_percent = percents[p];
				t.cut_percent = again ? 1 : percents[p] / 2;
				t.how = seed % 2 ? FAKE_TRIMMED : FAKE_RETURNED;
				t.jitter_ps = again ? 0 : 20 * US;
				recovery_bench_run(&b);
				fake_wire_close(&b.wire);
			}
		}
	}
}

/* With a window, which a repeat must fit in. */
static void losses_within_a_window(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (uint32_t window = 1; window < 16; window *= 2) {
			prepare(&b, &t, &schemes[i]);
			b.window.value = window * MTU;
			t.loss_percent = schemes[i].options == &message ? 1 : 5;
			recovery_bench_run(&b);
			fake_wire_close(&b.wire);
		}
	}
}

/* A packet that comes late: by more than shows a loss, it is sent again, and else not. */
static void packets_are_overtaken(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (size_t i = 0; i < COUNT(schemes); i++) {
		for (uint32_t by = 1; by < 20; by++) {
			prepare(&b, &t, &schemes[i]);
			t.held = 10;
			t.held_ps = by * fake_wire_time(MTU + 82, 100 * GBPS) + US / 10;
			recovery_bench_run(&b);
			assert_int_equal(sent(&b)->timeouts, 0);
			if (schemes[i].shown_by && by >= schemes[i].shown_by)
				assert_true(sent(&b)->retransmitted > 0);
			else
				assert_int_equal(sent(&b)->retransmitted, 0);
			fake_wire_close(&b.wire);
		}
	}
}

/* ---- headers without payload ---- */

static void each_cut_is_repeated_once(void **state)
{
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (uint32_t round = 0; round < 3 * PACKETS; round++) {
		/* `return` takes both */
		const struct scheme *s = &schemes[round % 3 ? 7 : 6];

		prepare(&b, &t, s);
		t.how = round % 3 == 1 ? FAKE_RETURNED : FAKE_TRIMMED;
		t.cut_nth = round / 3;
		t.cut_times = 1 + round % 5;
		recovery_bench_run(&b);
		assert_int_equal(sent(&b)->timeouts, 0);
		assert_int_equal(sent(&b)->retransmitted, b.wire.cuts);
		assert_int_equal(got(&b)->duplicates, 0);
		assert_int_equal(
			t.how == FAKE_TRIMMED ? got(&b)->trimmed : sent(&b)->returned, b.wire.cuts);
		assert_true(took(&b) < RTO);
		fake_wire_close(&b.wire);
	}
}

/* What one cut of the last packet costs: from next to nothing to the longest wait, evenly. */
static void repeats_wait_at_random(void **state)
{
	struct selective_options o = {.desync_ps = 0};
	struct recovery_bench b;
	struct trouble t;
	uint64_t idle = 0, sum = 0, least = UINT64_MAX, most = 0;
	uint32_t rounds = 200;

	(void)state;
	for (uint32_t round = 0; round <= rounds; round++) {
		uint64_t wait;

		prepare(&b, &t, &schemes[6]);
		b.config.message_bytes = MTU;
		b.config.seed = round;
		b.options.recovery_options = &o;
		t.how = FAKE_TRIMMED;
		t.cut_times = 1;
		recovery_bench_run(&b);
		wait = took(&b) - idle;
		fake_wire_close(&b.wire);
		if (!round) {
			idle = wait;
			o.desync_ps = 20 * US;
			continue;
		}
		sum += wait;
		least = wait < least ? wait : least;
		most = wait > most ? wait : most;
	}
	assert_true(least < US && most > 19 * US && most <= 20 * US);
	assert_in_range(sum / rounds, 8 * US, 12 * US);
}

/* ---- equation 1 ---- */

static void subflows_by_equation_1(void **state)
{
	(void)state;
	assert_int_equal(subflows_needed(32768, 4096, 3, 100, 100), 11); /* section 7: "only 11" */
	assert_int_equal(subflows_needed(32768, 4096, 6, 100, 100), 6);  /* "halved" */
	assert_int_equal(subflows_needed(32768, 4096, 32, 100, 100), 1); /* 6.1: "32" */
	assert_int_equal(subflows_needed(32768, 4096, 31, 100, 100), 2);
	assert_int_equal(subflows_needed(32768, 4096, 3, 100 * GBPS, 100 * GBPS / 2), 6);
	assert_int_equal(subflows_needed(32768, 4096, 3, 100 * GBPS, 100 * GBPS / 127), 1);
	assert_int_equal(subflows_needed(32768, 4096, 3, 100, 0), 11);
	assert_int_equal(subflows_needed(0, 4096, 3, 100, 100), 1);
	assert_int_equal(subflows_needed(1ull << 50, 4096, 3, 100, 100), SUBFLOWS_MAX);
}

/* Every other packet meets four full queues, and its neighbours none. */
static void subflows_stand_the_worst_reordering(void **state)
{
	struct dupack_options o = {.threshold = 3};
	struct recovery_bench b;
	struct trouble t;

	(void)state;
	for (uint32_t k = 0; k <= 11; k++) {
		for (uint32_t every = 30; every < 50; every++) {
			bool enough = !k || k == 11; /* by itself it takes 11 */

			prepare(&b, &t, &schemes[2]);
			b.options.recovery_options = &o;
			b.config.message_bytes = 200 * MTU;
			b.env.queue_bytes = 32768;
			o.subflows = k;
			t.held = 5;
			t.held_every = enough ? every : 0;
			t.held_ps = 4 * fake_wire_time(32768, 100 * GBPS);
			recovery_bench_run(&b);
			assert_int_equal(sent(&b)->retransmitted > 0, !enough);
			fake_wire_close(&b.wire);
			if (!enough)
				break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_sent_twice_for_nothing),
		cmocka_unit_test(one_packet_is_lost),
		cmocka_unit_test(a_packet_is_lost_again_and_again),
		cmocka_unit_test(answers_are_lost),
		cmocka_unit_test(a_dead_network_comes_back),
		cmocka_unit_test(any_pattern_of_losses),
		cmocka_unit_test(losses_within_a_window),
		cmocka_unit_test(packets_are_overtaken),
		cmocka_unit_test(each_cut_is_repeated_once),
		cmocka_unit_test(repeats_wait_at_random),
		cmocka_unit_test(subflows_by_equation_1),
		cmocka_unit_test(subflows_stand_the_worst_reordering),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
