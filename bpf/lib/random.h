/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_RANDOM_H
#define FABRICBED_LIB_RANDOM_H

/* Random bits made into what laws ask for, in integers: the same in BPF and in a process. */
#include "lib/compiler.h"
#include "lib/rng.h"

/*
 * Leading zeros of x, which is not 0. For the builtin clang 14 finds no BPF instructions, and
 * crashes.
 */
static __always_inline __u64 random_leading_zeros(__u64 x)
{
	__u64 zeros = 0, bits, step;

	for (bits = 32; bits; bits >>= 1) {
		/*
		 * all ones if the upper bits are 0: no branches, which the verifier would multiply
		 */
		step = -(((x >> (64 - bits)) - 1) >> 63) & bits;
		x <<= step;
		zeros += step;
	}
	return zeros;
}

/*
 * -ln(u) in 2^-56, where u = (bits | 1) / 2^64 is never 0: from 0 to 44.37. Within a part in 10^9
 * of libm's, or 2^-56.
 *
 * u = m 2^-k with m from 1/sqrt(2) to sqrt(2), so that what is near 0 is no difference of large
 * numbers. Then -ln(u) = k ln(2) - ln(m), and -ln(m) = 2 artanh(s) = 2 s (1 + s^2/3 + s^4/5 + ...)
 * with s = (1 - m) / (1 + m) (Abramowitz and Stegun, 4.1.27). |s| <= 0.1716: what follows s^10/11
 * is less than 10^-10 of it.
 */
#define RANDOM_LN_2    49946518145322874ull  /* 2^56 ln(2) */
#define RANDOM_SQRT_12 0xb504f333f9de6000ull /* 2^64 / sqrt(2) */

SW_GLOBAL __u64 random_minus_ln(__u64 bits)
{
	const __u64 one = 1ull << 62; /* of m */
	__u64 m = bits | 1, sum, s, rest, s2, tail, twice;
	__u64 k = random_leading_zeros(m);
	int above;

	m <<= k;
	if (m < RANDOM_SQRT_12) {
		m >>= 1;
		k++;
	} else {
		m >>= 2;
	}
	above = m > one;
	sum = (one + m) >> 32;
	rest = (above ? m - one : one - m) << 2;
	s = rest / sum; /* in 2^-34; then 32 more bits, for the sake of a small s */
	rest -= s * sum;
	twice = (s << 23) + ((rest << 32) / sum >> 9); /* 2 s in 2^-56 */
	s2 = s * s >> 36;                              /* in 2^-32, as are 1/11, 1/9, ... */
	tail = 477218588 + (390451572 * s2 >> 32);
	tail = 613566757 + (tail * s2 >> 32);
	tail = 858993459 + (tail * s2 >> 32);
	tail = 1431655765 + (tail * s2 >> 32);
	tail = tail * s2 >> 32;
	twice += (twice >> 24) * tail >> 8;
	return above ? k * RANDOM_LN_2 - twice : k * RANDOM_LN_2 + twice;
}

/* An exponential variate of this mean, rounded down: less than 45 means. mean: below 2^57. */
static __always_inline __u64 random_exponential(__u64 bits, __u64 mean)
{
	const __u64 half = (1ull << 28) - 1;
	__u64 e = random_minus_ln(bits);

	/* e * mean / 2^56 in two halves each, since BPF has no product of 128 bits */
	return (e >> 28) * (mean >> 28) + (((e >> 28) * (mean & half) + (e & half) * (mean >> 28) +
						   ((e & half) * (mean & half) >> 28)) >>
						  28);
}

/* True with probability p / 2^32. The largest p is certainty, which has no number of its own. */
static __always_inline int random_hit(__u32 bits, __u32 p)
{
	return bits < p || p == 0xffffffffu;
}

#endif
