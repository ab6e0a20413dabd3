/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_TREE_H
#define FABRICBED_SCENARIO_TREE_H

/* A YAML document as it was written: text and places, no meaning yet. Private to scenario/. */
#include <stdbool.h>
#include <stddef.h>
#include "base/diag.h"

#define TREE_DEPTH_LIMIT  24
#define TREE_NODE_LIMIT   (1u << 19) /* aliases included: a bomb of them ends here */
#define TREE_ANCHOR_LIMIT 1000

enum tree_kind { TREE_SCALAR, TREE_LIST, TREE_MAP };

struct tree {
	enum tree_kind kind;
	struct diag_pos pos;
	struct tree *parent;
	char *key; /* under which a map holds it; else NULL */
	struct diag_pos key_pos;
	bool again;   /* an earlier item of the map has the same key; explained, to be left out */
	size_t index; /* among the parent's items */
	const char *origin; /* the text of the --set that it came from, borrowed; NULL: the file */
	char *text;         /* TREE_SCALAR */
	bool quoted;
	struct tree **items; /* TREE_LIST, TREE_MAP */
	struct tree *word;   /* TREE_MAP: the scalar that a --set below it made a map; or NULL */
	size_t count;
	char *anchor; /* by which aliases in the file mean it; NULL: none does */
};

/* text: a copy of it is that of a scalar, else NULL. Returns NULL where memory is short. */
struct tree *tree_new(enum tree_kind kind, const char *text, struct diag_pos pos);
void tree_free(struct tree *t);

/* Appends `item` to a list (key NULL) or map; frees it on failure. Copies key. 0 or -ENOMEM. */
int tree_append(struct tree *parent, const char *key, struct diag_pos key_pos, struct tree *item);

/* Puts `item` in the place of item i, under its key, and frees what was there. */
void tree_replace(struct tree *parent, size_t i, struct tree *item);

/* A map's first value of a key or path ("stack.queue"); or NULL. t may be NULL or no map. */
struct tree *tree_get(const struct tree *t, const char *path);

/* The same, of a list or map, by the first step of a path alone: a key, or a number from 0. */
struct tree *tree_item(const struct tree *t, const char *path);

/* Past the step at which a path stands. */
const char *tree_next_step(const char *path);

/* Nothing stands there: an unquoted empty scalar, "~" or "null" (YAML 1.1, type null). */
bool tree_is_null(const struct tree *t);

/*
 * Parses one YAML document. Syntax errors, duplicate keys, a second document and excesses are
 * messages in diags. 0 (perhaps with messages about duplicate keys); -EINVAL: no tree; -ENOMEM.
 */
int tree_parse(struct tree **ret, const char *text, size_t length, struct diags *diags);

/*
 * Applies one `key.path=value` to a map. The value is YAML where it starts with a bracket, a brace
 * or a quote, plain text otherwise. What is missing on the way is created, a scalar in the way
 * becomes the `word` of a map. Errors are messages in diags. 0; -EINVAL; -ENOMEM. The tree keeps a
 * reference to `set`.
 */
int tree_set(struct tree *root, const char *set, struct diags *diags);

#endif
