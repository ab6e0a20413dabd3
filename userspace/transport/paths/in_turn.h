/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_IN_TURN_H
#define FABRICBED_IN_TURN_H

#include <stdint.h>

/* Of subflows, adaptive and oblivious. */
struct in_turn_options {
	uint32_t paths;       /* 1..STRACK_PATHS_MAX */
	uint32_t bitmap_rtts; /* adaptive: marks are forgotten after so many base RTTs; 0: never */
};

#endif
