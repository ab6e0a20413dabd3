/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_IDENTITY_H
#define FABRICBED_IDENTITY_H
#include <stdint.h>
#include "base/error.h"
struct scenario;
int scenario_identity(const struct scenario *s, uint64_t *ret, struct error *why);
#endif
