/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DCTCP: TCP's window, cut by the share of marked bytes (RFC 8257). Without marks it is NewReno's
 * (RFC 5681, 6582). What RFCs tell by sequence numbers is told by time here: an answer is of the
 * next window if its packet left after this one began.
 */
#include "transport/control/control.h"

struct dctcp_options {
	uint32_t packets; /* of the first window */
	double gain;      /* g */
};

/* Lengths in bytes of payload. */
struct dctcp {
	double cwnd, ssthresh;
	double missing; /* in fast recovery: of what was under way then; else 0 */
	double alpha, gain;
	double acked, marked; /* in this observation window */
	uint64_t observed_ps; /* when it began */
	uint64_t reduced_ps;  /* the latest reduction: marks on what left before are part of it */
	uint32_t mtu;
	bool timed_out; /* and nothing has arrived since */
};

static const struct key keys[] = {
	KEY("initial_window", COUNT, struct dctcp_options, packets, .fallback = "10", .min = 1,
		.max = TIMES_MAX, .help = "packets of the first window"),
	KEY("gain", CHANCE, struct dctcp_options, gain, .fallback = "0.0625", .min = 1,
		.help = "g, the weight of a window in alpha"),
};

static void set_cwnd(struct dctcp *d, double cwnd)
{
	d->cwnd = control_clamp(cwnd, d->mtu, CONTROL_WINDOW_MAX);
}

static void open(void *state, const struct transport_env *env, const void *options,
	const struct flow_spec *flow, uint64_t rng, uint64_t now)
{
	const struct dctcp_options *o = options;
	struct dctcp *d = state;

	(void)flow;
	(void)rng;
	d->mtu = env->mtu;
	d->gain = o->gain;
	d->alpha = 1;
	d->ssthresh = CONTROL_WINDOW_MAX;
	d->observed_ps = d->reduced_ps = now;
	set_cwnd(d, (double)o->packets * env->mtu);
}

/* Down to that, but not below two packets (RFC 5681, equation 4), and never up. */
static void reduce(struct dctcp *d, double cwnd, uint64_t now)
{
	d->ssthresh = cwnd > 2.0 * d->mtu ? cwnd : 2.0 * d->mtu;
	d->reduced_ps = now;
	if (d->cwnd > d->ssthresh)
		set_cwnd(d, d->ssthresh);
}

/* RFC 8257, section 3.3, steps 1 to 7: alpha follows the share of marked bytes, once a window. */
static void observe(struct dctcp *d, const struct control_answer *a, uint64_t sent_ps)
{
	d->acked += a->acked_bytes;
	if (a->marked)
		d->marked += a->acked_bytes;
	if (sent_ps < d->observed_ps || d->acked <= 0)
		return;
	d->alpha = d->alpha * (1 - d->gain) + d->gain * d->marked / d->acked;
	d->acked = d->marked = 0;
	d->observed_ps = a->now_ps;
}

/*
 * RFC 5681, equation 2 (slow start) and section 3.1 (one packet a round trip). A window that is not
 * filled says nothing of the fabric, and does not grow (RFC 7661); in slow start it may be filled
 * by half, since what it allows leaves at the line's rate.
 */
static void increase(struct dctcp *d, uint32_t acked_bytes, double flight)
{
	if (d->cwnd < d->ssthresh) {
		if (d->cwnd < 2 * flight)
			set_cwnd(d, d->cwnd + (acked_bytes < d->mtu ? acked_bytes : d->mtu));
	} else if (flight + d->mtu > d->cwnd) {
		set_cwnd(d, d->cwnd + (double)d->mtu * acked_bytes / d->cwnd);
	}
}

/* RFC 5681, equation 4: half of what is under way */
static void halve(struct dctcp *d, double flight, uint64_t now)
{
	reduce(d, (flight < d->cwnd ? flight : d->cwnd) / 2, now);
}

/* RFC 6582, section 3.2: once, until all that was under way has arrived. */
static void lose(struct dctcp *d, double flight, uint64_t now)
{
	if (d->missing > 0)
		return;
	d->missing = flight;
	halve(d, flight, now);
}

static void on_loss(void *state, const struct control_loss *loss)
{
	struct dctcp *d = state;

	if (!loss->timeout) {
		lose(d, loss->unacked_bytes, loss->now_ps);
		return;
	}
	/* RFC 5681, section 3.1: of timeouts in a row only the first halves. */
	if (!d->timed_out)
		halve(d, loss->unacked_bytes, loss->now_ps);
	d->timed_out = true;
	d->missing = 0;
	set_cwnd(d, d->mtu);
}

static void on_answer(void *state, const struct control_answer *a)
{
	struct dctcp *d = state;
	uint64_t sent_ps = a->now_ps - a->rtt_ps;
	double flight = (double)a->unacked_bytes + a->acked_bytes; /* till now */

	if (a->trimmed)
		lose(d, flight + d->mtu, a->now_ps);
	if (a->acked_bytes)
		d->timed_out = false;
	observe(d, a, sent_ps);
	/* RFC 3168, section 6.1.2: marks reduce once a window, and no marked answer increases. */
	if (d->missing > 0)
		d->missing -= a->acked_bytes;
	else if (!a->marked)
		increase(d, a->acked_bytes, flight);
	else if (sent_ps >= d->reduced_ps)
		reduce(d, d->cwnd * (1 - d->alpha / 2), a->now_ps);
}

static uint64_t window(const void *state)
{
	return (uint64_t)((const struct dctcp *)state)->cwnd;
}

const struct control_kind control_kind_dctcp = {
	.name = "dctcp",
	.map = {KEYS(keys), .size = sizeof(struct dctcp_options),
		.help = "DCTCP: TCP's window, cut by the share of marked bytes; without marks NewReno"},
	.state_bytes = sizeof(struct dctcp),
	.open = open,
	.on_answer = on_answer,
	.on_loss = on_loss,
	.window = window,
	.unmarked = "it is TCP NewReno",
};
