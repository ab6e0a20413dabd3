/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_JUNIT_H
#define FABRICBED_JUNIT_H

/* Runs as a JUnit file for CI systems: a suite per run, a case for the run and per expectation. */
#include <jansson.h>
#include <stdbool.h>

struct junit;

struct junit_run {
	const char *name;      /* the scenario's; "scenario.variant" for one of several */
	const json_t *summary; /* NULL: it gave none */
	const char *error;     /* what was in its way; NULL: it came to its end */
	double wall_s;         /* set-up and tear-down included */
};

/*
 * Empties the file, and makes its folder if only that is missing, so that a path that can't be
 * written is reported before a long run, and no older file passes for this one's. 0 or -errno after
 * a message.
 */
int junit_open(struct junit **ret, const char *path);

/* Adds a run. What is given need not last. */
void junit_add(struct junit *j, const struct junit_run *run);

/* Whether nothing has been added. */
bool junit_empty(const struct junit *j);

/* Writes all that was added, and frees j (NULL is fine). 0 or -errno after a message. */
int junit_close(struct junit *j);

#endif
