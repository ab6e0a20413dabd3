/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/replace.h"

static const struct cli_option options[] = {
	{"output", 'o', "FILE", "write there instead of to standard output"},
	{0},
};

/* 0 or -errno. */
static int write_file(const char *path, const char *text)
{
	struct replacement file;
	int r = replace_open(&file, path);

	if (r < 0)
		return r;
	fputs(text, file.out.file);
	return replace_end(&file);
}

static int run_save(const struct command *c, const struct cli_args *args)
{
	const char *output = cli_value(c, args, "output"), *text;
	json_t *result = NULL;
	int status = client_request(args->positional[0], "save", NULL, &result), r = 0;

	if (status != EXIT_WELL)
		return status;
	text = json_string_value(json_object_get(result, "scenario"));
	if (!text) {
		cli_error("%s gave no scenario", args->positional[0]);
		status = EXIT_RUN;
	} else if (!output || !strcmp(output, "-")) {
		fputs(text, stdout);
	} else {
		r = write_file(output, text);
	}
	if (r < 0) {
		cli_error("can't write %s: %s", output, strerror(-r));
		status = EXIT_RUN;
	}
	if (status == EXIT_WELL && json_integer_value(json_object_get(result, "policies_swapped")))
		cli_error(
			"the scenario does not tell of 'policy swap': it has the switches' own policies throughout");
	json_decref(result);
	return status;
}

const struct command cmd_save = {
	.name = "save",
	.operands = "NAME",
	.summary = "write the scenario of a live fabric, with the commands it was given",
	.details =
		"A scenario file that 'run' and 'up' take: faults that were injected and healed and workloads that\n"
		"were started stand in it at the model times at which that was done.\n\n"
		"  fabricbed save hello --output replay.yaml && fabricbed run replay.yaml",
	.options = options,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_save,
};
