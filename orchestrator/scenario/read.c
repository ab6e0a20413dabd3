/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mappings and lists, by the tables of the schema. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "scenario/explain.h"
#include "scenario/schema_use.h"
#include "scenario/tree.h"

#define KEYS_LIMIT 63

const struct key *map_key(const struct map *map, const char *name)
{
	for (size_t i = 0; i < map->count; i++)
		if (!strcmp(map->keys[i].name, name))
			return &map->keys[i];
	return NULL;
}

bool all_valid(const struct map *map, uint64_t valid)
{
	return valid == (1ull << map->count) - 1;
}

static uint64_t bit_of(const struct map *map, const struct key *k)
{
	return 1ull << (k - map->keys);
}

/* A key that a mapping may hold. */
static bool is_listed(const struct key *k)
{
	return k->kind != VALUE_NONE;
}

static bool is_listed_choice(const struct key *k)
{
	return k->choice && is_listed(k);
}

static bool is_choice(const struct key *k)
{
	return k->choice;
}

static bool is_required(const struct key *k)
{
	return k->required;
}

/* Whether there are keys of one sort. */
static bool has(const struct map *map, bool (*is_one)(const struct key *k))
{
	for (size_t i = 0; i < map->count; i++)
		if (is_one(&map->keys[i]))
			return true;
	return false;
}

/* Their names; returns how many. */
static size_t names_of(const struct map *map, bool (*is_one)(const struct key *k),
	const char *ret_names[KEYS_LIMIT])
{
	size_t count = 0;

	for (size_t i = 0; i < map->count; i++)
		if (is_one(&map->keys[i]))
			ret_names[count++] = map->keys[i].name;
	return count;
}

/* Returns a bit for each closest key of an unknown one: it is not reported missing too. */
static uint64_t explain_unknown(
	struct check *c, const struct map *map, const struct tree *n, bool *ret_any)
{
	const char *names[KEYS_LIMIT];
	size_t count = names_of(map, is_listed, names);
	uint64_t hinted = 0;

	for (size_t i = 0; i < n->count; i++) {
		const struct tree *item = n->items[i];
		const struct key *k = map_key(map, item->key);
		const char *name;

		if (item->again || (k && is_listed(k)))
			continue;
		*ret_any = true;
		name = explain_unknown_key(c->diags, item, names, count);
		if (name)
			hinted |= bit_of(map, map_key(map, name));
	}
	return hinted;
}

/* An array with room for the items; NULL: no memory. */
static char *list_array(struct check *c, const struct list *l, size_t count, void *target)
{
	if (l->in_place || !count)
		return target;
	*(void **)target = calloc(count, l->size);
	if (!*(void **)target)
		c->out_of_memory = true;
	return *(void **)target;
}

static bool read_list(struct check *c, const struct key *k, const struct tree *n, void *base)
{
	const struct list *l = k->list;
	bool lone = l->lone && n->kind == TREE_SCALAR, valid = true;
	size_t count = lone ? 1 : n->count;
	char *array;

	if (tree_is_null(n))
		return true;
	if (n->kind != TREE_LIST && !lone)
		return explain_unexpected(c->diags, n, k->expected);
	if (l->limit && count > l->limit)
		return explain_value(
			c->diags, n, "%zu %s; expected at most %zu", count, l->many, l->limit);
	array = list_array(c, l, count, at(base, k->offset));
	if (!array)
		return false;
	*(size_t *)at(base, l->count) = count;
	for (size_t i = 0; i < count; i++) {
		const struct tree *item = lone ? n : n->items[i];

		if (l->pos)
			*(struct diag_pos *)(array + i * l->size + l->pos) = item->pos;
		valid &= key_read(c, l->item, item, array + i * l->size);
	}
	return valid;
}

bool key_read(struct check *c, const struct key *k, const struct tree *n, void *base)
{
	bool inherits = c->inherits, valid;

	switch (k->kind) {
	case VALUE_MAP:
		c->inherits = k->inherits;
		valid = map_read(c, k->map, n, at(base, k->offset));
		c->inherits = inherits;
		break;
	case VALUE_LIST:
		valid = read_list(c, k, n, base);
		break;
	case VALUE_FORM:
		valid = k->form->read(c, n, at(base, k->offset));
		break;
	default:
		valid = value_read(c, k, n, at(base, k->offset));
	}
	return valid && (!k->check || k->check(c, n, at(base, k->offset)));
}

