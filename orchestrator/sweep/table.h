/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_TABLE_H
#define FABRICBED_SWEEP_TABLE_H

/*
 * What the runs of a sweep gave: a row a run, as sweep.csv and sweep.sqlite have it. Figures that
 * depend on the machine (seconds, memory) are left out, so that the same sweep is the same bytes.
 */
#include <jansson.h>
#include <stdio.h>
#include "base/metrics.h"
#include "sweep/plan.h"
#include "sweep/statistics.h"

struct sweep_table {
	const struct sweep_plan *plan;
	json_t **summaries; /* by run; NULL: it failed, or was not done */
	char (*metrics)[METRIC_NAME];
	size_t metric_count;
};

/* 0 or -ENOMEM. */
int sweep_table_init(struct sweep_table *t, const struct sweep_plan *plan);
void sweep_table_release(struct sweep_table *t);

/* Columns: run, variant, parameters, seed, status, trace_hash, and each metric. */
size_t sweep_table_columns(const struct sweep_table *t);

const char *sweep_table_name(const struct sweep_table *t, size_t column);

/* A cell: a text, a number, a seed with all its digits, or nothing. */
struct sweep_cell {
	enum { CELL_EMPTY, CELL_TEXT, CELL_NUMBER, CELL_WHOLE } kind;
	const char *text;
	double number;
	uint64_t whole;
};

struct sweep_cell sweep_table_cell(const struct sweep_table *t, size_t run, size_t column);

/* All rows, with a title. */
void sweep_table_write(const struct sweep_table *t, FILE *out);

/* Of a metric over the seeds of a point and variant; runs without it do not count. */
struct statistics sweep_table_statistics(
	const struct sweep_table *t, size_t point, size_t variant, const char *metric);

#endif
