/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/steer.h"

static const struct cli_option options[] = {
	{"json", 'j', NULL, "print what the fabric answered as JSON"},
	{0},
};

static int run_step(const struct command *c, const struct cli_args *args)
{
	json_t *words = client_words(args->positional + 1, 1), *keys;

	if (!words)
		return EXIT_INPUT;
	keys = json_pack("{s:O}", "time", json_array_get(words, 0));
	json_decref(words);
	return steer_wait(c, args, keys);
}

const struct command cmd_step = {
	.name = "step",
	.operands = "NAME TIME",
	.summary = "let a paused fabric go on for so much model time",
	.details = "Returns when it is there, and paused again. Ctrl-C pauses it where it is.\n\n"
		   "  fabricbed step hello 10us",
	.options = options,
	.operands_min = 2,
	.operands_max = 2,
	.run = run_step,
};
