/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_VERDICT_H
#define FABRICBED_SWEEP_VERDICT_H

/* What a sweep's `expect` comes to, and the points of the grid in numbers, for sweep.json. */
#include <jansson.h>
#include <stdbool.h>
#include "sweep/database.h"
#include "sweep/table.h"

/*
 * [{claim, bound, value, at, ok, says, not_reached, reason}]: what was expected, the bound, the
 * value that decided it and where that was, and why there is none. *ret_met: all hold but those
 * with not_reached. A new reference; NULL for want of memory.
 */
json_t *verdict_expects(const struct sweep_table *t, struct database *d, bool *ret_met);

/* The metric that the screen shows: the sweep's, or what suits the runs. */
const char *verdict_metric(const struct sweep_table *t);

/*
 * [{<parameters>, variant, runs, mean, ci95, min, max}] of a metric, a row a point and variant; the
 * unit of the metric is in the keys ("mean_us"). A new reference; NULL for want of memory.
 */
json_t *verdict_points(const struct sweep_table *t, const char *metric);

/* Of these the row with the smallest mean (or the largest) for each variant; a new reference. */
json_t *verdict_best(const struct sweep_table *t, const char *metric, bool largest);

#endif
