/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RoCEv2's options in a scenario, and what others have to know of it. */
#include "abi/wire.h"
#include "transport/kind.h"
#include "transport/roce.h"

#define COUNTER_MAX (1ull << 40)

#define ROCE(word, kind, member, ...) KEY(word, kind, struct roce_options, member, __VA_ARGS__)
#define OF_RATE(...)                  AUTO, .min = RATE_MIN, .max = RATE_MAX, __VA_ARGS__

static const char *const congestions[] = {"off", "dcqcn", NULL};
static const char *const clamps[] = {"always", "after_increase", NULL};
static const char *const scales[] = {
	[ROCE_PAPER] = "paper", [ROCE_TUNED] = "tuned", [ROCE_STRACK_PAPER] = "strack-paper", NULL};

static const struct key keys[] = {
	ROCE("qps_per_connection", COUNT, qps, .fallback = "1", .min = 1, .max = 64,
		.help = "queue pairs that a message is divided among"),
	ROCE("congestion", FLAG, dcqcn, .fallback = "dcqcn", .words = congestions,
		.help = "off: at the line's rate"),
	ROCE("rto", TIME, rto_ps, AUTO, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "retransmission timeout; auto: the larger of 1ms and 10 base round trips"),
	ROCE("dcqcn", WORD, scale, .fallback = "paper", .words = scales,
		.help = "gives the keys below their defaults, with sources in transports.md"),
	ROCE("cnp_interval", TIME, cnp_ps, .usual = "50us", .min = PS_PER_NS, .max = TIME_MAX,
		.help = "a receiver sends at most one CNP a queue pair in this time"),
	ROCE("timer", TIME, increase_ps, .usual = "55us", .min = PS_PER_US, .max = TIME_MAX,
		.help = "of rate increases"),
	ROCE("alpha_timer", TIME, alpha_ps, .usual = "55us", .min = PS_PER_US, .max = TIME_MAX,
		.help = "without a CNP for so long alpha is reduced"),
	ROCE("initial_alpha", CHANCE, alpha_start, .fallback = "1", .min = 1,
		.help = "alpha of a new queue pair"),
	ROCE("gain", CHANCE, gain, .fallback = "0.00390625", .min = 1,
		.help = "g, the weight of a new sample in alpha"),
	ROCE("fast_recovery", COUNT, rounds, .usual = "5", .min = 1, .max = 1000,
		.help = "rounds of fast recovery before the target rate rises"),
	ROCE("clamp_target", WORD, clamp, .usual = "always", .words = clamps,
		.min = ROCE_CLAMP_ALWAYS,
		.help = "whether each rate cut lowers the target rate, or only one after an increase"),
	ROCE("byte_counter", BYTES, increase_bytes, AUTO, .min = 1, .max = COUNTER_MAX,
		.help = "bytes sent that count like an interval of the timer; auto: 10MB at 40Gbps, by the rate"),
	ROCE("additive", RATE, additive_bps,
		OF_RATE(.help = "R_AI, the step of additive increase; auto: by the rate")),
	ROCE("hyper", RATE, hyper_bps,
		OF_RATE(.help = "R_HAI, the step of hyper increase; auto: by the rate")),
	ROCE("min_rate", RATE, min_bps, OF_RATE(.help = "no rate is lower; auto: by the rate")),
};

/* Options not given are 0, which none of these may be, and follow `dcqcn` (docs/transports.md). */
static bool of_scale(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	static const struct roce_options usual[] = {
		[ROCE_PAPER] = {.cnp_ps = 50 * PS_PER_US,
			.increase_ps = 55 * PS_PER_US,
			.alpha_ps = 55 * PS_PER_US,
			.rounds = 5,
			.clamp = ROCE_CLAMP_ALWAYS},
		[ROCE_TUNED] = {.cnp_ps = 4 * PS_PER_US,
			.increase_ps = 300 * PS_PER_US,
			.alpha_ps = 1 * PS_PER_US,
			.rounds = 1,
			.clamp = ROCE_CLAMP_AFTER_INCREASE},
		[ROCE_STRACK_PAPER] = {.cnp_ps = 50 * PS_PER_US,
			.increase_ps = 25 * PS_PER_US,
			.alpha_ps = 55 * PS_PER_US,
			.rounds = 5,
			.clamp = ROCE_CLAMP_ALWAYS},
	};
	struct roce_options *o = options;
	const struct roce_options *u = &usual[o->scale];

	(void)c;
	(void)n;
	(void)good;
	o->cnp_ps = o->cnp_ps ? o->cnp_ps : u->cnp_ps;
	o->increase_ps = o->increase_ps ? o->increase_ps : u->increase_ps;
	o->alpha_ps = o->alpha_ps ? o->alpha_ps : u->alpha_ps;
	o->rounds = o->rounds ? o->rounds : u->rounds;
	o->clamp = o->clamp ? o->clamp : u->clamp;
	return true;
}

static void facts(const void *options, struct transport_facts *ret)
{
	const struct roce_options *o = options;

	ret->qps = o->qps;
	ret->packets_per_ack = ROCE_ACK_EVERY;
	ret->rto_ps = o->rto_ps;
	ret->rto_least_ps = ROCE_RTO_MIN_PS;
	ret->least_share = o->dcqcn ? ROCE_LEAST_SHARE : 0;
	ret->raise_ps = o->increase_ps;
	ret->order_harm =
		"a packet that overtakes another is a loss, after which the queue pair goes back and sends again";
	ret->loss_harm =
		"after each loss a queue pair goes back and starts again at its lowest rate";
}

/* Of data only a write's first packet has a header after the BTH. */
const struct transport_kind transport_kind_roce = {
	.title = "RoCEv2",
	.map = {KEYS(keys), .size = sizeof(struct roce_options), .check = of_scale,
		.help = "RoCEv2: reliable connections, go-back-N, DCQCN"},
	.ops = &roce_transport,
	.answer_bytes = sizeof(struct aeth_hdr),
	.facts = facts,
};
