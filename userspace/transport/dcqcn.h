/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DCQCN_H
#define FABRICBED_DCQCN_H

/*
 * DCQCN's reaction point: the rate of one queue pair ("Congestion Control for Large-Scale RDMA
 * Deployments", section 3.1, equations 1 to 4, figure 7). Integers only. It has no timers of its
 * own: what they would have done is caught up with when somebody looks, each step at its own
 * time.
 */
#include <stdbool.h>
#include <stdint.h>

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
