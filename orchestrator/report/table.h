/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TABLE_H
#define FABRICBED_TABLE_H

/* The printer of all tables: rows of JSON as aligned columns. */
#include <jansson.h>
#include <stdio.h>

/*
 * Rows (an array of objects that all have the first one's keys) as aligned columns under a header
 * that takes units from the keys' endings: depth_bytes is "depth [bytes]". Numbers are
 * right-aligned, a column's with as many decimals, at most three; null is "-", an object of counts
 * its sum and then "reason count" of each. No rows print nothing. 0 or -ENOMEM.
 *
 * width: of the terminal; 0: of a file, which has all columns. On a terminal, columns that are all
 * 0 or empty are left out. Where that is still too wide, numbers get three digits and a unit, and
 * then further columns go. What is left out is told below.
 */
int table_print(const json_t *rows, FILE *f, int width);

/*
 * The same of rows of texts, whose keys are the titles as they are. Where they are wider than the
 * terminal they are several tables, each with the first column. 0 or -ENOMEM.
 */
int table_print_texts(const json_t *rows, FILE *f, int width);

/*
 * Rows {metric, value} of all that a nested object holds; metrics are named as `expect` does. NULL:
 * out of memory.
 */
json_t *table_flatten(const json_t *object);

#endif
