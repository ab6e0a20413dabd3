/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_PLAN_H
#define FABRICBED_SWEEP_PLAN_H

/*
 * The runs of a sweep: each point of the grid, each variant, each seed, in this order, the last
 * parameter of the grid and then the seeds counting fastest.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct scenario;
struct sweep_parameter;

#define SWEEP_ID 17 /* 16 hexadecimal digits */

struct sweep_run {
	size_t point;   /* of the grid */
	size_t variant; /* of the scenario's; 0 if it has none */
	uint64_t seed;
	/* the same for the same run by the same program; its folder has this name */
	char id[SWEEP_ID];
};

/* How a parameter is written in the table: a quantity as a number, its unit in the name. */
struct sweep_column {
	const struct sweep_parameter *parameter;
	char name[48];
	double *numbers; /* of its values; NULL: they are words */
};

struct sweep_plan {
	const struct scenario *base;
	struct sweep_column *columns; /* one a parameter */
	size_t column_count;
	struct sweep_run *runs;
	size_t points, variants, seeds, count; /* count is the product of the others */
};

#define SWEEP_RUNS_MAX 100000 /* a summary in memory takes some 20 KB */

/*
 * base outlives it. 0; -EINVAL with why: values that contradict each other (a variant that sets a
 * parameter or, beside seeds, a seed), or more than SWEEP_RUNS_MAX runs; -ENOMEM.
 */
int sweep_plan_new(struct sweep_plan **ret, const struct scenario *base, struct error *why);
void sweep_plan_free(struct sweep_plan *p);

/* Which value of a parameter a point has. */
size_t sweep_plan_value(const struct sweep_plan *p, size_t point, size_t column);

/* The run of a point, variant and number of seed. */
struct sweep_run *sweep_plan_run(
	const struct sweep_plan *p, size_t point, size_t variant, size_t seed);

/* "" if the scenario has none. */
const char *sweep_plan_variant(const struct sweep_plan *p, size_t variant);

/*
 * What a run sets, as --set takes it: given (what the command line sets) stands behind what the
 * variant sets, and before parameters and seed. The array ends with NULL; free each, and the array.
 * NULL for want of memory.
 */
char **sweep_run_settings(const struct sweep_plan *p, const struct sweep_run *run,
	const char *const *given, size_t given_count);
void sweep_settings_free(char **settings);

/* "message=2MB flows=4, seed 3", with the variant in front; for messages. */
#define SWEEP_RUN_TEXT 256
const char *sweep_run_text(
	const struct sweep_plan *p, const struct sweep_run *run, char buf[SWEEP_RUN_TEXT]);

/* Whether a setting is of that key, or of a part of it: a later value of the key would undo it. */
bool sweep_sets_key(const char *setting, const char *key);

/* Whether a point has the values "parameter=value" that a `where` names. */
struct settings;
bool sweep_point_is(const struct sweep_plan *p, size_t point, const struct settings *where);

#endif
