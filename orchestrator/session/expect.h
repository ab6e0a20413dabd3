/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EXPECT_H
#define FABRICBED_EXPECT_H

/* A scenario's expectations against a summary. */
#include <jansson.h>
#include <stdbool.h>

struct scenario;

/*
 * Adds "expect": [{metric, bound, value, ok}] to the summary, value being what was measured. A figure that the run has not is
 * null, which is not ok, and "reason" says why it is missing. A scenario that expects something, and nothing of
 * flows.unfinished, expects that to be 0: the last of the list, with "implied". 0 or -ENOMEM.
 */
int expect_check(const struct scenario *s, json_t *summary, bool *ret_met);

#endif
