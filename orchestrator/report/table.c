/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/strbuf.h"
#include "report/layout.h"

#define DECIMALS_MAX 3 /* of a unit; of a thousand times it three more */
#define TITLE        64

struct column {
	const char *key;
	char title[TITLE];
	enum number_format format; /* where there is little room */
	int width, decimals, decimals_max;
	bool numeric; /* all of it that is not null */
	bool idle;    /* nothing but naught and nothing */
	bool hidden;
	double scale; /* of the key's unit; what is printed is divided by it */
};

/* ---- columns ---- */

/* What a key's ending says of its numbers. */
struct unit {
	const char *ending;
	enum number_format format;
	int decimals; /* at most, of the unit itself */
	/* the first that leaves at least `from` of the largest number, or the last */
	struct {
		const char *name;
		double scale, from;
	} names[4];
};

static const struct unit units[] = {
	{"_us", NUMBER_TIME, DECIMALS_MAX, {{"s", 1e6, 10}, {"ms", 1e3, 10}, {"us", 1, 0}}},
	{"_gbps", NUMBER_GBPS, DECIMALS_MAX, {{"Gbps", 1, 1}, {"Mbps", 1e-3, 0}}},
	{"_bytes", NUMBER_BYTES, DECIMALS_MAX, {{"bytes", 1, 0}}},
	{"_percent", NUMBER_PERCENT, 1, {{"%", 1, 0}}},
	{"_per_s", NUMBER_SCALED, 1, {{NULL, 1, 0}}},
};

static const struct unit *unit_of(const char *key)
{
	size_t length = strlen(key);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t end = strlen(units[i].ending);

		if (length > end && !strcmp(key + length - end, units[i].ending))
			return &units[i];
	}
	return NULL;
}

/*
 * "max_depth_bytes" is "max depth [bytes]"; without the unit, where each number has its own, "max
 * depth".
 */
