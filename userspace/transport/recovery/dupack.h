/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DUPACK_H
#define FABRICBED_DUPACK_H

/* TCP's loss recovery, of one sequence of packets or of several that share a flow. */
#include "transport/recovery/recovery.h"

#define SUBFLOWS_MAX 1024

/* dupack.c has their ranges and defaults. */
struct dupack_options {
	struct recovery_options common;
	uint32_t threshold; /* duplicate ACKs that show a loss */
	uint32_t subflows;  /* 0: subflows_needed() */
	bool timeouts_only; /* no fast retransmit */
};

/*
 * Subflows that a flow needs so that queues of queue_bytes can't reorder the packets of one by
 * `threshold` (Load Balancing for AI Training Workloads, equation 1: k >= 4 q / (n d s), with n =
 * host_rate_bps / fair_bps flows a host): 1..SUBFLOWS_MAX. queue_bytes 0: unknown, and so 1;
 * fair_bps 0: unknown, and n = 1.
 */
uint32_t subflows_needed(uint64_t queue_bytes, uint32_t packet_bytes, uint32_t threshold,
	uint64_t host_rate_bps, uint64_t fair_bps);

#endif
