/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EXPECT_H
#define FABRICBED_EXPECT_H

/* A scenario's expectations against a summary. */
#include <jansson.h>
#include <stdbool.h>

struct scenario;

/*
 * Adds "expect": [{metric, bound, value, ok}] to the summary; value is the measured one. A missing
 * value is null, which is not ok, and "reason" says why. A scenario with expectations, but none of
 * flows.unfinished, expects that to be 0: the last of the list, with "implied". 0 or -ENOMEM.
 */
int expect_check(const struct scenario *s, json_t *summary, bool *ret_met);

#endif
