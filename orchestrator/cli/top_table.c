/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_table.h"
#include "report/number.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most that a text takes of a line before all columns have found their place. */
#define TEXT_WIDTH 24

/* ---- rows */

static bool row_matches(const struct top_row *r, const struct top_column *columns, const char *glob)
{
	char buf[TOP_CELL_MAX];

	for (size_t i = 0; columns[i].title; i++)
		if ((i == 0 || r->cells[i].text) &&
			!fnmatch(glob, top_cell_text(buf, &columns[i], &r->cells[i], 0), 0))
			return true;
	return false;
}

void top_table_filter(struct top_table *t, const char *pattern)
{
	bool is_glob = strpbrk(pattern, "*?[");
	char glob[TOP_CELL_MAX];
	size_t kept = 0;

	if (!*pattern)
		return;
	snprintf(glob, sizeof(glob), is_glob ? "%s" : "*%s*", pattern);
	for (size_t i = 0; i < t->count; i++)
		if (row_matches(&t->rows[i], top_view_spec(t->view)->columns, glob))
			t->rows[kept++] = t->rows[i];
	t->count = kept;
}

bool top_column_descends(const struct top_column *c)
{
	return c->format != NUMBER_NONE && c->letter != 'n';
}

struct order {
	size_t column;
	bool descends;
};

static bool is_unknown(const struct top_cell *c)
{
	return !c->text && isnan(c->number);
}

/* h2 comes before h10. */
static int compare_cells(const struct top_cell *a, const struct top_cell *b)
{
	if (a->text && b->text)
		return strverscmp(a->text, b->text);
	return (a->number > b->number) - (a->number < b->number);
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct top_row *a = left, *b = right;
	const struct order *o = context;
	const struct top_cell *x = &a->cells[o->column], *y = &b->cells[o->column];
	int unknown = is_unknown(x) - is_unknown(y);
	int r = unknown || is_unknown(x) ? 0 : compare_cells(x, y);

	if (unknown)
		return unknown;
	if (r)
		return o->descends ? -r : r;
	return (a->index > b->index) - (a->index < b->index);
}

void top_table_sort(struct top_table *t, size_t column, bool reverse)
{
	struct order o = {
		column, top_column_descends(&top_view_spec(t->view)->columns[column]) != reverse};

	qsort_r(t->rows, t->count, sizeof(*t->rows), compare_rows, &o);
}

/* ---- cells */

static bool is_left(const struct top_column *c)
{
	return c->format == NUMBER_NONE;
}

/* Cut or filled to the width; a cut text ends with '~'. */
static const char *fit(char buf[TOP_CELL_MAX], const char *text, bool left, int width)
{
	int length = (int)strlen(text);

	if (width == 0 || width >= TOP_CELL_MAX)
		width = length;
	snprintf(buf, TOP_CELL_MAX, left ? "%-*.*s" : "%*.*s", width, width, text);
	if (length > width && width > 1)
		buf[width - 1] = '~';
	return buf;
}

const char *top_cell_text(
	char buf[TOP_CELL_MAX], const struct top_column *c, const struct top_cell *cell, int width)
{
	char text[TOP_CELL_MAX];

	if (cell->text)
		snprintf(text, sizeof(text), "%s", cell->text);
	else
		number_short(text, c->format, cell->number);
	for (char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return fit(buf, text, is_left(c), width);
}

const char *top_title_text(char buf[TOP_CELL_MAX], const struct top_column *c, int width)
{
	return fit(buf, c->title, is_left(c), width);
}

/* ---- columns */

/* What the widest cell takes. A number's field is as wide whatever the numbers are: the columns must not dance. */
static int widest(const struct top_table *t, size_t column)
{
	const struct top_column *c = &top_view_spec(t->view)->columns[column];
	size_t width = strlen(c->title);

	if (!is_left(c))
		return width < 6 ? 6 : (int)width;
	for (size_t i = 0; i < t->count; i++) {
		const char *text = t->rows[i].cells[column].text;

		if (text && strlen(text) > width)
			width = strlen(text);
	}
	return width < TOP_CELL_MAX ? (int)width : TOP_CELL_MAX - 1;
}

struct choice {
	int wide[TOP_COLUMNS_MAX];    /* what it would take */
	int granted[TOP_COLUMNS_MAX]; /* 0: left out */
	int left;
};

/* In the order of their ranks, the columns that still fit. */
static void choose(struct choice *c, const struct top_column *columns, size_t count, size_t sorted)
{
	for (unsigned rank = 0; rank < UINT8_MAX; rank++) {
		for (size_t i = 0; i < count; i++) {
			bool must = columns[i].rank == 0 || i == sorted;
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

void top_layout_make(struct top_layout *ret, const struct top_table *t, int width, size_t sorted)
{
	size_t count = top_column_count(t->view);
	struct choice c = {.left = width + 1}; /* behind the last there is no gap */

	for (size_t i = 0; i < count; i++)
		c.wide[i] = widest(t, i);
	choose(&c, top_view_spec(t->view)->columns, count, sorted);
	widen_texts(&c, count);
	*ret = (struct top_layout){.gap = 1};
	for (size_t i = 0; i < count; i++)
		if (c.granted[i])
			ret->fields[ret->count++] = (struct top_field){i, c.granted[i]};
	while (ret->count > 1 && ret->gap < 3 && c.left >= (int)ret->count - 1) {
		c.left -= (int)ret->count - 1;
		ret->gap++;
	}
}
