/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WORKLOAD_H
#define FABRICBED_WORKLOAD_H

/* Workloads: what hosts are to do. A kind is a file; the order of a list numbers the flows. */
#include <stddef.h>
#include <stdint.h>
#include "base/operation.h"

/* What they come to. Waits are in the order of who waits. */
struct operations {
	struct operation *items;
	size_t count, capacity;
	struct wait *waits;
	size_t wait_count, wait_capacity;
	uint32_t stream_count, work_stream_count; /* of messages, of computations */
};

#define OPERATIONS_INIT                                                                            \
	{                                                                                          \
		0                                                                                  \
	}
void operations_release(struct operations *m);

/* Room for so many more. 0; -ENOMEM; -E2BIG: their numbers would not fit. */
int operations_reserve(struct operations *m, size_t operations, size_t waits);

/* Appends one, for which there is room; returns its number. */
uint32_t operations_add(struct operations *m, const struct operation *o);

/* The latest one waits for an event of an earlier one. There is room. */
void operations_wait(struct operations *m, uint32_t from, enum operation_event event);

/* Whose operations they are. */
struct workload_params {
	uint64_t seed;
	uint32_t entry; /* of the scenario's list */
};

struct workload_rounds;

/*
 * Each appends to m, or leaves it as it was. 0, or an error of operations_reserve(). With repeat:
 * first every pair's first message, then every pair's second, ... Permutation: every host sends to
 * one other and receives from one other, `count` such drawn independently (STrack, 4.2). Hosts: at
 * least 2 in each group (workload_groups()); the permutation is the same in all groups.
 */
int workload_permutation(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, uint32_t hosts, uint32_t groups, uint32_t count);

/*
 * Incast: `senders` distinct hosts (drawn from all but `to` in its group) send to host `to`. There
 * are more hosts in a group.
 */
int workload_incast(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, uint32_t hosts, uint32_t groups, uint32_t senders,
	uint32_t to);

/* from[i] sends to to[i]. */
int workload_pairs(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, const uint32_t *from, const uint32_t *to,
	size_t count);

#endif
