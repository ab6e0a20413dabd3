/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RNG_STREAM_H
#define FABRICBED_RNG_STREAM_H

/*
 * Random streams: one per purpose, derived from the scenario's seed, so that a new consumer changes
 * no other's numbers.
 */
#include <stdint.h>
#include "lib/random.h"
#include "lib/rng.h"

/* The seed of stream `index` of `purpose` ("flow", "port", ...). */
static inline uint64_t rng_stream(uint64_t seed, const char *purpose, uint64_t index)
{
	uint64_t h = seed;

	for (; *purpose; purpose++)
		h = rng_mix(h ^ (uint8_t)*purpose);
	return rng_mix(h ^ rng_mix(index));
}

/* The next 64 random bits of the stream whose state this is. */
static inline uint64_t rng_take(uint64_t *state)
{
	__u64 s = *state;
	uint64_t bits = rng_next(&s);

	*state = s;
	return bits;
}

/* Uniform in 0..n-1, n at least 1; unbiased enough for n far below 2^32. */
static inline uint32_t rng_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((rng_take(state) >> 32) * n) >> 32);
}

/* Exponential with that mean, below 2^57. */
static inline uint64_t rng_exponential(uint64_t *state, uint64_t mean)
{
	return random_exponential(rng_take(state), mean);
}

#endif
