/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sweep_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/fnv.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/series.h"
#include "cli/provenance.h"
#include "cli/stop.h"
#include "cli/sweep_ranks.h"
#include "io/clock.h"
#include "scenario/identity.h"
#include "scenario/scenario.h"
#include "session/expect.h"
#include "sweep/jobs.h"
#include "topology/fabric.h"

/* One run is none of several. */
static const char *const alone[] = {"compare=[]", "sweep=off"};

/* All that a run sets; NULL-terminated. NULL after a message. */
static char **settings_of(const struct sweep_work *w, const struct sweep_run *run)
{
	char **own = sweep_run_settings(w->plan, run, w->given, w->given_count);
	size_t own_count = 0, count = 0;
	char **all;

	while (own && own[own_count])
		own_count++;
	all = own ? calloc(w->first_count + own_count + COUNT(alone) + 1, sizeof(*all)) : NULL;
	if (!all) {
		sweep_settings_free(own);
		cli_error("out of memory");
		return NULL;
	}
	for (size_t i = 0; i < w->first_count; i++)
		all[count++] = strdup(w->first[i]);
	for (size_t i = 0; i < own_count; i++)
		all[count++] = own[i];
	for (size_t i = 0; i < COUNT(alone); i++)
		all[count++] = strdup(alone[i]);
	free(own);
	return all;
}

char *sweep_run_folder(const struct sweep_work *w, size_t number)
{
	char *path;

	return asprintf(&path, "%s/runs/%s", w->folder, w->plan->runs[number].id) < 0 ? NULL : path;
}

/* The summary of a run that is done; NULL: it is not. */
static json_t *read_summary(const struct sweep_work *w, size_t number)
{
	char *folder = sweep_run_folder(w, number), *path = NULL;
	json_t *summary = NULL;

	if (folder && asprintf(&path, "%s/summary.json", folder) >= 0)
		summary = json_load_file(path, 0, NULL);
	if (!json_is_object(summary) || json_is_true(json_object_get(summary, "interrupted"))) {
		json_decref(summary);
		summary = NULL;
	}
	free(path);
	free(folder);
	return summary;
}

/* Whether all that is expected of a run holds, as its summary says. */
static bool is_met(const json_t *summary)
{
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(summary, "expect"), i, e)
	{
		if (!json_is_true(json_object_get(e, "ok")))
			return false;
	}
	return true;
}

/* ---- before the first one ---- */

/* Another seed changes nothing that is checked: the fabric is made for one seed of each point. */
static int load_run(const struct sweep_work *w, size_t number, const struct cli_args *args,
	struct scenario **ret)
{
	struct diags diags = DIAGS_INIT;
	struct fabric *f = NULL;
	int status;

	if (number % w->plan->seeds == 0) {
		status = cli_load(w->file, args, ret, &f);
		fabric_free(f);
		return status;
	}
	status = scenario_load(ret, w->file, args->sets, args->set_count, &diags) < 0 ? EXIT_INPUT
										      : EXIT_WELL;
	if (status != EXIT_WELL)
		cli_error("%s: %s", w->file, diags.count ? diags.items[0].text : "out of memory");
	diags_release(&diags);
	return status;
}

/* The same scenario by another program may be another run. */
static void name_run(struct sweep_run *run, uint64_t identity)
{
	const char *commit = provenance_commit();
	char text[128];
	int length = snprintf(text, sizeof(text), "%016llx %s %s", (unsigned long long)identity,
		FABRICBED_VERSION, commit ? commit : "");

	snprintf(run->id, sizeof(run->id), "%016llx",
		(unsigned long long)fnv_hash(text, (size_t)length));
}

/* What the scenario expects of a run may have changed since that was done. NULL: it is not done. */
static bool meets(const struct scenario *s, json_t *summary)
{
	bool met = true;

	return !summary || (expect_check(s, summary, &met) == 0 && met);
}

