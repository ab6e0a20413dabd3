/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PROVENANCE_H
#define FABRICBED_PROVENANCE_H

/* Where the figures of this process come from. */
#include "base/error.h"
#include "telemetry/summary.h"

struct cli_args;
struct scenario;

/* Of a run of that scenario that begins now. 0, or -ENOMEM with why. */
int provenance_now(struct provenance *ret, const struct cli_args *args, const struct scenario *s,
	struct error *why);

/*
 * The commit that the program was built from, 12 digits; with '+' and 8 digits of a hash of what
 * was changed since, if anything was. NULL: it was not built in a git tree.
 */
const char *provenance_commit(void);

#endif
