/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/units.h"
#include "cli/cli.h"
#include "cli/compare.h"
#include "cli/junit.h"
#include "cli/machine.h"
#include "cli/provenance.h"
#include "cli/results.h"
#include "cli/stop.h"
#include "cli/term.h"
#include "io/clock.h"
#include "session/measure.h"
#include "session/wallclock.h"
#include "session/session.h"
#include "base/json.h"
#include "report/number.h"
#include "scenario/scenario.h"
#include "telemetry/summary.h"
#include "topology/fabric.h"

static const struct cli_option options[] = {
	{"dataplane", 'd', "kernel|inline",
		"frames through XDP (root's default), or the program as a function (others')"},
	{"seed", 0, "N", "another seed than the scenario's"},
	{"set", 's', "KEY=VALUE", "override a key of the scenario; may be given several times"},
	{"output", 'o', "DIR", "results go there (default: runs/NAME-N)"},
	{"capture", 'c', "FILE", "write all frames that ports send to FILE, for Wireshark"},
	{"junit", 0, "FILE", "write what became of the run and its expectations as JUnit XML"},
	{"json", 'j', NULL, "print the summary as JSON"},
	{"quiet", 'q', NULL, "print nothing but errors"},
	{0},
};

/* A line that is rewritten in place: model time, flows, speed, time left. */
static void show_progress(const struct session *s, double spent_s)
{
	const struct engine *e = session_engine(s);
	struct engine_stats stats;
	double done = session_progress(s);
	char time[NUMBER_TEXT];

	engine_stats(e, &stats);
	fprintf(stderr, "\r\033[K%3.0f%%  %s  %llu of %llu flows  %.2f million hops/s", 100 * done,
		number_time(time, (double)engine_now(e) / PS_PER_US),
		(unsigned long long)stats.flows_done, (unsigned long long)stats.flows,
		(double)stats.hops / spent_s / 1e6);
	if (done > 0.02)
		fprintf(stderr, "  about %.0f s left", spent_s / done * (1 - done));
}

#define SLICE_S     0.1 /* between two looks at the clock */
#define FIRST_SLICE PS_PER_US

/* Reports a failed write when it shows; the run goes on, and its end says what is missing. */
static void look_at_disk(struct session *s, bool *reported)
{
	struct error why = ERROR_INIT;

	if (*reported || session_flush(s, &why) == 0)
		return;
	*reported = true;
	cli_error("%s; the run goes on", why.text);
}

/* A slice of model time that takes about SLICE_S. */
static int run_slice(struct session *s, uint64_t *slice, struct error *why)
{
	double start = clock_s(), took;
	int r = session_advance(s, engine_now(session_engine(s)) + *slice, &stop_asked, why);

	took = clock_s() - start;
	if (took < SLICE_S / 2)
		*slice *= 2;
	else if (took > SLICE_S * 2 && *slice > 1)
		*slice /= 2;
	return r;
}

/* As the clock on the wall has it. */
static int run_turn(struct session *s, struct wallclock *wallclock, struct error *why)
{
	int64_t idle = wallclock_idle_ns(wallclock, session_end(s));
	struct timespec t = {.tv_sec = idle / CLOCK_NS_PER_S, .tv_nsec = idle % CLOCK_NS_PER_S};

	if (idle > 0)
		nanosleep(&t, NULL);
	return wallclock_turn(wallclock, session_end(s), &stop_asked, why);
}

/* Runs to the end; wallclock NULL: stepped. */
static int run_to_end(struct session *s, struct wallclock *wallclock, bool progress,
	double *ret_wall_s, struct error *why)
{
	double start = clock_s(), looked = start;
	uint64_t slice = FIRST_SLICE;
	bool reported = false;
	int r = 0;

	if (wallclock)
		wallclock_go(wallclock);
	while (r == 0 && !stop_asked && !session_done(s)) {
		r = wallclock ? run_turn(s, wallclock, why) : run_slice(s, &slice, why);
		if (clock_s() - looked <= SLICE_S)
			continue;
		looked = clock_s();
		look_at_disk(s, &reported);
		if (progress)
			show_progress(s, looked - start);
	}
	*ret_wall_s = clock_s() - start;
	if (progress)
		fputs("\r\033[K", stderr);
	return r;
}

struct run {
	const struct cli_args *args;
	struct scenario *scenario;
	struct fabric *fabric;
	struct folder *folder;
	const char *capture;
	bool kernel, json, quiet;
	const char *seed;            /* as --seed has it; NULL: not given */
	const char *variant;         /* its name, if it is one of several */
	json_t *summary;             /* of the run, for who compares; NULL: it gave none */
	struct wallclock *wallclock; /* of the run that is under way, on the wall clock */
	struct junit *junit;         /* NULL: not asked for */
	struct error error;          /* its first error, as far as it is known here */
};

