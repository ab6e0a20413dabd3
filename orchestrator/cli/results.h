/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RESULTS_H
#define FABRICBED_RESULTS_H

/* Where a run's results go, and how a person reads them. */
#include <jansson.h>
#include "session/folder.h"

struct scenario;

struct results_place {
	const char *out; /* the folder; NULL: the first free "runs/<name>-<n>" */
	const char *name;
	const char *input; /* the scenario's file, which must not lie there under a result's name */
	bool compares;     /* several variants, each with a folder in there */
};

/* Claims the folder for a run. 0 or -errno after a message. */
int results_claim(struct folder **ret, const struct results_place *place);

/* Closes it; of a run that gave no results nothing stays. */
void results_close(struct folder *folder, bool is_out);

/* The summary for a terminal. */
void results_print(const json_t *summary, const struct scenario *s, const char *directory);

#endif
