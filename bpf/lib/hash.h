/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_HASH_H
#define FABRICBED_LIB_HASH_H

#include "lib/rng.h"

/*
 * Hash of a flow's addresses and ports under a switch's own seed. Full avalanche: source ports
 * that differ in one bit spread evenly over any number of ports.
 */
static inline __attribute__((always_inline)) __u32 hash_flow(
	__u64 seed, __u64 addresses, __u64 ports)
{
	return (__u32)(rng_mix(seed ^ (addresses * 0xff51afd7ed558ccdull) ^ ports) >> 32);
}

/* 64 bits that stand for a flow, the same at each switch; never 0. */
static inline __attribute__((always_inline)) __u64 hash_key(__u64 addresses, __u64 ports)
{
	return rng_mix(addresses ^ rng_mix(ports)) | 1;
}

/* Maps a hash evenly to 0..n-1. */
static inline __attribute__((always_inline)) __u32 hash_pick(__u32 hash, __u32 n)
{
	return (__u32)(((__u64)hash * n) >> 32);
}

#endif
