/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/cli.h"
#include "cli/steer.h"

static const struct cli_option options[] = {
	{"json", 'j', NULL, "print what the fabric answered as JSON"},
	{0},
};

static int run_pause(const struct command *c, const struct cli_args *args)
{
	return steer_now(c, args, "paused at");
}

const struct command cmd_pause = {
	.name = "pause",
	.operands = "NAME",
	.summary = "hold a live fabric's model time",
	.details =
		"Nothing moves until 'go', 'step' or 'until'. What programs send meanwhile waits in their hosts,\n"
		"and their timers go on. A 'step' or 'until' that waits elsewhere ends.",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_pause,
};
