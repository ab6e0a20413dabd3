/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_REPS_H
#define FABRICBED_REPS_H

#include <stdint.h>

#define REPS_RING_MAX 256

struct reps_options {
	uint32_t ring;      /* paths that are remembered, 1..REPS_RING_MAX */
	uint64_t freeze_ps; /* after a timeout only these are taken, for so long; 0: it is off */
};

#endif
