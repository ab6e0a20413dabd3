/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/numbers.h"
#include "base/strbuf.h"
#include "scenario/scenario.h"

#define TEXT 512

/* What decides an expectation: of `each` the value that is worst for it, of `any` the best. */
struct decision {
	const struct sweep_expect *e;
	bool found, ok;
	double value;
	char at[TEXT];     /* where that is */
	char reason[TEXT]; /* why there is no value; "": there is */
};

static bool holds(const struct sweep_expect *e, double value)
{
	switch (e->bound) {
	case SWEEP_AT_MOST:
		return value <= e->value;
	case SWEEP_AT_LEAST:
		return value >= e->value;
	case SWEEP_EQUALS:
		return value == e->value;
	case SWEEP_ORDER:
		return value <= 1;
	}
	return false;
}

/* How far a value is on the right side: the larger the better. */
static double margin(const struct sweep_expect *e, double value)
{
	if (e->bound == SWEEP_EQUALS)
		return -fabs(value - e->value);
	return e->bound == SWEEP_AT_LEAST ? value : -value;
}

/* No value where there should be one: only another point can help, and only `any`. */
static void miss(struct decision *d, const char *reason, const char *at)
{
	struct strbuf b;

	if (*d->reason)
		return;
	b = STRBUF(d->reason);
	strbuf_add(&b, "%s%s%s", reason, *at ? " at " : "", at);
}

/* A value of one point, or of one row. */
static void decide(struct decision *d, double value, const char *at)
{
	double is = margin(d->e, value), was = margin(d->e, d->value);

	if (!isfinite(value)) {
		miss(d, "it is not finite", at);
		return;
	}
	if (d->found && (d->e->at == SWEEP_ANY ? is <= was : is >= was))
		return;
	d->found = true;
	d->value = value;
	d->ok = holds(d->e, value);
	snprintf(d->at, sizeof(d->at), "%s", at);
}

static void point_text(
	const struct sweep_plan *p, size_t point, const char *variant, char buf[TEXT])
{
	struct strbuf b = strbuf_init(buf, TEXT);

	strbuf_add(&b, "%s", variant);
	for (size_t i = 0; i < p->column_count; i++) {
		const struct sweep_parameter *of = p->columns[i].parameter;

		strbuf_add(&b, "%s%s=%s", b.length ? " " : "", sweep_parameter_name(of),
			of->values[sweep_plan_value(p, point, i)]);
	}
}

static size_t variant_index(const struct sweep_plan *p, const char *name)
{
	size_t i = 0;

	while (strcmp(sweep_plan_variant(p, i), name))
		i++;
	return i;
}

/* Whether all runs have the figure; else that decides. */
static bool is_whole(struct decision *d, const struct statistics *s, size_t runs, const char *at)
{
	char reason[TEXT];

	snprintf(reason, sizeof(reason), "%zu of %zu runs %s no such figure", runs - s->count, runs,
		runs - s->count == 1 ? "has" : "have");
	if (s->count < runs)
		miss(d, reason, at);
	return s->count == runs;
}

/* A metric of one variant at a point, by that of another if there is one (NULL: none). */
static void decide_ratio(struct decision *d, const struct sweep_table *t, size_t point,
	const char *of, const char *over)
{
	const struct sweep_plan *p = t->plan;
	struct statistics a = sweep_table_statistics(t, point, variant_index(p, of), d->e->metric);
	struct statistics b = a;
	char at[TEXT];

	point_text(p, point, over ? "" : of, at);
	if (over)
		b = sweep_table_statistics(t, point, variant_index(p, over), d->e->metric);
	if (!is_whole(d, &a, p->seeds, at) || !is_whole(d, &b, p->seeds, at))
		return;
	if (!over)
		decide(d, a.mean, at);
	else if (d->e->bound == SWEEP_ORDER && a.mean == b.mean)
		decide(d, 1, at); /* none is larger, even if both are 0 */
	else if (b.mean == 0)
		miss(d, "the divisor is 0", at);
	else
		decide(d, a.mean / b.mean, at);
}

static void decide_point(struct decision *d, const struct sweep_table *t, size_t point)
{
	const struct sweep_expect *e = d->e;

	for (size_t i = 0; i + 1 < e->order_count; i++)
		decide_ratio(d, t, point, e->order[i], e->order[i + 1]);
	if (e->bound == SWEEP_ORDER)
		return;
	if (e->of)
		decide_ratio(d, t, point, e->of, e->over);
	for (size_t i = 0; !e->of && i < t->plan->variants; i++)
		decide_ratio(d, t, point, sweep_plan_variant(t->plan, i), NULL);
}

/* The row's first column; the others tell where it is. */
static int decide_row(void *arg, const struct database_row *row)
{
	struct decision *d = arg;
	char at[TEXT];
	struct strbuf b = STRBUF(at);

	for (size_t i = 1; i < row->count; i++) {
		const struct sweep_cell *c = &row->cells[i];

		strbuf_add(&b, "%s%s=", b.length ? " " : "", row->names[i]);
		if (c->kind == CELL_NUMBER)
			strbuf_add(&b, "%g", c->number);
		else
			strbuf_add(&b, "%s", c->kind == CELL_TEXT ? c->text : "-");
	}
	if (row->cells[0].kind == CELL_NUMBER)
		decide(d, row->cells[0].number, at);
	else
		miss(d, "the query gives no number", at);
	return 0;
}

static void decide_query(struct decision *d, struct database *database)
{
	struct error why = ERROR_INIT;

	if (database_query(database, d->e->query, decide_row, d, &why) < 0)
		miss(d, why.text, "");
	else if (!d->found)
		miss(d, "the query gives no row", "");
}

