/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/tree.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"

struct tree *tree_new(enum tree_kind kind, const char *text, struct diag_pos pos)
{
	struct tree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->kind = kind;
	t->pos = pos;
	t->text = text ? strdup(text) : NULL;
	if (!text || t->text)
		return t;
	free(t);
	return NULL;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		tree_free(t->items[i]);
	free(t->items);
	tree_free(t->word);
	free(t->text);
	free(t->key);
	free(t->anchor);
	free(t);
}

int tree_append(struct tree *parent, const char *key, struct diag_pos key_pos, struct tree *item)
{
	free(item->key);
	item->key = key ? strdup(key) : NULL;
	if ((key && !item->key) || ARRAY_ROOM(parent->items, parent->count)) {
		tree_free(item);
		return -ENOMEM;
	}
	item->key_pos = key_pos;
	item->parent = parent;
	item->index = parent->count;
	parent->items[parent->count++] = item;
	return 0;
}

void tree_replace(struct tree *parent, size_t i, struct tree *item)
{
	struct tree *old = parent->items[i];

	free(item->key);
	item->key = old->key;
	old->key = NULL;
	item->key_pos = old->key_pos;
	item->parent = parent;
	item->index = i;
	parent->items[i] = item;
	tree_free(old);
}

struct tree *tree_item(const struct tree *t, const char *path)
{
	size_t length = strcspn(path, ".");

	for (size_t i = 0; i < t->count; i++) {
		const char *key = t->items[i]->key;

		if (key ? !strncmp(key, path, length) && !key[length]
			: i == strtoul(path, NULL, 10))
			return t->items[i];
	}
	return NULL;
}

const char *tree_next_step(const char *path)
{
	path += strcspn(path, ".");
	return path + (*path == '.');
}

struct tree *tree_get(const struct tree *t, const char *path)
{
	struct tree *item = t && t->kind == TREE_MAP ? tree_item(t, path) : NULL;
	const char *rest = tree_next_step(path);

	return item && *rest ? tree_get(item, rest) : item;
}

bool tree_is_null(const struct tree *t)
{
	return t->kind == TREE_SCALAR && !t->quoted &&
	       (!*t->text || !strcmp(t->text, "~") || !strcasecmp(t->text, "null"));
}
