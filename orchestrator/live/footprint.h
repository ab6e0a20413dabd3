/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FOOTPRINT_H
#define FABRICBED_FOOTPRINT_H

/* The memory that a run's process will need, foreseen without needing it. */
#include "scenario/scenario.h"
#include "topology/fabric.h"
#include "workload/workload.h"

/* Bytes at the peak of a run of these messages, `packets` in all, on the inline dataplane. */
uint64_t footprint_bytes(const struct scenario *s, const struct fabric *f, const struct messages *m,
	uint64_t packets);

#endif
