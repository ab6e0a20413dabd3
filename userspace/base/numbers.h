/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NUMBERS_H
#define FABRICBED_NUMBERS_H

#include <math.h>
#include <stdint.h>

/* Elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The next whole number; a value that is one, but for the last bits of a double, stays. */
static inline double whole_up(double value)
{
	return ceil(value * (1 - 1e-12));
}

/* For qsort() and bsearch() of uint64_t. */
static inline int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#endif
