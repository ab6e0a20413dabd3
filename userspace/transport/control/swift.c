/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Swift: a window that aims at a delay. "Swift: Delay is Simple and Effective for Congestion
 * Control in the Datacenter", algorithm 1 and section 3.5. Of its two delays only that of the
 * fabric: hosts have none here. docs/parts.md names what the paper leaves open.
 */
#include <math.h>
#include "transport/control/control.h"

#define AUTO_TIME UINT64_MAX /* 0 is a value of its own */
#define UNSET     .fallback = "auto", .word = "auto", .word_value = AUTO_TIME

struct swift_options {
	uint64_t target_ps; /* AUTO_TIME: the flow's idle round trip */
	uint64_t hop_ps;    /* AUTO_TIME: a sixth of the fabric's */
	uint64_t range_ps;  /* AUTO_TIME: five times the base target */
	double fs_least, fs_most;
	double ai, beta, max_mdf;
	double least; /* window in packets */
	struct quantity first, most;
	uint32_t resets;
};

struct swift {
	double cwnd, least, most; /* in packets of a full payload */
	double ai, beta, max_mdf;
	double target_ps, hop_ps;
	double fs_alpha_ps, fs_beta_ps, fs_range_ps;
	uint64_t rtt_ps;       /* the latest */
	uint64_t decreased_ps; /* t_last_decrease */
	uint64_t sent_ps;
	uint32_t timeouts; /* retransmit_cnt */
	uint32_t resets;   /* RETX_RESET_THRESHOLD */
	uint32_t mtu;
};

#define SWIFT(word, kind, member, ...) KEY(word, kind, struct swift_options, member, __VA_ARGS__)

static const struct key keys[] = {
	SWIFT("base_target", TIME, target_ps, UNSET, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "round trip that a large window aims at, without its hops; auto: that of the idle fabric"),
	SWIFT("hop_delay", TIME, hop_ps, UNSET, .max = TIME_MAX,
		.help = "added to the target for each switch on the way; auto: a sixth of the longest base round trip"),
	SWIFT("fs_range", TIME, range_ps, UNSET, .max = TIME_MAX,
		.help = "added to the target of a small window at most; auto: 5 times base_target"),
	SWIFT("fs_min_cwnd", NUMBER, fs_least, .fallback = "0.1", .least = 0.0001, .most = 1000000,
		.help = "packets of a window that gets all of fs_range"),
	SWIFT("fs_max_cwnd", NUMBER, fs_most, .fallback = "100", .least = 0.0001, .most = 1000000,
		.help = "packets of a window that gets none of fs_range"),
	SWIFT("ai", NUMBER, ai, .fallback = "1", .least = 0.0001, .most = 10000,
		.help = "packets that a window grows by in a round trip below the target"),
	SWIFT("beta", NUMBER, beta, .fallback = "0.8", .least = 0.001, .most = 1,
		.help = "part of the delay's excess by which a window shrinks"),
	SWIFT("max_mdf", NUMBER, max_mdf, .fallback = "0.5", .least = 0.001, .most = 0.999,
		.help = "largest part that a window loses in a round trip"),
	SWIFT("min_cwnd", NUMBER, least, .fallback = "0.001", .least = 0.0001, .most = 1,
		.help = "packets of the smallest window; one below 1 paces"),
	SWIFT("window", QUANTITY, first, .fallback = "150% BDP", .min = 1,
		.max = CONTROL_WINDOW_MAX, .help = "the first window"),
	SWIFT("max_window", QUANTITY, most, .fallback = "200% BDP", .min = 1,
		.max = CONTROL_WINDOW_MAX, .help = "the largest window"),
	SWIFT("retx_reset", COUNT, resets, .fallback = "5", .min = 1, .max = TIMES_MAX,
		.help = "timeouts in a row after which a window is the smallest"),
};

static bool check(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	const struct swift_options *o = options;

	(void)good;
	if (o->fs_least < o->fs_most)
		return true;
	return c->wrong(c, n, "fs_min_cwnd", "it is not below fs_max_cwnd");
}

static double time_of(uint64_t given_ps, double else_ps)
{
	return given_ps == AUTO_TIME ? else_ps : (double)given_ps;
}

