/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/numbers.h"
#include "base/strbuf.h"
#include "report/plot.h"
#include "scenario/scenario.h"
#include "sweep/database.h"
#include "sweep/table.h"
#include "telemetry/summary.h"

#define NAME_TEXT 256

/* A series that grows; its name and its points' labels are its own. */
struct series {
	char *name;
	struct plot_point *points;
	size_t count;
};

struct drawing {
	const struct sweep_plot *plot;
	const struct sweep_table *t;
	const char *metric;
	size_t x; /* the parameter along the axis */
	struct series *series;
	size_t count;
	struct error why;
};

static void release(struct drawing *g)
{
	for (size_t i = 0; i < g->count; i++) {
		for (size_t k = 0; k < g->series[i].count; k++)
			free((char *)g->series[i].points[k].label);
		free(g->series[i].points);
		free(g->series[i].name);
	}
	free(g->series);
}

/* Appends a point to the series of that name, new or old; copies the label. */
static int add_point(struct drawing *g, const char *name, struct plot_point p)
{
	struct series *s = g->series;

	while (s < g->series + g->count && strcmp(s->name, name))
		s++;
	if (s == g->series + g->count) {
		if (ARRAY_ADD(g->series, g->count, (struct series){.name = strdup(name)}) < 0)
			return -ENOMEM;
		s = &g->series[g->count - 1];
	}
	p.label = p.label ? strdup(p.label) : NULL;
	return s->name ? ARRAY_ADD(s->points, s->count, p) : -ENOMEM;
}

/* ---- the means ---- */

/* "adaptive, links=4": the variant, and parameters that take several values and are not x. */
static const char *series_name(
	const struct drawing *g, size_t point, size_t variant, char buf[NAME_TEXT])
{
	const struct sweep_plan *p = g->t->plan;
	struct strbuf b = strbuf_init(buf, NAME_TEXT);

	strbuf_add(&b, "%s", sweep_plan_variant(p, variant));
	for (size_t i = 0; i < p->column_count; i++) {
		const struct sweep_parameter *of = p->columns[i].parameter;

		if (i != g->x && of->value_count > 1)
			strbuf_add(&b, "%s%s=%s", b.length ? ", " : "", sweep_parameter_name(of),
				of->values[sweep_plan_value(p, point, i)]);
	}
	return buf;
}

static int add_mean(struct drawing *g, size_t point, size_t variant)
{
	const struct sweep_plan *p = g->t->plan;
	const struct sweep_column *x = &p->columns[g->x];
	struct statistics s = sweep_table_statistics(g->t, point, variant, g->metric);
	double spread = isfinite(s.confidence) ? s.confidence : 0;
	struct plot_point at = {.y = s.mean, .low = s.mean - spread, .high = s.mean + spread};
	size_t value = p->column_count ? sweep_plan_value(p, point, g->x) : 0;
	char name[NAME_TEXT];

	if (p->column_count && x->numbers)
		at.x = x->numbers[value];
	if (p->column_count && (!x->numbers || g->plot->kind == SWEEP_BARS))
		at.label = x->parameter->values[value];
	if (at.label && g->plot->kind != SWEEP_BARS)
		return error_set(&g->why, -EINVAL,
			"plot %s: the values of %s are words; kind: bars can draw them",
			g->plot->name, sweep_parameter_name(x->parameter));
	return add_point(g, series_name(g, point, variant, name), at);
}

/* Each run's figure, of all points. */
static int add_runs(struct drawing *g, size_t point, size_t variant)
{
	const struct sweep_plan *p = g->t->plan;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->seeds; i++) {
		const struct sweep_run *run = sweep_plan_run(p, point, variant, i);
		const json_t *summary = g->t->summaries[run - p->runs];
		struct plot_point at = {0};

		if (summary && summary_lookup(summary, g->metric, &at.x) == 0)
			r = add_point(g, sweep_plan_variant(p, variant), at);
	}
	return r;
}

static int add_table(struct drawing *g)
{
	const struct sweep_plan *p = g->t->plan;
	int r = 0;

	for (size_t i = 0; g->plot->x && i < p->column_count; i++)
		if (!strcmp(sweep_parameter_name(p->columns[i].parameter), g->plot->x))
			g->x = i;
	for (size_t point = 0; r == 0 && point < p->points; point++) {
		if (!sweep_point_is(p, point, &g->plot->where))
			continue;
		for (size_t v = 0; r == 0 && v < p->variants; v++)
			r = g->plot->kind == SWEEP_CDF ? add_runs(g, point, v)
						       : add_mean(g, point, v);
	}
	return r;
}

/* ---- a query ---- */

