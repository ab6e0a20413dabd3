/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct unit {
	double size;
	const char *name;
};

/*
 * The largest unit of which there is one at least; of the smallest there may be less. Ends with the
 * smallest.
 */
static const char *put(char buf[NUMBER_TEXT], double value, const struct unit *units, int count)
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
	snprintf(buf, NUMBER_TEXT, "%.*f %s", decimals, number, units[i].name);
	return buf;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

const char *number_time(char buf[NUMBER_TEXT], double us)
{
	static const struct unit units[] = {{1e6, "s"}, {1e3, "ms"}, {1, "us"}};

	return put(buf, us, units, COUNT(units));
}

const char *number_bytes(char buf[NUMBER_TEXT], double n)
{
	static const struct unit units[] = {
		{1024.0 * 1024 * 1024, "GB"}, {1024.0 * 1024, "MB"}, {1024, "KB"}, {1, "B"}};

	return put(buf, n, units, COUNT(units));
}

const char *number_rate(char buf[NUMBER_TEXT], double gbps)
{
	static const struct unit units[] = {
		{1e3, "Tbps"}, {1, "Gbps"}, {1e-3, "Mbps"}, {1e-6, "Kbps"}, {1e-9, "bps"}};

	return put(buf, gbps, units, COUNT(units));
}

const char *number_moment(char buf[NUMBER_TEXT], const json_t *us)
{
	double value = json_number_value(us);
	double scale = fabs(value) >= 1e6 ? 1e6 : fabs(value) >= 1e3 ? 1e3 : 1;
	char *end;

	if (!json_is_number(us)) {
		snprintf(buf, NUMBER_TEXT, "?");
		return buf;
	}
	snprintf(buf, NUMBER_TEXT - 4, "%.*f", scale == 1 ? 3 : 6, value / scale);
	if (strchr(buf, '.')) {
		for (end = buf + strlen(buf); end[-1] == '0'; end--)
			end[-1] = 0;
		if (end[-1] == '.')
			end[-1] = 0;
	}
	strcat(buf, scale == 1e6 ? " s" : scale == 1e3 ? " ms" : " us");
	return buf;
}

/* Three digits and a unit. */
static void write_scaled(char buf[NUMBER_TEXT], double number, double base, const char *units)
{
	size_t unit = 0;

	for (; number >= 999.5 && units[unit + 1]; unit++)
		number /= base;
	if (number < 0.005)
		snprintf(buf, NUMBER_TEXT, "0");
	else if (unit == 0 && number == floor(number))
		snprintf(buf, NUMBER_TEXT, "%.0f", number);
	else if (unit == 0)
		snprintf(buf, NUMBER_TEXT, "%.*f", number < 9.995 ? 2 : number < 99.95, number);
	else
		snprintf(buf, NUMBER_TEXT, "%.*f%c", number < 9.995 ? 2 : number < 99.95, number,
			units[unit]);
}

static void write_time(char buf[NUMBER_TEXT], double us)
{
	static const struct {
		double us;
		const char *name;
	} units[] = {{1e6, "s"}, {1e3, "ms"}, {1, "us"}};
	size_t i = 0;
	double number;

	if (us == 0) {
		snprintf(buf, NUMBER_TEXT, "0");
		return;
	}
	while (i < 2 && us < units[i].us * 0.9995)
		i++;
	number = us / units[i].us;
	snprintf(buf, NUMBER_TEXT, "%.*f%s",
		number == floor(number) ? 0
		: number < 9.995        ? 2
		: number < 99.95        ? 1
					: 0,
		number, units[i].name);
}

const char *number_short(char buf[NUMBER_TEXT], enum number_format format, double number)
{
	if (isnan(number))
		snprintf(buf, NUMBER_TEXT, "-");
	else if (format == NUMBER_PERCENT)
		snprintf(buf, NUMBER_TEXT, number < 0.05 ? "0" : "%.1f", number);
	else if (format == NUMBER_BYTES)
		write_scaled(buf, number, 1024, " KMGTP");
	else if (format == NUMBER_TIME)
		write_time(buf, number);
	else if (format == NUMBER_GBPS)
		write_scaled(buf, 1e9 * number, 1000, " kMGTPE");
	else if (format == NUMBER_WHOLE && number < 1e6)
		snprintf(buf, NUMBER_TEXT, "%.0f", number);
	else
		write_scaled(buf, number, 1000, " kMGTPE");
	return buf;
}
