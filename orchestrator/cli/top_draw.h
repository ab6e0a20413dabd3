/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_DRAW_H
#define FABRICBED_TOP_DRAW_H

/* The screen, by curses, which has been started. */
#include "cli/top_model.h"
#include "cli/top_view.h"

struct top_picture {
	const struct top_pair *status;
	const struct top_pair *samples; /* of the view that is looked at */
	const char *alarm;              /* "" or what is wrong with the connection */
	const char *refusal;            /* "" or why there is no newer sample */
};

/* Pairs of colours, where the terminal has them. */
void top_draw_init(void);

/* Draws all, and sets how far the table is scrolled. Returns how many rows have room. */
size_t top_draw(struct top_look *l, const struct top_picture *p);

#endif