static const struct sweep_cell *column(const struct database_row *row, const char *name)
{
	for (size_t i = 0; i < row->count; i++)
		if (!strcmp(row->names[i], name))
			return &row->cells[i];
	return NULL;
}

static double number(const struct sweep_cell *c, double otherwise)
{
	return !c ? otherwise : c->kind == CELL_NUMBER ? c->number : NAN;
}

static int add_row(void *arg, const struct database_row *row)
{
	struct drawing *g = arg;
	const struct sweep_cell *x = column(row, "x"), *y = column(row, "y"),
				*series = column(row, "series");
	struct plot_point p = {.x = number(x, NAN), .y = number(y, NAN)};
	char name[NAME_TEXT] = "";

	if (!x || (!y && g->plot->kind != SWEEP_CDF))
		return error_set(&g->why, -EINVAL,
			"plot %s: the query has no column '%s'; name it, as in SELECT t_us AS x, depth_bytes AS y",
			g->plot->name, x ? "y" : "x");
	if (series && series->kind == CELL_NUMBER)
		snprintf(name, sizeof(name), "%.15g", series->number);
	else if (series && series->kind == CELL_TEXT)
		snprintf(name, sizeof(name), "%s", series->text);
	p.low = number(column(row, "low"), p.y);
	p.high = number(column(row, "high"), p.y);
	p.label = x->kind == CELL_TEXT ? x->text : NULL;
	return add_point(g, name, p);
}

/* ---- the picture ---- */

/* A column's name with its unit apart: "message [bytes]". */
static const char *label_of(const char *column, char buf[NAME_TEXT])
{
	static const char *const units[] = {"us", "bytes", "gbps", "percent"};
	size_t length = strlen(column);

	snprintf(buf, NAME_TEXT, "%s", column);
	for (size_t i = 0; i < COUNT(units); i++) {
		size_t unit = strlen(units[i]);

		if (length > unit + 1 && column[length - unit - 1] == '_' &&
			!strcmp(column + length - unit, units[i]))
			snprintf(buf, NAME_TEXT, "%.*s [%s]", (int)(length - unit - 1), column,
				units[i]);
	}
	return buf;
}

static int draw(struct drawing *g, const char *file)
{
	static const enum plot_kind kinds[] = {[SWEEP_LINES] = PLOT_LINES,
		[SWEEP_POINTS] = PLOT_POINTS,
		[SWEEP_BARS] = PLOT_BARS,
		[SWEEP_CDF] = PLOT_CDF};
	const struct sweep_plan *p = g->t->plan;
	const struct sweep_plot *spec = g->plot;
	struct plot_series *series = calloc(g->count + 1, sizeof(*series));
	char x[NAME_TEXT], y[NAME_TEXT];
	struct plot plot = {
		.kind = kinds[spec->kind],
		.title = spec->title ? spec->title : p->base->name,
		.log_x = spec->log == SWEEP_LOG_X || spec->log == SWEEP_LOG_XY,
		.log_y = spec->log == SWEEP_LOG_Y || spec->log == SWEEP_LOG_XY,
		.series = series,
		.series_count = g->count,
		.x_label = spec->x_label,
		.y_label = spec->y_label,
	};
	int r;

	if (!series)
		return error_set(&g->why, -ENOMEM, "out of memory");
	for (size_t i = 0; i < g->count; i++)
		series[i] = (struct plot_series){
			g->series[i].name, g->series[i].points, g->series[i].count};
	if (!plot.x_label && !spec->query)
		plot.x_label = spec->kind == SWEEP_CDF ? label_of(g->metric, x)
			       : p->column_count       ? label_of(p->columns[g->x].name, x)
						       : "";
	if (!plot.y_label && !spec->query)
		plot.y_label = spec->kind == SWEEP_CDF ? "share of runs" : label_of(g->metric, y);
	r = plot_draw(&plot, file, &g->why);
	free(series);
	return r;
}

int picture_draw(const struct sweep_plot *plot, const struct sweep_table *t, struct database *d,
	const char *metric, const char *file, struct error *why)
{
	struct drawing g = {.plot = plot, .t = t, .metric = plot->y ? plot->y : metric};
	struct error wrong = ERROR_INIT;
	int r = plot->query ? database_query(d, plot->query, add_row, &g, &wrong) : add_table(&g);

	if (*wrong.text)
		error_set(&g.why, r, "plot %s: %s", plot->name, wrong.text);
	if (r == -ENOMEM)
		error_set(&g.why, r, "out of memory");
	if (r == 0)
		r = draw(&g, file);
	if (r < 0)
		*why = g.why;
	release(&g);
	return r;
}
