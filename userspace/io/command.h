/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COMMAND_H
#define FABRICBED_COMMAND_H

/* Another program, run to its end. */
#include <stddef.h>
#include <stdint.h>

struct command_output {
	int status;     /* as waitpid(2) gives it */
	char out[4096]; /* the beginning of what it printed */
	char err[4096]; /* and of what it complained of */
};

/* What a program is given and what it may take. */
struct command_bounds {
	const char *input; /* standard input; NULL: empty */
	size_t input_bytes;
	const char *folder;    /* where it runs; NULL: where the caller does */
	unsigned milliseconds; /* that it may take; 0: any time */
	unsigned cpu_seconds;  /* of a core, each of its processes; then SIGXCPU; 0: any */
	uint64_t memory_bytes; /* address space of each of its processes; 0: any */
	uint64_t file_bytes;   /* size of a file that it writes; 0: any */
};

/*
 * argv[0] is searched in PATH, without a shell; standard input is empty, signals are as by default.
 * 0, however the program ended; -ENOENT: no such program; another -errno.
 */
int command_run(const char *const argv[], char *const environment[], struct command_output *ret);

/*
 * The same within bounds. -ETIMEDOUT: it took too long, and was killed with all processes of its
 * group. Its status and output are there then too.
 */
int command_run_bounded(const char *const argv[], char *const environment[],
	const struct command_bounds *bounds, struct command_output *ret);

#endif
