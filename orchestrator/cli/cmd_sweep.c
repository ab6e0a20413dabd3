/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/diag.h"
#include "base/parallel.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/stop.h"
#include "cli/sweep_conclude.h"
#include "cli/sweep_folder.h"
#include "cli/sweep_ranks.h"
#include "cli/sweep_runs.h"
#include "report/plot.h"
#include "scenario/scenario.h"
#include "sweep/handout.h"
#include "sweep/ranks.h"
#include "topology/fabric.h"

static const struct cli_option options[] = {
	{"jobs", 'j', "N", "runs at a time (default: one a core)"},
	{"seeds", 0, "LIST", "1..10 or 1,5,7: each point is run with each of these seeds"},
	{"scale", 0, "NAME", "the sweep in another size: one of its scales"},
	{"metric", 'm', "METRIC", "what the table on the screen shows"},
	{"best", 'b', "METRIC",
		"show each variant's point with the smallest mean; max:METRIC, the largest"},
	{"list", 'l', NULL, "check and print the runs, and do none of them"},
	{"plot", 'p', "FILE.svg|FILE.pdf", "draw the metric over the first parameter (gnuplot)"},
	{"dataplane", 'd', "kernel|inline", "where the frames go (default: inline)"},
	{"set", 's', "KEY=VALUE", "override a key of the scenario; may be given several times"},
	{"output", 'o', "DIR", "results go there (default: sweeps/NAME)"},
	{"json", 0, NULL, "print the points and expectations as JSON"},
	{"quiet", 'q', NULL, "print nothing but errors"},
	{0},
};

/* As the command line has it. */
struct sweep_command {
	const struct command *c;
	const struct cli_args *args;
	const char *output, *scale, *metric, *best, *plot;
	char *seeds; /* a setting; NULL: not given */
	size_t jobs;
	bool kernel, list, json, quiet;
	struct ranks *ranks; /* of mpirun; NULL: this is the only process */
};

/* One sweep that is under way. */
struct sweep {
	const struct sweep_command *command;
	const char *file;
	struct scenario *scenario;
	struct sweep_plan *plan;
	struct sweep_table table;
	char *about; /* as the file has it, where a scale is taken; NULL: the scenario's */
	char *folder;
	int lock;
	char **settings; /* of the scale, and of the command line */
	size_t first_count, setting_count;
};

/* ---- the scenario, its scale and its plan ---- */

/* Copies them. */
static int add_settings(struct sweep *s, const char *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *copy = strdup(items[i]);

		if (copy && ARRAY_ADD(s->settings, s->setting_count, copy) == 0)
			continue;
		free(copy);
		cli_error("out of memory");
		return EXIT_RUN;
	}
	return EXIT_WELL;
}

static int load_with(struct sweep *s, struct scenario **ret)
{
	struct cli_args args = *s->command->args;
	struct fabric *f = NULL;
	int status;

	if (s->setting_count > CLI_SETS_MAX) {
		cli_error("more than %d --set, those of the scale included", CLI_SETS_MAX);
		return EXIT_INPUT;
	}
	args.set_count = s->setting_count;
	if (s->setting_count)
		memcpy(args.sets, s->settings, s->setting_count * sizeof(*args.sets));
	status = cli_load(s->file, &args, ret, &f);
	fabric_free(f);
	return status;
}

static const struct variant_spec *find_scale(const struct sweep *s, const struct scenario *base)
{
	const struct sweep_spec *sweep = &base->sweep;
	const char *names[8], *name = s->command->scale;
	char hint[DIAG_HINT];

	for (size_t i = 0; i < sweep->scale_count; i++) {
		names[i] = sweep->scales[i].name;
		if (!strcmp(names[i], name))
			return &sweep->scales[i];
	}
	cli_error("sweep: %s has no scale '%s'%s", s->file, name,
		sweep->scale_count ? diag_hint(hint, name, names, sweep->scale_count, "")
				   : "; sweep.scales lists them, and there are none");
	return NULL;
}