/* Says what went wrong; the first such word is kept. */
__attribute__((format(printf, 2, 3))) static void fail(struct run *run, const char *format, ...)
{
	struct error why;
	va_list ap;

	va_start(ap, format);
	vsnprintf(why.text, sizeof(why.text), format, ap);
	va_end(ap);
	cli_error("%s", why.text);
	if (!*run->error.text)
		run->error = why;
}

static int report(struct run *run, struct session *s, const struct session_times *times, int failed)
{
	struct error why = ERROR_INIT;
	bool met = false;
	json_t *summary = session_summary(s, times, &met, &why);
	int r;

	if (!summary) {
		fail(run, "%s", why.text);
		return EXIT_RUN;
	}
	if (stop_asked)
		json_object_set_new(summary, "interrupted", json_true());
	r = session_write(s, summary, NULL, &why);
	if (r == 0)
		r = session_lost(s, &why);
	if (r < 0)
		fail(run, "%s", why.text);
	if (run->json && !run->variant)
		print_json(summary, stdout);
	else if (!run->json && !run->quiet)
		results_print(summary, run->scenario, folder_path(run->folder));
	if (look_number(summary, "packets.corrupt")) {
		fail(run, "%.0f packets arrived with other bytes than were sent",
			look_number(summary, "packets.corrupt"));
		r = -EIO;
	}
	if (stop_asked)
		fail(run, "interrupted at %.1f us of model time; these are the results so far",
			(double)engine_now(session_engine(s)) / PS_PER_US);
	run->summary = summary;
	if (r < 0 || failed < 0 || stop_asked)
		return EXIT_RUN;
	return met ? EXIT_WELL : EXIT_EXPECT;
}

static bool explain_machine(const struct fabric *f)
{
	return machine_lacks(
		f, "'run --dataplane inline' needs none of it and gives the same results");
}

static int run_clocked(
	struct run *run, struct session *s, struct session_times *times, struct error *why)
{
	bool progress = !run->quiet && !run->json && isatty(STDERR_FILENO);
	struct clock_spec *clock = &run->scenario->clock;
	int r;

	if (clock->wall && clock->slowdown == 0)
		clock->slowdown = measure_slowdown(s, run->fabric);
	if (clock->wall && wallclock_new(&run->wallclock, s, run->fabric, clock->slowdown) < 0)
		return error_set(why, -ENOMEM, "out of memory for the clock");
	r = run_to_end(s, run->wallclock, progress, &times->run, why);
	if (run->wallclock)
		times->fidelity = wallclock_fidelity(run->wallclock);
	return r;
}

static int status_of_failure(int r)
{
	if (r == -ENOEXEC)
		return EXIT_INPUT;
	return r == -ENOMEM || r == -ENOPKG ? EXIT_MACHINE : EXIT_RUN;
}

static int run_session(struct run *run)
{
	struct provenance provenance;
	struct session_params p = {
		.provenance = &provenance,
		.scenario = run->scenario,
		.fabric = run->fabric,
		.kernel = run->kernel,
		.folder = run->folder,
		.capture = run->capture,
		.stop = &stop_asked,
		.wait = &stop_wait,
	};
	struct error why = ERROR_INIT;
	int r = provenance_now(&provenance, run->args, run->scenario, &why), status;
	struct session_times times = {0};
	double start = clock_s();
	struct session *s;

	if (r == 0)
		r = session_open(&s, &p, &why);
	if (r < 0) {
		if (run->kernel && r != -EINTR && explain_machine(run->fabric))
			return EXIT_MACHINE;
		fail(run, "%s", why.text);
		return status_of_failure(r);
	}
	times.setup = clock_s() - start;
	r = run_clocked(run, s, &times, &why);
	if (r < 0)
		fail(run, "%s", why.text);
	status = report(run, s, &times, r);
	wallclock_free(run->wallclock);
	run->wallclock = NULL;
	session_close(s);
	return status;
}

static int parse_options(const struct command *c, struct cli_args *args, struct run *run)
{
	static char seed[CLI_SEED_SET];
	int status = machine_dataplane(c, args, &run->kernel);

	run->seed = cli_value(c, args, "seed");
	run->capture = cli_value(c, args, "capture");
	run->json = cli_value(c, args, "json") != NULL;
	run->quiet = cli_value(c, args, "quiet") != NULL;
	return status != EXIT_WELL ? status : cli_take_seed(c, args, seed);
}