static void write_title(struct column *c, const char *unit_name)
{
	const struct unit *u = unit_of(c->key);
	size_t length = strlen(c->key) - (u && u->names[0].name ? strlen(u->ending) : 0);
	struct strbuf b = STRBUF(c->title);

	strbuf_add(&b, "%.*s", (int)length, c->key);
	for (char *p = c->title; *p; p++)
		if (*p == '_')
			*p = ' ';
	if (unit_name)
		strbuf_add(&b, " [%s]", unit_name);
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

/* By the largest number; of a key that names a unit that one, or one that suits it better. */
static void choose_unit(struct column *c, double most)
{
	const struct unit *u = unit_of(c->key);
	size_t i = 0;

	c->scale = 1;
	c->format = c->numeric ? NUMBER_WHOLE : NUMBER_NONE;
	c->decimals_max = DECIMALS_MAX;
	if (u) {
		while (most < u->names[i].from * u->names[i].scale)
			i++;
		c->scale = u->names[i].scale;
		c->format = c->numeric ? u->format : NUMBER_NONE;
		c->decimals_max = c->scale != 1 ? 2 * u->decimals : u->decimals;
	}
	write_title(c, u ? u->names[i].name : NULL);
}

static int put_cell(FILE *f, const json_t *value, const struct column *c)
{
	double number = json_number_value(value) / c->scale;
	int decimals = c->numeric ? c->decimals : layout_decimals(number, c->decimals_max);
	char text[400];
	int n;

	if (!json_is_number(value))
		return layout_put(f, value);
	if (json_is_integer(value) && c->scale == 1 && !decimals)
		n = snprintf(
			text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		n = snprintf(text, sizeof(text), "%.*f", decimals, number);
	if (f)
		fputs(text, f);
	return n;
}

/* texts: the key is the title. */
static void read_column(struct column *c, const json_t *rows, bool texts)
{
	size_t i, numbers = 0, others = 0;
	const json_t *row, *value;
	double most = 0;

	c->idle = true;
	json_array_foreach(rows, i, row)
	{
		value = json_object_get(row, c->key);
		c->idle &= is_idle(value);
		numbers += json_is_number(value);
		others += value && !json_is_number(value) && !json_is_null(value);
		most = fmax(most, fabs(json_number_value(value)));
	}
	c->numeric = numbers && !others;
	choose_unit(c, most);
	if (texts)
		snprintf(c->title, sizeof(c->title), "%s", c->key);
	json_array_foreach(rows, i, row)
	{
		double number = json_number_value(json_object_get(row, c->key)) / c->scale;
		int decimals = layout_decimals(number, c->decimals_max);

		c->decimals = decimals > c->decimals ? decimals : c->decimals;
	}
	c->width = (int)strlen(c->title);
	json_array_foreach(rows, i, row)
	{
		int width = put_cell(NULL, json_object_get(row, c->key), c);

		c->width = width > c->width ? width : c->width;
	}
}

/* NULL: no memory, or no rows. */
static struct column *read_columns(const json_t *rows, bool texts, size_t *ret_count)
{
	const json_t *first = json_array_get(rows, 0), *value;
	struct column *columns = calloc(json_object_size(first) + 1, sizeof(*columns));
	const char *key;

	*ret_count = 0;
	json_object_foreach((json_t *)first, key, value)
	{
		if (!columns)
			break;
		columns[*ret_count].key = key;
		read_column(&columns[(*ret_count)++], rows, texts);
	}
	return columns;
}

static int width_of(const struct column *columns, size_t count)
{
	int width = -2;

	for (size_t i = 0; i < count; i++)
		if (!columns[i].hidden)
			width += columns[i].width + 2;
	return width;
}

/* ---- where there is room ---- */

/* Two blanks between columns, none at the end of a line. row NULL: the header. */
static void print_line(FILE *f, const struct column *columns, size_t count, const json_t *row)
{
	int pad = 0;

	for (size_t i = 0; i < count; i++) {
		const struct column *c = &columns[i];
		const json_t *value = row ? json_object_get(row, c->key) : NULL;
		int width = row ? put_cell(NULL, value, c) : (int)strlen(c->title);

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
			fputs(c->title, f);
		pad += 2 + (c->numeric ? 0 : c->width - width);
	}
	putc('\n', f);
}

static void print_wide(FILE *f, const struct column *columns, size_t count, const json_t *rows)
{
	const json_t *row;
	size_t i;

	print_line(f, columns, count, NULL);
	json_array_foreach(rows, i, row) print_line(f, columns, count, row);
}

/* ---- where there is little: numbers get three digits and a unit, and columns are left out ---- */

/*
 * What names or locates something once more goes before what was measured; else the last go first.
 */
static unsigned rank_of(const char *key, size_t index)
{
	static const char *const dispensable[] = {"link", "netns", "ip6", "rx_frames", "delay_us",
		"since", "pid", "ip4", "tx_frames", "results"};

	for (unsigned i = 0; i < sizeof(dispensable) / sizeof(dispensable[0]); i++)
		if (index && !strcmp(key, dispensable[i]))
			return LAYOUT_RANK_MAX - i;
	return (unsigned)index;
}

static void print_narrow_line(
	FILE *f, const struct layout *l, const struct layout_column *columns, const json_t *row)
{
	char cell[LAYOUT_CELL];
	int pad = 0;

	for (size_t i = 0; i < l->count; i++) {
		const struct layout_column *c = &columns[l->fields[i].column];
		int width = l->fields[i].width, length;

		if (row)
			layout_cell(cell, c, json_object_get(row, c->key), width);
		else
			layout_title(cell, c, width);
		for (length = (int)strlen(cell); length && cell[length - 1] == ' ';)
			length--;
		if (length)
			fprintf(f, "%*s%.*s", pad, "", length, cell);
		pad = l->gap + (length ? 0 : pad) + width - length;
	}
	putc('\n', f);
}

static void print_narrow(
	FILE *f, struct column *columns, size_t count, const json_t *rows, int width)
{
	struct layout_column shown[LAYOUT_COLUMNS_MAX];
	struct column *of[LAYOUT_COLUMNS_MAX];
	size_t n = 0, i;
	struct layout l;
	const json_t *row;

	for (i = 0; i < count && n < LAYOUT_COLUMNS_MAX; i++) {
		struct column *c = &columns[i];

		if (c->hidden)
			continue;
		if (c->numeric)
			write_title(c, NULL);
		of[n] = c;
		shown[n++] =
			(struct layout_column){c->key, c->title, c->format, rank_of(c->key, i)};
		c->hidden = true;
	}
	layout_make(&l, shown, n, rows, width, 0, false);
	l.gap = l.gap > 2 ? 2 : l.gap; /* as where there is room */
	for (i = 0; i < l.count; i++)
		of[l.fields[i].column]->hidden = false;
	print_narrow_line(f, &l, shown, NULL);
	json_array_foreach(rows, i, row) print_narrow_line(f, &l, shown, row);
}

/* Goes on in another line where the width, if there is one, is used up. */
static void list_hidden(FILE *f, const struct column *columns, size_t count, bool idle, int width)
{
	const char *between = idle ? "not shown, all 0 or empty: "
				   : "not shown, for want of room (--json has it): ";
	int at = 0;

	for (size_t i = 0; i < count; i++) {
		int length = (int)(strlen(between) + strlen(columns[i].key));

		if (!columns[i].hidden || columns[i].idle != idle)
			continue;
		if (width && at && at + length >= width) {
			between = ",\n  ";
			at = 0;
		}
		at += fprintf(f, "%s", between);
		for (const char *p = columns[i].key; *p; p++, at++)
			putc(*p == '_' ? ' ' : *p, f);
		between = ", ";
	}
	if (at)
		putc('\n', f);
}

int table_print(const json_t *rows, FILE *f, int width)
{
	size_t count;
	struct column *columns = read_columns(rows, false, &count);

	if (!columns)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++)
		columns[i].hidden = width && columns[i].idle;
	if (count && (!width || width_of(columns, count) <= width))
		print_wide(f, columns, count, rows);
	else if (count)
		print_narrow(f, columns, count, rows, width);
	list_hidden(f, columns, count, true, width);
	list_hidden(f, columns, count, false, width);
	free(columns);
	return 0;
}

int table_print_texts(const json_t *rows, FILE *f, int width)
{
	size_t count, to;
	struct column *columns = read_columns(rows, true, &count);

	if (!columns)
		return -ENOMEM;
	for (size_t from = 1; from < count; from = to) {
		for (size_t i = 1; i < count; i++)
			columns[i].hidden = true;
		for (to = from; to < count; to++) {
			columns[to].hidden = false;
			if (to > from && width && width_of(columns, count) > width) {
				columns[to].hidden = true;
				break;
			}
		}
		print_wide(f, columns, count, rows);
		if (to < count)
			putc('\n', f);
	}
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