/* The command line has the last word, but not on what the sweep itself varies. */
static int check_given(const struct sweep *s)
{
	const struct cli_args *args = s->command->args;

	for (size_t i = 0; i < args->set_count; i++) {
		for (size_t k = 0; k < s->plan->column_count; k++) {
			const char *key = s->plan->columns[k].parameter->key;

			if (!sweep_sets_key(args->sets[i], key))
				continue;
			cli_error(
				"sweep: --set %s would undo the sweep's grid; set sweep.grid.%zu.values instead",
				args->sets[i], k);
			return EXIT_INPUT;
		}
		if (s->scenario->sweep.seeds.count && !strncmp(args->sets[i], "seed=", 5)) {
			cli_error(
				"sweep: --set %s would undo the sweep's seeds; --seeds names others",
				args->sets[i]);
			return EXIT_INPUT;
		}
	}
	return EXIT_WELL;
}

/* What a scale sets stands before what the command line does. */
static int take_scale(struct sweep *s)
{
	const struct variant_spec *scale = NULL;
	struct scenario *base = NULL;
	int status = load_with(s, &base);

	if (status == EXIT_WELL) {
		scale = find_scale(s, base);
		status = scale ? add_settings(
					 s, (const char *const *)scale->set.items, scale->set.count)
			       : EXIT_INPUT;
		s->first_count = s->setting_count;
		s->about = strdup(base->about);
	}
	scenario_free(base);
	return status;
}

static int make_plan(struct sweep *s)
{
	const struct sweep_command *c = s->command;
	struct error why = ERROR_INIT;
	int status = c->scale ? take_scale(s) : EXIT_WELL;

	if (status == EXIT_WELL)
		status = add_settings(s, c->args->sets, c->args->set_count);
	if (status == EXIT_WELL && c->seeds)
		status = add_settings(s, (const char *const *)&c->seeds, 1);
	if (status == EXIT_WELL)
		status = load_with(s, &s->scenario);
	if (status != EXIT_WELL)
		return status;
	if (sweep_plan_new(&s->plan, s->scenario, &why) < 0) {
		cli_error("sweep: %s: %s", s->file, why.text);
		return EXIT_INPUT;
	}
	return check_given(s);
}

/* ---- one sweep ---- */

static int list_runs(const struct sweep *s, const struct sweep_work *w)
{
	char text[SWEEP_RUN_TEXT];

	for (size_t i = 0; i < s->plan->count; i++)
		printf("%s  %s  %s\n", s->plan->runs[i].id, s->table.summaries[i] ? "done" : "-   ",
			sweep_run_text(s->plan, &s->plan->runs[i], text));
	printf("%zu runs of %s, %zu done\n", s->plan->count, s->scenario->name, w->done_before);
	return EXIT_WELL;
}

static int conclude(const struct sweep *s, const struct sweep_work *w)
{
	const struct sweep_command *c = s->command;
	const struct sweep_outcome outcome = {
		.table = &s->table,
		.folder = s->folder,
		.about = s->about && !c->args->set_count ? s->about : s->scenario->about,
		.scale = c->scale,
		.metric = c->metric,
		.best = c->best,
		.plot = c->plot,
		.json = c->json,
		.quiet = c->quiet,
		.done_before = w->done_before,
		.failed = w->failed,
		.missed = w->missed,
	};

	return sweep_conclude(&outcome);
}

static int do_sweep(struct sweep *s)
{
	const struct sweep_command *c = s->command;
	struct sweep_work w = {
		.file = s->file,
		.folder = s->folder,
		.first = (const char *const *)s->settings,
		.first_count = s->first_count,
		.given = (const char *const *)s->settings + s->first_count,
		.given_count = s->setting_count - s->first_count,
		.kernel = c->kernel,
		.quiet = c->quiet,
		.jobs = c->jobs,
		.plan = s->plan,
		.table = &s->table,
		.errors = c->args->errors,
		.ranks = c->ranks,
	};
	int status;

	if (sweep_table_init(&s->table, s->plan) < 0) {
		cli_error("out of memory");
		return EXIT_RUN;
	}
	status = c->list ? EXIT_WELL : sweep_folder_claim(s->folder, &s->lock);
	if (status == EXIT_WELL)
		status = sweep_prepare(&w);
	if (c->list)
		return status == EXIT_WELL ? list_runs(s, &w) : status;
	if (status == EXIT_WELL)
		status = sweep_do(&w);
	return status == EXIT_WELL ? conclude(s, &w) : status;
}

