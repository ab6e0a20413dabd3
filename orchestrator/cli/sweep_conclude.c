/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sweep_conclude.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/json.h"
#include "cli/cli.h"
#include "cli/replace.h"
#include "cli/stop.h"
#include "cli/sweep_print.h"
#include "scenario/scenario.h"
#include "sweep/picture.h"
#include "sweep/verdict.h"

const char *sweep_best(const char *best, bool *ret_largest)
{
	*ret_largest = !strncmp(best, "max:", 4);
	return best + (*ret_largest ? 4 : 0);
}

static char *file_in(const struct sweep_outcome *o, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", o->folder, name) < 0 ? NULL : path;
}

static int write_failed(const char *path, int r)
{
	cli_error("can't write %s: %s", path, strerror(-r));
	return EXIT_RUN;
}

static void put_table(const void *table, FILE *out)
{
	sweep_table_write(table, out);
}

static void put_report(const void *report, FILE *out)
{
	print_json(report, out);
}

static int write_file(const struct sweep_outcome *o, const char *name,
	void (*put)(const void *what, FILE *out), const void *what)
{
	char *path = file_in(o, name);
	struct replacement file;
	int r = path ? replace_open(&file, path) : -ENOMEM;

	if (r == 0) {
		put(what, file.out.file);
		r = replace_end(&file);
	}
	r = r < 0 ? write_failed(path ? path : o->folder, r) : EXIT_WELL;
	free(path);
	return r;
}

/* The database under another name until it is whole. */
static int make_database(const struct sweep_outcome *o, struct database **ret)
{
	char *path = file_in(o, "sweep.sqlite"), *made = file_in(o, "sweep.sqlite.new");
	char *runs = file_in(o, "runs");
	struct error why = ERROR_INIT;
	int status = EXIT_RUN;

	if (!path || !made || !runs)
		cli_error("out of memory");
	else if (database_make(ret, made, o->table, runs, &why) < 0)
		cli_error("can't write %s: %s", path, why.text);
	else if (rename(made, path) < 0)
		status = write_failed(path, -errno);
	else
		status = EXIT_WELL;
	if (made && status != EXIT_WELL)
		unlink(made);
	free(runs);
	free(made);
	free(path);
	return status;
}

static json_t *make_report(const struct sweep_outcome *o, struct database *d, bool *ret_met)
{
	const char *metric = o->metric ? o->metric : verdict_metric(o->table);
	json_t *report = json_pack("{s:s, s:s, s:{s:I, s:I, s:I, s:I}, s:s, s:o, s:o}", "scenario",
		o->table->plan->base->name, "scale", o->scale ? o->scale : "", "runs", "count",
		(json_int_t)o->table->plan->count, "done_before", (json_int_t)o->done_before,
		"failed", (json_int_t)o->failed, "missed", (json_int_t)o->missed, "metric", metric,
		"points", verdict_points(o->table, metric), "expect",
		verdict_expects(o->table, d, ret_met));

	if (o->best) {
		bool largest;
		const char *best = sweep_best(o->best, &largest);

		json_object_set_new(report, "best",
			json_pack("{s:s, s:b, s:o}", "metric", best, "largest", (int)largest,
				"points", verdict_best(o->table, best, largest)));
	}
	return report;
}

static int draw_one(const struct sweep_outcome *o, struct database *d,
	const struct sweep_plot *plot, const char *metric, const char *file)
{
	struct error why = ERROR_INIT;
	int r = picture_draw(plot, o->table, d, metric, file, &why);

	if (r < 0)
		cli_error("%s", why.text);
	return r == 0 ? EXIT_WELL : r == -ENOENT ? EXIT_MACHINE : EXIT_RUN;
}

/*
 * --plot is of what the screen shows. What can't be drawn leaves its script, and the others; and
 * without gnuplot the sweep is none the worse, unless it was asked to draw.
 */
static int draw_plots(const struct sweep_outcome *o, struct database *d, const char *metric)
{
	const struct sweep_spec *sweep = &o->table->plan->base->sweep;
	const struct sweep_plot usual = {.name = (char *)"--plot",
		.kind = o->table->plan->column_count && o->table->plan->columns[0].numbers
				? SWEEP_LINES
				: SWEEP_BARS};
	int status = EXIT_WELL, one;

	for (size_t i = 0; i < sweep->plot_count; i++) {
		char *file;

		if (asprintf(&file, "%s/%s.svg", o->folder, sweep->plots[i].name) < 0)
			return EXIT_RUN;
		one = draw_one(o, d, &sweep->plots[i], metric, file);
		status = exit_worse(status, one == EXIT_MACHINE ? EXIT_WELL : one);
		free(file);
	}
	if (o->plot)
		status = exit_worse(status, draw_one(o, d, &usual, metric, o->plot));
	return status;
}

int sweep_conclude(const struct sweep_outcome *o)
{
	struct database *d = NULL;
	json_t *report;
	bool met = true;
	int status;

	/* Ctrl-C ends it at once: all of this can be made again */
	stop_release();
	status = write_file(o, "sweep.csv", put_table, o->table);

	if (status == EXIT_WELL)
		status = make_database(o, &d);
	if (status != EXIT_WELL) {
		database_close(d);
		return status;
	}
	report = make_report(o, d, &met);
	status = write_file(o, "sweep.json", put_report, report);
	if (o->json)
		print_json(report, stdout);
	else if (!o->quiet)
		sweep_print(report, o->about, o->folder);
	status = exit_worse(status, draw_plots(o, d, look_text(report, "metric")));
	json_decref(report);
	database_close(d);
	if (status == EXIT_WELL && o->failed)
		status = EXIT_RUN;
	return status != EXIT_WELL ? status : met && !o->missed ? EXIT_WELL : EXIT_EXPECT;
}
