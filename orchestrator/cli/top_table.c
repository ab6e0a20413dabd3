/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_table.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool row_matches(const json_t *row, const struct top_column *columns, const char *glob)
{
	char buf[LAYOUT_CELL];

	for (const struct top_column *c = columns; c->shown.key; c++) {
		const json_t *cell = json_object_get(row, c->shown.key);

		if ((c == columns || json_is_string(cell)) &&
			!fnmatch(glob, layout_cell(buf, &c->shown, cell, 0), 0))
			return true;
	}
	return false;
}

void top_filter(json_t *rows, enum top_view view, const char *pattern)
{
	const struct top_column *columns = top_view_spec(view)->columns;
	bool is_glob = strpbrk(pattern, "*?[");
	json_t *kept = json_array(), *row;
	char glob[LAYOUT_CELL];
	size_t i;

	snprintf(glob, sizeof(glob), is_glob ? "%s" : "*%s*", pattern);
	json_array_foreach(rows, i, row)
	{
		if (row_matches(row, columns, glob))
			json_array_append(kept, row);
	}
	json_array_clear(rows);
	json_array_extend(rows, kept);
	json_decref(kept);
}

bool top_column_descends(const struct top_column *c)
{
	return c->shown.format != NUMBER_NONE && c->letter != 'n';
}

struct order {
	const char *key;
	bool descends;
};

struct ordered {
	json_t *row;
	size_t index; /* what is equal stays in this order */
};

/* h2 comes before h10. */
static int compare_cells(const json_t *a, const json_t *b)
{
	double x = json_number_value(a), y = json_number_value(b);

	if (json_is_string(a) && json_is_string(b))
		return strverscmp(json_string_value(a), json_string_value(b));
	return (x > y) - (x < y);
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ordered *a = left, *b = right;
	const struct order *o = context;
	const json_t *x = json_object_get(a->row, o->key), *y = json_object_get(b->row, o->key);
	int unknown = json_is_null(x) - json_is_null(y);
	int r = unknown || json_is_null(x) ? 0 : compare_cells(x, y);

	if (unknown)
		return unknown;
	if (r)
		return o->descends ? -r : r;
	return (a->index > b->index) - (a->index < b->index);
}

void top_sort(json_t *rows, enum top_view view, size_t column, bool reverse)
{
	const struct top_column *c = &top_view_spec(view)->columns[column];
	struct order o = {c->shown.key, top_column_descends(c) != reverse};
	size_t count = json_array_size(rows);
	struct ordered *list = calloc(count + 1, sizeof(*list));

	for (size_t i = 0; list && i < count; i++)
		list[i] = (struct ordered){json_incref(json_array_get(rows, i)), i};
	if (list)
		qsort_r(list, count, sizeof(*list), compare_rows, &o);
	for (size_t i = 0; list && i < count; i++)
		json_array_set_new(rows, i, list[i].row);
	free(list);
}
