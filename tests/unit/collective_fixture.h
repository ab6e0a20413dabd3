/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COLLECTIVE_FIXTURE_H
#define FABRICBED_COLLECTIVE_FIXTURE_H

/* Collectives as graphs, and what their tests have in common. Include after cmocka.h. */
#include <stdlib.h>
#include "base/array.h"
#include "lib/small_net.h"
#include "workload/collective.h"

#define RANKS_MAX 64

/* A graph, and what its messages move. */
struct moved {
	struct collective_move move;
	size_t first_cell;
};

struct graph {
	struct operations m;
	struct moved *moves;
	size_t move_count;
	struct collective_cell *cells;
	size_t cell_count;
};

static inline void keep(void *arg, const struct collective_move *move)
{
	struct graph *g = arg;

	assert_int_equal(
		ARRAY_ADD(g->moves, g->move_count, (struct moved){*move, g->cell_count}), 0);
	for (uint32_t i = 0; i < move->cell_count; i++)
		assert_int_equal(ARRAY_ADD(g->cells, g->cell_count, move->cells[i]), 0);
}

#define MTU    4096
#define INSIDE (50 * GBPS) /* between ranks of a host */

/* Rank r of job j is number j * n + r, and so many of them are on a host. */
static inline void make(struct graph *g, const struct collective *c, uint32_t n)
{
	const struct workload_params p = {.seed = 1, .entry = 7};
	const struct collective_watch watch = {keep, g};
	uint32_t hosts[RANKS_MAX * 2];

	*g = (struct graph){.m = OPERATIONS_INIT};
	for (uint32_t i = 0; i < RANKS_MAX * 2; i++)
		hosts[i] = i / c->placement.ranks_per_host;
	assert_int_equal(collective_operations(&g->m, &p, c, n, hosts, MTU, &watch), 0);
}

static inline void release(struct graph *g)
{
	operations_release(&g->m);
	free(g->moves);
	free(g->cells);
}

static inline struct collective plain(
	enum collective_op op, enum collective_algorithm a, uint64_t bytes)
{
	return (struct collective){.op = op,
		.algorithm = a,
		.bytes = bytes,
		.jobs = 1,
		.placement.ranks_per_host = 1,
		.channels = 1,
		.window = 3,
		.repeat = 1};
}

static const struct {
	enum collective_op op;
	enum collective_algorithm algorithm;
} all[] = {
	{ALL_REDUCE, RING},
	{ALL_REDUCE, HALVING_DOUBLING},
	{ALL_REDUCE, TREE},
	{REDUCE_SCATTER, RING},
	{REDUCE_SCATTER, HALVING_DOUBLING},
	{ALL_GATHER, RING},
	{ALL_GATHER, HALVING_DOUBLING},
	{BROADCAST, RING},
	{BROADCAST, TREE},
	{ALL_TO_ALL, PAIRWISE},
	{ALL_TO_ALL, WINDOWED},
	{ALL_TO_ALL, BRUCK},
};

#define ALL (sizeof(all) / sizeof(all[0]))

static inline bool is_possible(size_t i, uint32_t n)
{
	return all[i].algorithm != HALVING_DOUBLING || !(n & (n - 1));
}

static inline uint32_t log2_up(uint32_t n)
{
	uint32_t bits = 0;

	while (1u << bits < n)
		bits++;
	return bits;
}

/* Blocks that travel in a step of Bruck's. */
static inline uint32_t bruck_blocks(uint32_t n, uint32_t bit)
{
	uint32_t blocks = 0;

	for (uint32_t d = 1; d < n; d++)
		blocks += (d & bit) != 0;
	return blocks;
}

#endif
