/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LAYOUT_H
#define FABRICBED_LAYOUT_H

/*
 * Which columns of a table a terminal has room for, how wide they are, and the cells in that width.
 * Rows are JSON objects.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "report/number.h"

struct layout_column {
	const char *key;   /* of the rows */
	const char *title; /* its heading */
	enum number_format format;
	unsigned rank; /* 0: never left out; the highest is left out first */
};

#define LAYOUT_COLUMNS_MAX 32
#define LAYOUT_RANK_MAX    255

struct layout_field {
	size_t column;
	int width;
};

struct layout {
	struct layout_field fields[LAYOUT_COLUMNS_MAX];
	size_t count;
	int gap; /* blanks between fields */
};

/*
 * Fits a table into so many letters: columns are left out by their rank, but never the one to keep.
 * steady: a number's field is as wide whatever the numbers are, so that the columns of a screen do
 * not move.
 */
void layout_make(struct layout *ret, const struct layout_column *columns, size_t count,
	const json_t *rows, int width, size_t keep, bool steady);

#define LAYOUT_CELL 512

/*
 * A cell in the width of its field, or the shortest if width is 0; a text that is cut ends with
 * '~'. Returns buf.
 */
const char *layout_cell(
	char buf[LAYOUT_CELL], const struct layout_column *c, const json_t *value, int width);

/* The heading in the width of its field. */
const char *layout_title(char buf[LAYOUT_CELL], const struct layout_column *c, int width);

/*
 * Prints what is no number: a text, yes or no, a list, "7: buffer 5, link_down 2" of counts, "-" of
 * null. Returns how many letters that takes; without f it only counts them.
 */
int layout_put(FILE *f, const json_t *value);

/* How many decimals it takes to print a number as it is, up to so many. */
int layout_decimals(double number, int most);

#endif
