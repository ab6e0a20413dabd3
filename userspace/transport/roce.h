/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROCE_H
#define FABRICBED_ROCE_H

/*
 * RoCEv2: RDMA writes over InfiniBand's reliable connection, go-back-N, DCQCN. The message is split
 * over transport_env.qps queue pairs.
 */
#include "base/units.h"
#include "transport/control/dcqcn.h"
#include "transport/transport.h"

/* roce_kind.c has their ranges and defaults. A value of 0 takes what is in brackets. */
struct roce_options {
	uint32_t qps;                  /* transport_env.qps */
	bool dcqcn;                    /* else at line rate, come what may */
	struct dcqcn_options reaction; /* if dcqcn; complete */
	uint32_t ack_every; /* packets after which the sender asks for an ACK [ROCE_ACK_EVERY] */
	uint64_t rto_ps;    /* [max(ROCE_RTO_MIN_PS, 10 base RTTs)] */
};

#define ROCE_ACK_EVERY  16
#define ROCE_RTO_MIN_PS PS_PER_MS

/* In flight at most, of a queue pair: PSNs have 24 bits (InfiniBand volume 1, 9.7.2). */
#define ROCE_OUTSTANDING_MAX (1u << 23)

/* The longest RDMA write (InfiniBand volume 1, 9.7.7); a longer part of a message is several. */
#define ROCE_WRITE_MAX (1u << 31)

extern const struct transport_ops roce_transport;

#endif
