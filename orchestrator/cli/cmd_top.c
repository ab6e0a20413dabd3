/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include <unistd.h>
#include "base/units.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/top.h"

#define INTERVAL_MIN_PS (100 * PS_PER_MS)
#define INTERVAL_MAX_PS (3600 * PS_PER_S)

static const struct cli_option options[] = {
	{"interval", 'i', "TIME",
		"between samples, of the wall clock: 100ms to 3600s (default: 1s)"},
	{"once", 0, NULL, "print all tables after one interval, and end"},
	{"json", 'j', NULL, "the same as JSON"},
	{0},
};

static int open_feed(struct top *t)
{
	struct error why = ERROR_INIT;
	struct client *client;
	int status = client_open(&client, t->name, &why);

	if (status == EXIT_WELL && top_feed_open(&t->feed, client) < 0)
		status = EXIT_RUN;
	if (status != EXIT_WELL)
		cli_error("%s", *why.text ? why.text : "out of memory");
	return status;
}

static int read_interval(const char *text, uint64_t *ret_ns)
{
	uint64_t ps = PS_PER_S;

	if (text && (parse_time(text, &ps) < 0 || ps < INTERVAL_MIN_PS || ps > INTERVAL_MAX_PS)) {
		cli_error("top: --interval is a time from 100ms to 3600s, not '%s'", text);
		return EXIT_INPUT;
	}
	*ret_ns = ps / PS_PER_NS;
	return EXIT_WELL;
}

static int run_top(const struct command *c, const struct cli_args *args)
{
	struct top t = {.name = args->positional[0]};
	bool json = cli_value(c, args, "json"), once = cli_value(c, args, "once");
	int status = read_interval(cli_value(c, args, "interval"), &t.interval_ns);

	if (status == EXIT_WELL)
		status = open_feed(&t);
	if (status != EXIT_WELL)
		return status;
	if (json || once || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		status = top_once(&t, json);
	else
		status = top_watch(&t);
	top_feed_close(t.feed);
	top_pair_release(&t.status);
	for (int i = 0; i < TOP_VIEWS; i++)
		top_pair_release(&t.views[i]);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.operands = "NAME",
	.summary = "watch a live fabric: links, queues, flows, faults, nodes",
	.details =
		"A screen of its state, its fidelity, its packets and one of five tables, refreshed; 'h' there\n"
		"tells the keys. Rates are what changed between two samples, by model time: each direction of a\n"
		"link is a port, and is at 100% when its wire is never idle. While model time stands still the\n"
		"rates of its last step stay.\n"
		"Where standard output is no terminal, all tables are printed once, as with --once.\n"
		"Exit status 4 means that the fabric went away.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_top,
};
