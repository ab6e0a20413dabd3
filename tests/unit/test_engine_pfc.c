/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PFC frames and pauses (802.1Q, clause 36): when they begin and end, and what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/pause_watch.h"
#include "lib/transport_options.h"

#define GBPS    1000000000ull
#define RATE    (100 * GBPS)
#define DELAY   1000000u
#define FRAME   CLASS_NET_FRAME
#define OTHER   1
#define ANSWERS 6

/* ---- one frame, and several ----------------------------------------------------------------- */

/* h0 - switch - h1, h0 sending without a pause. */
struct line {
	uint64_t rate_bps, delay_ps, response_ps;
	bool host; /* the port that is to obey is the host's, else the switch's */
	uint32_t packets;
};

static struct pause_watch *open_line(struct class_net *n, const struct line *l)
{
	/* so that the switch's queue is never empty */
	const struct class_link links[] = {
		{0, 2, l->host ? l->rate_bps : 2 * l->rate_bps, l->delay_ps},
		{1, 2, l->rate_bps, l->delay_ps}};
	const struct class_stream stream = {
		.src = 0, .dst = 1, .class = PAUSE_CLASS, .payload = 4096, .packets = l->packets};
	struct pause_watch *w;

	class_net_init(n, 2, 1, links, 2);
	class_net_lossless(n, PAUSE_CLASS, 1u << 29);
	n->switching.config.response_ps = l->response_ps;
	w = pause_watch_new(n, l->host ? class_net_port(n, 0, 2) : class_net_port(n, 2, 1));
	class_net_open(n);
	class_net_stream(n, &stream);
	return w;
}

static void close_line(struct class_net *n, struct pause_watch *w, const struct line *l)
{
	class_net_run(n, UINT64_MAX);
	assert_int_equal(w->count[PAUSE_CLASS], l->packets);
	pause_watch_assert_back_to_back(w, PAUSE_CLASS, serialise_ps(FRAME, l->rate_bps));
	pause_watch_assert_alone(w);
	assert_int_equal(class_net_dropped(n), 0);
	class_net_at_rest(n->engine);
	class_net_close(n);
	free(w);
}

/* A pause that takes effect `phase` after the start of some frame. */
static void pause_once(struct line l, uint64_t phase, uint16_t quanta)
{
	uint64_t ser = serialise_ps(FRAME, l.rate_bps);
	uint64_t lead = serialise_ps(PFC_FRAME, l.rate_bps) + l.delay_ps + l.response_ps;
	uint64_t first = l.host ? 0 : serialise_ps(FRAME, 2 * l.rate_bps) + l.delay_ps;
	uint32_t before = 5 + (uint32_t)(lead / ser);
	struct class_net n;
	struct pause_watch *w;

	l.packets = before + 20;
	w = open_line(&n, &l);
	class_net_run(&n, first + before * ser + phase - lead);
	class_net_send_pfc(&n, w->peer, 1u << PAUSE_CLASS, quanta);
	close_line(&n, w, &l);
}

static void one_pause(void **state)
{
	static const uint64_t rates[] = {100 * GBPS, 400 * GBPS, 3 * GBPS, 999999937},
			      delays[] = {1000000, 0, 777}, responses[] = {0, 1, 1234567};

	(void)state;
	for (uint32_t i = 0; i < 4 * 3 * 3 * 2; i++) {
		const struct line l = {.rate_bps = rates[i % 4],
			.delay_ps = delays[i / 4 % 3],
			.response_ps = responses[i / 12 % 3],
			.host = i / 36};
		uint64_t ser = serialise_ps(FRAME, l.rate_bps);

		/* as a frame starts: that one goes; and around it */
		pause_once(l, ser, 1000);
		pause_once(l, ser + 1, 1000);
		pause_once(l, ser - 1, 1000);
		pause_once(l, ser / 3, 65535);
		/* shorter than the rest of the frame; and as long as that, or nearly */
		pause_once(l, 2, 3);
		pause_once(l, ser - (3 * pfc_quantum(l.rate_bps) >> 8), 3);
		pause_once(l, ser - (3 * pfc_quantum(l.rate_bps) >> 8) + 1, 3);
		pause_once(l, ser - (3 * pfc_quantum(l.rate_bps) >> 8) - 1, 3);
	}
}

/* Orders of any length, XON among them, so close that the response time holds several of them. */
static void orders_at_random(uint64_t seed, const struct line *l)
{
	uint64_t rng = seed, quantum = pfc_quantum(l->rate_bps) >> 8;
	struct class_net n;
	struct pause_watch *w = open_line(&n, l);

	for (uint32_t i = 0; i < 30; i++) {
		uint16_t quanta = (uint16_t)(rng_below(&rng, 3) ? 1 + rng_below(&rng, 400) : 0);

		class_net_run(
			&n, engine_now(n.engine) + 1 + rng_below(&rng, (uint32_t)(300 * quantum)));
		class_net_send_pfc(&n, w->peer, 1u << PAUSE_CLASS, quanta);
	}
	close_line(&n, w, l);
}

