/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_TABLE_H
#define FABRICBED_TOP_TABLE_H

/* A table of top as text: which rows, in what order, which columns and how wide. */
#include "cli/top_model.h"
#include "report/number.h"

/* Keeps the rows of which a text, or the number that names it, matches a glob; a word without * ? [ may stand anywhere. */
void top_table_filter(struct top_table *t, const char *pattern);

/* By a column: numbers from the largest, texts from the first; reverse: the other way. What is unknown comes last. */
void top_table_sort(struct top_table *t, size_t column, bool reverse);

/* Whether that column is sorted from the largest when it is not reversed. */
bool top_column_descends(const struct top_column *c);

struct top_field {
	size_t column;
	int width;
};

struct top_layout {
	struct top_field fields[TOP_COLUMNS_MAX];
	size_t count;
	int gap; /* blanks between fields */
};

/* Fits a table into so many letters: columns are left out by their rank, but never the first and the sorted one. */
void top_layout_make(struct top_layout *ret, const struct top_table *t, int width, size_t sorted);

#define TOP_CELL_MAX 512

/* A cell in the width of its field, or the shortest if width is 0; what cannot be printed is '?'. Returns buf. */
const char *top_cell_text(
	char buf[TOP_CELL_MAX], const struct top_column *c, const struct top_cell *cell, int width);

/* The heading in the width of its field. */
const char *top_title_text(char buf[TOP_CELL_MAX], const struct top_column *c, int width);

#endif
