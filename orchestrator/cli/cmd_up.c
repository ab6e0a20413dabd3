/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/fabrics.h"
#include "cli/machine.h"
#include "cli/provenance.h"
#include "cli/results.h"
#include "cli/stop.h"
#include "io/clock.h"
#include "base/json.h"
#include "scenario/scenario.h"
#include "daemon/daemon.h"
#include "daemon/stale.h"
#include "topology/fabric.h"

static const struct cli_option options[] = {
	{"dataplane", 'd', "kernel|inline",
		"frames through XDP (root's default), or the program as a function (others')"},
	{"name", 'n', "NAME", "another name than the scenario's"},
	{"seed", 0, "N", "another seed than the scenario's"},
	{"set", 's', "KEY=VALUE", "override a key of the scenario; may be given several times"},
	{"output", 'o', "DIR", "results go there (default: runs/NAME-N)"},
	{"start", 0, NULL, "start the scenario's workload as soon as the fabric is up"},
	{"json", 'j', NULL, "print what came up as JSON"},
	{"quiet", 'q', NULL, "print nothing but errors"},
	{0},
};

struct up {
	struct provenance provenance;
	struct scenario *scenario;
	struct fabric *fabric;
	struct registry_entry *state;
	const char *name, *out;
	struct folder *folder; /* for the results, from the root */
	bool kept;   /* it is the fabric's process that looks after it, or this is that process */
	bool kernel; /* the dataplane */
	pid_t pid;
	double setup_s;
};

/* ---- bringing it up ---- */

/* Of one of that name that died, all is taken away first, and said to be. */
static int claim(struct up *up)
{
	struct error why = ERROR_INIT;
	unsigned programs = 0;
	int r = registry_claim(&up->state, up->name, &stop_wait, &why);

	if (r == -ESTALE) {
		cli_error("%s; its remains are taken away first", why.text);
		r = stale_remove(up->name, &stop_wait, &programs, &why);
		if (!r)
			r = registry_claim(&up->state, up->name, &stop_wait, &why);
	}
	if (r < 0)
		cli_error("%s", why.text);
	if (r == -EEXIST || r == -EINVAL)
		return EXIT_INPUT;
	return r < 0 ? EXIT_RUN : EXIT_WELL;
}

static int claim_results(struct up *up)
{
	const struct results_place place = {
		.out = up->out,
		.name = up->name,
		.input = up->scenario->path,
	};
	int r;

	if (results_claim(&up->folder, &place) < 0)
		return EXIT_INPUT;
	r = folder_be_absolute(up->folder);
	if (r < 0)
		cli_error("can't find the folder %s: %s", folder_path(up->folder), strerror(-r));
	return r < 0 ? EXIT_RUN : EXIT_WELL;
}

static int describe(struct up *up)
{
	char *path = realpath(up->scenario->path, NULL);
	struct registry_about about = {
		.scenario = path ? path : up->scenario->path,
		.directory = folder_path(up->folder),
		.fabric = up->fabric,
		.wall = up->scenario->clock.wall,
		.kernel = up->kernel,
	};
	struct error why = ERROR_INIT;
	int r = registry_begin(up->state, &about, &why);

	if (r < 0)
		cli_error("%s", why.text);
	free(path);
	return r < 0 ? EXIT_RUN : EXIT_WELL;
}

/* What the fabric's process printed before it died. */
static void print_log(const char *name)
{
	char path[REGISTRY_PATH_MAX], line[1024];
	FILE *log = fopen(registry_path(path, name, "log"), "re");

	while (log && fgets(line, sizeof(line), log))
		fprintf(stderr, "  %s", line);
	if (log)
		fclose(log);
}

/* A fabric that did not come up must not need a `down`. */
static int explain_start(struct up *up, int code, const struct error *why)
{
	struct error failed = ERROR_INIT;
	unsigned programs = 0;

	if (code == -ECHILD) {
		cli_error("%s", why->text);
		print_log(up->name);
		registry_free(up->state); /* else its remains would be held to be alive */
		up->state = NULL;
		if (stale_remove(up->name, &stop_wait, &programs, &failed) < 0)
			cli_error("%s", failed.text);
		return EXIT_RUN;
	}
	registry_remove(up->state);
	if (up->kernel && code != -EINTR && code != -EEXIST && machine_lacks(up->fabric, NULL))
		return EXIT_MACHINE;
	cli_error("%s", why->text);
	if (code == -EEXIST || code == -ENOEXEC)
		return EXIT_INPUT;
	return code == -ENOMEM || code == -ENOPKG ? EXIT_MACHINE : EXIT_RUN;
}

