/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/value.h"

#include <stdlib.h>
#include <string.h>
#include "scenario/explain.h"
#include "scenario/expected.h"

#define KEYS_LIMIT 63

static void list_names(const struct key *keys, size_t count, const char *names[KEYS_LIMIT])
{
	for (size_t i = 0; i < count; i++)
		names[i] = keys[i].name;
}

static size_t find_key(const struct key *keys, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(keys[i].name, name))
			return i;
	return count;
}

/* Returns a bit for each key that an unknown one was meant as: it is not reported missing too. */
static uint64_t explain_unknown(struct check *c, const struct tree *map, const struct key *keys,
	size_t count, bool *ret_any)
{
	const char *names[KEYS_LIMIT];
	uint64_t meant = 0;

	list_names(keys, count, names);
	for (size_t i = 0; i < map->count; i++) {
		const struct tree *item = map->items[i];
		const char *name;

		if (item->again || find_key(keys, count, item->key) < count)
			continue;
		*ret_any = true;
		name = explain_unknown_key(c->diags, item, names, count);
		if (name)
			meant |= 1ull << find_key(keys, count, name);
	}
	return meant;
}

static bool read_key(struct check *c, const struct key *k, const struct tree *item, void *base)
{
	void *target = k->offset == VALUE_NOWHERE ? NULL : (char *)base + k->offset;
	struct tree fallback = {.kind = TREE_SCALAR, .text = (char *)k->fallback, .quoted = true};

	if (k->type == VALUE_READ)
		return !item || k->read(c, item, target);
	if (k->type == VALUE_SECTION)
		return k->read(c, item, target);
	if (!item && !k->fallback)
		return true;
	return value_read(c, k, item ? item : &fallback, target);
}

/* Whether the value can be read as a map; NULL and an empty value can where no key is required. */
static bool is_map(struct check *c, const struct tree *map, const struct key *keys, size_t count)
{
	char expected[EXPECTED];
	bool required = false;

	for (size_t i = 0; i < count; i++)
		required |= keys[i].required;
	if (!map || map->kind == TREE_MAP || (tree_is_null(map) && !required))
		return true;
	explain_unexpected(c->diags, map, expected_map(keys, count, expected));
	return false;
}

uint64_t keys_read(
	struct check *c, const struct tree *map, const struct key *keys, size_t count, void *base)
{
	char expected[EXPECTED];
	uint64_t good = 0, meant = 0;
	bool unknown = false;

	if (!is_map(c, map, keys, count))
		return 0;
	if (map)
		meant = explain_unknown(c, map, keys, count, &unknown);
	for (size_t i = 0; i < count; i++) {
		const struct tree *item = tree_get(map, keys[i].name);

		if (!item && keys[i].required) {
			if (!(meant & 1ull << i))
				explain_missing(c->diags, map, keys[i].name,
					expected_value(&keys[i], expected));
		} else if (read_key(c, &keys[i], item, base)) {
			good |= 1ull << i;
		}
	}
	return good | (unknown ? VALUE_UNKNOWN : 0);
}

bool list_read(struct check *c, const struct tree *n, const char *what, size_t size,
	bool (*read)(struct check *c, const struct tree *n, void *element), void **ret_array,
	size_t *ret_count)
{
	bool good = true;
	char *array;

	if (tree_is_null(n))
		return true;
	if (n->kind != TREE_LIST) {
		explain_unexpected(c->diags, n, what);
		return false;
	}
	if (!n->count)
		return true;
	array = calloc(n->count, size);
	if (!array) {
		c->out_of_memory = true;
		return false;
	}
	*ret_array = array;
	*ret_count = n->count;
	for (size_t i = 0; i < n->count; i++)
		good &= read(c, n->items[i], array + i * size);
	return good;
}

const struct tree *keys_choose(struct check *c, const struct tree *map, const char *const *names,
	size_t count, bool quiet, size_t *ret_index)
{
	const struct tree *found = NULL;
	char expected[EXPECTED];

	for (size_t i = 0; i < count; i++) {
		const struct tree *item = tree_get(map, names[i]);

		if (!item)
			continue;
		if (found) {
			explain_value(c->diags, found->index > item->index ? found : item,
				"%s and %s exclude each other; keep one", found->key, item->key);
			return NULL;
		}
		found = item;
		*ret_index = i;
	}
	if (!found && !quiet)
		explain_value(c->diags, map, "expected one of these keys: %s",
			expected_names(names, count, expected));
	return found;
}
