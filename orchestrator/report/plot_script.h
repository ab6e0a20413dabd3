/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PLOT_SCRIPT_H
#define FABRICBED_PLOT_SCRIPT_H

/* What gnuplot reads to draw a plot. */
#include <stdio.h>
#include "report/plot.h"

/*
 * A script that draws into the file that is its first argument or, without one, into `picture` in
 * the folder where it is run; script: its own name, for those who read it. 0; -ENODATA: no point
 * can be drawn; -ENOMEM.
 */
int plot_script_write(const struct plot *p, const char *terminal, const char *script,
	const char *picture, FILE *f);

#endif