/* root is believed until something fails: the probes take as long as a small fabric */
static bool may_run(const struct run *run)
{
	return !run->kernel || geteuid() == 0 || !explain_machine(run->fabric);
}

static int run_once(struct run *run, const char *out)
{
	const struct results_place place = {
		.out = out,
		.name = run->scenario->name,
		.input = run->scenario->path,
	};
	int status;

	if (!may_run(run))
		return EXIT_MACHINE;
	machine_note_memory(run->scenario, run->fabric, run->kernel, false);
	if (results_claim(&run->folder, &place) < 0)
		return EXIT_INPUT;
	status = run_session(run);
	results_close(run->folder, out);
	run->folder = NULL;
	return status;
}

/* Why a run ended with that status; NULL: no obstacle. Sums up messages, and repeats none. */
static const char *obstacle(const struct run *run, int status)
{
	if (status == EXIT_WELL || status == EXIT_EXPECT)
		return NULL;
	if (*run->error.text)
		return run->error.text;
	if (status == EXIT_MACHINE)
		return "the kernel dataplane can't run here: 'fabricbed doctor' tells why";
	return "nothing was run: standard error tells why";
}

static void add_to_junit(const struct run *run, const char *scenario, int status, double wall_s)
{
	struct junit_run entry = {
		.summary = run->summary,
		.error = obstacle(run, status),
		.wall_s = wall_s,
	};
	char *name = NULL;

	if (!run->junit)
		return;
	if (asprintf(&name, "%s%s%s", scenario, run->variant ? "." : "",
		    run->variant ? run->variant : "") < 0)
		return;
	entry.name = name;
	junit_add(run->junit, &entry);
	free(name);
}

static int run_one(struct run *run, const char *out)
{
	double start = clock_s();
	int status = run_once(run, out);

	add_to_junit(run, run->scenario->name, status, clock_s() - start);
	return status;
}

static void run_release(struct run *run)
{
	json_decref(run->summary);
	fabric_free(run->fabric);
	scenario_free(run->scenario);
}

static int run_variant(const struct run *base, const struct cli_args *args,
	const struct variant_spec *v, struct folder *folder, json_t *summaries)
{
	struct run run = *base;
	char *out = NULL;
	int status;

	run.variant = v->name;
	run.scenario = NULL;
	run.fabric = NULL;
	status = cli_load_variant(args, v, &run.scenario, &run.fabric);
	if (status == EXIT_WELL && (asprintf(&out, "%s/%s", folder_path(folder), v->name) < 0 ||
					   folder_note_variant(folder, v->name) < 0)) {
		cli_error("can't write results in %s", folder_path(folder));
		status = EXIT_RUN;
	}
	if (status == EXIT_WELL && !run.json && !run.quiet)
		printf("%s (%s)\n", base->scenario->name, v->name);
	if (status == EXIT_WELL)
		status = run_one(&run, out);
	if (run.summary)
		json_object_set(summaries, v->name, run.summary);
	free(out);
	run_release(&run);
	return status;
}

/* Mistakes of any variant are named before the first one runs. */
static int check_variant(const struct cli_args *args, const struct variant_spec *v)
{
	struct scenario *s;
	struct fabric *f;
	int status = cli_load_variant(args, v, &s, &f);

	if (status != EXIT_WELL)
		return status;
	fabric_free(f);
	scenario_free(s);
	return EXIT_WELL;
}

/* Each variant in turn, and then all of them side by side. */
static int run_variants(const struct run *run, const struct cli_args *args, struct folder *folder)
{
	const struct scenario *s = run->scenario;
	json_t *summaries = json_object();
	int status = EXIT_WELL;

	for (size_t i = 0; i < s->variant_count && !stop_asked; i++) {
		int r = run_variant(run, args, &s->variants[i], folder, summaries);

		if (r > status)
			status = r;
	}
	if (stop_asked)
		status = EXIT_RUN;
	if (json_object_size(summaries) && compare_write(folder, summaries) < 0)
		status = EXIT_RUN;
	if (run->json)
		print_json(summaries, stdout);
	else if (!run->quiet)
		compare_print(s->name, summaries, term_width());
	json_decref(summaries);
	return status;
}

