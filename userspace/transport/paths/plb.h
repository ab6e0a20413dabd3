/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PLB_H
#define FABRICBED_PLB_H

#include <stdint.h>

struct plb_options {
	uint32_t packets; /* answers to packets of a path after which it is looked at, at least 1 */
	double marked;    /* share of bad ones at which it is left, 0..1 */
};

#endif
