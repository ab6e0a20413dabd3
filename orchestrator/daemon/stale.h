/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STALE_H
#define FABRICBED_STALE_H

#include "base/error.h"
#include "bringup/claim.h"

/*
 * Removes all that a dead live fabric left: programs in it (how many: *ret_programs), namespaces,
 * interfaces, its directory. 0 (also if there is nothing); -EBUSY: it lives; another -errno; with
 * why.
 */
int stale_remove(
	const char *name, const struct lock_wait *wait, unsigned *ret_programs, struct error *why);

#endif
