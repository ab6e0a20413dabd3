/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_RNG_UNIT_H
#define FABRICBED_TEST_RNG_UNIT_H

#include "base/rng_stream.h"

/* Uniform in [0, 1). */
static inline double rng_unit(uint64_t *state)
{
	return (double)(rng_take(state) >> 11) * 0x1.0p-53;
}

#endif