/* "flows.fct_us.max of rocev2 over adaptive" */
static json_t *claim_of(const struct sweep_expect *e)
{
	char text[2 * TEXT];
	struct strbuf b = STRBUF(text);

	if (e->query)
		return json_string(e->query);
	strbuf_add(&b, "%s", e->metric);
	if (e->of)
		strbuf_add(&b, " of %s", e->of);
	if (e->over)
		strbuf_add(&b, " over %s", e->over);
	for (size_t i = 0; i < e->order_count; i++)
		strbuf_add(&b, "%s%s", i ? " <= " : " in order ", e->order[i]);
	for (size_t i = 0; i < e->where.count; i++)
		strbuf_add(&b, "%s%s", i ? ", " : " where ", e->where.items[i]);
	return json_string(text);
}

static json_t *bound_of(const struct sweep_expect *e)
{
	static const char *const names[] = {[SWEEP_AT_MOST] = "at_most",
		[SWEEP_AT_LEAST] = "at_least",
		[SWEEP_EQUALS] = "equals",
		[SWEEP_ORDER] = "at_most"};

	return json_pack("{s:f}", names[e->bound], e->bound == SWEEP_ORDER ? 1 : e->value);
}

static json_t *expect_json(const struct decision *d)
{
	const struct sweep_expect *e = d->e;
	json_t *row = json_pack("{s:o, s:o, s:s, s:o, s:b}", "claim", claim_of(e), "bound",
		bound_of(e), "points", e->at == SWEEP_ANY ? "any" : "each", "value",
		real_or_null(d->found, d->value), "ok", (int)d->ok);

	if (*d->at)
		json_object_set_new(row, "at", json_string(d->at));
	if (e->says)
		json_object_set_new(row, "says", json_string(e->says));
	if (e->not_reached)
		json_object_set_new(row, "not_reached", json_string(e->not_reached));
	if (*d->reason && !d->ok)
		json_object_set_new(row, "reason", json_string(d->reason));
	return row;
}

json_t *verdict_expects(const struct sweep_table *t, struct database *database, bool *ret_met)
{
	const struct sweep_spec *sweep = &t->plan->base->sweep;
	json_t *list = json_array();

	*ret_met = true;
	for (size_t i = 0; i < sweep->expect_count; i++) {
		struct decision d = {.e = &sweep->expects[i]};

		for (size_t point = 0; d.e->metric && point < t->plan->points; point++)
			if (sweep_point_is(t->plan, point, &d.e->where))
				decide_point(&d, t, point);
		if (d.e->query)
			decide_query(&d, database);
		d.ok &= d.e->at == SWEEP_ANY || !*d.reason;
		*ret_met &= d.ok || d.e->not_reached;
		json_array_append_new(list, expect_json(&d));
	}
	return list;
}

/* ---- points ---- */

const char *verdict_metric(const struct sweep_table *t)
{
	static const char *const usual[] = {
		"flows.fct_us.max", "collectives.time_us.max", "goal.time_us"};

	if (t->plan->base->sweep.metric)
		return t->plan->base->sweep.metric;
	for (size_t i = 0; i < COUNT(usual); i++)
		for (size_t run = 0; run < t->plan->count; run++)
			if (json_is_number(look(t->summaries[run], usual[i])))
				return usual[i];
	return usual[0];
}

/* The unit that a metric's name has ("_us"), in any of its steps; "" without. */
static const char *unit_of(const char *metric)
{
	static const char *const units[] = {"_us", "_bytes", "_gbps"};

	for (size_t i = 0; i < COUNT(units); i++) {
		const char *found = strstr(metric, units[i]);

		if (found && strchr(".", found[strlen(units[i])]))
			return units[i];
	}
	return "";
}

static void set_figure(json_t *row, const char *name, const char *unit, double value)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%s", name, unit);
	json_object_set_new(row, key, real_or_null(isfinite(value), value));
}

static json_t *point_row(const struct sweep_table *t, size_t point, size_t variant,
	const struct statistics *s, const char *unit)
{
	const struct sweep_plan *p = t->plan;
	json_t *row = json_object();

	for (size_t i = 0; i < p->column_count; i++) {
		const struct sweep_parameter *of = p->columns[i].parameter;

		json_object_set_new(row, sweep_parameter_name(of),
			json_string(of->values[sweep_plan_value(p, point, i)]));
	}
	if (p->base->variant_count)
		json_object_set_new(row, "variant", json_string(sweep_plan_variant(p, variant)));
	json_object_set_new(row, "runs", json_integer((json_int_t)s->count));
	set_figure(row, "mean", unit, s->mean);
	set_figure(row, "ci95", unit, s->confidence);
	set_figure(row, "min", unit, s->min);
	set_figure(row, "max", unit, s->max);
	return row;
}

json_t *verdict_points(const struct sweep_table *t, const char *metric)
{
	json_t *rows = json_array();

	for (size_t point = 0; point < t->plan->points; point++) {
		for (size_t v = 0; v < t->plan->variants; v++) {
			struct statistics s = sweep_table_statistics(t, point, v, metric);

			json_array_append_new(rows, point_row(t, point, v, &s, unit_of(metric)));
		}
	}
	return rows;
}

json_t *verdict_best(const struct sweep_table *t, const char *metric, bool largest)
{
	json_t *rows = json_array();

	for (size_t v = 0; v < t->plan->variants; v++) {
		struct statistics best = {0};
		size_t at = 0;

		for (size_t point = 0; point < t->plan->points; point++) {
			struct statistics s = sweep_table_statistics(t, point, v, metric);

			if (!s.count || (best.count && (largest ? s.mean <= best.mean
								: s.mean >= best.mean)))
				continue;
			best = s;
			at = point;
		}
		if (best.count)
			json_array_append_new(rows, point_row(t, at, v, &best, unit_of(metric)));
	}
	return rows;
}
