/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_RUNS_H
#define FABRICBED_SWEEP_RUNS_H

/* Does the runs of a sweep that are not done yet, each as a process of its own. */
#include "cli/cli.h"
#include "sweep/table.h"

struct sweep_work {
	const char *file;         /* the scenario's */
	const char *folder;       /* of the sweep; runs/ID in there is each run's */
	const char *const *first; /* settings that stand before the variant's: a scale's */
	size_t first_count;
	const char *const *given; /* and behind it: the command line's */
	size_t given_count;
	bool kernel, quiet, json;
	size_t jobs;
	struct sweep_plan *plan;
	struct sweep_table *table;          /* gets the summaries */
	size_t done_before, failed, missed; /* runs */
	json_t *errors;                     /* of cli_args */
};

/*
 * Loads each run and names all that is wrong with it, gives each its id, and takes the summaries of
 * those that are done. EXIT_WELL, or another status after messages.
 */
int sweep_prepare(struct sweep_work *w);

/*
 * Does the others. A run that fails is told and counted, and the rest goes on. EXIT_WELL, also
 * then; EXIT_RUN after a message: it was interrupted.
 */
int sweep_do(struct sweep_work *w);

#endif