/* Of several scenarios each has a folder called as its file: two names may be the same. */
static char *folder_of(const struct sweep *s, const char *in)
{
	const struct sweep_command *c = s->command;
	const char *slash = strrchr(s->file, '/'), *file = slash ? slash + 1 : s->file;
	const char *name = in ? file : s->scenario->name;
	int length = (int)(in ? strrchr(file, '.') - file : (ptrdiff_t)strlen(name));
	char *folder = NULL;

	if (c->output && !in)
		return strdup(c->output);
	return asprintf(&folder, "%s/%.*s%s%s", in ? in : "sweeps", length, name,
		       c->scale ? "-" : "", c->scale ? c->scale : "") < 0
		       ? NULL
		       : folder;
}

/* in: the folder that gets one of several scenarios; NULL: it is the only one. */
static int sweep_file(const struct sweep_command *c, const char *file, const char *in)
{
	struct sweep s = {.command = c, .file = file, .lock = -1};
	int status;

	stop_catch_two(0);
	status = make_plan(&s);
	if (status == EXIT_WELL) {
		s.folder = folder_of(&s, in);
		status = s.folder ? do_sweep(&s) : EXIT_RUN;
	}
	if (s.lock >= 0)
		close(s.lock);
	sweep_table_release(&s.table);
	sweep_plan_free(s.plan);
	scenario_free(s.scenario);
	for (size_t i = 0; i < s.setting_count; i++)
		free(s.settings[i]);
	free(s.settings);
	free(s.about);
	free(s.folder);
	return status;
}

/* ---- the command ---- */

