/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* STrack's window as a control: the same as that of the transport, without its paths and losses. */
#include "transport/control/control.h"
#include "transport/control/strack_window.h"

struct window_options {
	struct quantity window;
	uint64_t target_ps; /* 0: one base RTT */
};

static const struct key keys[] = {
	KEY("window", QUANTITY, struct window_options, window, .fallback = "140% BDP", .min = 1,
		.max = CONTROL_WINDOW_MAX, .help = "the largest window, and the first one"),
	KEY("target_delay", TIME, struct window_options, target_ps, AUTO, .min = PS_PER_NS,
		.max = TIME_MAX,
		.help = "queueing delay that the window aims at; auto: a base round trip"),
};

static void open(void *state, const struct transport_env *env, const void *options,
	const struct flow_spec *flow, uint64_t rng, uint64_t now)
{
	const struct window_options *o = options;
	uint64_t rtt_ps = env->base_rtt_ps;

	(void)rng;
	strack_window_open(state, env->host_rate_bps, rtt_ps, flow_base_rtt(env, flow),
		o->target_ps ? o->target_ps : rtt_ps, env->mtu,
		strack_window_packets(env->host_rate_bps, rtt_ps, env->mtu, &o->window, 1), now);
}

/* Losses do not change it (3.3.2): those that matter have their delay. */
static void on_answer(void *state, const struct control_answer *a)
{
	struct strack_window *w = state;
	struct strack_signal signal = {.marked = a->marked, .acked_bytes = a->acked_bytes};

	if (a->trimmed) {
		strack_window_on_trimmed(w, a->acked_bytes, a->now_ps);
		return;
	}
	signal.delay_ps = strack_window_delay(w, a->rtt_ps, true);
	strack_window_on_ack(w, &signal, a->now_ps);
}

static uint64_t window(const void *state)
{
	return ((const struct strack_window *)state)->bytes;
}

const struct control_kind control_kind_strack = {
	.name = "strack",
	.map = {KEYS(keys), .size = sizeof(struct window_options),
		.help = "STrack's window: by delay, checked against marks"},
	.state_bytes = sizeof(struct strack_window),
	.open = open,
	.on_answer = on_answer,
	.window = window,
	.window_most = FIELD(struct window_options, window),
};
