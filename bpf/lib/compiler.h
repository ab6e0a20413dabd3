/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_COMPILER_H
#define FABRICBED_LIB_COMPILER_H

/* What the BPF and the native build of the same header must agree on. */
#include <linux/types.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define sw_likely(x)   __builtin_expect(!!(x), 1)
#define sw_unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Before a bounds check: clang (19 does) may otherwise check what x was computed from instead of x.
 * The verifier does not relate the two, and takes the access after the check for unbounded.
 */
#ifdef __bpf__
#define sw_opaque(x) __asm__ volatile("" : "+r"(x))
#else
#define sw_opaque(x) ((void)(x))
#endif

/*
 * In BPF a function of its own, and global (hence not inline), so that the verifier walks it once
 * and not in each round of each caller's loop. Weak: the programs are linked into one object.
 */
#ifdef __bpf__
#define SW_GLOBAL __attribute__((weak, noinline))
#else
#define SW_GLOBAL static inline
#endif

/* The same number, of which the verifier knows nothing any more. */
SW_GLOBAL __u32 sw_forget(__u32 x)
{
	return x;
}

SW_GLOBAL __u64 sw_forget_long(__u64 x)
{
	return x;
}

#ifdef __clang__
#define sw_unroll _Pragma("clang loop unroll(full)")
#else
#define sw_unroll _Pragma("GCC unroll 8")
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only little-endian machines were tried"
#endif
#define be16(x) ((__be16)__builtin_bswap16((__u16)(x)))
#define be32(x) ((__be32)__builtin_bswap32((__u32)(x)))
#define be64(x) ((__be64)__builtin_bswap64((__u64)(x)))

#endif