static int is_scenario(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

/* Each scenario in a folder, in the order of their names. */
static int sweep_folder(const struct sweep_command *c, const char *folder)
{
	char *real = realpath(folder, NULL), *in = NULL;
	struct dirent **files = NULL;
	int count = scandir(folder, &files, is_scenario, alphasort), status = EXIT_WELL;

	if (count <= 0) {
		cli_error("sweep: %s: %s", folder,
			count ? strerror(errno) : "no scenario files (*.yaml) in there");
		free(files);
		free(real);
		return EXIT_INPUT;
	}
	if (c->output)
		in = strdup(c->output);
	else if (!real || asprintf(&in, "sweeps%s", strrchr(real, '/')) < 0)
		in = NULL;
	for (int i = 0; i < count; i++) {
		char *file;

		if (in && !stop_asked && asprintf(&file, "%s/%s", folder, files[i]->d_name) >= 0) {
			status = exit_worse(status, sweep_file(c, file, in));
			free(file);
		}
		free(files[i]);
	}
	free(files);
	free(real);
	free(in);
	return status;
}

static int take_jobs(struct sweep_command *c, const char *text)
{
	char *end;
	unsigned long jobs = text ? strtoul(text, &end, 10) : parallel_cores();

	if (text && (*end || !*text || strspn(text, "0123456789") != strlen(text) || !jobs ||
			    jobs > 4096)) {
		cli_error("sweep: --jobs %s is not a number from 1 to 4096", text);
		return EXIT_INPUT;
	}
	c->jobs = jobs;
	return EXIT_WELL;
}

/* "1,5,7" is what a shell passes on most easily. */
static int take_seeds(struct sweep_command *c, const char *text)
{
	if (text && asprintf(&c->seeds, strchr(text, ',') ? "sweep.seeds=[%s]" : "sweep.seeds=%s",
			    text) < 0) {
		c->seeds = NULL;
		cli_error("out of memory");
		return EXIT_RUN;
	}
	return EXIT_WELL;
}

static int take_options(struct sweep_command *c)
{
	const struct command *command = c->c;
	const struct cli_args *args = c->args;
	int status = take_jobs(c, cli_value(command, args, "jobs"));

	c->output = cli_value(command, args, "output");
	c->scale = cli_value(command, args, "scale");
	c->metric = cli_value(command, args, "metric");
	c->best = cli_value(command, args, "best");
	c->plot = cli_value(command, args, "plot");
	c->list = cli_value(command, args, "list") != NULL;
	c->json = cli_value(command, args, "json") != NULL;
	c->quiet = c->json || cli_value(command, args, "quiet") != NULL;
	if (status == EXIT_WELL && cli_value(command, args, "dataplane"))
		status = machine_dataplane(command, args, &c->kernel);
	return status == EXIT_WELL ? take_seeds(c, cli_value(command, args, "seeds")) : status;
}

/* What would else be found out when all runs are done. */
static int check_options(const struct sweep_command *c)
{
	struct error why = ERROR_INIT;
	const char *option = NULL;
	bool largest;

	if (c->metric && metric_check(c->metric, &why) < 0)
		option = "metric";
	else if (c->best && metric_check(sweep_best(c->best, &largest), &why) < 0)
		option = "best";
	else if (c->plot && plot_check(c->plot, &why) < 0)
		option = "plot";
	if (option)
		cli_error("sweep: --%s: %s", option, why.text);
	return option ? EXIT_INPUT : EXIT_WELL;
}

static int sweep_path(const struct sweep_command *c, const char *path)
{
	int status = check_options(c);
	struct stat st;

	if (status != EXIT_WELL)
		return status;
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return sweep_file(c, path, NULL);
	if (!c->plot)
		return sweep_folder(c, path);
	cli_error("sweep: --plot is one picture, and %s a folder; name one of its scenarios", path);
	return EXIT_INPUT;
}

/* One of the processes of mpirun: the first one sweeps, and the others do its runs. */
static int run_rank(struct sweep_command *c)
{
	int status = EXIT_WELL, r;

	if (cli_value(c->c, c->args, "jobs") && ranks_rank(c->ranks) == 0)
		cli_error(
			"sweep: --jobs is of no use with mpirun, which does a run on each process but the first");
	if (ranks_rank(c->ranks) > 0) {
		r = sweep_serve(c->ranks);
	} else {
		status = sweep_path(c, c->args->positional[0]);
		r = handout_end(c->ranks);
	}
	ranks_close(c->ranks);
	if (r < 0)
		cli_error("sweep: MPI failed: %s", strerror(-r));
	return r < 0 ? EXIT_RUN : status;
}

static int run_sweep(const struct command *command, const struct cli_args *args)
{
	struct sweep_command c = {.c = command, .args = args};
	struct error why = ERROR_INIT;
	int status = take_options(&c);

	if (status == EXIT_WELL && ranks_open(&c.ranks, &why) < 0) {
		const char *rank = getenv("OMPI_COMM_WORLD_RANK");

		/* once, and not by each process */
		if (!rank || !strcmp(rank, "0"))
			cli_error("sweep: %s", why.text);
		status = EXIT_MACHINE;
	}
	if (status == EXIT_WELL) {
		stop_catch_two(0);
		status = c.ranks ? run_rank(&c) : sweep_path(&c, args->positional[0]);
	}
	free(c.seeds);
	return status;
}

const struct command cmd_sweep = {
	.name = "sweep",
	.operands = "FILE|DIR",
	.summary = "run a scenario many times: parameters, variants and seeds",
	.details =
		"Runs each combination of the values in the scenario's `sweep`, its variants in `compare`, and its\n"
		"seeds, several at a time, each as `fabricbed run` in a process of its own. Runs that are done are\n"
		"not done again: an interrupted sweep goes on with the same command. Writes sweep.csv and\n"
		"sweep.sqlite, a row a run, and sweep.json: means with their 95% confidence intervals, and what the\n"
		"sweep's `expect` came to. A folder stands for all scenarios in it, each with a folder of its own.\n"
		"Exit status 1 means that an expectation failed, 4 that a run failed or Ctrl-C ended the sweep.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_sweep,
};
