/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_TABLE_H
#define FABRICBED_TOP_TABLE_H

/* Which rows of a table of top are seen, and in what order. */
#include "cli/top_model.h"

/* Keeps rows of which a text, or the number that names it, matches a glob or contains a word. */
void top_filter(json_t *rows, enum top_view view, const char *pattern);

/* By a column: numbers descending, texts ascending; reverse: the other way. Unknown last. */
void top_sort(json_t *rows, enum top_view view, size_t column, bool reverse);

/* Whether that column is sorted from the largest when it is not reversed. */
bool top_column_descends(const struct top_column *c);

#endif
