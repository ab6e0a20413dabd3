/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_QUANTITY_H
#define FABRICBED_QUANTITY_H

#include <stdint.h>

/* Bytes; or what the topology turns into bytes: a share of its BDP, or a time at a link's rate. */
enum quantity_unit { QUANTITY_BYTES, QUANTITY_BDP, QUANTITY_TIME, QUANTITY_AUTO };

struct quantity {
	double value; /* bytes; the share (0.25 for "25% BDP"); picoseconds; not used */
	enum quantity_unit unit;
};

/*
 * The latest moment of model time in a scenario, 26 days. Spans end at ten, so that what is done to
 * a live fabric in its first sixteen days can be saved.
 */
#define MOMENT_MAX 2246400000000000000ull

#endif
