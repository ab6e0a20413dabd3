/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include "cli/cli.h"
#include "cli/provenance.h"

static int run_version(const struct command *c, const struct cli_args *args)
{
	const char *commit = provenance_commit();

	(void)c;
	(void)args;
	printf("fabricbed %s%s%s%s\n", FABRICBED_VERSION, commit ? " (commit " : "",
		commit ? commit : "", commit ? ")" : "");
	return EXIT_WELL;
}

const struct command cmd_version = {
	.name = "version",
	.operands = "",
	.summary = "print the version, and the commit that it was built from",
	.details = "",
	.options = (const struct cli_option[]){{0}},
	.run = run_version,
};
