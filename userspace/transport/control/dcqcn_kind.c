/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DCQCN's options, for RoCEv2 and for the control of an assembled transport, and that control: the
 * reaction point, which takes an answer with a mark for a notification.
 */
#include "transport/control/control.h"
#include "transport/control/dcqcn.h"

#define SCALE_BPS 40000000000ull
#define MBPS      1000000ull
#define ROUND_MIN 1000000ull /* that catching up with rounds stays cheap */

const char *const dcqcn_clamps[] = {"always", "after_increase", NULL};
const char *const dcqcn_scales[] = {[DCQCN_PAPER] = "paper",
	[DCQCN_TUNED] = "tuned",
	[DCQCN_STRACK_PAPER] = "strack-paper",
	NULL};

/* For a line of 40 Gbps, as which DCQCN's paper has it; docs/transports.md names the sources. */
static const struct scale {
	struct dcqcn_options usual;
	uint64_t additive_bps, hyper_bps;
	uint64_t increase_bytes; /* 0: no byte counter */
	uint64_t min_share;      /* the lowest rate, as a part of the line */
	uint64_t min_bps;        /* which it need not exceed; 0: it may */
} scales[] = {
	[DCQCN_PAPER] = {{.cnp_ps = 50 * PS_PER_US,
				 .increase_ps = 55 * PS_PER_US,
				 .alpha_ps = 55 * PS_PER_US,
				 .rounds = 5,
				 .clamp = DCQCN_CLAMP_ALWAYS},
		40 * MBPS, 200 * MBPS, 10000000, DCQCN_LEAST_SHARE, 0},
	[DCQCN_TUNED] = {{.cnp_ps = 4 * PS_PER_US,
				 .increase_ps = 300 * PS_PER_US,
				 .alpha_ps = 1 * PS_PER_US,
				 .rounds = 1,
				 .clamp = DCQCN_CLAMP_AFTER_INCREASE},
		8 * MBPS, 80 * MBPS, 0, 100, 1000 * MBPS},
	[DCQCN_STRACK_PAPER] = {{.cnp_ps = 50 * PS_PER_US,
					.increase_ps = 25 * PS_PER_US,
					.alpha_ps = 55 * PS_PER_US,
					.rounds = 5,
					.clamp = DCQCN_CLAMP_ALWAYS},
		200 * MBPS, 1000 * MBPS, 10000000, DCQCN_LEAST_SHARE, 0},
};

void dcqcn_complete(struct dcqcn_options *o)
{
	const struct dcqcn_options *u = &scales[o->scale].usual;

	o->cnp_ps = o->cnp_ps ? o->cnp_ps : u->cnp_ps;
	o->increase_ps = o->increase_ps ? o->increase_ps : u->increase_ps;
	o->alpha_ps = o->alpha_ps ? o->alpha_ps : u->alpha_ps;
	o->rounds = o->rounds ? o->rounds : u->rounds;
	o->clamp = o->clamp ? o->clamp : u->clamp;
}

/* What is given, else so much as for 40 Gbps; 0 only if that is. */
static uint64_t scaled(uint64_t value, uint64_t at_40_gbps, uint64_t line_bps)
{
	uint64_t r = (uint64_t)((unsigned __int128)at_40_gbps * line_bps / SCALE_BPS);

	if (value)
		return value;
	return r || !at_40_gbps ? r : 1;
}

/* How long a message may take is known by DCQCN_LEAST_SHARE: nothing falls below it. */
static uint64_t min_of(const struct dcqcn_options *o, uint64_t line_bps)
{
	const struct scale *scale = &scales[o->scale];
	uint64_t r = o->min_bps ? o->min_bps : line_bps / scale->min_share;

	if (!o->min_bps && scale->min_bps && r > scale->min_bps)
		r = scale->min_bps;
	if (r < line_bps / DCQCN_LEAST_SHARE)
		r = line_bps / DCQCN_LEAST_SHARE;
	if (r > line_bps)
		r = line_bps;
	return r ? r : 1;
}