/* The default of a key that is not given. */
static bool key_default(struct check *c, const struct key *k, void *base)
{
	struct tree fallback = {.kind = TREE_SCALAR, .text = (char *)k->fallback, .quoted = true};

	if (k->choice)
		return true;
	if (k->optional)
		integer_store(k, at(base, k->offset), k->word_value);
	if (k->fallback && !c->inherits)
		return k->kind == VALUE_MAP ? map_read(c, k->map, &fallback, at(base, k->offset))
					    : value_read(c, k, &fallback, at(base, k->offset));
	if (k->kind == VALUE_MAP && !k->inherits)
		return map_read(c, k->map, NULL, at(base, k->offset));
	return k->kind != VALUE_FORM || k->form->read(c, NULL, at(base, k->offset));
}

bool map_takes_on(const struct map *map)
{
	return map->on.size && !map->lone && !has(map, is_required);
}

/* Whether the value can be read as a map; NULL and an empty value can where no key is required. */
static bool is_map(struct check *c, const struct map *map, const struct tree *n)
{
	char expected[EXPECTED];

	if (!n || n->kind == TREE_MAP || (tree_is_null(n) && !has(map, is_required)))
		return true;
	return explain_unexpected(c->diags, n, expected_map(map, expected));
}

/* What the word said that stood where --set has made a mapping: the value of the key `lone`. */
static const struct tree *kept_word(const struct map *map, const struct tree *n)
{
	const struct tree *word = n ? n->word : NULL;

	return word && !(map->on.size && (value_is_word(word, "off") || value_is_word(word, "on")))
		       ? word
		       : NULL;
}

/*
 * Reads a mapping's keys, or defaults; n is the value of the key `lone`, if there is one. Returns a
 * bit 1 << i for each valid key, and KEY_UNKNOWN.
 */
static uint64_t read_keys(struct check *c, const struct map *map, const struct tree *n,
	const struct key *lone, void *base)
{
	uint64_t valid = 0, hinted = 0;
	bool unknown = false;

	if (n && !lone)
		hinted = explain_unknown(c, map, n, &unknown);
	for (size_t i = 0; i < map->count; i++) {
		const struct key *k = &map->keys[i];
		const struct tree *item = !lone ? tree_get(n, k->name) : k == lone ? n : NULL;
		char expected[EXPECTED];

		if (!item && !lone && k == map->lone)
			item = kept_word(map, n);
		if (item && is_listed(k) && key_read(c, k, item, base))
			valid |= bit_of(map, k);
		else if (item && k->kind < VALUE_NONE)
			key_default(c, k, base);
		else if (!item && k->required && !(hinted & bit_of(map, k)))
			explain_missing(c->diags, n, k->name, expected_value(k, expected));
		else if (!item && !k->required && key_default(c, k, base))
			valid |= bit_of(map, k);
	}
	return valid | (unknown ? KEY_UNKNOWN : 0);
}

static void set_chosen(const struct map *map, void *base, unsigned index)
{
	if (map->chosen.size == sizeof(bool))
		*(bool *)at(base, map->chosen.offset) = index;
	else if (map->chosen.size)
		*(unsigned *)at(base, map->chosen.offset) = index;
}

/*
 * The one choice that a mapping takes; a message if there are none or several. `quiet`: no message
 * about none, since an unknown key has been named.
 */
static bool choose(
	struct check *c, const struct map *map, const struct tree *n, void *base, bool quiet)
{
	const char *names[KEYS_LIMIT];
	size_t count = names_of(map, is_listed_choice, names);
	const struct tree *found = NULL;
	char expected[EXPECTED];

	for (size_t i = 0; i < map->count; i++) {
		const struct key *k = &map->keys[i];
		const struct tree *item = k->choice ? tree_get(n, k->name) : NULL;

		if (!item)
			continue;
		if (found)
			return explain_both(c->diags, found, item);
		found = item;
		set_chosen(map, base, (unsigned)choice_index(map, k));
	}
	if (!count || found)
		return true;
	if (!quiet)
		explain_value(c->diags, n, "expected one of these keys: %s",
			expected_names(names, count, expected));
	return false;
}

