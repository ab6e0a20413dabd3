/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_HEADER_H
#define FABRICBED_TOP_HEADER_H

/* The lines above the table: what `status` says of the fabric as a whole. */
#include "cli/top_model.h"

enum top_tone { TOP_PLAIN, TOP_GOOD, TOP_BAD };

struct top_line {
	char text[512];
	enum top_tone tone;
};

#define TOP_HEADER_LINES 5

/* From two answers to `status`; what is not known of the fabric stays out. */
void top_header_make(struct top_line lines[TOP_HEADER_LINES], const struct top_pair *status);

#endif
