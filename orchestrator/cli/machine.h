/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_MACHINE_H
#define FABRICBED_MACHINE_H

#include <stdbool.h>
#include "topology/fabric.h"

/*
 * Says what the kernel dataplane needs for f and this machine, or this user, has not; otherwise: what else could be done, or
 * NULL. False, and nothing is said: it has it all.
 */
bool machine_lacks(const struct fabric *f, const char *otherwise);

#endif
