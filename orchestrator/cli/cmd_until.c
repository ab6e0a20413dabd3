/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include "cli/cli.h"
#include "cli/steer.h"

static const struct cli_option options[] = {
	{"limit", 'l', "TIME", "give up at that model time; exit status 1 tells"},
	{"json", 'j', NULL, "print what the fabric answered as JSON"},
	{0},
};

/* An event may be two words: "drop buffer". A time begins with a digit, no event does. */
static int run_until(const struct command *c, const struct cli_args *args)
{
	const char *first = args->positional[1];
	const char *second = args->positional_count > 2 ? args->positional[2] : "";
	const char *limit = cli_value(c, args, "limit");
	const char *key = isdigit((unsigned char)*first) ? "time" : "event";
	json_t *keys = json_pack("{s:s++}", key, first, *second ? " " : "", second);

	if (keys && limit && json_object_set_new(keys, "limit", json_string(limit)) < 0) {
		json_decref(keys);
		keys = NULL;
	}
	if (!keys) {
		cli_error("until: that is no UTF-8");
		return EXIT_INPUT;
	}
	return steer_wait(c, args, keys);
}

const struct command cmd_until = {
	.name = "until",
	.operands = "NAME TIME|drop|mark|trim|pause|flow|flows|fault|reroute|deadlock",
	.summary = "let a fabric go on until a model time or an event",
	.details =
		"Returns when the time has come or the event has happened, and the fabric is paused there: a\n"
		"packet is dropped (for one reason, if it is named), marked or trimmed; a queue is paused; a flow\n"
		"ends, or all flows have; a fault begins or ends by the timetable; routes change; queues wait for\n"
		"each other in a circle. Ctrl-C pauses it where it is. Exit status 1: it did not come,\n"
		"--limit did first, or nothing is left to happen.\n\n"
		"  fabricbed until hello 250us\n"
		"  fabricbed until hello drop buffer --limit 1ms",
	.options = options,
	.operands_min = 2,
	.operands_max = 3,
	.run = run_until,
};
