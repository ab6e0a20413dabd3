/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_DEADLOCK_WATCH_H
#define FABRICBED_DEADLOCK_WATCH_H

/* The first PFC deadlock of a run: looked for, remembered, and named. */
#include <jansson.h>
#include "engine/engine.h"
#include "telemetry/recorder.h"

#define DEADLOCK_CYCLE 64 /* queues of it that are named */

struct deadlock {
	uint64_t at_ps;
	int length; /* queues in the cycle; 0: there is no deadlock */
	struct engine_waiting cycle[DEADLOCK_CYCLE];
};

/* Whether there is one now; it is in *d then. 1, 0, or -ENOMEM. */
int deadlock_search(struct deadlock *d, const struct engine *e);

/* Its queues, each waiting for the next, by names as series_params has them. */
json_t *deadlock_cycle(const struct deadlock *d, recorder_port_name port_name, const void *arg);

/* Adds what there is to say of it, or that there is none, to a summary's "pfc". */
void deadlock_summarise(
	const struct deadlock *d, json_t *pfc, recorder_port_name port_name, const void *arg);

#endif
