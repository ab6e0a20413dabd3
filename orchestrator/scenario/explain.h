/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_EXPLAIN_H
#define FABRICBED_SCENARIO_EXPLAIN_H

/* Messages about errors: "<path>: <what is wrong>; <what was expected>". Private to scenario/. */
#include <stddef.h>
#include "base/diag.h"
#include "base/schema.h"
#include "scenario/tree.h"

/* Adds a message about the value n, at its place. Returns false, as the failed check does. */
__attribute__((format(printf, 3, 4))) bool explain_value(
	struct diags *diags, const struct tree *n, const char *format, ...);

/*
 * The same about what is on a path below n ("trim.class"), or about its longest part that exists.
 * It is the `wrong` of a struct check, by which tables elsewhere word their messages
 * (base/schema.h).
 */
__attribute__((format(printf, 4, 5))) bool explain_path(
	struct check *c, const struct tree *n, const char *path, const char *format, ...);

/* About two keys of a map of which only one can be there. */
bool explain_both(struct diags *diags, const struct tree *a, const struct tree *b);

/* About a key that the map lacks. */
void explain_missing(
	struct diags *diags, const struct tree *map, const char *key, const char *expected);

/*
 * About an item of a map whose key is none of `names`. Returns the closest name, or NULL.
 */
const char *explain_unknown_key(
	struct diags *diags, const struct tree *item, const char *const *names, size_t count);

/* About a scalar that is none of `words`. */
bool explain_unknown_word(
	struct diags *diags, const struct tree *n, const char *const *words, size_t count);

/* About a value that is not even of the right form: "expected ..., not ...". */
bool explain_unexpected(struct diags *diags, const struct tree *n, const char *expected);

#endif
