/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>
#include "bringup/bringup.h"
#include "bringup/process.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/fabrics.h"
#include "cli/stop.h"
#include "cli/term.h"
#include "io/clock.h"
#include "report/fidelity_text.h"
#include "base/json.h"
#include "daemon/programs.h"
#include "daemon/stale.h"

static const struct cli_option options[] = {
	{"all", 'a', NULL, "take down all live fabrics"},
	{"output", 'o', "DIR", "write the results there instead of where 'up' said"},
	{"discard", 0, NULL, "write no results"},
	{"expect", 'e', NULL, "exit status 1 if an expectation fails, on the stepped clock too"},
	{"json", 'j', NULL, "print what came of it as JSON, with the summary"},
	{"quiet", 'q', NULL, "print nothing but errors"},
	{0},
};

#define PATIENCE_MS                                                                                \
	30000         /* for results to be written; and again for a large fabric to be taken down */
#define MERCY_MS 2000 /* for one that did not answer */
#define LOOK_MS  10   /* between two looks at a process that has no descriptor here */

/* Options: what of the results, and in which format. */
struct wish {
	char *directory; /* from the root; NULL: as `up` said */
	bool discard;
	bool json, quiet;
	bool judge; /* what was stepped by hand too */
};

struct down {
	const struct wish *wish;
	struct registry_info info; /* as it was before */
	json_t *summary;           /* NULL: there is none */
	json_t *directory; /* where the results are: a string or null; NULL: as it was before */
	unsigned programs; /* that were ended */
	bool crashed;      /* it was dead already */
	bool killed;       /* it did not end by itself */
	bool died;         /* it died while it was ending */
	bool stays;        /* its results can't be written */
	bool incomplete;   /* some of the results are lost */
};

/* ---- the fabric's process ---- */

