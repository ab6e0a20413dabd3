/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_DATABASE_H
#define FABRICBED_SWEEP_DATABASE_H

/* sweep.sqlite: the table of runs, files of each run as further tables, and queries of them. */
#include "base/error.h"
#include "sweep/table.h"

struct database;

/*
 * Makes the file of that path anew, with the table `runs` (sweep/table.h) and one for each of the
 * sweep's `tables`: the columns of the file of that name in the folder of each run (folder/ID/),
 * and `run` in front. 0 or -errno with why: -EINVAL, a run has no such file.
 */
int database_make(struct database **ret, const char *path, const struct sweep_table *t,
	const char *folder, struct error *why);

/*
 * Calls row for each row of a query, with its columns: cells are good until it returns; what it
 * returns below 0 ends that. Only reads. 0 or -errno with why, which has SQLite's words.
 */
struct database_row {
	size_t count;
	const struct sweep_cell *cells;
	const char *const *names;
};

int database_query(struct database *d, const char *sql,
	int (*row)(void *arg, const struct database_row *row), void *arg, struct error *why);

/* NULL is fine. */
void database_close(struct database *d);

#endif
