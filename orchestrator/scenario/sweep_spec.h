/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_SPEC_H
#define FABRICBED_SWEEP_SPEC_H

/* The key `sweep` of a scenario: many runs of it, and what is made of them (docs/sweeps.md). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/diag.h"

/* Texts "key=value", as --set takes them. */
struct settings {
	char **items;
	size_t count;
};

/* A run of the same scenario with other values: of `compare`, or one of a sweep's scales. */
struct variant_spec {
	char *name;
	struct settings set;
};

/* A key that takes several values, and so is a parameter of the sweep. */
struct sweep_parameter {
	char *key;  /* dotted path */
	char *name; /* `as`; NULL: the key's last word */
	char **values;
	size_t value_count;
};

struct sweep_seeds {
	uint64_t *items;
	size_t count; /* 0: the scenario's own */
};

enum sweep_bound { SWEEP_AT_MOST, SWEEP_AT_LEAST, SWEEP_EQUALS, SWEEP_ORDER };
enum sweep_at { SWEEP_EACH, SWEEP_ANY };

/* What is expected of a sweep. */
struct sweep_expect {
	char *metric; /* its mean at each point; NULL: query */
	char *query;  /* SQL over the tables; each row's first column */
	char *of;     /* variant; NULL: each */
	char *over;   /* divided by this variant's; NULL: not divided */
	struct settings where;
	unsigned at; /* enum sweep_at: at each point, or at one at least */
	enum sweep_bound bound;
	double value;
	char **order; /* variants: none has a larger mean than the next */
	size_t order_count;
	char *says;        /* the claim in words; NULL */
	char *not_reached; /* why it is known not to hold; NULL: it must */
	struct diag_pos pos;
};

enum sweep_picture { SWEEP_LINES, SWEEP_POINTS, SWEEP_BARS, SWEEP_CDF };
enum sweep_log { SWEEP_LINEAR, SWEEP_LOG_X, SWEEP_LOG_Y, SWEEP_LOG_XY };

struct sweep_plot {
	char *name;    /* of the files */
	unsigned kind; /* enum sweep_picture */
	char *x;       /* a parameter; NULL: the first, or query */
	char *y;       /* a metric; NULL: the sweep's, or query */
	char *query;   /* SQL with columns x, y and series; NULL: the means of y */
	struct settings where;
	unsigned log; /* enum sweep_log */
	char *title, *x_label, *y_label;
};

struct sweep_spec {
	bool on;
	struct sweep_parameter *grid;
	size_t grid_count;
	struct sweep_seeds seeds;
	char *metric;  /* that the screen shows; NULL: what suits the workload */
	char **tables; /* further files of each run in the database, without ".csv" */
	size_t table_count;
	struct variant_spec *scales;
	size_t scale_count;
	struct sweep_expect *expects;
	size_t expect_count;
	struct sweep_plot *plots;
	size_t plot_count;
};

/* What a parameter is called. */
const char *sweep_parameter_name(const struct sweep_parameter *p);

#endif
