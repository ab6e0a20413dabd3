/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_JSON_H
#define FABRICBED_JSON_H

/*
 * JSON as reports use it: dotted paths such as "flows.fct_us.max" into an object. A NULL object has
 * nothing.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* NULL: there is nothing. */
const json_t *look(const json_t *object, const char *path);

/* A number; of an object of counts, their sum; 0: there is neither. */
double look_number(const json_t *object, const char *path);

/* The same as a whole number. */
json_int_t look_count(const json_t *object, const char *path);

/* NULL: there is no text. */
const char *look_text(const json_t *object, const char *path);

/* A number that need not exist: null then. */
json_t *real_or_null(bool exists, double value);

/* For a program: indented, all digits, and a newline behind it. */
void print_json(const json_t *json, FILE *out);

#endif
