/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EXPECT_H
#define FABRICBED_EXPECT_H

/* A scenario's expectations against a summary. */
#include <jansson.h>
#include "scenario/scenario.h"

/*
 * Adds "expect": [{metric, bound, value, ok}] to the summary, value being what was measured (null if the run has no such
 * figure, which is not ok). 0 or -ENOMEM.
 */
int expect_check(const struct scenario *s, json_t *summary, bool *ret_met);

#endif