/* A descriptor of the fabric's process, not of another with its id; -1: gone, or invisible. */
static int open_process(const struct registry_info *info)
{
	int fd = info->pid > 0 ? pidfd_open(info->pid, 0) : -1;

	if (fd >= 0 && process_started(info->pid) != info->started) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Of the same process as info: another fabric may have come up under the name since. */
static bool still_lives(const struct registry_info *info, enum registry_phase *ret_phase)
{
	struct registry_info now;
	bool same;

	if (registry_read(&now, info->name) < 0)
		return false;
	same = now.alive && now.since_s == info->since_s;
	*ret_phase = now.phase;
	registry_release(&now);
	return same;
}

static bool await_end(const struct registry_info *info, int process, int patience_ms)
{
	struct pollfd p = {.fd = process, .events = POLLIN};
	int64_t end = clock_ms() + patience_ms, left;
	enum registry_phase phase;

	while ((left = end - clock_ms()) > 0) {
		if (process >= 0 && poll(&p, 1, (int)left) > 0)
			return true;
		if (process < 0 && !still_lives(info, &phase))
			return true;
		if (process < 0)
			poll(NULL, 0, LOOK_MS);
	}
	return false;
}

static json_t *request_keys(const struct wish *wish)
{
	json_t *keys = json_object();

	if (wish->directory)
		json_object_set_new(keys, "directory", json_string(wish->directory));
	if (wish->discard)
		json_object_set_new(keys, "discard", json_true());
	return keys;
}

static void take_answer(struct down *d, const json_t *result)
{
	const char *lost = json_string_value(json_object_get(result, "lost"));
	json_t *directory = json_object_get(result, "directory");

	d->summary = json_incref(json_object_get(result, "summary"));
	d->directory = directory ? json_incref(directory) : NULL;
	d->incomplete = lost != NULL;
	if (lost)
		cli_error("%s: %s", d->info.name, lost);
}

/* By its socket. False: it did not take the request; it may be on its way up or down, or hang. */
static bool ask(struct down *d)
{
	struct error why = ERROR_INIT;
	struct client *client = NULL;
	json_t *result = NULL;
	int status = EXIT_RUN;

	if (client_open(&client, d->info.name, &why) == EXIT_WELL) {
		status = client_ask_within(
			client, "down", request_keys(d->wish), PATIENCE_MS / 1000, &result, &why);
		/* nothing of it is to be lost: what is wrong can be put right */
		d->stays = client_has_failed(client) || status == EXIT_INPUT;
	}
	if (d->stays)
		cli_error("%s", why.text);
	client_close(client);
	if (status == EXIT_WELL)
		take_answer(d, result);
	json_decref(result);
	return status == EXIT_WELL;
}

/*
 * Ends the process: by request, else by SIGTERM, which it obeys also while starting, else by
 * SIGKILL. One that already goes down is just waited for.
 */
static void end_process(struct down *d)
{
	int process = open_process(&d->info), patience_ms = PATIENCE_MS;
	enum registry_phase phase = REGISTRY_STARTING;

	if (!ask(d) && !d->stays && still_lives(&d->info, &phase) && phase != REGISTRY_ENDED) {
		if (process >= 0)
			pidfd_send_signal(process, SIGTERM, NULL, 0);
		if (phase == REGISTRY_RUNNING)
			patience_ms = MERCY_MS;
	}
	d->killed = !d->stays && !await_end(&d->info, process, patience_ms);
	if (d->killed && process >= 0) {
		pidfd_send_signal(process, SIGKILL, NULL, 0);
		await_end(&d->info, process, PATIENCE_MS);
	}
	if (process >= 0)
		close(process);
}

/* ---- what came of it ---- */

static void load_summary(struct down *d)
{
	char *path;

	if (d->summary || !d->info.directory ||
		asprintf(&path, "%s/summary.json", d->info.directory) < 0)
		return;
	d->summary = json_load_file(path, 0, NULL);
	free(path);
}

/* A stepped fabric is ended at any time: a run's expectations then apply only if asked for. */
static bool is_judged(const struct down *d, const struct wish *w)
{
	return w->judge || !d->info.clock || strcmp(d->info.clock, "stepped");
}

/* What is expected is of the workload: one that was never started has not failed it. */
static bool expectations_met(const json_t *summary, bool print)
{
	const json_t *list = json_object_get(summary, "expect"), *e;
	const char *reason;
	bool met = true;
	size_t i;

	if (!look_number(summary, "flows.count"))
		return true;
	json_array_foreach((json_t *)list, i, e)
	{
		if (!json_is_false(json_object_get(e, "ok")))
			continue;
		met = false;
		reason = json_string_value(json_object_get(e, "reason"));
		if (print)
			printf("  expect      %sFAIL%s %s%s%s\n", term_red(), term_plain(),
				json_string_value(json_object_get(e, "metric")), reason ? ": " : "",
				reason ? reason : "");
	}
	return met;
}

static void print_summary(const struct down *d, const struct wish *w)
{
	const json_t *s = d->summary;

	printf("  packets     %.0f sent, %.0f delivered, %.0f dropped\n",
		look_number(s, "packets.sent"), look_number(s, "packets.delivered"),
		look_number(s, "packets.dropped"));
	fidelity_print(look(s, "fidelity"), true, FIDELITY_VERDICT, stdout);
	if (is_judged(d, w))
		expectations_met(s, true);
	else if (!expectations_met(s, false))
		puts("  expect      not judged: it was stepped by hand ('down --expect' judges)");
}

static const char *results_path(const struct down *d)
{
	return d->directory ? json_string_value(d->directory) : d->info.directory;
}

static void print_down(const struct down *d, const struct wish *w)
{
	const char *path = results_path(d);

	if (d->stays)
		return;
	if (d->crashed)
		printf("%s was gone already: %s; what it left is removed\n", d->info.name,
			d->info.reason);
	else
		printf("%s is down\n", d->info.name);
	if (d->summary)
		print_summary(d, w);
	if (d->programs)
		printf("  programs    %u still ran in it and %s ended\n", d->programs,
			d->programs == 1 ? "was" : "were");
	if (path && !access(path, F_OK))
		printf("  results     %s/\n", path);
}

static json_t *down_json(const struct down *d)
{
	return json_pack("{s:s, s:s?, s:b, s:b, s:b, s:s*, s:i, s:O*}", "name", d->info.name,
		"directory", results_path(d), "crashed", d->crashed, "killed", d->killed, "stays",
		d->stays, "reason", d->crashed || d->died ? d->info.reason : NULL, "programs",
		(int)d->programs, "summary", d->summary);
}

/* ---- one fabric ---- */

/* One that ended well has left nothing that could be read. */
static void look_back(struct down *d)
{
	struct registry_info now;

	if (registry_read(&now, d->info.name) < 0)
		return;
	if (!now.alive && now.since_s == d->info.since_s && now.phase != REGISTRY_ENDED) {
		d->died = true;
		snprintf(d->info.reason, sizeof(d->info.reason), "%s", now.reason);
	}
	registry_release(&now);
}

static int take_down(struct down *d)
{
	struct programs programs = PROGRAMS_INIT;
	struct error why = ERROR_INIT;
	unsigned more = 0;
	int r;

	d->crashed = !d->info.alive;
	if (!d->crashed) {
		/* held until the end: else their inodes could be another fabric's by then */
		programs_hold(&programs, d->info.name, d->info.nodes);
		end_process(d);
		if (!d->stays)
			d->programs = programs_end(&programs);
		programs_release(&programs);
		if (d->stays)
			return EXIT_RUN;
		if (!d->killed)
			look_back(d);
	}
	r = stale_remove(d->info.name, &stop_wait, &more, &why);
	d->programs += more;
	if (r == -EBUSY) /* up again, by somebody else, or it can't be killed from here */
		error_set(&why, r, "%s is up again, or its process can't be ended from here",
			d->info.name);
	if (r < 0)
		cli_error("%s", why.text);
	if (d->killed)
		cli_error(
			"%s did not end when it was told to, and was killed: results may be missing",
			d->info.name);
	if (d->died)
		cli_error("%s did not get to its end: %s; results may be missing", d->info.name,
			d->info.reason);
	if (!d->crashed)
		load_summary(d);
	return r < 0 || d->killed || d->died || d->incomplete ? EXIT_RUN : EXIT_WELL;
}

/* Ends a fabric according to its state. The outcome goes to *ret if wanted, else it is printed. */
static int down_one(const struct registry_info *info, const struct wish *w, json_t **ret)
{
	struct down d = {.info = *info, .wish = w};
	int status = take_down(&d);

	if (w->json)
		*ret = down_json(&d);
	else if (!w->quiet)
		print_down(&d, w);
	if (status == EXIT_WELL && d.summary && is_judged(&d, w) &&
		!expectations_met(d.summary, false))
		status = EXIT_EXPECT;
	json_decref(d.summary);
	json_decref(d.directory);
	registry_release(&d.info);
	return status;
}

static int down_all(const struct wish *w)
{
	struct registry_info *list = NULL;
	json_t *rows = json_array(), *row = NULL;
	size_t count = 0;
	int status = fabrics_list(&list, &count), r;

	for (size_t i = 0; i < count; i++) {
		r = down_one(&list[i], w, &row);
		if (w->json)
			json_array_append_new(rows, row);
		if (r > status)
			status = r;
	}
	if (w->json)
		print_json(rows, stdout);
	else if (!count && !w->quiet && status == EXIT_WELL)
		puts("no fabric is up");
	json_decref(rows);
	free(list); /* the rest of it went with each */
	return status;
}

/* What a `run` that died has left has a record, and no state. False: there is no such thing. */
static bool has_record(const char *name)
{
	char path[sizeof(RECORD_DIR) + RECORD_NAME_MAX + 2];

	snprintf(path, sizeof(path), "%s/%s", RECORD_DIR, name);
	return claim_valid_name(name, RECORD_NAME_MAX) && !access(path, F_OK);
}

static int down_record(const char *name, const struct wish *w)
{
	struct down d = {.crashed = true};
	struct error why = ERROR_INIT;
	json_t *result;

	if (build_sweep(&stop_wait, &why) < 0) {
		cli_error("%s", why.text);
		return EXIT_RUN;
	}
	if (has_record(name)) {
		cli_error("%s is being run; it ends by itself, or by Ctrl-C where it was begun",
			name);
		return EXIT_RUN;
	}
	snprintf(d.info.name, sizeof(d.info.name), "%s", name);
	snprintf(d.info.reason, sizeof(d.info.reason), "it was a run, and was killed");
	result = w->json ? down_json(&d) : NULL;
	if (w->json)
		print_json(result, stdout);
	else if (!w->quiet)
		print_down(&d, w);
	json_decref(result);
	return EXIT_WELL;
}

static int down_name(const char *name, const struct wish *w)
{
	struct registry_info info = {0};
	json_t *result = NULL;
	int status;

	if (registry_read(&info, name) == -ENOENT) {
		if (geteuid() == 0 && has_record(name))
			return down_record(name, w);
	} else {
		registry_release(&info);
	}
	status = fabrics_find(name, &info);
	if (status != EXIT_WELL)
		return status;
	status = down_one(&info, w, &result);
	if (w->json)
		print_json(result, stdout);
	json_decref(result);
	return status;
}

/* The fabric's process may have another working directory. NULL: no memory, or no directory. */
static char *absolute(const char *path)
{
	char *here = path[0] == '/' ? strdup("") : getcwd(NULL, 0), *ret = NULL;

	if (here && asprintf(&ret, "%s%s%s", here, *here ? "/" : "", path) < 0)
		ret = NULL;
	free(here);
	return ret;
}

static int read_wish(
	const struct command *c, const struct cli_args *args, bool all, struct wish *ret)
{
	const char *out = cli_value(c, args, "output");

	ret->discard = cli_value(c, args, "discard");
	if (out && (all || ret->discard)) {
		cli_error("down: --output is for one fabric's results; it does not go with --%s",
			all ? "all" : "discard");
		return EXIT_INPUT;
	}
	ret->directory = out ? absolute(out) : NULL;
	if (!out || ret->directory)
		return EXIT_WELL;
	cli_error("down: can't find the folder %s: %s", out, strerror(errno));
	return EXIT_INPUT;
}

static int run_down(const struct command *c, const struct cli_args *args)
{
	struct wish w = {
		.json = cli_value(c, args, "json"),
		.quiet = cli_value(c, args, "quiet"),
		.judge = cli_value(c, args, "expect"),
	};
	bool all = cli_value(c, args, "all");
	struct error why = ERROR_INIT;
	int status;

	if (fabrics_trust(&why) != EXIT_WELL) {
		cli_error("%s", why.text);
		return EXIT_MACHINE;
	}
	if (all == (args->positional_count == 1)) {
		cli_error("down: needs the name of a fabric, or --all");
		return EXIT_INPUT;
	}
	status = read_wish(c, args, all, &w);
	if (status != EXIT_WELL)
		return status;
	status = all ? down_all(&w) : down_name(args->positional[0], &w);
	free(w.directory);
	return status;
}

const struct command cmd_down = {
	.name = "down",
	.operands = "NAME",
	.summary = "take down a live fabric, and write its results",
	.details =
		"Ends the fabric's process, which writes the results as `run` does, and the programs that still\n"
		"run in its nodes. Works from what there is: also of a fabric that crashed, was killed, or came\n"
		"up but half, nothing is left. One whose results can't be written, for the disk is full, say,\n"
		"stops and stays, so that they can be written by another `down`, or elsewhere by --output. Exit\n"
		"status 1: the workload ran, and an expectation of the scenario failed; of a fabric on the\n"
		"stepped clock, which is stepped by hand, only with --expect.",
	.options = options,
	.operands_max = 1,
	.run = run_down,
};
