/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PLOT_H
#define FABRICBED_PLOT_H

/* Pictures of tables, drawn by gnuplot. */
#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

enum plot_kind {
	PLOT_LINES,  /* points joined in their order, in a band from low to high */
	PLOT_POINTS, /* points that nothing joins, with error bars */
	PLOT_BARS,   /* grouped by x: words in their order, or numbers by size; with error bars */
	PLOT_CDF,    /* the share of a series' x, from 0 to 1, that is at most so much */
};

/*
 * A point that cannot be drawn, because a number is not finite or is not above 0 on a logarithmic
 * axis, is a gap.
 */
struct plot_point {
	double x, y;       /* y: unused by PLOT_CDF */
	double low, high;  /* of the band or error bar; low = high = y: none */
	const char *label; /* of bars: x is this word; NULL: the number x */
};

struct plot_series {
	const char *name; /* in the legend; NULL or "": not there */
	const struct plot_point *points;
	size_t count;
};

struct plot {
	enum plot_kind kind;
	const char *title, *x_label, *y_label; /* NULL or "": none */
	bool log_x;                            /* no meaning for PLOT_BARS */
	bool log_y;                            /* no meaning for PLOT_CDF */
	const struct plot_series *series;
	size_t series_count;
};

/* Whether a picture could be made there, before there is one. 0, or -EINVAL with why. */
int plot_check(const char *file, struct error *why);

/*
 * Draws into a file named NAME.svg or NAME.pdf, and leaves the script that draws it, data included,
 * beside it as NAME.gnuplot. The same plot is the same script and, of one gnuplot, the same SVG.
 * Both files replace earlier ones when they are whole. Texts appear letter by letter; bytes that
 * are not printable UTF-8 as '?'.
 *
 * 0, or -errno with why: -EINVAL, another name; -ENODATA, no point can be drawn; -ENOENT, there is
 * no gnuplot, and the script is there all the same; -EIO, gnuplot failed, or a file can't be
 * written; -ENOMEM.
 */
int plot_draw(const struct plot *p, const char *file, struct error *why);

#endif
