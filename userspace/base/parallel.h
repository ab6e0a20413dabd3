/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PARALLEL_H
#define FABRICBED_PARALLEL_H

/* The same work over many indices, by several threads. */
#include <stdint.h>
#include "base/error.h"

/*
 * Calls work(context, i, why) for each i in 0..n-1, each once, from up to `threads` (at least 1)
 * fresh threads that end before the return; none of them takes a signal, and what they change about
 * themselves (their network namespace) goes with them. After a failure no further index is begun.
 * 0; the first failure with its text in *why (NULL is fine); -EAGAIN or -ENOMEM if not a single
 * thread could be started.
 */
int parallel_for(uint32_t n, unsigned threads,
	int (*work)(void *context, uint32_t index, struct error *why), void *context,
	struct error *why);

/* Threads worth starting for work that keeps a core busy: cores online, 1..16. */
unsigned parallel_cores(void);

#endif