/* What a run must have for its file of that name; NULL: it is there. */
static const char *lacks_for(const struct scenario *s, const char *table)
{
	static const struct {
		const char *table, *needs;
	} series[] = {
#define X(symbol, key, file) [symbol] = {#file, "telemetry: {" #key ": 10us}"},
		SERIES(X)
#undef X
	};

	for (size_t k = 0; k < COUNT(series); k++)
		if (!strcmp(table, series[k].table))
			return s->series[k].every_ps ? NULL : series[k].needs;
	return strcmp(table, "pauses") || s->sw.pfc.on ? NULL : "switch: {pfc: on}";
}

static int check_tables(const struct sweep_work *w, const struct scenario *s)
{
	const struct sweep_spec *sweep = &w->plan->base->sweep;

	for (size_t i = 0; i < sweep->table_count; i++) {
		const char *needs = lacks_for(s, sweep->tables[i]);

		if (!needs)
			continue;
		cli_error(
			"%s: sweep.tables has %s, which a run writes only with %s; add that, or leave the table out",
			w->file, sweep->tables[i], needs);
		return EXIT_INPUT;
	}
	return EXIT_WELL;
}

static int prepare_run(struct sweep_work *w, size_t number)
{
	struct sweep_run *run = &w->plan->runs[number];
	struct cli_args args = {.errors = w->errors};
	char **settings = settings_of(w, run), text[SWEEP_RUN_TEXT];
	struct error why = ERROR_INIT;
	struct scenario *s = NULL;
	uint64_t identity = 0;
	int status = settings ? EXIT_WELL : EXIT_RUN;

	for (; settings && settings[args.set_count]; args.set_count++) {
		if (args.set_count == CLI_SETS_MAX) {
			cli_error("%s: a run of the sweep has more than %d settings", w->file,
				CLI_SETS_MAX);
			status = EXIT_INPUT;
			break;
		}
		args.sets[args.set_count] = settings[args.set_count];
	}
	if (status == EXIT_WELL)
		status = load_run(w, number, &args, &s);
	if (status == EXIT_WELL && number % w->plan->seeds == 0)
		status = check_tables(w, s);
	if (status == EXIT_INPUT && !w->errors)
		cli_error("that is the run %s", sweep_run_text(w->plan, run, text));
	if (status == EXIT_WELL && scenario_identity(s, &identity, &why) < 0) {
		cli_error("%s", why.text);
		status = EXIT_RUN;
	}
	if (status == EXIT_WELL) {
		run->seed = s->seed;
		name_run(run, identity);
		w->table->summaries[number] = read_summary(w, number);
		w->done_before += w->table->summaries[number] != NULL;
		w->missed += meets(s, w->table->summaries[number]) ? 0 : 1;
	}
	scenario_free(s);
	sweep_settings_free(settings);
	return status;
}

