/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COLLECTIVE_H
#define FABRICBED_COLLECTIVE_H

/*
 * Collectives: all-reduce and its parts, broadcast and all-to-all, of several jobs at once.
 * docs/workloads.md says what each algorithm sends.
 */
#include "workload/kind.h"
#include "workload/placement.h"

enum collective_op { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, ALL_TO_ALL };
enum collective_algorithm { AUTOMATIC, RING, HALVING_DOUBLING, TREE, PAIRWISE, WINDOWED, BRUCK };

/* A rank of each job that is late, or slow. */
struct straggler {
	uint32_t rank;
	uint64_t delay_ps;   /* it begins later by this */
	uint64_t compute_ps; /* in place of the others' */
};

#define COMPUTE_AS_OTHERS UINT64_MAX

/* The options. */
struct collective {
	struct workload_common common; /* bytes: of the longest message */
	unsigned op, algorithm;
	uint64_t bytes; /* as nccl-tests have it */
	uint32_t ranks; /* of a job; 0: as many as there are hosts for */
	uint32_t jobs;
	struct placement placement;
	uint64_t chunk; /* most bytes of a message; 0: any number */
	uint32_t channels, window, root, repeat;
	uint64_t compute_ps, gap_ps;
	struct straggler *stragglers;
	size_t straggler_count;
};

/* The algorithm, where it was left open too. */
enum collective_algorithm collective_algorithm(const struct collective *c);

/* A part of a buffer: nothing is smaller than this. */
struct collective_cell {
	uint32_t origin;  /* of an all-to-all: the rank that it is from; else 0 */
	uint32_t segment; /* of an all-to-all: the rank that it is for */
	uint32_t part;    /* of the segment */
	uint64_t bytes;   /* at least 1 */
};

/* A message, and what it moves; of one channel in one round of a job. */
struct collective_move {
	uint32_t operation, job, round, channel, from, to;
	bool reduces; /* is added to what is there; else: takes its place */
	const struct collective_cell *cells;
	uint32_t cell_count;
};

struct collective_watch {
	void (*moved)(void *arg, const struct collective_move *move);
	void *arg;
};

/*
 * Appends to m, or leaves it as it was; the group of an operation is its job times `repeat` plus
 * its round. hosts: of all ranks of all jobs, job by job. A message to a rank of the same host is a
 * computation, of the stream of its sender; nothing else has such a stream. mtu: the messages of a
 * stream are whole packets of it; 0: each has a connection of its own. watch: hears of each
 * message; NULL: nobody does. 0, or an error of operations_reserve().
 */
int collective_operations(struct operations *m, const struct workload_params *p,
	const struct collective *c, uint32_t ranks, const uint32_t *hosts, uint32_t mtu,
	const struct collective_watch *watch);

#endif
