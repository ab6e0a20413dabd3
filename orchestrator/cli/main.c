/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"

static const struct command *const commands[] = {
	&cmd_run,
	&cmd_sweep,
	&cmd_validate,
	&cmd_graph,
	&cmd_up,
	&cmd_down,
	&cmd_list,
	&cmd_exec,
	&cmd_top,
	&cmd_show,
	&cmd_inject,
	&cmd_heal,
	&cmd_start,
	&cmd_pause,
	&cmd_go,
	&cmd_step,
	&cmd_until,
	&cmd_save,
	&cmd_capture,
	&cmd_policy,
	&cmd_doctor,
	&cmd_help,
	&cmd_version,
	NULL,
};

/*
 * A result file must not get the number of a stream that the caller closed: it gets something that
 * refuses writes.
 */
static void hold_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* What was printed has arrived, or that is the failure. */
static int finish_output(int status)
{
	bool lost = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !lost)
		return status;
	if (errno != EPIPE) /* whoever closed a pipe has seen enough */
		cli_error("can't write to standard output%s%s", errno ? ": " : "",
			errno ? strerror(errno) : "");
	return status == EXIT_WELL ? EXIT_RUN : status;
}

static int run_command(int argc, char **argv)
{
	const struct command *c;
	struct cli_args args;
	char *words[argc + 1]; /* parsing changes the order */
	bool help = false;
	int status;

	if (argc < 2) {
		cli_print_help(commands, NULL);
		return EXIT_INPUT;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		argv[1] = "help";
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		argv[1] = "version";
	memcpy(words, argv, sizeof(words));
	c = cli_find_command(commands, argv[1]);
	if (!c)
		return EXIT_INPUT;
	status = cli_parse(c, argc - 1, argv + 1, &args, &help);
	args.words = words;
	args.commands = commands;
	if (status == EXIT_WELL && help)
		cli_print_help(commands, c);
	else if (status == EXIT_WELL)
		status = c->run(c, &args);
	cli_finish(&args);
	return status;
}

/* Large pieces into a file or a pipe: output is flushed once at the end, which reports errors. */
#define OUTPUT_BYTES 65536

int main(int argc, char **argv)
{
	static char output[OUTPUT_BYTES];

	hold_standard_streams();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, output, _IOFBF, sizeof(output));
	/* a reader that goes away must not keep a fabric from being taken down */
	signal(SIGPIPE, SIG_IGN);
	return finish_output(run_command(argc, argv));
}
