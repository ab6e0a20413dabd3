/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RESULTS_H
#define FABRICBED_RESULTS_H

/* Where a run's results go, and how a person reads them. */
#include <jansson.h>
#include "scenario/scenario.h"

/*
 * The folder for a run: `out`, from which an earlier run's results are removed, or the first free
 * "runs/<name>-<n>". *ret_path is to be freed; *ret_made: it was not there before. 0 or -errno after
 * a message.
 */
int results_directory(char **ret_path, bool *ret_made, const char *out, const char *name);

/* Removes the folder that was made for a run that never began, if nothing is in it. */
void results_discard(const char *directory, bool is_out);

/* The summary for a terminal. */
void results_print(const json_t *summary, const struct scenario *s, const char *directory);

#endif
