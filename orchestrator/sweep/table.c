/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/json.h"
#include "base/numbers.h"
#include "scenario/sweep_spec.h"
#include "telemetry/summary.h"

/* What stands before and behind the parameters. */
enum { RUN, VARIANT, FRONT };
enum { SEED, STATUS, TRACE_HASH, BACK };

/* Figures of the machine, and of its clock. */
static bool is_of_machine(const char *metric)
{
	static const char *const names[] = {"setup_s", "wall_s", "hops_per_s", "peak_rss_mb"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(metric, names[i]))
			return true;
	return !strncmp(metric, "fidelity.", 9);
}

int sweep_table_init(struct sweep_table *t, const struct sweep_plan *plan)
{
	char name[METRIC_NAME];

	*t = (struct sweep_table){.plan = plan};
	t->summaries = calloc(plan->count + 1, sizeof(*t->summaries));
	for (size_t i = 0; t->summaries && metric_name(i, name); i++) {
		if (is_of_machine(name))
			continue;
		if (ARRAY_ROOM(t->metrics, t->metric_count) < 0)
			return -ENOMEM;
		memcpy(t->metrics[t->metric_count++], name, METRIC_NAME);
	}
	return t->summaries ? 0 : -ENOMEM;
}

void sweep_table_release(struct sweep_table *t)
{
	for (size_t i = 0; t->summaries && i < t->plan->count; i++)
		json_decref(t->summaries[i]);
	free(t->summaries);
	free(t->metrics);
	*t = (struct sweep_table){0};
}

size_t sweep_table_columns(const struct sweep_table *t)
{
	return FRONT + t->plan->column_count + BACK + t->metric_count;
}

const char *sweep_table_name(const struct sweep_table *t, size_t column)
{
	static const char *const front[] = {[RUN] = "run", [VARIANT] = "variant"};
	static const char *const back[] = {
		[SEED] = "seed", [STATUS] = "status", [TRACE_HASH] = "trace_hash"};
	size_t parameters = t->plan->column_count;

	if (column < FRONT)
		return front[column];
	column -= FRONT;
	if (column < parameters)
		return t->plan->columns[column].name;
	column -= parameters;
	return column < BACK ? back[column] : t->metrics[column - BACK];
}

static struct sweep_cell text_cell(const char *text)
{
	return (struct sweep_cell){.kind = text && *text ? CELL_TEXT : CELL_EMPTY, .text = text};
}

static struct sweep_cell number_cell(double number)
{
	return (struct sweep_cell){.kind = CELL_NUMBER, .number = number};
}

static struct sweep_cell parameter_cell(
	const struct sweep_plan *p, const struct sweep_run *run, size_t column)
{
	const struct sweep_column *c = &p->columns[column];
	size_t value = sweep_plan_value(p, run->point, column);

	return c->numbers ? number_cell(c->numbers[value]) : text_cell(c->parameter->values[value]);
}

struct sweep_cell sweep_table_cell(const struct sweep_table *t, size_t run, size_t column)
{
	const struct sweep_plan *p = t->plan;
	const struct sweep_run *r = &p->runs[run];
	const json_t *summary = t->summaries[run];
	double value;

	if (column == RUN)
		return text_cell(r->id);
	if (column == VARIANT)
		return text_cell(sweep_plan_variant(p, r->variant));
	column -= FRONT;
	if (column < p->column_count)
		return parameter_cell(p, r, column);
	column -= p->column_count;
	if (column == SEED)
		return (struct sweep_cell){.kind = CELL_WHOLE, .whole = r->seed};
	if (column == STATUS)
		return text_cell(!summary ? "failed" : "done");
	if (column == TRACE_HASH)
		return text_cell(look_text(summary, "trace_hash"));
	if (!summary || summary_lookup(summary, t->metrics[column - BACK], &value) < 0)
		return (struct sweep_cell){.kind = CELL_EMPTY};
	return number_cell(value);
}

/* A word of a scenario may hold what a table takes for its own. */
static void write_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, "%s%c", *text == '"' ? "\"" : "", *text);
	fputc('"', out);
}

void sweep_table_write(const struct sweep_table *t, FILE *out)
{
	size_t columns = sweep_table_columns(t);

	for (size_t i = 0; i < columns; i++)
		fprintf(out, "%s%s", i ? "," : "", sweep_table_name(t, i));
	fputc('\n', out);
	for (size_t run = 0; run < t->plan->count; run++) {
		for (size_t i = 0; i < columns; i++) {
			struct sweep_cell c = sweep_table_cell(t, run, i);

			fputs(i ? "," : "", out);
			if (c.kind == CELL_TEXT)
				write_text(out, c.text);
			else if (c.kind == CELL_NUMBER)
				fprintf(out, "%.15g", c.number);
			else if (c.kind == CELL_WHOLE)
				fprintf(out, "%llu", (unsigned long long)c.whole);
		}
		fputc('\n', out);
	}
}

struct statistics sweep_table_statistics(
	const struct sweep_table *t, size_t point, size_t variant, const char *metric)
{
	double *values = calloc(t->plan->seeds, sizeof(*values));
	struct statistics s;
	size_t count = 0;

	for (size_t i = 0; values && i < t->plan->seeds; i++) {
		size_t run = (size_t)(sweep_plan_run(t->plan, point, variant, i) - t->plan->runs);
		const json_t *summary = t->summaries[run];

		count += summary && summary_lookup(summary, metric, &values[count]) == 0;
	}
	s = statistics_of(values, count);
	free(values);
	return s;
}
