/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ultra Ethernet's network-signalled congestion control: a window that follows marks and delay
 * (Ultra Ethernet Specification 1.0). Formulas and constants are those of its public reference
 * simulator, uet-htsim, sim/uec.cpp: functions are named where they come from.
 */
#include "transport/control/control.h"

#define REF_RTT_PS     12000000.0 /* initNsccParams: constants are for 12 us ... */
#define REF_BDP        150000.0   /* ... at 100 Gbps */
#define FAST_DELAY_PS  1000000    /* fast_increase: less than that is no queue */
#define FAST_SHARE     0.25       /* of what arrives then */
#define ADJUST_PACKETS 8          /* initNsccParams: _adjust_bytes_threshold */
#define CUT_MOST       0.5        /* multiplicative_decrease: _max_md_jump */

struct nscc_options {
	uint64_t target_ps; /* 0: the fabric's base round trip */
	struct quantity window;
	double proportional, fair, eta; /* packets a round, at REF_BDP */
	double gamma;
	double delay_gain;
	bool quick_adapt;
	uint32_t gate;
};

/* Lengths in bytes of payload. */
struct nscc {
	double cwnd, most;
	double alpha; /* growth for each byte that arrives and picosecond below the target */
	double fair;  /* growth for each byte that arrives */
	double eta;   /* growth in each network_ps */
	double fast;
	double gamma, delay_gain;
	double average_ps;         /* of the queueing delay */
	double grown;              /* what is to be added, times cwnd */
	double received;           /* since the latest addition */
	double idle;               /* received in a row without a queue */
	double achieved;           /* received in this period */
	double ignored, to_ignore; /* after a quick adapt: what was under way then */
	uint64_t target_ps;
	uint64_t network_ps; /* the fabric's base round trip */
	uint64_t base_ps;    /* the flow's */
	uint64_t period_ps;  /* when it ends; 0: it has not begun */
	uint64_t decreased_ps, adjusted_ps;
	uint32_t mtu, gate;
	bool quick_adapt;
	bool lost; /* since the latest quick adapt */
	bool growing_fast;
};

#define NSCC(word, kind, member, ...) KEY(word, kind, struct nscc_options, member, __VA_ARGS__)
#define OF_PACKETS                    .least = 0, .most = 1000

static const char *const off_on[] = {"off", "on", NULL};

static const struct key keys[] = {
	NSCC("target_delay", TIME, target_ps, AUTO, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "queueing delay that the window aims at; auto: the longest base round trip"),
	NSCC("window", QUANTITY, window, .fallback = "150% BDP", .min = 1,
		.max = CONTROL_WINDOW_MAX, .help = "the largest window, and the first one"),
	NSCC("proportional", NUMBER, proportional, .fallback = "4", OF_PACKETS,
		.help = "packets of growth in a round trip without a queue, per 150 KB of BDP"),
	NSCC("fair", NUMBER, fair, .fallback = "5", OF_PACKETS,
		.help = "packets of growth in a round trip of unmarked delay, likewise"),
	NSCC("eta", NUMBER, eta, .fallback = "0.15", OF_PACKETS,
		.help = "packets of growth in any round trip, likewise"),
	NSCC("gamma", NUMBER, gamma, .fallback = "0.8", .least = 0.001, .most = 1,
		.help = "part of the delay's excess by which a marked window shrinks"),
	NSCC("delay_gain", CHANCE, delay_gain, .fallback = "0.0125", .min = 1,
		.help = "weight of a new sample in the average delay"),
	NSCC("quick_adapt", FLAG, quick_adapt, .fallback = "on", .words = off_on,
		.help = "after losses the window becomes what has arrived in a round trip"),
	NSCC("qa_gate", COUNT, gate, .fallback = "3", .max = 20,
		.help = "only if that is below the largest window, halved so often"),
};

static void set_cwnd(struct nscc *n, double cwnd)
{
	n->cwnd = control_clamp(cwnd, n->mtu, n->most);
}

/* initNsccParams, initNscc */
static void open(void *state, const struct transport_env *env, const void *options,
	const struct flow_spec *flow, uint64_t rng, uint64_t now)
{
	const struct nscc_options *o = options;
	struct nscc *n = state;
	double scale = (double)control_bdp(env) / REF_BDP; /* _scaling_factor_a, by packets */

	(void)rng;
	n->mtu = env->mtu;
	n->network_ps = env->base_rtt_ps;
	n->base_ps = flow_base_rtt(env, flow);
	n->target_ps = o->target_ps ? o->target_ps : env->base_rtt_ps;
	n->alpha = o->proportional * env->mtu * scale / REF_RTT_PS;
	n->fair = o->fair * env->mtu * scale;
	n->eta = o->eta * env->mtu * scale;
	n->fast = FAST_SHARE * scale;
	n->gamma = o->gamma;
	n->delay_gain = o->delay_gain;
	n->quick_adapt = o->quick_adapt;
	n->gate = o->gate;
	n->decreased_ps = n->adjusted_ps = now;
	n->most = control_window(env, &o->window);
	set_cwnd(n, n->most);
}

