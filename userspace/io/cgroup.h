/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CGROUP_H
#define FABRICBED_CGROUP_H

/* Control groups of the unified hierarchy (cgroups(7), version 2). */
#include <stdint.h>
#include "base/error.h"

/* The id, as in BPF, of the group at a path below the mount. 0 or -errno with why. */
int cgroup_id(uint64_t *ret, const char *path, struct error *why);

#endif