/* In the fabric's process: what it ended by is in its state, and in its log. */
static int explain_end(const struct up *up, int code, const struct error *why)
{
	if (code < 0)
		cli_error("%s: %s", up->name, why->text);
	return code < 0 ? EXIT_RUN : EXIT_WELL;
}

/* *ret_up: this is the caller's process, and the fabric is up. */
static int start(struct up *up, bool *ret_up)
{
	char control[REGISTRY_PATH_MAX];
	struct daemon_params p = {
		.state = up->state,
		.live = {.provenance = &up->provenance,
			.scenario = up->scenario,
			.fabric = up->fabric,
			.name = up->name,
			.folder = up->folder,
			.kernel = up->kernel,
			.control = registry_path(control, up->name, "control"),
			.stop = &stop_asked},
		.stop = &stop_asked,
		.wait = &stop_wait,
	};
	struct error why = ERROR_INIT;
	double begun = clock_s();
	int r;

	/* no SA_RESTART: a signal ends the wait for the fabric's process, which inherits these */
	stop_catch(0);
	r = daemon_start(&p, &up->pid, &why);
	up->kept = !up->pid || !r;
	if (!up->pid)
		return explain_end(up, r, &why);
	up->setup_s = clock_s() - begun;
	stop_release();
	if (!r) {
		*ret_up = true;
		return EXIT_WELL;
	}
	return explain_start(up, r, &why);
}

static int bring_up(struct up *up, bool *ret_up)
{
	int status;

	status = claim(up);
	if (status != EXIT_WELL)
		return status;
	status = claim_results(up);
	if (status == EXIT_WELL)
		status = describe(up);
	if (status == EXIT_WELL)
		status = start(up, ret_up);
	else
		registry_remove(up->state);
	return status;
}

/* ---- output ---- */

static const char *plural(uint32_t n, const char *many)
{
	return n == 1 ? "" : many;
}

/* Preferably between switches: the fabric can route around a fault there. */
static uint32_t link_to_break(const struct fabric *f)
{
	for (uint32_t i = 0; i < f->net.link_count; i++)
		if (f->nodes[f->net.ports[f->links[i].a].node].tier)
			return i;
	return 0;
}

static void print_hints(const struct up *up)
{
	const struct fabric *f = up->fabric;
	const char *name = up->name, *first = f->nodes[0].name;
	char link[LINK_NAME];

	/* before that, a ping would wait */
	if (!up->scenario->clock.wall)
		printf("  fabricbed step %s 10us         fabricbed go %s\n", name, name);
	if (!up->kernel)
		printf("  fabricbed until %s drop\n", name);
	else if (f->net.host_count > 1)
		printf("  fabricbed exec %s %s -- ping %s\n", name, first,
			f->nodes[f->net.host_count - f->planes].name);
	else
		printf("  fabricbed exec %s %s\n", name, first);
	printf("  fabricbed show %s ports        fabricbed top %s\n", name, name);
	if (up->scenario->workload_count)
		printf("  fabricbed start %s\n", name);
	printf("  fabricbed inject %s link %s down\n", name,
		fabric_link_name(f, link_to_break(f), link));
	printf("  fabricbed down %s\n", name);
}

static void print_up(const struct up *up)
{
	const struct net *n = &up->fabric->net;

	printf("%s is up%s: %u host%s, %u switch%s, %u link%s, in %.2f s (process %d)\n", up->name,
		up->scenario->clock.wall ? "" : ", and paused", n->host_count,
		plural(n->host_count, "s"), n->switch_count, plural(n->switch_count, "es"),
		n->link_count, plural(n->link_count, "s"), up->setup_s, (int)up->pid);
	print_hints(up);
}

static void print_up_json(const struct up *up, json_t *started)
{
	const struct net *n = &up->fabric->net;
	json_t *json = json_pack("{s:s, s:i, s:i, s:i, s:i, s:f, s:s, s:s, s:s}", "name", up->name,
		"pid", (int)up->pid, "hosts", (int)n->host_count, "switches", (int)n->switch_count,
		"links", (int)n->link_count, "setup_s", up->setup_s, "clock",
		up->scenario->clock.wall ? "wall" : "stepped", "dataplane",
		up->kernel ? "kernel" : "inline", "results", folder_path(up->folder));

	if (started)
		json_object_set(json, "started", started);
	print_json(json, stdout);
	json_decref(json);
}

