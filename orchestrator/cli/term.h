/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TERM_H
#define FABRICBED_TERM_H

/* What standard output can show. */
#include <stdbool.h>

/* Whether the user wants no colour: NO_COLOR is set and not empty (no-color.org). */
bool term_no_colour(void);

/* The escape sequences for red, and for its end; both "" without colour. */
const char *term_red(void);
const char *term_plain(void);

/* Columns of the terminal; 0: it is none, and lines may be as long as they like. */
int term_width(void);

#endif
