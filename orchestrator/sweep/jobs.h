/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_JOBS_H
#define FABRICBED_SWEEP_JOBS_H

/* Runs of this program as processes of their own, several at a time. */
#include <stdbool.h>
#include <stddef.h>

struct jobs;

/* Up to `most` at a time. 0 or -ENOMEM. */
int jobs_new(struct jobs **ret, size_t most);

bool jobs_full(const struct jobs *j);
size_t jobs_running(const struct jobs *j);

/*
 * Starts this program with these arguments (NULL ends them), argv[0] included. It gets no signal of
 * the terminal, and SIGTERM when this process ends. 0 or -errno.
 */
int jobs_start(struct jobs *j, size_t number, char *const argv[]);

struct job_end {
	size_t number;
	int status;     /* as waitpid(2) gives it */
	char said[512]; /* the last line that it printed on standard error, without its end */
};

/* Why it ended as it did, in words. */
void job_end_text(const struct job_end *end, char *buf, size_t size);

/*
 * Waits up to so many seconds until one has ended. 0; -EAGAIN: none has; -ECHILD: none runs.
 * SIGCHLD is blocked from jobs_new() on.
 */
int jobs_wait(struct jobs *j, double seconds, struct job_end *ret);

/* Tells all to come to an end. */
void jobs_stop(struct jobs *j);

/* Kills what still runs. NULL is fine. */
void jobs_free(struct jobs *j);

#endif
