/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/numbers.h"

struct unit {
	const char *name;
	uint64_t size;
};

/* Each from the smallest unit to the largest; the first spelling of a size is printed. */
static const struct unit rate_units[] = {
	{"bps", 1},
	{"Kbps", 1000},
	{"Mbps", 1000000},
	{"Gbps", 1000000000},
	{"Tbps", 1000000000000},
};

static const struct unit time_units[] = {
	{"ps", 1},
	{"ns", PS_PER_NS},
	{"us", PS_PER_US},
	{"\xc2\xb5s", PS_PER_US}, /* U+00B5, micro sign */
	{"\xce\xbcs", PS_PER_US}, /* U+03BC, Greek mu */
	{"ms", PS_PER_MS},
	{"s", PS_PER_S},
};

static const struct unit byte_units[] = {
	{"B", 1},
	{"", 1},
	{"KB", 1ull << 10},
	{"KiB", 1ull << 10},
	{"MB", 1ull << 20},
	{"MiB", 1ull << 20},
	{"GB", 1ull << 30},
	{"GiB", 1ull << 30},
	{"TB", 1ull << 40},
	{"TiB", 1ull << 40},
};

/* A decimal number: whole + fraction / scale, without trailing zeros. */
struct decimal {
	bool negative;
	uint64_t whole, fraction, scale;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads "-12.50" and moves *text behind it and behind the spaces that follow. */
static int parse_decimal(const char **text, struct decimal *ret)
{
	struct decimal d = {.scale = 1};
	const char *p = *text, *end;
	bool too_large = false;

	if (*p == '-') {
		d.negative = true;
		p++;
	}
	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++)
		too_large |= __builtin_mul_overflow(d.whole, 10u, &d.whole) ||
			     __builtin_add_overflow(d.whole, (unsigned)(*p - '0'), &d.whole);
	if (*p == '.') {
		const char *first = ++p;

		if (!is_digit(*p))
			return -EINVAL;
		while (is_digit(*p))
			p++;
		for (end = p; end > first && end[-1] == '0';)
			end--;
		if (end - first > 18)
			return -EINVAL; /* finer than any unit here can be cut */
		for (; first < end; first++) {
			d.fraction = 10 * d.fraction + (uint64_t)(*first - '0');
			d.scale *= 10;
		}
	}
	while (*p == ' ')
		p++;
	*text = p;
	*ret = d;
	return too_large ? -ERANGE : 0;
}

static int parse_quantity(
	const char *text, const struct unit *units, size_t count, bool case_free, uint64_t *ret)
{
	unsigned __int128 part, sum;
	const struct unit *unit = NULL;
	struct decimal d;
	int r = parse_decimal(&text, &d);

	if (r == -EINVAL)
		return r;
	for (size_t i = 0; i < count && !unit; i++)
		if (!(case_free ? strcasecmp : strcmp)(text, units[i].name))
			unit = &units[i];
	if (!unit)
		return -EINVAL;
	if (r || d.negative)
		return -ERANGE;
	part = (unsigned __int128)d.fraction * unit->size;
	if (part % d.scale)
		return -EINVAL; /* not a whole number of the smallest unit */
	sum = (unsigned __int128)d.whole * unit->size + part / d.scale;
	if (sum > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)sum;
	return 0;
}

int parse_rate(const char *text, uint64_t *ret_bps)
{
	if (!strcmp(text, "0")) {
		*ret_bps = 0; /* nothing is nothing in any unit */
		return 0;
	}
	/* "GBps" would be bytes a second, eight times as much: refused. In capitals B is bit */
	if (strchr(text, 'B') && !strstr(text, "BPS"))
		return -EINVAL;
	return parse_quantity(text, rate_units, COUNT(rate_units), true, ret_bps);
}

int parse_time(const char *text, uint64_t *ret_ps)
{
	if (!strcmp(text, "0")) {
		*ret_ps = 0;
		return 0;
	}
	return parse_quantity(text, time_units, COUNT(time_units), false, ret_ps);
}

int parse_bytes(const char *text, uint64_t *ret_bytes)
{
	return parse_quantity(text, byte_units, COUNT(byte_units), true, ret_bytes);
}

int parse_percent(const char *text, double *ret_share)
{
	const char *number = text;
	char scaled[64];
	struct decimal d;
	size_t length;
	int r = parse_decimal(&text, &d);

	if (r == -EINVAL || strcmp(text, "%"))
		return -EINVAL;
	length = strspn(number, "-0123456789.");
	if (r || d.negative || length > sizeof(scaled) - 4)
		return -ERANGE;
	/* "e-2" and one rounding, where a division by 100 would be a second one. */
	snprintf(scaled, sizeof(scaled), "%.*se-2", (int)length, number);
	*ret_share = strtod(scaled, NULL);
	return 0;
}

/* Prints value / unit in full; false: it takes more than 20 digits behind the point. */
static bool format_exact(char *buf, uint64_t value, const struct unit *unit)
{
	uint64_t rest = value % unit->size;
	char digits[21];
	size_t n = 0;

	while (rest) {
		unsigned __int128 next = (unsigned __int128)rest * 10;

		if (n == sizeof(digits) - 1)
			return false;
		digits[n++] = (char)('0' + (int)(next / unit->size));
		rest = (uint64_t)(next % unit->size);
	}
	digits[n] = '\0';
	n = (size_t)snprintf(NULL, 0, "%llu%s%s%s", (unsigned long long)(value / unit->size),
		n ? "." : "", digits, unit->name);
	if (n >= UNITS_TEXT)
		return false;
	snprintf(buf, UNITS_TEXT, "%llu%s%s%s", (unsigned long long)(value / unit->size),
		*digits ? "." : "", digits, unit->name);
	return true;
}

/* The shortest text, the larger unit among equals. The smallest unit always fits. */
static const char *format_quantity(
	char *buf, uint64_t value, const struct unit *units, size_t count)
{
	char text[UNITS_TEXT];

	format_exact(buf, value, &units[0]);
	for (size_t i = 1; i < count && units[i].size <= value; i++) {
		if (units[i].size == units[i - 1].size)
			continue; /* another spelling */
		if (format_exact(text, value, &units[i]) && strlen(text) <= strlen(buf))
			strcpy(buf, text);
	}
	return buf;
}

const char *format_rate(char *buf, uint64_t bps)
{
	return format_quantity(buf, bps, rate_units, COUNT(rate_units));
}

const char *format_time(char *buf, uint64_t ps)
{
	return format_quantity(buf, ps, time_units, COUNT(time_units));
}

const char *format_bytes(char *buf, uint64_t bytes)
{
	return format_quantity(buf, bytes, byte_units, COUNT(byte_units));
}
