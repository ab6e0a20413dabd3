/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_PICTURE_H
#define FABRICBED_SWEEP_PICTURE_H

/* A sweep's plots: what is drawn of its table, or of a query. */
#include "base/error.h"

struct database;
struct sweep_plot;
struct sweep_table;

/*
 * Draws into a file (report/plot.h): of a metric the means with their 95% confidence over one
 * parameter, or of the runs a distribution; a series for each variant, and for each value of the
 * other parameters. metric: where the plot names none. 0 or -errno with why, as plot_draw() has it;
 * -EINVAL also: x is a word and can't be a line, or a query lacks a column.
 */
int picture_draw(const struct sweep_plot *plot, const struct sweep_table *t, struct database *d,
	const char *metric, const char *file, struct error *why);

#endif
