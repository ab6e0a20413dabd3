/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STATISTICS_H
#define FABRICBED_STATISTICS_H

/* Of a few values: mean, confidence, range. */
#include <stddef.h>

struct statistics {
	size_t count;
	double mean, min, max; /* of none: NAN */
	double confidence; /* half of the mean's 95% confidence interval; below two values NAN */
};

/* The interval is Student's: t(n - 1) s / sqrt(n), which holds if the values are normal. */
struct statistics statistics_of(const double *values, size_t count);

#endif
