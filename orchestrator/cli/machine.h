/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_MACHINE_H
#define FABRICBED_MACHINE_H

#include <stdbool.h>
#include "cli/cli.h"

struct fabric;
struct scenario;

/*
 * Reports what the kernel dataplane needs for f and this machine, or this user, lacks; otherwise:
 * an alternative, or NULL. False, without a message: nothing is missing.
 */
bool machine_lacks(const struct fabric *f, const char *otherwise);

/*
 * A note on standard error if a run, or a fabric that stays (lasting), is expected to take more
 * memory than there is; it may still run.
 */
void machine_note_memory(
	const struct scenario *s, const struct fabric *f, bool kernel, bool lasting);

/*
 * The dataplane of --dataplane; by default the kernel's for root, and the inline one for others.
 * EXIT_WELL, or EXIT_INPUT after a message.
 */
int machine_dataplane(const struct command *c, const struct cli_args *args, bool *ret_kernel);

/* Says on standard error, unless --quiet, that it is the inline one though nobody asked for it. */
void machine_note_dataplane(const struct command *c, const struct cli_args *args, bool kernel);

#endif
