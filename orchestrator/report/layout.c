/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/layout.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "base/clean.h"

/* Most that a text takes of a line before all columns have found their place. */
#define TEXT_WIDTH 24
/* What number_short() writes has hardly ever more letters. */
#define NUMBER_WIDTH 6

/* ---- what is no number */

__attribute__((format(printf, 2, 3))) static int put(FILE *f, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = f ? vfprintf(f, format, ap) : vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	return n > 0 ? n : 0;
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
		double number = json_number_value(item);

		n += put(f, "%s", i ? " " : "");
		if (json_is_number(item))
			n += put(f, "%.*f", layout_decimals(number, 3), number);
		else
			n += put(f, "%s", json_is_string(item) ? json_string_value(item) : "?");
	}
	return n;
}

int layout_put(FILE *f, const json_t *value)
{
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

int layout_decimals(double number, int most)
{
	double scale = 1;
	int n = 0;

	while (n < most && fabs(number * scale - nearbyint(number * scale)) > 1e-6) {
		scale *= 10;
		n++;
	}
	return n;
}

/* ---- cells */

static bool is_left(const struct layout_column *c)
{
	return c->format == NUMBER_NONE;
}

/* Cut or filled to the width. */
static const char *fit(char buf[LAYOUT_CELL], const char *text, bool left, int width)
{
	int length = (int)strlen(text);

	if (width == 0 || width >= LAYOUT_CELL)
		width = length;
	snprintf(buf, LAYOUT_CELL, left ? "%-*.*s" : "%*.*s", width, width, text);
	if (length > width && width > 1)
		buf[width - 1] = '~';
	return buf;
}

const char *layout_cell(
	char buf[LAYOUT_CELL], const struct layout_column *c, const json_t *value, int width)
{
	char text[LAYOUT_CELL] = "";
	FILE *f;

	if (json_is_number(value)) {
		number_short(text, c->format, json_number_value(value));
	} else if (json_is_string(value)) {
		snprintf(text, sizeof(text), "%s", json_string_value(value));
	} else {
		f = fmemopen(text, sizeof(text), "w");
		if (f) {
			layout_put(f, value);
			fclose(f);
		}
	}
	return fit(buf, clean_text(text), is_left(c), width);
}

const char *layout_title(char buf[LAYOUT_CELL], const struct layout_column *c, int width)
{
	return fit(buf, c->title, is_left(c), width);
}

/* ---- columns */

/* What the widest cell takes. */
static int widest(const struct layout_column *c, const json_t *rows, bool steady)
{
	size_t width = strlen(c->title), i;
	char buf[LAYOUT_CELL];
	const json_t *row;

	if (steady && !is_left(c))
		return width < NUMBER_WIDTH ? NUMBER_WIDTH : (int)width;
	json_array_foreach(rows, i, row)
	{
		size_t length = strlen(layout_cell(buf, c, json_object_get(row, c->key), 0));

		if (length > width)
			width = length;
	}
	return (int)width;
}

struct choice {
	int wide[LAYOUT_COLUMNS_MAX];    /* what it would take */
	int granted[LAYOUT_COLUMNS_MAX]; /* 0: left out */
	int left;
};

/* In the order of their ranks, the columns that still fit. */
static void choose(struct choice *c, const struct layout_column *columns, size_t count, size_t keep)
{
	for (unsigned rank = 0; rank <= LAYOUT_RANK_MAX; rank++) {
		for (size_t i = 0; i < count; i++) {
			bool must = columns[i].rank == 0 || i == keep;
			int want = c->wide[i] < TEXT_WIDTH ? c->wide[i] : TEXT_WIDTH;

			if (rank != (must ? 0 : columns[i].rank))
				continue;
			if (!must && want + 1 > c->left)
				return; /* nor does one that matters less take its place */
			if (want > c->left - 1)
				want = c->left - 1;
			if (want < 1)
				continue;
			c->granted[i] = want;
			c->left -= want + 1;
		}
	}
}

static void widen_texts(struct choice *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int more = c->granted[i] ? c->wide[i] - c->granted[i] : 0;

		if (more > c->left)
			more = c->left;
		if (more > 0) {
			c->granted[i] += more;
			c->left -= more;
		}
	}
}

void layout_make(struct layout *ret, const struct layout_column *columns, size_t count,
	const json_t *rows, int width, size_t keep, bool steady)
{
	struct choice c = {.left = width + 1}; /* behind the last there is no gap */

	for (size_t i = 0; i < count; i++)
		c.wide[i] = widest(&columns[i], rows, steady);
	choose(&c, columns, count, keep);
	widen_texts(&c, count);
	*ret = (struct layout){.gap = 1};
	for (size_t i = 0; i < count; i++)
		if (c.granted[i])
			ret->fields[ret->count++] = (struct layout_field){i, c.granted[i]};
	while (ret->count > 1 && ret->gap < 3 && c.left >= (int)ret->count - 1) {
		c.left -= (int)ret->count - 1;
		ret->gap++;
	}
}