/* n is a mapping, empty, or NULL; or, with `lone`, the value of that key. */
static bool read_map(struct check *c, const struct map *map, const struct tree *n,
	const struct key *lone, void *base)
{
	uint64_t valid;
	bool all;

	if (map->on.size == sizeof(bool))
		*(bool *)at(base, map->on.offset) = true;
	if (map->prepare)
		map->prepare(c, n, base);
	valid = read_keys(c, map, n, lone, base);
	if (lone && !(valid & bit_of(map, lone)))
		return false;
	if (n && !lone && !choose(c, map, n, base, valid & KEY_UNKNOWN))
		return false;
	all = all_valid(map, valid);
	if (map->check && (map->partial || all) && !map->check(c, n, base, valid))
		return false;
	if (map->valid.size)
		*(bool *)at(base, map->valid.offset) = all;
	return all;
}

/* A choice whose bare name says all. */
static bool is_bare(const struct key *k)
{
	return k->choice &&
	       (k->kind == VALUE_NONE || (k->kind == VALUE_MAP && !has(k->map, is_required) &&
						 !has(k->map, is_choice)));
}

/* The bare name of a choice. */
static bool read_bare(struct check *c, const struct map *map, const struct tree *n, void *base)
{
	const char *names[KEYS_LIMIT];
	char expected[EXPECTED];

	for (size_t i = 0; i < map->count; i++) {
		const struct key *k = &map->keys[i];

		if (!k->choice || strcasecmp(n->text, k->name))
			continue;
		if (!is_bare(k))
			return explain_unexpected(c->diags, n, expected_map(map, expected));
		set_chosen(map, base, (unsigned)choice_index(map, k));
		if (k->kind == VALUE_MAP && !map_read(c, k->map, NULL, at(base, k->offset)))
			return false;
		return read_map(c, map, NULL, NULL, base);
	}
	return explain_unknown_word(c->diags, n, names, names_of(map, is_bare, names));
}

/* The value of the key that a scalar stands for; the others have their defaults. */
static bool read_lone(struct check *c, const struct map *map, const struct tree *n, void *base)
{
	const char *words[KEYS_LIMIT] = {"off"};
	bool known = !map->on.size || !map->lone->words;
	size_t count = 1;

	for (const char *const *word = map->lone->words; !known && *word; word++) {
		known = value_is_word(n, *word);
		words[count++] = *word;
	}
	if (!known)
		return explain_unknown_word(c->diags, n, words, count);
	return read_map(c, map, n, map->lone, base);
}

bool map_takes_word(const struct map *map)
{
	return map->on.size || map->lone || has(map, is_bare);
}

static bool read_struct(struct check *c, const struct map *map, const struct tree *n, void *base)
{
	if (n && map->pos)
		*(struct diag_pos *)at(base, map->pos) = n->pos;
	if (n && n->kind == TREE_SCALAR && !tree_is_null(n)) {
		if (map->on.size && value_is_word(n, "off")) {
			memset(at(base, map->on.offset), 0, map->on.size);
			return true;
		}
		if (map_takes_on(map) && value_is_word(n, "on"))
			return read_map(c, map, NULL, NULL, base);
		if (map->lone)
			return read_lone(c, map, n, base);
		if (has(map, is_bare))
			return read_bare(c, map, n, base);
	}
	return is_map(c, map, n) && read_map(c, map, n, NULL, base);
}

bool map_read(struct check *c, const struct map *map, const struct tree *n, void *base)
{
	void **box = base, *spare;
	bool valid;

	if (!map->size)
		return read_struct(c, map, n, base);
	spare = calloc(1, map->size);
	if (!spare) {
		c->out_of_memory = true;
		return false;
	}
	valid = read_struct(c, map, n, spare);
	if (!*box) {
		*box = spare;
		return valid;
	}
	/* a second choice has been read, for what is wrong with it */
	map_release(map, &spare);
	return false;
}
