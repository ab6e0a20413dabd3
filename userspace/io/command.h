/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COMMAND_H
#define FABRICBED_COMMAND_H

/* Another program, run to its end. */

struct command_output {
	int status;     /* as waitpid(2) gives it */
	char out[4096]; /* the beginning of what it printed */
	char err[1024]; /* and of what it complained of */
};

/*
 * argv[0] is searched in PATH, without a shell; standard input is empty, signals are as by default.
 * 0, however the program ended; -ENOENT: no such program; another -errno.
 */
int command_run(const char *const argv[], char *const environment[], struct command_output *ret);

#endif
