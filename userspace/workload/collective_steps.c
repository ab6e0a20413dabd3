/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who sends what to whom. Ranks of a job are counted from 0, segments too. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "workload/collective_build.h"

static bool reduces_first(const struct collective_build *b)
{
	return b->c->op == ALL_REDUCE || b->c->op == REDUCE_SCATTER;
}

static bool gathers(const struct collective_build *b)
{
	return b->c->op == ALL_REDUCE || b->c->op == ALL_GATHER;
}

/* The whole buffer from each to the next, from the root on. */
static int chain(struct collective_build *b)
{
	int r = build_layout(b, 1, 1);

	for (uint32_t i = 0; r == 0 && i + 1 < b->ranks; i++)
		r = build_segments(b, (b->c->root + i) % b->ranks, (b->c->root + i + 1) % b->ranks,
			false, 0, 1);
	return r;
}

/*
 * P. Patarasuk and X. Yuan, J. Parallel Distrib. Comput. 69 (2009): a segment goes round and is
 * added to, and comes to rest at the rank of its number; then it goes round once more.
 */
int collective_ring(struct collective_build *b)
{
	uint32_t n = b->ranks;
	int r;

	if (b->c->op == BROADCAST)
		return chain(b);
	r = build_layout(b, n, n);
	for (uint32_t step = 0; reduces_first(b) && step < n - 1; step++)
		for (uint32_t i = 0; r == 0 && i < n; i++)
			r = build_segments(b, i, (i + 1) % n, true, (i + 2 * n - 1 - step) % n, 1);
	for (uint32_t step = 0; gathers(b) && step < n - 1; step++)
		for (uint32_t i = 0; r == 0 && i < n; i++)
			r = build_segments(b, i, (i + 1) % n, false, (i + n - step) % n, 1);
	return r;
}

/*
 * R. Thakur, R. Rabenseifner and W. Gropp, Int. J. High Perform. Comput. Appl. 19 (2005): of what
 * two ranks have in common each sends the half that the other keeps, the farthest ranks first; then
 * the way back. n is a power of two.
 */
int collective_halving_doubling(struct collective_build *b)
{
	uint32_t n = b->ranks;
	int r = build_layout(b, n, n);

	for (uint32_t d = n / 2; reduces_first(b) && d; d /= 2)
		for (uint32_t i = 0; r == 0 && i < n; i++)
			r = build_segments(b, i, i ^ d, true, (i ^ d) & ~(d - 1), d);
	for (uint32_t d = 1; gathers(b) && d < n; d *= 2)
		for (uint32_t i = 0; r == 0 && i < n; i++)
			r = build_segments(b, i, i ^ d, false, i & ~(d - 1), d);
	return r;
}

/*
 * In NCCL's binary tree (src/graph/trees.cc) 0 is the root, odd numbers are leaves, and the parent
 * of another has its lowest bit one further up. bit: the lowest of i.
 */
static uint32_t tree_parent(uint32_t n, uint32_t i, uint32_t bit)
{
	uint32_t up = (i ^ bit) | bit << 1;

	return up < n ? up : i ^ bit;
}

/*
 * Who is number i of tree 0 or 1. The leaves of one are mostly inside the other: it is mirrored,
 * or, where a mirror would keep odd numbers odd, moved on by one. NCCL's trees of an all-reduce
 * have different roots; those of a broadcast have the same (P. Sanders, J. Speck and J. L. Traeff,
 * Parallel Computing 35, 2009).
 */
static uint32_t tree_rank(const struct collective_build *b, uint32_t tree, uint32_t i)
{
	uint32_t n = b->ranks, first = b->c->op == BROADCAST;

	if (tree && i >= first)
		i = (n - first) % 2 == 0 ? n - 1 + first - i
					 : (i - first + 1) % (n - first) + first;
	return (i + (first ? b->c->root : 0)) % n;
}

/* All of a level of a tree and their parents, to or from these. */
static int tree_level(struct collective_build *b, uint32_t tree, uint32_t bit, bool up)
{
	int r = 0;

	for (uint32_t i = bit; r == 0 && i < b->ranks; i += 2 * bit) {
		uint32_t child = tree_rank(b, tree, i);
		uint32_t parent = tree_rank(b, tree, tree_parent(b->ranks, i, bit));

		r = build_segments(b, up ? child : parent, up ? parent : child, up, tree, 1);
	}
	return r;
}