static void open(void *state, const struct transport_env *env, const void *options,
	const struct flow_spec *flow, uint64_t rng, uint64_t now)
{
	const struct swift_options *o = options;
	struct swift *s = state;

	(void)rng;
	s->rtt_ps = flow_base_rtt(env, flow);
	s->decreased_ps = now;
	s->mtu = env->mtu;
	s->ai = o->ai;
	s->beta = o->beta;
	s->max_mdf = o->max_mdf;
	s->resets = o->resets;
	s->least = o->least;
	s->most = control_window(env, &o->most) / env->mtu;
	s->cwnd = control_clamp(control_window(env, &o->first) / env->mtu, 1, s->most);
	s->target_ps = time_of(o->target_ps, (double)s->rtt_ps);
	s->hop_ps = time_of(o->hop_ps, (double)env->base_rtt_ps / 6);
	/* Section 3.5: the whole range at fs_min_cwnd, nothing at fs_max_cwnd. */
	s->fs_range_ps = time_of(o->range_ps, 5 * s->target_ps);
	s->fs_alpha_ps = s->fs_range_ps / (1 / sqrt(o->fs_least) - 1 / sqrt(o->fs_most));
	s->fs_beta_ps = -s->fs_alpha_ps / sqrt(o->fs_most);
}

/* Section 3.5: base target, topology-based and flow-based scaling. */
static double target(const struct swift *s, uint32_t hops)
{
	double flows_ps = s->fs_alpha_ps / sqrt(s->cwnd) + s->fs_beta_ps;

	return s->target_ps + hops * s->hop_ps + control_clamp(flows_ps, 0, s->fs_range_ps);
}

/* Algorithm 1, from "enforce lower/upper bounds" on. */
static void set_cwnd(struct swift *s, double cwnd, uint64_t now)
{
	cwnd = control_clamp(cwnd, s->least, s->most);
	if (cwnd < s->cwnd)
		s->decreased_ps = now;
	s->cwnd = cwnd;
}

/* A multiplicative decrease, once in a round trip: can_decrease. */
static void decrease(struct swift *s, double part, uint64_t now)
{
	if (now - s->decreased_ps >= s->rtt_ps)
		set_cwnd(s, s->cwnd * (1 - (part < s->max_mdf ? part : s->max_mdf)), now);
}

/* Algorithm 1, "on receiving ACK" and "on fast recovery" */
static void on_answer(void *state, const struct control_answer *a)
{
	struct swift *s = state;
	double delay = (double)a->rtt_ps, excess, packets;

	s->timeouts = 0;
	/* What was cut off is a loss, and its headers overtook the queue that it is about. */
	if (a->trimmed) {
		decrease(s, s->max_mdf, a->now_ps);
		return;
	}
	s->rtt_ps = a->rtt_ps;
	excess = delay - target(s, a->hops);
	packets = (double)a->acked_bytes / s->mtu;
	if (excess >= 0)
		decrease(s, s->beta * excess / delay, a->now_ps);
	else
		set_cwnd(s, s->cwnd + s->ai * packets / (s->cwnd >= 1 ? s->cwnd : 1), a->now_ps);
}

/* Algorithm 1, "on retransmit timeout" and "on fast recovery" */
static void on_loss(void *state, const struct control_loss *loss)
{
	struct swift *s = state;

	s->timeouts = loss->timeout ? s->timeouts + 1 : 0;
	if (s->timeouts >= s->resets)
		set_cwnd(s, s->least, loss->now_ps);
	else
		decrease(s, s->max_mdf, loss->now_ps);
}

static uint64_t window(const void *state)
{
	const struct swift *s = state;

	return (uint64_t)(s->cwnd * s->mtu);
}

/* Algorithm 1, pacing_delay; 0: a window of a packet or more does not pace. */
static uint64_t pacing_ps(const struct swift *s)
{
	return s->cwnd < 1 ? (uint64_t)control_clamp((double)s->rtt_ps / s->cwnd, 1, TIME_MAX) : 0;
}

static uint64_t ready(void *state, uint64_t now)
{
	const struct swift *s = state;

	(void)now;
	return s->sent_ps + pacing_ps(s);
}

static void on_send(void *state, uint32_t frame_bytes, uint64_t now)
{
	(void)frame_bytes;
	((struct swift *)state)->sent_ps = now;
}

static uint64_t rate(const void *state, uint64_t now)
{
	const struct swift *s = state;
	uint64_t gap_ps = pacing_ps(s);

	(void)now;
	return gap_ps ? 8 * PS_PER_S * s->mtu / gap_ps : SENDER_NONE;
}

const struct control_kind control_kind_swift = {
	.name = "swift",
	.map = {KEYS(keys), .size = sizeof(struct swift_options), .check = check,
		.help = "Swift: a window that aims at a delay"},
	.state_bytes = sizeof(struct swift),
	.open = open,
	.on_answer = on_answer,
	.on_loss = on_loss,
	.window = window,
	.window_most = FIELD(struct swift_options, most),
	.ready = ready,
	.on_send = on_send,
	.rate = rate,
};
