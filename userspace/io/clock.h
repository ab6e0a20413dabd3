/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLOCK_H
#define FABRICBED_CLOCK_H

/* The machine's own clock, which never goes back. */
#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S  1000000000ll
#define CLOCK_NS_PER_MS 1000000ll

static inline int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * CLOCK_NS_PER_S + t.tv_nsec;
}

static inline int64_t clock_ms(void)
{
	return clock_ns() / CLOCK_NS_PER_MS;
}

static inline double clock_s(void)
{
	return (double)clock_ns() * 1e-9;
}

#endif
