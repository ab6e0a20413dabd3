/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TABLE_H
#define FABRICBED_TABLE_H

/* The printer of all tables: rows of JSON as aligned columns. */
#include <jansson.h>
#include <stdio.h>

/*
 * Rows (an array of objects that all have the first one's keys) as aligned columns under a header that takes units from
 * the keys' endings: depth_bytes is "depth [bytes]". Numbers are right-aligned, a column's with as many decimals, at most
 * three; null is "-", an object of counts its sum and then "reason count" of each. No rows print nothing. 0 or -ENOMEM.
 *
 * No line is longer than width, unless that is 0: else columns that say nothing are left out, then numbers get three digits and a
 * unit, then further columns go, which is told below.
 */
int table_print(const json_t *rows, FILE *f, int width);

/* Rows {metric, value} of all that a nested object holds; metrics are named as `expect` does. NULL: out of memory. */
json_t *table_flatten(const json_t *object);

#endif
