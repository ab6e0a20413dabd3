/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STEER_H
#define FABRICBED_STEER_H

/* What the commands that hold and move model time have in common. */
#include <jansson.h>
#include "cli/cli.h"

/*
 * Asks for the verb of the command's name, and prints "NAME <done> TIME", or with --json the answer. An exit status.
 */
int steer_now(const struct command *c, const struct cli_args *args, const char *done);

/*
 * The same of a verb that takes its time: waits until the fabric has stopped and prints where and why. Ctrl-C pauses it
 * where it is. Takes the reference to keys. EXIT_EXPECT: it stopped at its limit, or nothing was left.
 */
int steer_wait(const struct command *c, const struct cli_args *args, json_t *keys);

#endif
