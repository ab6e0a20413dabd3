/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SIZES_H
#define FABRICBED_SIZES_H

/*
 * Distributions of flow sizes, as published: lines of a size in bytes and the share of flows of at
 * most that size, in percent or as a fraction, which the last line tells (100 or 1). Linear in
 * between; what is at most the first size has that size. '#' begins a comment. For workload/.
 */
#include <stddef.h>
#include <stdint.h>

/* Shares are in 2^-32, so that a draw is the same on each machine. */
#define SIZES_ONE (1ull << 32)

struct size_point {
	uint64_t bytes, share; /* both rise; the last share is SIZES_ONE */
};

struct sizes {
	struct size_point *points;
	size_t count;
};

/* *ret is set on success alone. 0; -EINVAL with why, "line 3: ..."; -ENOMEM. */
#define SIZES_REFUSAL 160
int sizes_parse(struct sizes *ret, const char *text, size_t length, char why[SIZES_REFUSAL]);
void sizes_release(struct sizes *s);

/* Bytes, before a draw is rounded. */
double sizes_mean(const struct sizes *s);

/* The inverse of the distribution at bits / 2^64, to the nearest byte and at least 1. */
uint64_t sizes_draw(const struct sizes *s, uint64_t bits);

/* The text of the distribution of that name that comes with the command; NULL: none does. */
const char *sizes_shipped(const char *name);

#endif
