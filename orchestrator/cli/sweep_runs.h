/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_RUNS_H
#define FABRICBED_SWEEP_RUNS_H

/* Does the runs of a sweep that are not done yet, each as a process of its own. */
#include "cli/cli.h"
#include "sweep/table.h"

struct ranks;

struct sweep_work {
	const char *file;         /* the scenario's */
	const char *folder;       /* of the sweep; runs/ID in there is each run's */
	const char *const *first; /* settings that stand before the variant's: a scale's */
	size_t first_count;
	const char *const *given; /* and behind it: the command line's */
	size_t given_count;
	bool kernel, quiet;
	size_t jobs;
	struct ranks *ranks; /* that do the runs; NULL: this process does, `jobs` at a time */
	struct sweep_plan *plan;
	struct sweep_table *table;          /* gets the summaries */
	size_t done_before, failed, missed; /* runs */
	struct sweep_progress {
		double looked_s;
		size_t ended; /* runs that this command did */
		size_t told;  /* of them, when that was last shown */
		enum sweep_state { RUN_WAITS, RUN_RUNS, RUN_ENDED } * states; /* by run */
		double *spent_s;  /* by point: of those that are done */
		size_t *measured; /* and how many */
		double all_s;     /* of all points */
		size_t all_measured;
	} progress;
	json_t *errors; /* of cli_args */
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

/* What a run is told but for its --output; NULL ends it. sweep_settings_free(). NULL: no memory. */
char **sweep_arguments(const struct sweep_work *w, size_t run);

/* Its folder; free() it. NULL for want of memory. */
char *sweep_run_folder(const struct sweep_work *w, size_t run);

/* A run has ended: its summary is read if it is done, else it counts as failed, and why is told. */
void sweep_take(struct sweep_work *w, size_t run, bool done, const char *why);

/* How far it is, on standard error if it is time to tell. */
void sweep_show_progress(struct sweep_work *w, size_t running);

#endif
