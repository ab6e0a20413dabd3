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
 * argv[0] is looked for in PATH, no shell is involved; standard input is empty, and no signal is blocked or ignored
 * that is not so by default. 0, however the program ended; -ENOENT: there is none of that name; another -errno.
 */
int command_run(const char *const argv[], char *const environment[], struct command_output *ret);

#endif
