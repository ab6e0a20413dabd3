/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/number_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"

const char *number_text(char buf[NUMBER_TEXT], double value)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buf, NUMBER_TEXT, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}

/* The product is taken to more digits than a double has, and a percentage has at most 18 digits behind its point. */
const char *percent_text(char buf[NUMBER_TEXT], double share)
{
	double again;

	for (int digits = 0; digits <= 18; digits++) {
		snprintf(buf, NUMBER_TEXT, "%.*Lf%%", digits, (long double)share * 100);
		if (!parse_percent(buf, &again) && again == share)
			break;
	}
	return buf;
}

const char *chance_text(char buf[NUMBER_TEXT], double chance)
{
	return chance >= 1e-4 && strlen(percent_text(buf, chance)) <= 6 ? buf
									: number_text(buf, chance);
}
