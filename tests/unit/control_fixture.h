/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CONTROL_FIXTURE_H
#define FABRICBED_CONTROL_FIXTURE_H

/*
 * A control by itself: its options as a scenario has them, and the sender's calls. Include after
 * cmocka.h.
 */
#include "base/rng_stream.h"
#include "scenario_fixture.h"
#include "transport/assembled.h"

#define NS PS_PER_NS
#define US PS_PER_US

struct control_bench {
	struct scenario *scenario;
	const struct control_kind *kind;
	struct transport_env env;
	struct flow_spec flow;
	uint64_t now;
	uint32_t unacked, hops; /* of answers and losses */
	uint64_t state[64];
};

/* control: as in a file, e.g. "swift: {ai: 2}". */
static inline void control_open(struct control_bench *b, const char *control, uint64_t rate_bps,
	uint64_t rtt_ps, uint32_t mtu, uint64_t now)
{
	const struct assembled_options *o;
	char text[512];

	snprintf(text, sizeof(text), SMALL "host: {transport: {assembled: {control: {%s}}}}\n",
		control);
	*b = (struct control_bench){.scenario = load(text),
		.env = {.mtu = mtu, .host_rate_bps = rate_bps, .base_rtt_ps = rtt_ps},
		.now = now};
	o = b->scenario->host.transport.options;
	b->kind = assembled_control(o);
	assert_true(b->kind->state_bytes <= sizeof(b->state));
	assert_int_equal(b->kind->state_bytes % 8, 0);
	b->kind->open(b->state, &b->env, o->control_options, &b->flow, 1, now);
}

static inline void control_close(struct control_bench *b)
{
	scenario_free(b->scenario);
}

/* An answer now, to a packet that left a round trip ago. */
static inline void control_answer(
	struct control_bench *b, uint64_t rtt_ps, uint32_t bytes, bool marked, bool trimmed)
{
	const struct control_answer answer = {.now_ps = b->now,
		.rtt_ps = rtt_ps,
		.base_rtt_ps = b->env.base_rtt_ps,
		.acked_bytes = bytes,
		.unacked_bytes = b->unacked,
		.hops = b->hops,
		.marked = marked,
		.trimmed = trimmed};

	if (b->kind->on_answer)
		b->kind->on_answer(b->state, &answer);
}

/* Of b->unacked, or more; by what arrived later, or all of it by a timeout. */
static inline void control_lose(struct control_bench *b, uint32_t bytes)
{
	const struct control_loss loss = {.now_ps = b->now,
		.bytes = bytes,
		.unacked_bytes = b->unacked > bytes ? b->unacked : bytes};

	if (b->kind->on_loss)
		b->kind->on_loss(b->state, &loss);
}

static inline void control_time_out(struct control_bench *b)
{
	const struct control_loss loss = {.now_ps = b->now,
		.bytes = b->unacked,
		.unacked_bytes = b->unacked,
		.timeout = true};

	if (b->kind->on_loss)
		b->kind->on_loss(b->state, &loss);
}

static inline uint64_t control_window_now(const struct control_bench *b)
{
	return b->kind->window(b->state);
}

/* To within a byte of rounding. */
static inline void expect_window(const struct control_bench *b, double bytes)
{
	double found = (double)control_window_now(b);

	if (found < bytes - 1.001 || found > bytes + 1.001)
		fail_msg("the window is %.0f, not %.3f", found, bytes);
}

/*
 * Whatever happens, at any rate, payload and round trip: the window stays within its limits, and a
 * packet may leave in the end.
 */
static inline void control_survives(const char *control, uint64_t most)
{
	static const uint64_t rates[] = {1000, 1000000000, 10000000000000};
	static const uint64_t rtts[] = {US, 100 * US, PS_PER_S};
	static const uint32_t mtus[] = {256, 4096, 65536};
	uint64_t rng = 7;

	for (unsigned i = 0; i < 27; i++) {
		struct control_bench b;
		uint64_t rtt = rtts[i / 3 % 3];

		control_open(&b, control, rates[i % 3], rtt, mtus[i / 9], i & 1 ? PS_PER_S : 0);
		for (unsigned j = 0; j < 2000; j++) {
			uint32_t what = rng_below(&rng, 64);
			uint64_t delay = rtt * (1 + rng_below(&rng, 1u << rng_below(&rng, 16)));

			b.now += rng_take(&rng) % (2 * rtt);
			b.hops = rng_below(&rng, 256);
			b.unacked = what & 1 ? rng_below(&rng, UINT32_MAX) : 0;
			if (what < 2)
				control_time_out(&b);
			else if (what < 4)
				control_lose(&b, what & 1 ? UINT32_MAX : 0);
			else
				control_answer(&b, delay < b.now ? delay : b.now,
					what & 8    ? b.env.mtu
					: what & 16 ? UINT32_MAX
						    : 0,
					what & 32, what == 4);
			if (b.kind->on_send)
				b.kind->on_send(b.state, b.env.mtu + 80, b.now);
			if (b.kind->window)
				assert_true(control_window_now(&b) <= most);
			if (b.kind->ready)
				assert_true(b.kind->ready(b.state, b.now) <= b.now + TIME_MAX);
			if (b.kind->rate)
				b.kind->rate(b.state, b.now);
		}
		control_close(&b);
	}
}

#endif