static uint64_t round_ps(uint64_t value)
{
	return value < ROUND_MIN ? ROUND_MIN : value;
}

/* At least the smallest that there is. */
static uint32_t fraction(double share)
{
	uint32_t r = (uint32_t)(share * DCQCN_ALPHA_ONE);

	return r ? r : 1;
}

struct dcqcn_params dcqcn_params_of(const struct dcqcn_options *o, uint64_t line_bps)
{
	const struct scale *scale = &scales[o->scale];

	return (struct dcqcn_params){
		.line_bps = line_bps,
		.min_bps = min_of(o, line_bps),
		.additive_bps = scaled(o->additive_bps, scale->additive_bps, line_bps),
		.hyper_bps = scaled(o->hyper_bps, scale->hyper_bps, line_bps),
		.increase_ps = round_ps(o->increase_ps),
		.increase_bytes = scaled(o->increase_bytes, scale->increase_bytes, line_bps),
		.alpha_ps = round_ps(o->alpha_ps),
		.alpha_start = fraction(o->alpha_start),
		.gain = fraction(o->gain),
		.rounds = o->rounds,
		.keep_target = o->clamp == DCQCN_CLAMP_AFTER_INCREASE,
	};
}

/* ---- the control ---- */

struct sender {
	struct dcqcn point;
	struct dcqcn_params params;
	uint64_t cnp_ps;
	uint64_t deaf_ps; /* notifications before that do not count */
};

static const struct key keys[] = {DCQCN_KEYS(struct dcqcn_options, )};

static bool complete(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	(void)c;
	(void)n;
	(void)good;
	dcqcn_complete(options);
	return true;
}

static void open(void *state, const struct transport_env *env, const void *options,
	const struct flow_spec *flow, uint64_t rng, uint64_t now)
{
	const struct dcqcn_options *o = options;
	struct sender *s = state;

	(void)flow;
	(void)rng;
	(void)now;
	s->params = dcqcn_params_of(o, env->host_rate_bps);
	s->cnp_ps = o->cnp_ps;
	dcqcn_open(&s->point, &s->params);
}

/* The notification point's limit (section 3.1), kept where notifications would arrive. */
static void notify(struct sender *s, uint64_t now)
{
	if (now < s->deaf_ps)
		return;
	s->deaf_ps = now + s->cnp_ps;
	dcqcn_on_cnp(&s->point, &s->params, now);
}

static void on_answer(void *state, const struct control_answer *answer)
{
	if (answer->marked || answer->trimmed)
		notify(state, answer->now_ps);
}

/* The paper knows no losses: one that is seen is congestion as a mark is. */
static void on_loss(void *state, const struct control_loss *loss)
{
	struct sender *s = state;

	if (loss->timeout)
		dcqcn_on_loss(&s->point, &s->params, loss->now_ps);
	else
		notify(s, loss->now_ps);
}

static uint64_t ready(void *state, uint64_t now)
{
	struct sender *s = state;

	return dcqcn_ready(&s->point, &s->params, now);
}

static void on_send(void *state, uint32_t frame_bytes, uint64_t now)
{
	struct sender *s = state;

	dcqcn_on_send(&s->point, &s->params, frame_bytes, now);
}

/* Of a copy: what its timers would have done is caught up with at a look. */
static uint64_t rate(const void *state, uint64_t now)
{
	const struct sender *s = state;
	struct dcqcn point = s->point;

	dcqcn_ready(&point, &s->params, now);
	return point.rate_bps;
}

const struct control_kind control_kind_dcqcn = {
	.name = "dcqcn",
	.map = {KEYS(keys), .size = sizeof(struct dcqcn_options), .lone = &keys[0],
		.check = complete, .help = "DCQCN: a rate, cut when switches mark"},
	.state_bytes = sizeof(struct sender),
	.open = open,
	.on_answer = on_answer,
	.on_loss = on_loss,
	.ready = ready,
	.on_send = on_send,
	.rate = rate,
	.least_share = DCQCN_LEAST_SHARE,
	.unmarked = "it slows down after losses alone",
};