static void print_started(const json_t *started)
{
	json_int_t flows = json_integer_value(json_object_get(started, "flows"));

	printf("its workload has started: %" JSON_INTEGER_FORMAT " flow%s\n", flows,
		flows == 1 ? "" : "s");
}

/* The fabric stays up also if its workload does not start. */
static int print_result(const struct command *c, const struct cli_args *args, const struct up *up)
{
	bool json = cli_value(c, args, "json"), quiet = cli_value(c, args, "quiet");
	json_t *started = NULL;
	int status = EXIT_WELL;

	if (!json && !quiet)
		print_up(up);
	if (cli_value(c, args, "start"))
		status = client_request(up->name, "start", NULL, &started);
	if (json)
		print_up_json(up, started);
	else if (started && !quiet)
		print_started(started);
	json_decref(started);
	return status;
}

/* ---- the command ---- */

static int load(const struct command *c, struct cli_args *args, struct up *up)
{
	struct error why = ERROR_INIT;
	char seed[CLI_SEED_SET];
	int status = cli_take_seed(c, args, seed);

	if (status == EXIT_WELL)
		status = cli_load(args->positional[0], args, &up->scenario, &up->fabric);
	if (status != EXIT_WELL)
		return status;
	if (up->scenario->variant_count) {
		cli_error(
			"up: %s compares several variants, and one fabric can't be all of them; choose by --set",
			up->scenario->name);
		return EXIT_INPUT;
	}
	up->name = cli_value(c, args, "name");
	if (!up->name)
		up->name = up->scenario->name;
	up->out = cli_value(c, args, "output");
	if (provenance_now(&up->provenance, args, up->scenario, &why) < 0) {
		cli_error("%s", why.text);
		return EXIT_MACHINE;
	}
	return machine_dataplane(c, args, &up->kernel);
}

/* Programs, which the wall clock is for, are where namespaces are. */
static int check_machine(const struct command *c, const struct up *up)
{
	struct error why = ERROR_INIT;
	bool root = geteuid() == 0;

	if (!up->kernel && up->scenario->clock.wall) {
		cli_error(
			"up: the wall clock is for programs, which need root and the kernel dataplane; remedy: %s, or step it: --set clock=stepped",
			root ? "--dataplane kernel" : "run this as root");
		return root ? EXIT_INPUT : EXIT_MACHINE;
	}
	/* root is believed until something fails: the probes take as long as a small fabric */
	if (up->kernel && !root && machine_lacks(up->fabric, NULL))
		return EXIT_MACHINE;
	if (up->kernel)
		return fabrics_need_root(c->name);
	if (fabrics_trust(&why) == EXIT_WELL)
		return EXIT_WELL;
	cli_error("%s", why.text);
	return EXIT_MACHINE;
}

static int run_up(const struct command *c, const struct cli_args *given)
{
	struct cli_args args = *given;
	struct up up = {0};
	bool is_up = false;
	int status = load(c, &args, &up);

	if (status == EXIT_WELL)
		status = check_machine(c, &up);
	if (status == EXIT_WELL) {
		machine_note_dataplane(c, &args, up.kernel);
		machine_note_memory(up.scenario, up.fabric, up.kernel, true);
		status = bring_up(&up, &is_up);
	}
	if (is_up)
		status = print_result(c, &args, &up);
	registry_free(up.state);
	if (up.kept)
		folder_keep(up.folder);
	else
		results_close(up.folder, up.out);
	fabric_free(up.fabric);
	scenario_free(up.scenario);
	return status;
}

const struct command cmd_up = {
	.name = "up",
	.operands = "FILE",
	.summary = "bring up a live fabric, and leave it up",
	.details =
		"Builds the scenario's fabric and leaves it running under a process of its own in the\n"
		"background. Returns when the fabric forwards, and says how to look around. With `clock: wall`\n"
		"model time follows the clock on the wall, so that ordinary programs run in it: see exec. On the\n"
		"stepped clock it is paused, to be stepped. The workload waits for 'fabricbed start NAME', the\n"
		"scenario's faults for their model times. Several fabrics are up side by side, under their names.\n"
		"Ctrl-C before it is up takes down what was built.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_up,
};
