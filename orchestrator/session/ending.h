/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ENDING_H
#define FABRICBED_ENDING_H

/* The earliest end that links allow, and a run's limit: docs/scenarios.md, "until". Pure. */
#include <stdbool.h>
#include "session/timeline.h"
#include "workload/workload.h"

struct fabric;
struct scenario;

/* The longest that a run lasts, whatever it waits for: sums of a few such times fit. */
#define ENDING_MAX (UINT64_MAX / 8)

/*
 * The time by which a working fabric has completed all these messages, at most ENDING_MAX. Uses up
 * the messages' starts. 0 or -ENOMEM.
 */
int ending_auto(uint64_t *ret, const struct scenario *s, const struct fabric *f,
	const struct timeline *t, struct operations *m);

/*
 * A lower bound on the largest completion time, by the links between switches: without those that
 * are dead, or slower, from the start and for good, unless faults may be healed by hand. 0 or
 * -ENOMEM.
 */
int ending_bound(uint64_t *ret, const struct scenario *s, const struct fabric *f,
	const struct operations *m, bool healed);

#endif