static void many_pauses(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 2000 : 60;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		const struct line l = {.rate_bps = seed & 1 ? RATE : 3 * GBPS,
			.delay_ps = seed & 2 ? DELAY : 5,
			.host = seed & 4,
			.packets = 200};

		orders_at_random(seed, &l);
	}
}

static void many_pauses_that_take_time(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 2000 : 60;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		const struct line l = {.rate_bps = RATE,
			.delay_ps = seed & 2 ? DELAY : 5,
			.response_ps = seed * 30000,
			.host = seed & 4,
			.packets = 200};

		orders_at_random(seed, &l);
	}
}

/* ---- the other classes ---------------------------------------------------------------------- */

/* At a switch: what the paused class leaves of the line another one has, without a gap. */
static void other_classes_go_on(void **state)
{
	static const struct class_link links[] = {
		{0, 3, RATE, DELAY}, {1, 3, RATE, DELAY}, {2, 3, RATE, DELAY}};
	struct class_stream stream = {
		.src = 1, .class = PAUSE_CLASS, .payload = 4096, .packets = 50};
	uint64_t ser = serialise_ps(FRAME, RATE), from, first, during = 0;
	struct class_net n;
	struct pause_watch *w;

	(void)state;
	class_net_init(&n, 3, 1, links, 3);
	class_net_lossless(&n, PAUSE_CLASS, 1u << 29);
	w = pause_watch_new(&n, class_net_port(&n, 3, 0));
	class_net_open(&n);
	class_net_stream(&n, &stream);
	stream.src = 2;
	stream.class = OTHER;
	stream.packets = 100;
	class_net_stream(&n, &stream);
	class_net_run(&n, 5 * PS_PER_US);
	class_net_send_pfc(&n, w->peer, 1u << PAUSE_CLASS, 1000);
	class_net_run(&n, UINT64_MAX);
	from = w->orders[0].from_ps;
	assert_int_equal(w->count[PAUSE_CLASS] + w->count[OTHER], 150);
	for (uint32_t i = 0; i < w->count[PAUSE_CLASS]; i++)
		assert_false(w->starts[PAUSE_CLASS][i] > from &&
			     w->starts[PAUSE_CLASS][i] < from + w->orders[0].length_ps);
	for (uint32_t i = 0; i < w->count[OTHER]; i++)
		during += w->starts[OTHER][i] > from &&
			  w->starts[OTHER][i] < from + w->orders[0].length_ps;
	assert_in_range(during, w->orders[0].length_ps / ser, w->orders[0].length_ps / ser + 1);
	/* the line was never idle; the first two come at the same time */
	first = w->starts[PAUSE_CLASS][0] < w->starts[OTHER][0] ? w->starts[PAUSE_CLASS][0]
								: w->starts[OTHER][0];
	assert_int_equal(w->last_ps, first + 149 * ser);
	pause_watch_assert_alone(w);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	free(w);
}

/* At a host: no data while it is paused, but answers to what comes. */
static void a_paused_host_answers(void **state)
{
	static const struct strack_options options = STRACK_OPTIONS_DEFAULT;
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	const struct operation flows[] = {{.src_host = 0, .dst_host = 1, .bytes = 400000},
		{.src_host = 1, .dst_host = 0, .bytes = 400000}};
	uint32_t answers = 0;
	struct class_net n;
	struct pause_watch *w;

	(void)state;
	class_net_init(&n, 2, 1, links, 2);
	class_net_lossless(&n, PAUSE_CLASS, 1u << 29);
	n.params.transports[0].ops = &strack_transport;
	n.params.transports[0].env.options = &options;
	n.params.transports[0].env.base_rtt_ps = 5 * PS_PER_US;
	n.params.transports[0].env.control_dscp = 8 * ANSWERS;
	w = pause_watch_new(&n, class_net_port(&n, 1, 2));
	class_net_open(&n);
	assert_int_equal(engine_add_flows(n.engine, flows, 2, NULL, 0), 0);
	class_net_run(&n, 10 * PS_PER_US);
	class_net_send_pfc(&n, w->peer, 1u << PAUSE_CLASS, 2000);
	class_net_run(&n, PS_PER_MS);
	assert_true(engine_done(n.engine));
	for (uint32_t i = 0; i < w->count[PAUSE_CLASS]; i++)
		assert_false(w->starts[PAUSE_CLASS][i] > w->told[0].from_ps &&
			     w->starts[PAUSE_CLASS][i] < w->told[0].until_ps);
	for (uint32_t i = 0; i < w->count[ANSWERS]; i++)
		answers += w->starts[ANSWERS][i] > w->told[0].from_ps &&
			   w->starts[ANSWERS][i] < w->told[0].until_ps;
	assert_true(answers >= 5);
	pause_watch_assert_alone(w);
	class_net_at_rest(n.engine);
	class_net_close(&n);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pause),
		cmocka_unit_test(many_pauses),
		cmocka_unit_test(many_pauses_that_take_time),
		cmocka_unit_test(other_classes_go_on),
		cmocka_unit_test(a_paused_host_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
