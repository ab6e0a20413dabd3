/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DCQCN_H
#define FABRICBED_DCQCN_H

/*
 * DCQCN, as RoCEv2 has it and as a control of an assembled transport: options and reaction point.
 */
#include <stdbool.h>
#include <stdint.h>

/*
 * Steps and the least rate, scaled to the line, and defaults of the options below: dcqcn_kind.c;
 * sources: docs/transports.md.
 */
enum dcqcn_scale { DCQCN_PAPER, DCQCN_TUNED, DCQCN_STRACK_PAPER };

enum dcqcn_clamp { DCQCN_CLAMP_UNKNOWN, DCQCN_CLAMP_ALWAYS, DCQCN_CLAMP_AFTER_INCREASE };

/*
 * DCQCN_KEYS has their ranges and defaults. A value of 0 takes what is in brackets; rates and bytes
 * are the scale's for 40 Gbps, in proportion to the line.
 */
struct dcqcn_options {
	enum dcqcn_scale scale;
	enum dcqcn_clamp clamp;  /* which cuts move the target rate [the scale's] */
	uint32_t rounds;         /* of fast recovery [the scale's] */
	double alpha_start;      /* above 0, at most 1 */
	double gain;             /* g, likewise */
	uint64_t cnp_ps;         /* least time between two notifications [the scale's] */
	uint64_t increase_ps;    /* the timer [the scale's] */
	uint64_t increase_bytes; /* the byte counter [of the scale] */
	uint64_t additive_bps;   /* [of the scale] */
	uint64_t hyper_bps;      /* [of the scale] */
	uint64_t min_bps;        /* [of the scale] */
	uint64_t alpha_ps;       /* the alpha timer [the scale's] */
};

/* A sender keeps this part of its line's rate, at least. */
#define DCQCN_LEAST_SHARE 1000

extern const char *const dcqcn_scales[], *const dcqcn_clamps[]; /* words, for keys */

#define DCQCN_COUNTER_MAX (1ull << 40)

/*
 * Rows of a table of keys (base/schema.h). type: of the options; at: where its struct dcqcn_options
 * is, with a dot behind it, or nothing if the type is that. The key `dcqcn` is the scale.
 */
#define DCQCN_KEYS(type, at)                                                                                               \
	KEY("dcqcn", WORD, type, at scale, .fallback = "paper", .words = dcqcn_scales,                                     \
		.help = "gives the keys below their defaults, with sources in transports.md"),                             \
		KEY("cnp_interval", TIME, type, at cnp_ps, .usual = "50us", .min = PS_PER_NS,                              \
			.max = TIME_MAX,                                                                                   \
			.help = "a receiver sends at most one CNP a queue pair in this time"),                             \
		KEY("timer", TIME, type, at increase_ps, .usual = "55us", .min = PS_PER_US,                                \
			.max = TIME_MAX, .help = "of rate increases"),                                                     \
		KEY("alpha_timer", TIME, type, at alpha_ps, .usual = "55us", .min = PS_PER_US,                             \
			.max = TIME_MAX, .help = "without a CNP for so long alpha is reduced"),                            \
		KEY("initial_alpha", CHANCE, type, at alpha_start, .fallback = "1", .min = 1,                              \
			.help = "alpha of a new queue pair"),                                                              \
		KEY("gain", CHANCE, type, at gain, .fallback = "0.00390625", .min = 1,                                     \
			.help = "g, the weight of a new sample in alpha"),                                                 \
		KEY("fast_recovery", COUNT, type, at rounds, .usual = "5", .min = 1, .max = 1000,                          \
			.help = "rounds of fast recovery before the target rate rises"),                                   \
		KEY("clamp_target", WORD, type, at clamp, .usual = "always",                                               \
			.words = dcqcn_clamps, .min = DCQCN_CLAMP_ALWAYS,                                                  \
			.help = "whether each rate cut lowers the target rate, or only one after an increase"),            \
		KEY("byte_counter", BYTES, type, at increase_bytes, AUTO, .min = 1,                                        \
			.max = DCQCN_COUNTER_MAX,                                                                          \
			.help = "bytes sent that count like an interval of the timer; auto: 10MB at 40Gbps, by the rate"), \
		KEY("additive", RATE, type, at additive_bps, AUTO, .min = RATE_MIN,                                        \
			.max = RATE_MAX,                                                                                   \
			.help = "R_AI, the step of additive increase; auto: by the rate"),                                 \
		KEY("hyper", RATE, type, at hyper_bps, AUTO, .min = RATE_MIN, .max = RATE_MAX,                             \
			.help = "R_HAI, the step of hyper increase; auto: by the rate"),                                   \
		KEY("min_rate", RATE, type, at min_bps, AUTO, .min = RATE_MIN, .max = RATE_MAX,                            \
			.help = "no rate is lower; auto: by the rate")

/* Options not given are 0, which none of these may be, and follow the scale. */
void dcqcn_complete(struct dcqcn_options *o);

/*
 * The reaction point: the rate of one queue pair ("Congestion Control for Large-Scale RDMA
 * Deployments", section 3.1, equations 1 to 4, figure 7). Integers only. It has no timers of its
 * own: what they would have done is caught up with when somebody looks, each step at its own
 * time.
 */
#define DCQCN_ALPHA_SHIFT 30 /* alpha = 1 is 1 << 30 */
#define DCQCN_ALPHA_ONE   (1u << DCQCN_ALPHA_SHIFT)

struct dcqcn_params {
	uint64_t line_bps; /* where it starts, and the most */
	uint64_t min_bps;
	uint64_t additive_bps;   /* R_AI */
	uint64_t hyper_bps;      /* R_HAI */
	uint64_t increase_ps;    /* T, at least 1 us */
	uint64_t increase_bytes; /* B; 0: there is no byte counter */
	uint64_t alpha_ps;       /* K, at least 1 us */
	uint32_t alpha_start;    /* of a flow that no notification has reached */
	uint32_t gain;           /* g; as alpha, 30 bits behind the point */
	uint32_t rounds;         /* F */
	bool keep_target; /* of cuts without an increase between them only the first moves R_T */
};

struct dcqcn {
	uint64_t rate_bps;    /* R_C */
	uint64_t target_bps;  /* R_T */
	uint64_t ready_ps;    /* the next packet may leave */
	uint64_t increase_ps; /* the timer's next round */
	uint64_t alpha_ps;    /* alpha's next decay */
	uint64_t bytes;       /* since the byte counter's last round */
	uint32_t timer_rounds, byte_rounds;
	uint32_t alpha;
	bool limited; /* below line rate, and its timers run */
};

/* The parameters of options that are complete, at a line of that rate. */
struct dcqcn_params dcqcn_params_of(const struct dcqcn_options *o, uint64_t line_bps);

void dcqcn_open(struct dcqcn *d, const struct dcqcn_params *p);

/* A notification came: the rate is cut. */
void dcqcn_on_cnp(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now);

/* Packets are to be sent again: slow restart, at the lowest rate and up from there. */
void dcqcn_on_loss(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now);

/*
 * When to look again: not after `now` if a packet may leave. Later than that, it may still have to
 * wait: the rate changes meanwhile.
 */
uint64_t dcqcn_ready(struct dcqcn *d, const struct dcqcn_params *p, uint64_t now);

/* A frame of that modelled length leaves now. */
void dcqcn_on_send(struct dcqcn *d, const struct dcqcn_params *p, uint32_t frame_len, uint64_t now);

#endif
