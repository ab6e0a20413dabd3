/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_IDENTITY_H
#define FABRICBED_SCENARIO_IDENTITY_H

/* Whether two scenarios are the same run. */
#include <stdint.h>
#include "base/error.h"

struct scenario;

/*
 * A hash of all that the packets and figures of a run follow from: every value, defaults and seed
 * included, and the content of files. What the run is called, what is said and expected of it, and
 * where its files are does not count. 0, or -ENOMEM with why.
 */
int scenario_identity(const struct scenario *s, uint64_t *ret, struct error *why);

#endif