static int compare_ids(const void *a, const void *b)
{
	const struct sweep_run *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

/* Two points may come to the same run (2MB and 2048KB): which would then be done twice at once. */
static int check_twins(const struct sweep_plan *p)
{
	const struct sweep_run **sorted = calloc(p->count, sizeof(*sorted));
	char a[SWEEP_RUN_TEXT], b[SWEEP_RUN_TEXT];
	int status = sorted ? EXIT_WELL : EXIT_RUN;

	for (size_t i = 0; sorted && i < p->count; i++)
		sorted[i] = &p->runs[i];
	if (sorted)
		qsort(sorted, p->count, sizeof(*sorted), compare_ids);
	for (size_t i = 1; status == EXIT_WELL && i < p->count; i++) {
		if (compare_ids(&sorted[i - 1], &sorted[i]))
			continue;
		cli_error("two runs of the sweep are the same one: %s, and %s; leave one out",
			sweep_run_text(p, sorted[i - 1], a), sweep_run_text(p, sorted[i], b));
		status = EXIT_INPUT;
	}
	free(sorted);
	return status;
}

#define ERRORS_SHOWN 5 /* runs that are wrong, mostly all in the same way */

int sweep_prepare(struct sweep_work *w)
{
	int status = EXIT_WELL, wrong = 0;

	for (size_t i = 0; i < w->plan->count && wrong < ERRORS_SHOWN && !stop_asked; i++) {
		int r = prepare_run(w, i);

		wrong += r != EXIT_WELL;
		status = r != EXIT_WELL ? r : status;
	}
	if (stop_asked) {
		cli_error("interrupted before the first run");
		return EXIT_RUN;
	}
	if (stop_asked) {
		cli_error("interrupted before the first run");
		return EXIT_RUN;
	}
	return status == EXIT_WELL ? check_twins(w->plan) : status;
}

/* ---- while they run ---- */

/* By the runs of the same point that have ended, else by all; one that runs is half done. */
static double time_left(const struct sweep_work *w, size_t running)
{
	const struct sweep_progress *p = &w->progress;
	double left = 0;

	for (size_t i = 0; i < w->plan->count; i++) {
		size_t point = w->plan->runs[i].point;

		double one = p->measured[point] ? p->spent_s[point] / (double)p->measured[point]
						: p->all_s / (double)p->all_measured;

		if (!w->table->summaries[i] && p->states[i] != RUN_ENDED)
			left += p->states[i] == RUN_RUNS ? one / 2 : one;
	}
	return left / (double)(running ? running : 1);
}

#define LOOK_S      0.25 /* between two looks on a terminal */
#define LOOK_RARE_S 10.0 /* and in a log */

void sweep_show_progress(struct sweep_work *w, size_t running)
{
	struct sweep_progress *p = &w->progress;
	bool terminal = isatty(STDERR_FILENO);
	double now = clock_s();

	if (w->quiet || now - p->looked_s < (terminal ? LOOK_S : LOOK_RARE_S))
		return;
	if (!terminal && p->ended == p->told) /* a log need not say it again */
		return;
	p->looked_s = now;
	p->told = p->ended;
	fprintf(stderr, "%s%zu of %zu runs done, %zu running", terminal ? "\r\033[K" : "",
		w->done_before + p->ended - w->failed, w->plan->count, running);
	if (w->failed)
		fprintf(stderr, ", %zu failed", w->failed);
	if (p->all_measured)
		fprintf(stderr, ", about %.0f s left", time_left(w, running));
	if (!terminal)
		fputc('\n', stderr);
}

static void clear_progress(const struct sweep_work *w)
{
	if (!w->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

char **sweep_arguments(const struct sweep_work *w, size_t number)
{
	const char *const first[] = {"fabricbed", "run", w->file, "--quiet", "--dataplane",
		w->kernel ? "kernel" : "inline"};
	char **settings = settings_of(w, &w->plan->runs[number]);
	size_t count = 0, n = 0;
	char **argv;

	while (settings && settings[count])
		count++;
	argv = settings ? calloc(COUNT(first) + 2 * count + 1, sizeof(*argv)) : NULL;
	for (size_t i = 0; argv && i < COUNT(first); i++)
		argv[n++] = strdup(first[i]);
	for (size_t i = 0; argv && i < count; i++) {
		argv[n++] = strdup("--set");
		argv[n++] = strdup(settings[i]);
	}
	sweep_settings_free(settings);
	return argv;
}

static int start_run(struct sweep_work *w, struct jobs *jobs, size_t number)
{
	char **argv = sweep_arguments(w, number), *out = sweep_run_folder(w, number), **all;
	size_t count = 0;
	int r = -ENOMEM;

	while (argv && argv[count])
		count++;
	all = calloc(count + 3, sizeof(*all));
	if (argv && out && all) {
		memcpy(all, argv, count * sizeof(*all));
		all[count] = (char *)"--output";
		all[count + 1] = out;
		r = jobs_start(jobs, number, all);
	}
	free(all);
	free(out);
	sweep_settings_free(argv);
	return r;
}

/* How long a run took that is done. */
static void account(struct sweep_work *w, size_t number)
{
	const json_t *summary = w->table->summaries[number];
	double seconds = look_number(summary, "setup_s") + look_number(summary, "wall_s");
	size_t point = w->plan->runs[number].point;

	w->progress.spent_s[point] += seconds;
	w->progress.measured[point] += summary != NULL;
	w->progress.all_s += seconds;
	w->progress.all_measured += summary != NULL;
}

void sweep_take(struct sweep_work *w, size_t number, bool done, const char *why)
{
	const struct sweep_run *run = &w->plan->runs[number];
	json_t **summary = &w->table->summaries[number];
	char text[SWEEP_RUN_TEXT];

	w->progress.ended++;
	w->progress.states[number] = RUN_ENDED;
	if (done)
		*summary = read_summary(w, number);
	account(w, number);
	w->missed += *summary && !is_met(*summary);
	if (*summary || stop_asked)
		return;
	w->failed++;
	clear_progress(w);
	cli_error("the run %s failed: %s", sweep_run_text(w->plan, run, text), why);
}

static void take_end(struct sweep_work *w, const struct job_end *end)
{
	int status = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : -1;
	char why[sizeof(end->said) + 64];

	job_end_text(end, why, sizeof(why));
	sweep_take(w, end->number, status == EXIT_WELL || status == EXIT_EXPECT, why);
}

/* Those that run come to their end; what they have done so far does not count. */
static void wind_up(struct jobs *jobs)
{
	struct job_end end;

	jobs_stop(jobs);
	while (jobs_wait(jobs, 1, &end) != -ECHILD)
		;
}

static int do_all(struct sweep_work *w, struct jobs *jobs)
{
	struct job_end end;
	size_t next = 0;
	int r = 0;

	while (r == 0 && !stop_asked) {
		while (next < w->plan->count && w->table->summaries[next])
			next++;
		if (next < w->plan->count && !jobs_full(jobs)) {
			r = start_run(w, jobs, next);
			w->progress.states[next++] = RUN_RUNS;
			continue;
		}
		/* before one ends: as many run as can */
		sweep_show_progress(w, jobs_running(jobs));
		r = jobs_wait(jobs, LOOK_S, &end);
		if (r == 0)
			take_end(w, &end);
		else if (r == -EAGAIN)
			r = 0;
	}
	return r == -ECHILD ? 0 : r;
}

static int do_jobs(struct sweep_work *w)
{
	struct jobs *jobs = NULL;
	int r = jobs_new(&jobs, w->jobs);

	if (r < 0)
		return r;
	r = do_all(w, jobs);
	wind_up(jobs);
	jobs_free(jobs);
	return r;
}

int sweep_do(struct sweep_work *w)
{
	struct sweep_progress *p = &w->progress;
	int r = -ENOMEM;

	p->looked_s = clock_s();
	p->states = calloc(w->plan->count, sizeof(*p->states));
	p->spent_s = calloc(w->plan->points, sizeof(*p->spent_s));
	p->measured = calloc(w->plan->points, sizeof(*p->measured));
	for (size_t i = 0; p->states && p->spent_s && p->measured && i < w->plan->count; i++)
		account(w, i);
	if (p->states && p->spent_s && p->measured)
		r = w->ranks ? sweep_hand_out(w) : do_jobs(w);
	clear_progress(w);
	if (stop_asked)
		cli_error(
			"interrupted: %zu of %zu runs are done; the same command goes on from there",
			w->done_before + p->ended - w->failed, w->plan->count);
	else if (r < 0)
		cli_error("the runs can't go on: %s; the same command tries again", strerror(-r));
	free(p->measured);
	free(p->spent_s);
	free(p->states);
	return r < 0 || stop_asked ? EXIT_RUN : EXIT_WELL;
}
