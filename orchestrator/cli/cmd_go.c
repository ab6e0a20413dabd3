/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/cli.h"
#include "cli/steer.h"

static const struct cli_option options[] = {
	{"json", 'j', NULL, "print what the fabric answered as JSON"},
	{0},
};

static int run_go(const struct command *c, const struct cli_args *args)
{
	return steer_now(c, args, "goes on from");
}

const struct command cmd_go = {
	.name = "go",
	.operands = "NAME",
	.summary = "let a paused fabric go on",
	.details =
		"It goes on until it is paused again: at the wall clock's pace, or, on the stepped clock, as\n"
		"fast as the machine can.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_go,
};
