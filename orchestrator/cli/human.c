/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/human.h"

#include <math.h>
#include <stdio.h>
#include "base/numbers.h"

struct unit {
	double size;
	const char *name;
};

/* The largest unit of which there is one at least; of the smallest there may be less. Ends with the smallest. */
static const char *put(char buf[HUMAN_TEXT], double value, const struct unit *units, int count)
{
	int i = 0, decimals;
	double number;

	/* what would be printed as 1000.0 is 1.000 of the next unit */
	while (i < count - 1 && fabs(value) < 0.99995 * units[i].size)
		i++;
	number = value / units[i].size;
	decimals = fabs(number) >= 99.995 ? 1 : fabs(number) >= 9.9995 ? 2 : 3;
	if (number == nearbyint(number))
		decimals = 0;
	snprintf(buf, HUMAN_TEXT, "%.*f %s", decimals, number, units[i].name);
	return buf;
}

const char *human_time(char buf[HUMAN_TEXT], double us)
{
	static const struct unit units[] = {{1e6, "s"}, {1e3, "ms"}, {1, "us"}};

	return put(buf, us, units, (int)COUNT(units));
}

const char *human_bytes(char buf[HUMAN_TEXT], double n)
{
	static const struct unit units[] = {
		{1024.0 * 1024 * 1024, "GB"}, {1024.0 * 1024, "MB"}, {1024, "KB"}, {1, "B"}};

	return put(buf, n, units, (int)COUNT(units));
}

const char *human_rate(char buf[HUMAN_TEXT], double gbps)
{
	static const struct unit units[] = {
		{1e3, "Tbps"}, {1, "Gbps"}, {1e-3, "Mbps"}, {1e-6, "Kbps"}, {1e-9, "bps"}};

	return put(buf, gbps, units, (int)COUNT(units));
}
