/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WORKLOAD_H
#define FABRICBED_WORKLOAD_H

/*
 * Workloads: lists of messages. Each kind has a file of its own; the order of a list is the flows'
 * numbering.
 */
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_NONE UINT32_MAX

struct message {
	uint32_t src_host, dst_host; /* never equal */
	uint64_t bytes;
	uint64_t start_ps; /* model time, if after is MESSAGE_NONE */
	uint32_t after;    /* starts gap_ps after that message (a smaller index) was acknowledged */
	uint64_t gap_ps;
	uint64_t
		base_rtt_ps; /* idle round trip of a full packet, once workload_measure() has told */
};

struct messages {
	struct message *items;
	size_t count, capacity;
};

#define MESSAGES_INIT                                                                              \
	{                                                                                          \
		0                                                                                  \
	}
void messages_release(struct messages *m);

/* Room for `extra` more. 0; -ENOMEM; -E2BIG: their numbers would not fit in 32 bits. */
int messages_reserve(struct messages *m, size_t extra);

/* What all kinds share. */
struct workload_params {
	uint64_t bytes; /* of a message, at least 1 */
	uint64_t start_ps;
	uint32_t repeat; /* messages one after the other on each pair, at least 1 */
	uint64_t gap_ps;
	uint64_t seed;
};

/*
 * Each appends to m, or leaves it as it was. 0, or an error of messages_reserve(). With repeat:
 * first every pair's first message, then every pair's second, ... Permutation: every host sends to
 * one other and receives from one other, `count` such drawn independently (STrack, 4.2). Hosts: at
 * least 2.
 */
int workload_permutation(
	struct messages *m, const struct workload_params *p, uint32_t hosts, uint32_t count);

/* Incast: `senders` distinct hosts (drawn from all but `to`) send to host `to`. senders < hosts. */
int workload_incast(struct messages *m, const struct workload_params *p, uint32_t hosts,
	uint32_t senders, uint32_t to);

/* from[i] sends to to[i]. */
int workload_pairs(struct messages *m, const struct workload_params *p, const uint32_t *from,
	const uint32_t *to, size_t count);

#endif
