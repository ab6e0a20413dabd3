/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_RNG_H
#define FABRICBED_LIB_RNG_H

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014). */
#include <linux/types.h>

static inline __attribute__((always_inline)) __u64 rng_mix(__u64 x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* The next 64 random bits of the stream whose state this is. */
static inline __attribute__((always_inline)) __u64 rng_next(__u64 *state)
{
	__u64 x = *state;

	*state = x + 0x9e3779b97f4a7c15ull;
	return rng_mix(x);
}

#endif
