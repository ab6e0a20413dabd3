/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROCE_H
#define FABRICBED_ROCE_H

/*
 * RoCEv2: RDMA writes over InfiniBand's reliable connection, go-back-N, DCQCN. The message is split
 * over transport_env.qps queue pairs.
 */
#include "transport/transport.h"

/* Whose steps and least rate DCQCN has, scaled to the line: roce_sender.c has them, docs/transports.md their sources. */
enum roce_scale { ROCE_PAPER, ROCE_TUNED, ROCE_STRACK_PAPER };

/* A value of 0 takes what is in brackets; rates and bytes are the scale's for 40 Gbps, in proportion to the line. */
struct roce_options {
	bool dcqcn;       /* else at line rate, come what may */
	bool keep_target; /* only the first of several cuts moves DCQCN's target */
	enum roce_scale scale;
	uint32_t rounds;         /* of fast recovery [5] */
	uint32_t alpha_start;    /* 30 bits behind the point [1] */
	uint32_t gain;           /* g, the same [1/256] */
	uint32_t ack_every;      /* packets after which the sender asks for an ACK [16] */
	uint64_t rto_ps;         /* [max(1 ms, 10 base RTTs)] */
	uint64_t cnp_ps;         /* least time between two CNPs of a queue pair [50 us] */
	uint64_t increase_ps;    /* DCQCN's timer [55 us] */
	uint64_t increase_bytes; /* DCQCN's byte counter [of the scale] */
	uint64_t additive_bps;   /* [of the scale] */
	uint64_t hyper_bps;      /* [of the scale] */
	uint64_t min_bps;        /* [of the scale] */
	uint64_t alpha_ps;       /* [55 us] */
};

#define ROCE_OPTIONS_DEFAULT                                                                       \
	{                                                                                          \
		.dcqcn = true                                                                      \
	}

/* In flight at most, of a queue pair: PSNs have 24 bits (InfiniBand volume 1, 9.7.2). */
#define ROCE_OUTSTANDING_MAX (1u << 23)

/* The longest RDMA write (InfiniBand volume 1, 9.7.7); a longer part of a message is several. */
#define ROCE_WRITE_MAX (1u << 31)

/* DCQCN leaves a queue pair this part of its line's rate, at least. */
#define ROCE_LEAST_SHARE 1000

extern const struct transport_ops roce_transport;

#endif