static int run_compared(const struct run *run, const struct cli_args *args, const char *out)
{
	const struct scenario *s = run->scenario;
	const struct results_place place = {
		.out = out, .name = s->name, .input = s->path, .compares = true};
	struct error why = ERROR_INIT;
	struct folder *folder = NULL;
	int status = EXIT_WELL;

	for (size_t i = 0; i < s->variant_count; i++)
		status |= check_variant(args, &s->variants[i]);
	if (status != EXIT_WELL || !may_run(run))
		return status != EXIT_WELL ? EXIT_INPUT : EXIT_MACHINE;
	if (results_claim(&folder, &place) < 0)
		return EXIT_INPUT;
	if (folder_begin(folder, &why) < 0) {
		cli_error("%s", why.text);
		status = EXIT_RUN;
	} else {
		status = run_variants(run, args, folder);
	}
	results_close(folder, out);
	return status;
}

/* The command line has the last word, and one seed for all would undo what the variants are for. */
static int check_seed(const struct scenario *s, const char *seed)
{
	for (size_t i = 0; seed && i < s->variant_count; i++) {
		for (size_t j = 0; j < s->variants[i].set.count; j++) {
			if (strncmp(s->variants[i].set.items[j], "seed=", 5))
				continue;
			cli_error(
				"run: variant %s of %s has a seed of its own, which --seed would take the place of; "
				"if that is meant: --set seed=%s",
				s->variants[i].name, s->name, seed);
			return EXIT_INPUT;
		}
	}
	return EXIT_WELL;
}

/* The variant's own value of a key that a --set gives another; NULL: there is none. */
static const char *replaced_by(const char *set, const struct variant_spec *v)
{
	size_t key = strcspn(set, "=") + 1;

	for (size_t i = 0; i < v->set.count; i++)
		if (!strncmp(v->set.items[i], set, key) && strcmp(v->set.items[i], set))
			return v->set.items[i];
	return NULL;
}

/* --set may make the same for all what variants differ in. That may be meant, and so is said. */
static void note_overrides(const struct scenario *s, const struct cli_args *args)
{
	for (size_t i = 0; i < args->set_count; i++) {
		const char *own = NULL;

		for (size_t j = 0; !own && j < s->variant_count; j++) {
			own = replaced_by(args->sets[i], &s->variants[j]);
			if (own)
				cli_error("note: --set %s takes the place of %s of variant %s",
					args->sets[i], own, s->variants[j].name);
		}
	}
}

static int run_file(struct run *run, const struct cli_args *args, const char *out)
{
	int status = cli_load(args->positional[0], args, &run->scenario, &run->fabric);

	if (status != EXIT_WELL)
		return status;
	status = check_seed(run->scenario, run->seed);
	if (status != EXIT_WELL)
		return status;
	if (!run->quiet)
		note_overrides(run->scenario, args);
	if (run->scenario->variant_count && run->capture) {
		cli_error("run: --capture is for one run, and %s compares several",
			run->scenario->name);
		return EXIT_INPUT;
	}
	if (run->scenario->sweep.on && !run->quiet)
		cli_error(
			"note: %s has a sweep, which this is one run of; 'fabricbed sweep %s' does all",
			run->scenario->name, args->positional[0]);
	/* before anything exists that would stay; the first signal ends it cleanly */
	stop_catch_two(SA_RESTART);
	return run->scenario->variant_count ? run_compared(run, args, out) : run_one(run, out);
}

static int run_run(const struct command *c, const struct cli_args *given)
{
	const char *out = cli_value(c, given, "output"), *junit = cli_value(c, given, "junit");
	struct cli_args args = *given;
	struct run run = {.args = given};
	int status = parse_options(c, &args, &run);

	if (status != EXIT_WELL)
		return status;
	if (junit && junit_open(&run.junit, junit) < 0)
		return EXIT_INPUT;
	machine_note_dataplane(c, &args, run.kernel);
	status = run_file(&run, &args, out);
	if (run.junit && junit_empty(run.junit))
		add_to_junit(&run, args.positional[0], status, 0);
	if (junit_close(run.junit) < 0)
		status = EXIT_RUN;
	run_release(&run);
	return status;
}

const struct command cmd_run = {
	.name = "run",
	.operands = "FILE",
	.summary = "bring up, run to the end, write the results, take down",
	.details =
		"Builds the scenario's fabric, runs its workload and its faults on its clock, stepped or the wall's, and\n"
		"writes summary.json, flows.csv, ports.csv, events.jsonl, scenario.yaml and what `telemetry` asks for.\n"
		"A scenario with `compare` is run once for each of its variants, each with a folder of its\n"
		"own, and compare.json and a table set them side by side.\n"
		"--junit FILE has a test suite for each run, for a CI system to show.\n"
		"Exit status 1 means that an expectation of the scenario failed. Ctrl-C ends a run cleanly:\n"
		"the results so far are written.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_run,
};
