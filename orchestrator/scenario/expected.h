/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_EXPECTED_H
#define FABRICBED_SCENARIO_EXPECTED_H

/* What a message says was expected. Each fills buf and returns it. Private to scenario/. */
#include "scenario/value.h"

#define EXPECTED 1024

const char *expected_value(const struct key *k, char buf[EXPECTED]);

/* "a mapping of these keys: a, b, c" */
const char *expected_map(const struct key *keys, size_t count, char buf[EXPECTED]);

/* "a, b, c" */
const char *expected_names(const char *const *names, size_t count, char buf[EXPECTED]);

#endif
