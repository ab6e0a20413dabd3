/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include "cli/cli.h"

static int run_version(const struct command *c, const struct cli_args *args)
{
	(void)c;
	(void)args;
	printf("fabricbed %s\n", FABRICBED_VERSION);
	return EXIT_WELL;
}

const struct command cmd_version = {
	.name = "version",
	.operands = "",
	.summary = "print the version",
	.details = "",
	.options = (const struct cli_option[]){{0}},
	.run = run_version,
};
