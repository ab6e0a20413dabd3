/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NUMBERS_H
#define FABRICBED_NUMBERS_H

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

#endif