int collective_tree(struct collective_build *b)
{
	uint32_t top = 1;
	int r = build_layout(b, 2, 2);

	while (2 * top < b->ranks)
		top *= 2;
	for (uint32_t bit = 1; b->c->op == ALL_REDUCE && bit <= top; bit *= 2)
		for (uint32_t tree = 0; r == 0 && tree < 2; tree++)
			r = tree_level(b, tree, bit, true);
	for (uint32_t bit = top; bit; bit /= 2)
		for (uint32_t tree = 0; r == 0 && tree < 2; tree++)
			r = tree_level(b, tree, bit, false);
	return r;
}

/*
 * What a rank sends in a slot waits for what it sent there before, and for what a rank has received
 * there: itself, or the one that it sends to, which tells it so.
 */
static int next_in_slot(struct collective_build *b, uint32_t rank, uint32_t receiver)
{
	uint32_t *sent = &b->sent[b->slot * b->ranks + rank];
	uint32_t *received = &b->received[b->slot * b->ranks + receiver];
	bool far = b->hosts[rank] != b->hosts[receiver];
	int r = build_join(b, far ? OPERATION_BARRIER : rank, received);

	if (r == 0)
		r = build_join(b, rank, sent);
	for (uint32_t i = *received; r == 0 && i != LIST_END; i = b->lists[i].next)
		r = build_note(b, sent, b->lists[i].operation, b->lists[i].event);
	b->before[rank] = *sent;
	*sent = *received = LIST_END;
	return r;
}

/* Each sends to the k-th after it. */
static int exchange_step(struct collective_build *b, uint32_t k)
{
	bool windowed = collective_algorithm(b->c) == WINDOWED;
	int r = 0;

	for (uint32_t i = 0; r == 0 && !windowed && i < b->ranks; i++)
		r = next_in_slot(b, i, i);
	for (uint32_t i = 0; r == 0 && i < b->ranks; i++) {
		uint32_t to = (i + k) % b->ranks;

		if (windowed)
			r = next_in_slot(b, i, to);
		if (r == 0)
			r = build_piece(b, (struct piece){0, 0, to, i});
		if (r == 0)
			r = build_transfer(b, i, to, false);
	}
	return r;
}

int collective_exchange(struct collective_build *b)
{
	uint32_t n = b->ranks;
	uint32_t window = collective_algorithm(b->c) == PAIRWISE ? 1 : b->c->window;
	size_t slots;
	int r = build_layout(b, n, 0);

	window = window < n ? window : n;
	slots = (size_t)window * n;
	b->sent = malloc(2 * slots * sizeof(*b->sent));
	if (r == 0 && !b->sent)
		r = -ENOMEM;
	if (r == 0) {
		b->received = b->sent + slots;
		memset(b->sent, 0xff, 2 * slots * sizeof(*b->sent));
	}
	for (uint32_t k = 1; r == 0 && k < n; k++) {
		b->slot = (k - 1) % window;
		r = exchange_step(b, k);
	}
	memset(b->before, 0xff, n * sizeof(*b->before));
	free(b->sent);
	b->sent = b->received = NULL;
	return r;
}

/*
 * All blocks at rank i that have so far to go in this step. A block alternates between two places:
 * the old one is read while the new one is written.
 */
static int bruck_pieces(struct collective_build *b, uint32_t i, uint32_t bit)
{
	uint32_t n = b->ranks;
	int r = 0;

	for (uint32_t d = 1; r == 0 && d < n; d++) {
		uint32_t gone = d & (bit - 1), origin = (i + n - gone) % n;
		uint32_t odd = __builtin_popcount(gone) % 2;

		if (d & bit)
			r = build_piece(b, (struct piece){d + n * odd, d + n * !odd,
						   (origin + d) % n, origin});
	}
	return r;
}

/*
 * J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal and D. Weathersby, IEEE Trans. Parallel Distrib. Syst. 8
 * (1997): a block goes as far as the bits of its distance say, the lowest first.
 */
int collective_bruck(struct collective_build *b)
{
	uint32_t n = b->ranks;
	int r = build_layout(b, n, 2 * n);

	for (uint32_t bit = 1; bit < n; bit *= 2)
		for (uint32_t i = 0; r == 0 && i < n; i++) {
			r = bruck_pieces(b, i, bit);
			if (r == 0)
				r = build_transfer(b, i, (i + bit) % n, false);
		}
	return r;
}
