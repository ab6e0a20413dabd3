/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROCE_H
#define FABRICBED_ROCE_H

/*
 * RoCEv2: RDMA writes over InfiniBand's reliable connection, go-back-N, DCQCN. The message is split
 * over transport_env.qps queue pairs.
 */
#include "base/units.h"
#include "transport/transport.h"

/* DCQCN's steps and least rate, scaled to the line: roce_sender.c; sources: docs/transports.md. */
enum roce_scale { ROCE_PAPER, ROCE_TUNED, ROCE_STRACK_PAPER };

enum roce_clamp { ROCE_CLAMP_UNKNOWN, ROCE_CLAMP_ALWAYS, ROCE_CLAMP_AFTER_INCREASE };

/*
 * roce_kind.c has their ranges and defaults. A value of 0 takes what is in brackets; rates and
 * bytes are the scale's for 40 Gbps, in proportion to the line.
 */
struct roce_options {
	uint32_t qps; /* transport_env.qps */
	bool dcqcn;   /* else at line rate, come what may */
	enum roce_scale scale;
	enum roce_clamp clamp; /* which cuts move DCQCN's target */
	uint32_t rounds;       /* of fast recovery */
	double alpha_start;    /* above 0, at most 1 */
	double gain;           /* g, likewise */
	uint32_t ack_every;    /* packets after which the sender asks for an ACK [ROCE_ACK_EVERY] */
	uint64_t rto_ps;       /* [max(ROCE_RTO_MIN_PS, 10 base RTTs)] */
	uint64_t cnp_ps;       /* least time between two CNPs of a queue pair */
	uint64_t increase_ps;  /* DCQCN's timer */
	uint64_t increase_bytes; /* DCQCN's byte counter [of the scale] */
	uint64_t additive_bps;   /* [of the scale] */
	uint64_t hyper_bps;      /* [of the scale] */
	uint64_t min_bps;        /* [of the scale] */
	uint64_t alpha_ps;       /* DCQCN's alpha timer */
};

#define ROCE_ACK_EVERY  16
#define ROCE_RTO_MIN_PS PS_PER_MS

/* In flight at most, of a queue pair: PSNs have 24 bits (InfiniBand volume 1, 9.7.2). */
#define ROCE_OUTSTANDING_MAX (1u << 23)

/* The longest RDMA write (InfiniBand volume 1, 9.7.7); a longer part of a message is several. */
#define ROCE_WRITE_MAX (1u << 31)

/* DCQCN leaves a queue pair this part of its line's rate, at least. */
#define ROCE_LEAST_SHARE 1000

extern const struct transport_ops roce_transport;

#endif
