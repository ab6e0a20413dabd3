/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "report/number.h"

#define DECIMALS_MAX 3 /* of a unit; of a thousand times it three more */
#define US_PER_MS    1e3
#define US_PER_S     1e6

struct column {
	const char *key;
	int width;
	int decimals;
	bool numeric; /* all of it that is not null */
	bool idle;    /* nothing but naught and nothing */
	bool narrow;  /* numbers of three digits and a unit each */
	bool hidden;
	double scale; /* of the key's unit; what is printed is divided by it */
	const char *unit;
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

/* How many decimals it takes to print a value as it is, up to so many. */
static int decimals_needed(double value, int most)
{
	double scale = 1;
	int n = 0;

	while (n < most && fabs(value * scale - nearbyint(value * scale)) > 1e-6) {
		scale *= 10;
		n++;
	}
	return n;
}

static int decimals_of(const json_t *number)
{
	return json_is_integer(number) ? 0
				       : decimals_needed(json_number_value(number), DECIMALS_MAX);
}

static bool ends_with(const char *key, const char *suffix)
{
	size_t length = strlen(key), end = strlen(suffix);

	return length > end && !strcmp(key + length - end, suffix);
}

/* Three digits and a unit. */
static int put_narrow(FILE *f, const struct column *c, double value)
{
	enum number_format format = NUMBER_WHOLE;
	char text[NUMBER_TEXT];

	if (ends_with(c->key, "_us"))
		format = NUMBER_TIME;
	else if (ends_with(c->key, "_bytes"))
		format = NUMBER_BYTES;
	else if (ends_with(c->key, "_gbps"))
		format = NUMBER_SCALED;
	if (ends_with(c->key, "_gbps"))
		value *= 1e9;
	return put(f, "%s", number_short(text, format, value));
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
	if (json_is_number(value) && c->narrow)
		return put_narrow(f, c, json_number_value(value));
	if (json_is_number(value) && c->scale != 1)
		return put(f, "%.*f", c->decimals, json_number_value(value) / c->scale);
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

/* "max_depth_bytes" is "max depth [bytes]"; where each number has its unit, "max depth". */
static int put_header(FILE *f, const struct column *c)
{
	size_t length = strlen(c->key) - (c->unit ? strlen(strrchr(c->key, '_')) : 0);
	int n = 0;

	for (size_t i = 0; i < length; i++)
		n += put(f, "%c", c->key[i] == '_' ? ' ' : c->key[i]);
	return c->unit && !c->narrow ? n + put(f, " [%s]", c->unit) : n;
}

/* ---- columns ---- */

/* Of a key that names a unit: that one, or one that suits the largest number better. */
static void choose_unit(struct column *c, double most)
{
	c->scale = 1;
	if (ends_with(c->key, "_bytes")) {
		c->unit = "bytes";
	} else if (ends_with(c->key, "_gbps")) {
		c->scale = most < 1 ? 1e-3 : 1;
		c->unit = most < 1 ? "Mbps" : "Gbps";
	} else if (ends_with(c->key, "_us")) {
		c->scale = most >= 10 * US_PER_S    ? US_PER_S
			   : most >= 10 * US_PER_MS ? US_PER_MS
						    : 1;
		c->unit = c->scale == US_PER_S ? "s" : c->scale == US_PER_MS ? "ms" : "us";
	}
}

static bool is_idle(const json_t *value)
{
	const json_t *count;
	const char *key;

	json_object_foreach((json_t *)value, key, count)
	{
		if (json_integer_value(count))
			return false;
	}
	return !value || json_is_null(value) || json_is_false(value) || json_is_object(value) ||
	       (json_is_number(value) && json_number_value(value) == 0) ||
	       (json_is_array(value) && !json_array_size(value)) ||
	       (json_is_string(value) && !*json_string_value(value));
}

static void read_column(struct column *c, const json_t *rows)
{
	const json_t *row, *value;
	size_t i, numbers = 0, others = 0;
	double most = 0;
	int decimals;

	c->idle = true;
	json_array_foreach(rows, i, row)
	{
		value = json_object_get(row, c->key);
		c->idle &= is_idle(value);
		if (json_is_number(value)) {
			numbers++;
			if (fabs(json_number_value(value)) > most)
				most = fabs(json_number_value(value));
		} else if (value && !json_is_null(value)) {
			others++;
		}
	}
	c->numeric = numbers && !others;
	choose_unit(c, most);
	json_array_foreach(rows, i, row)
	{
		value = json_object_get(row, c->key);
		decimals = c->scale == 1 ? decimals_of(value)
					 : decimals_needed(json_number_value(value) / c->scale,
						   2 * DECIMALS_MAX);
		if (json_is_number(value) && decimals > c->decimals)
			c->decimals = decimals;
	}
}

static void measure_column(struct column *c, const json_t *rows)
{
	const json_t *row;
	size_t i;
	int width;

	c->width = put_header(NULL, c);
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
		int width = row ? put_cell(NULL, value, c) : put_header(NULL, c);

		if (c->hidden)
			continue;
		if (c->numeric)
			pad += c->width - width;
		if (width) {
			fprintf(f, "%*s", pad, "");
			pad = 0;
		}
		if (row)
			put_cell(f, value, c);
		else
			put_header(f, c);
		pad += 2 + (c->numeric ? 0 : c->width - width);
	}
	putc('\n', f);
}

static int width_of(const struct column *columns, size_t count)
{
	int width = -2;

	for (size_t i = 0; i < count; i++)
		if (!columns[i].hidden)
			width += columns[i].width + 2;
	return width;
}

/* What names or locates something once more goes before what was measured. */
static void hide_dispensable(struct column *columns, size_t count, int width)
{
	static const char *const keys[] = {"link", "netns", "ip6", "rx_frames", "delay_us", "since",
		"pid", "ip4", "tx_frames", "results"};

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		for (size_t i = 1; i < count && width_of(columns, count) > width; i++)
			if (!strcmp(columns[i].key, keys[k]))
				columns[i].hidden = true;
}

/* Makes it no wider than the terminal: first goes what says nothing, then digits, then whole columns. */
static void fit(struct column *columns, size_t count, const json_t *rows, int width)
{
	for (size_t i = 1; i < count; i++)
		columns[i].hidden = columns[i].idle;
	if (width_of(columns, count) <= width)
		return;
	for (size_t i = 1; i < count; i++) {
		columns[i].narrow = columns[i].numeric;
		measure_column(&columns[i], rows);
	}
	hide_dispensable(columns, count, width);
	for (size_t i = count; i-- > 1 && width_of(columns, count) > width;)
		columns[i].hidden = true;
}

static void list_hidden(FILE *f, const struct column *columns, size_t count, bool idle)
{
	const char *between = idle ? "not shown, all 0 or empty: "
				   : "not shown, for want of room (--json has it): ";

	for (size_t i = 0; i < count; i++) {
		if (!columns[i].hidden || columns[i].idle != idle)
			continue;
		fputs(between, f);
		for (const char *p = columns[i].key; *p; p++)
			putc(*p == '_' ? ' ' : *p, f);
		between = ", ";
	}
	if (*between == ',')
		putc('\n', f);
}

int table_print(const json_t *rows, FILE *f, int width)
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
		read_column(&columns[i], rows);
		measure_column(&columns[i++], rows);
	}
	if (width && width_of(columns, count) > width)
		fit(columns, count, rows, width);
	print_line(f, columns, count, NULL);
	json_array_foreach(rows, i, row) print_line(f, columns, count, row);
	list_hidden(f, columns, count, true);
	list_hidden(f, columns, count, false);
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
