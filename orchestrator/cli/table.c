/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DECIMALS_MAX 3
#define US_PER_S     1e6

struct column {
	const char *key;
	int width;
	int decimals;
	bool numeric; /* all of it that is not null */
};

/* What it prints takes so many columns; without f it only counts them. */
__attribute__((format(printf, 2, 3))) static int put(FILE *f, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = f ? vfprintf(f, format, ap) : vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	return n > 0 ? n : 0;
}

/* ---- cells ---- */

/* How many decimals, up to DECIMALS_MAX, it takes to print the number as it is. */
static int decimals_of(const json_t *number)
{
	double value = json_number_value(number), scale = 1;
	int n = 0;

	if (json_is_integer(number))
		return 0;
	while (n < DECIMALS_MAX && fabs(value * scale - nearbyint(value * scale)) > 1e-6) {
		scale *= 10;
		n++;
	}
	return n;
}

static int put_number(FILE *f, const json_t *number, int decimals)
{
	if (json_is_integer(number) && !decimals)
		return put(f, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
	return put(f, "%.*f", decimals, json_number_value(number));
}

/* "7: buffer 5, link_down 2"; of one reason just that. */
static int put_counts(FILE *f, const json_t *counts)
{
	const json_t *value;
	const char *reason;
	json_int_t sum = 0;
	size_t reasons = 0;
	int n = 0;

	json_object_foreach((json_t *)counts, reason, value)
	{
		sum += json_integer_value(value);
		reasons += json_integer_value(value) != 0;
	}
	if (reasons != 1)
		n += put(f, "%" JSON_INTEGER_FORMAT "%s", sum, reasons ? ": " : "");
	json_object_foreach((json_t *)counts, reason, value)
	{
		if (!json_integer_value(value))
			continue;
		n += put(f, "%s %" JSON_INTEGER_FORMAT "%s", reason, json_integer_value(value),
			--reasons ? ", " : "");
	}
	return n;
}

static int put_list(FILE *f, const json_t *list)
{
	const json_t *item;
	size_t i;
	int n = 0;

	json_array_foreach(list, i, item)
	{
		n += put(f, "%s", i ? " " : "");
		if (json_is_number(item))
			n += put_number(f, item, decimals_of(item));
		else
			n += put(f, "%s", json_is_string(item) ? json_string_value(item) : "?");
	}
	return n;
}

static int put_cell(FILE *f, const json_t *value, const struct column *c)
{
	if (json_is_number(value))
		return put_number(f, value, c->numeric ? c->decimals : decimals_of(value));
	if (json_is_string(value))
		return put(f, "%s", json_string_value(value));
	if (json_is_boolean(value))
		return put(f, "%s", json_is_true(value) ? "yes" : "no");
	if (json_is_object(value))
		return put_counts(f, value);
	if (json_is_array(value))
		return put_list(f, value);
	return put(f, "-");
}

/* "max_depth_bytes" is "max depth [bytes]". */
static int put_header(FILE *f, const char *key)
{
	static const char *const units[][2] = {
		{"_us", "us"}, {"_bytes", "bytes"}, {"_gbps", "Gbps"}};
	size_t length = strlen(key);
	const char *unit = NULL;
	int n = 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t suffix = strlen(units[i][0]);

		if (length <= suffix || strcmp(key + length - suffix, units[i][0]))
			continue;
		length -= suffix;
		unit = units[i][1];
		break;
	}
	for (size_t i = 0; i < length; i++)
		n += put(f, "%c", key[i] == '_' ? ' ' : key[i]);
	return unit ? n + put(f, " [%s]", unit) : n;
}

/* ---- columns ---- */

static void measure_column(struct column *c, const json_t *rows)
{
	const json_t *row, *value;
	size_t i, numbers = 0, others = 0;
	int width;

	json_array_foreach(rows, i, row)
	{
		value = json_object_get(row, c->key);
		if (json_is_number(value)) {
			numbers++;
			if (decimals_of(value) > c->decimals)
				c->decimals = decimals_of(value);
		} else if (value && !json_is_null(value)) {
			others++;
		}
	}
	c->numeric = numbers && !others;
	c->width = put_header(NULL, c->key);
	json_array_foreach(rows, i, row)
	{
		width = put_cell(NULL, json_object_get(row, c->key), c);
		if (width > c->width)
			c->width = width;
	}
}

/* Two blanks between columns, none at the end of a line. row NULL: the header. */
static void print_line(FILE *f, const struct column *columns, size_t count, const json_t *row)
{
	int pad = 0;

	for (size_t i = 0; i < count; i++) {
		const struct column *c = &columns[i];
		const json_t *value = row ? json_object_get(row, c->key) : NULL;
		int width = row ? put_cell(NULL, value, c) : put_header(NULL, c->key);

		if (c->numeric)
			pad += c->width - width;
		if (width) {
			fprintf(f, "%*s", pad, "");
			pad = 0;
		}
		if (row)
			put_cell(f, value, c);
		else
			put_header(f, c->key);
		pad += 2 + (c->numeric ? 0 : c->width - width);
	}
	putc('\n', f);
}

int table_print(const json_t *rows, FILE *f)
{
	const json_t *first = json_array_get(rows, 0), *row, *value;
	size_t count = json_object_size(first), i = 0;
	struct column *columns;
	const char *key;

	if (!count)
		return 0;
	columns = calloc(count, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	json_object_foreach((json_t *)first, key, value)
	{
		columns[i].key = key;
		measure_column(&columns[i++], rows);
	}
	print_line(f, columns, count, NULL);
	json_array_foreach(rows, i, row) print_line(f, columns, count, row);
	free(columns);
	return 0;
}

/* ---- what else there is to print ---- */

static int flatten_into(json_t *rows, const json_t *object, const char *prefix)
{
	const json_t *value;
	const char *key;
	char *metric;
	int r = 0;

	json_object_foreach((json_t *)object, key, value)
	{
		if (r < 0 || asprintf(&metric, "%s%s%s", prefix, *prefix ? "." : "", key) < 0)
			return -1;
		if (json_is_object(value))
			r = flatten_into(rows, value, metric);
		else if (!json_is_array(value))
			r = json_array_append_new(
				rows, json_pack("{s:s, s:O}", "metric", metric, "value", value));
		free(metric);
	}
	return r;
}

json_t *table_flatten(const json_t *object)
{
	json_t *rows = json_array();

	if (!rows || flatten_into(rows, object, "") < 0) {
		json_decref(rows);
		return NULL;
	}
	return rows;
}

void table_json(const json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
}

const char *table_time(char buf[TABLE_TIME], const json_t *us)
{
	double value = json_number_value(us);
	bool seconds = fabs(value) >= US_PER_S;
	char *end;

	if (!json_is_number(us)) {
		snprintf(buf, TABLE_TIME, "?");
		return buf;
	}
	snprintf(buf, TABLE_TIME - 4, "%.*f", seconds ? 6 : DECIMALS_MAX,
		seconds ? value / US_PER_S : value);
	if (strchr(buf, '.')) {
		for (end = buf + strlen(buf); end[-1] == '0'; end--)
			end[-1] = 0;
		if (end[-1] == '.')
			end[-1] = 0;
	}
	strcat(buf, seconds ? " s" : " us");
	return buf;
}
