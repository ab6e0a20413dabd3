/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fixed rate: a share of what topology and workload give each flow, whatever becomes of its
 * packets. Load Balancing for AI Training Workloads, sections 3.3 and 4. The window, if there is
 * one, is that of the simulator that its authors published: what the rate comes to in a round trip.
 */
#include "base/numbers.h"
#include "base/rng_stream.h"
#include "base/wiretime.h"
#include "transport/control/control.h"

struct rate_options {
	double coefficient;
	double jitter;
	bool windowed;
};

#define LEAST_PACKETS 10 /* of the window */

struct rate {
	uint64_t bps;
	uint64_t window_bytes; /* SENDER_NONE: there is none */
	uint64_t rtt_ps;       /* smoothed, as RFC 6298, 2 */
	uint32_t mtu;
	uint64_t ready_ps; /* the next packet may leave */
	uint64_t rng;
	uint32_t jitter; /* 2^-32ths of a gap */
};

static const struct key keys[] = {
	KEY("coefficient", NUMBER, struct rate_options, coefficient, .fallback = "1",
		.least = 0.001, .most = 1,
		.help = "pacing rate over the fair share of the hosts' links"),
	KEY("jitter", CHANCE, struct rate_options, jitter, .fallback = "0%",
		.help = "up to this share is added to each time between two packets, at random"),
	KEY("window", FLAG, struct rate_options, windowed, .fallback = "off",
		.words = (const char *const[]){"off", "on", NULL},
		.help = "on: no more is under way than the rate comes to in a round trip, or 10 packets"),
};

/* The fair share; of a flow whose share nobody knows, the host's link. */
static uint64_t rate_of(
	const struct transport_env *env, const struct rate_options *o, const struct flow_spec *flow)
{
	uint64_t share = flow->fair_bps ? flow->fair_bps : env->host_rate_bps;
	uint64_t bps = (uint64_t)((double)share * o->coefficient);

	return bps ? bps : 1;
}

static void set_window(struct rate *r, uint64_t rtt_ps)
{
	uint64_t bytes = (uint64_t)((double)r->bps * (double)rtt_ps / (8.0 * PS_PER_S));

	r->rtt_ps = rtt_ps;
	r->window_bytes = max_u64(bytes, (uint64_t)LEAST_PACKETS * r->mtu);
}

/*
 * Section 4, "Traffic workload": flows start at random within the time between two of their
 * packets.
 */
static void open(void *state, const struct transport_env *env, const void *options,
	const struct flow_spec *flow, uint64_t rng, uint64_t now)
{
	const struct rate_options *o = options;
	struct rate *r = state;

	r->bps = rate_of(env, o, flow);
	r->mtu = env->mtu;
	r->window_bytes = SENDER_NONE;
	if (o->windowed)
		set_window(r, flow_base_rtt(env, flow));
	r->jitter = (uint32_t)(o->jitter * UINT32_MAX);
	r->rng = rng;
	r->ready_ps = now + rng_take(&r->rng) % (serialise_ps(env->mtu, r->bps) + 1);
}

static void on_answer(void *state, const struct control_answer *a)
{
	struct rate *r = state;

	if (r->window_bytes != SENDER_NONE)
		set_window(r, r->rtt_ps - r->rtt_ps / 8 + a->rtt_ps / 8);
}

static uint64_t window(const void *state)
{
	return ((const struct rate *)state)->window_bytes;
}

static uint64_t ready(void *state, uint64_t now)
{
	(void)now;
	return ((const struct rate *)state)->ready_ps;
}

/*
 * From when it might have left, and not from when it did: a packet that has to wait for the line
 * does not delay those after it. But what was not sent for longer than a packet is not made up for.
 */
static void on_send(void *state, uint32_t frame_bytes, uint64_t now)
{
	struct rate *r = state;
	uint64_t least = serialise_ps(frame_bytes, r->bps), gap = least;

	if (r->jitter) {
		uint64_t range = (uint64_t)((unsigned __int128)least * r->jitter >> 32);

		gap += rng_take(&r->rng) % (range + 1);
	}
	r->ready_ps = (r->ready_ps + gap > now ? r->ready_ps : now - least) + gap;
}

static uint64_t rate_now(const void *state, uint64_t now)
{
	(void)now;
	return ((const struct rate *)state)->bps;
}

/* A gap is longer by half of the most that is added to it. */
static double share(const void *options)
{
	const struct rate_options *o = options;

	return o->coefficient / (1 + o->jitter / 2);
}

const struct control_kind control_kind_rate = {
	.name = "rate",
	.map = {KEYS(keys), .size = sizeof(struct rate_options), .lone = &keys[0],
		.help = "a fixed share of the fair rate, whatever happens"},
	.state_bytes = sizeof(struct rate),
	.open = open,
	.on_answer = on_answer,
	.window = window,
	.ready = ready,
	.on_send = on_send,
	.rate = rate_now,
	.share = share,
};
