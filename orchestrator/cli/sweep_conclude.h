/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_CONCLUDE_H
#define FABRICBED_SWEEP_CONCLUDE_H

/* What comes of a sweep whose runs are done: tables, database, verdict, pictures, the screen. */
#include <stdbool.h>
#include <stddef.h>

struct sweep_table;

struct sweep_outcome {
	const struct sweep_table *table;
	const char *folder;
	const char *about;                        /* of the scenario */
	const char *scale, *metric, *best, *plot; /* as asked for; NULL: not */
	bool json, quiet;
	size_t done_before, failed, missed; /* runs */
};

/* EXIT_WELL, EXIT_EXPECT, or another status after messages. */
int sweep_conclude(const struct sweep_outcome *o);

/* The metric of --best, which may be "max:METRIC". */
const char *sweep_best(const char *best, bool *ret_largest);

#endif