static void average(struct nscc *n, double sample_ps)
{
	n->average_ps += n->delay_gain * (sample_ps - n->average_ps);
}

/*
 * quick_adapt: the window becomes what arrived within a round trip and the target. True: it has, or
 * marks on what was under way then come in, and the answer has no other effect.
 */
static bool quick_adapt(struct nscc *n, bool marked, uint64_t delay_ps, double flight, uint64_t now)
{
	bool adapted = false;

	if (!n->quick_adapt)
		return false;
	if (n->ignored < n->to_ignore && marked) {
		adapted = true;
	} else if (now > n->period_ps) {
		if (n->period_ps && (n->lost || delay_ps > 4 * n->target_ps) &&
			n->achieved < n->most / (double)(1u << n->gate)) {
			set_cwnd(n, n->achieved);
			n->to_ignore = flight;
			n->ignored = 0;
			n->lost = false;
			adapted = true;
		}
		n->achieved = 0;
		n->period_ps = now + n->base_ps + n->target_ps;
	}
	if (adapted)
		n->grown = n->received = 0;
	return adapted;
}

/* proportional_increase, and fast_increase for a window's worth without a queue */
static void increase(struct nscc *n, double bytes, uint64_t delay_ps)
{
	n->idle = delay_ps < FAST_DELAY_PS ? n->idle + bytes : 0;
	n->growing_fast = delay_ps < FAST_DELAY_PS && (n->growing_fast || n->idle > n->cwnd);
	if (n->growing_fast)
		n->cwnd += bytes * n->fast;
	else
		n->grown += n->alpha * bytes * (double)(n->target_ps - delay_ps);
}

/* multiplicative_decrease: by the average, so that one path's delay is not all paths' */
static void decrease(struct nscc *n, uint64_t now)
{
	double excess_ps = n->average_ps - (double)n->target_ps, part;

	n->growing_fast = false;
	n->idle = 0;
	if (excess_ps <= 0 || now - n->decreased_ps <= n->base_ps)
		return;
	part = n->gamma * excess_ps / n->average_ps;
	n->cwnd *= 1 - (part < CUT_MOST ? part : CUT_MOST);
	n->decreased_ps = now;
}

/* fulfill_adjustment: growth is added now and then, and a little in each round trip */
static void adjust(struct nscc *n, uint64_t now)
{
	bool due = now - n->adjusted_ps >= n->network_ps;

	if (n->received <= (double)ADJUST_PACKETS * n->mtu && !due)
		return;
	set_cwnd(n, n->cwnd + n->grown / n->cwnd + (due ? n->eta : 0));
	n->grown = n->received = 0;
	if (due)
		n->adjusted_ps = now;
}

/*
 * updateCwndOnNack: bytes were lost. How full the queue was that had no room for them is not known:
 * a round trip is assumed.
 */
static void lose(struct nscc *n, double bytes, double flight, uint64_t now)
{
	n->ignored += bytes;
	n->lost = true;
	average(n, (double)n->network_ps);
	if (!quick_adapt(n, true, 0, flight, now))
		set_cwnd(n, n->cwnd - bytes);
}

/* updateCwndOnAck, update_delay */
static void on_answer(void *state, const struct control_answer *a)
{
	struct nscc *n = state;
	uint64_t delay_ps = a->rtt_ps > a->base_rtt_ps ? a->rtt_ps - a->base_rtt_ps : 0;
	bool late = delay_ps >= n->target_ps;

	n->achieved += a->acked_bytes;
	n->received += a->acked_bytes;
	n->ignored += a->acked_bytes;
	if (a->trimmed) {
		lose(n, n->mtu, a->unacked_bytes, a->now_ps);
		return;
	}
	/* Delay without a mark is of a queue that is on its way down. */
	average(n,
		!a->marked && delay_ps > n->target_ps ? (double)n->base_ps / 4 : (double)delay_ps);
	if (quick_adapt(n, a->marked, delay_ps, a->unacked_bytes, a->now_ps))
		return;
	if (!a->marked && late)
		n->grown += n->fair * a->acked_bytes;
	else if (!a->marked)
		increase(n, a->acked_bytes, delay_ps);
	else if (late)
		decrease(n, a->now_ps);
	/* marked, but not late: the path is to blame, and not the window */
	set_cwnd(n, n->cwnd);
	adjust(n, a->now_ps);
}

static void on_loss(void *state, const struct control_loss *loss)
{
	lose(state, loss->bytes, loss->unacked_bytes, loss->now_ps);
}

static uint64_t window(const void *state)
{
	return (uint64_t)((const struct nscc *)state)->cwnd;
}

const struct control_kind control_kind_nscc = {
	.name = "nscc",
	.map = {KEYS(keys), .size = sizeof(struct nscc_options),
		.help = "Ultra Ethernet's NSCC: a window that follows marks and delay"},
	.state_bytes = sizeof(struct nscc),
	.open = open,
	.on_answer = on_answer,
	.on_loss = on_loss,
	.window = window,
	.window_most = FIELD(struct nscc_options, window),
	.unmarked = "its window grows until packets are lost",
};
