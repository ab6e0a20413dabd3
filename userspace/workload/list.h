/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WORKLOAD_LIST_H
#define FABRICBED_WORKLOAD_LIST_H

/* What the kinds of workload share in making lists. Internal to workload/. */
#include "workload/kind.h"

/* Appends `repeat` messages on each of n pairs, round by round. Errors of operations_reserve(). */
int operations_add_rounds(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, const uint32_t *src, const uint32_t *dst, size_t n);

/* Of those: the callback `turns` of a kind. */
enum workload_turns workload_rounds_turns(const void *options, const char **ret_why);

/*
 * The first n of pool become a sample without repetition: the first n steps of a shuffle. n is at
 * most size.
 */
void workload_sample(uint32_t *pool, uint32_t size, uint32_t n, uint64_t *rng);

#endif
