/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/statistics.h"

#include <math.h>
#include "base/numbers.h"

/*
 * The quantile 0.975 of Student's distribution: tabled up to 10 degrees of freedom, then the
 * expansion in 1/degrees around the normal's (Abramowitz and Stegun, 26.7.5), exact to 4 digits.
 */
static double student(size_t degrees)
{
	static const double table[] = {NAN, 12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818,
		2.4469119, 2.3646243, 2.3060041, 2.2621572, 2.2281389};
	const double x = 1.95996398, x3 = x * x * x, x5 = x3 * x * x, x7 = x5 * x * x;
	double v = (double)degrees;

	if (degrees < COUNT(table))
		return table[degrees];
	return x + (x3 + x) / 4 / v + (5 * x5 + 16 * x3 + 3 * x) / 96 / (v * v) +
	       (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / 384 / (v * v * v);
}

struct statistics statistics_of(const double *values, size_t count)
{
	struct statistics s = {count, NAN, NAN, NAN, NAN};
	double squares = 0;

	if (!count)
		return s;
	s.mean = 0;
	s.min = s.max = values[0];
	for (size_t i = 0; i < count; i++) {
		s.mean += values[i] - values[0];
		s.min = fmin(s.min, values[i]);
		s.max = fmax(s.max, values[i]);
	}
	/* from the first on: the mean of equal numbers is that number */
	s.mean = values[0] + s.mean / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	if (count > 1)
		s.confidence =
			student(count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
	return s;
}
