/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/diag.h"
#include "cli/cli.h"

const struct command *const cli_commands[] = {
	&cmd_run,
	&cmd_validate,
	&cmd_graph,
	&cmd_doctor,
	&cmd_help,
	&cmd_version,
	NULL,
};

static const struct command *find_command(const char *name)
{
	for (const struct command *const *c = cli_commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[sizeof(cli_commands) / sizeof(cli_commands[0])];
	const char *near;
	size_t n = 0;

	for (; cli_commands[n]; n++)
		names[n] = cli_commands[n]->name;
	near = nearest_word(name, names, n);
	if (near)
		cli_error("there is no command '%s'; did you mean '%s'?", name, near);
	else
		cli_error("there is no command '%s'; 'fabricbed help' lists them all", name);
	return EXIT_INPUT;
}

int main(int argc, char **argv)
{
	const struct command *c;
	struct cli_args args;
	bool help = false;
	int status;

	if (argc < 2) {
		cli_print_help(NULL);
		return EXIT_INPUT;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		argv[1] = "help";
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		argv[1] = "version";
	c = find_command(argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	status = cli_parse(c, argc - 1, argv + 1, &args, &help);
	if (status != EXIT_WELL)
		return status;
	if (help) {
		cli_print_help(c);
		return EXIT_WELL;
	}
	return c->run(c, &args);
}
