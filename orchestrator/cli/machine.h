/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_MACHINE_H
#define FABRICBED_MACHINE_H

#include <stdbool.h>
#include "cli/cli.h"

struct fabric;
struct scenario;

/*
 * Says what the kernel dataplane needs for f and this machine, or this user, has not; otherwise: what else could be done, or
 * NULL. False, and nothing is said: it has it all.
 */
bool machine_lacks(const struct fabric *f, const char *otherwise);

/*
 * A note on standard error if a run is foreseen to take more memory than there is; it may still do, so that it is not
 * refused.
 */
void machine_tell_memory(const struct scenario *s, const struct fabric *f, bool kernel);

/*
 * Which dataplane --dataplane asks for; without it root gets the kernel's, and whoever is not root the inline one. EXIT_WELL, or
 * EXIT_INPUT after a message.
 */
int machine_dataplane(const struct command *c, const struct cli_args *args, bool *ret_kernel);

/* Says on standard error, unless --quiet, that it is the inline one though nobody asked for it. */
void machine_tell_dataplane(const struct command *c, const struct cli_args *args, bool kernel);

#endif
