/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The schema as a list of keys, for those who print it. */
#include <stdio.h>
#include <string.h>
#include "scenario/scenario.h"
#include "scenario/schema_use.h"
#include "scenario/tree.h"

struct walk {
	void (*visit)(void *arg, const struct scenario_key *k);
	void *arg;
};

static void walk_map(const struct walk *w, const struct map *map, const char *path);

/* The keys below a key: of a mapping, of the mappings of a list, of a notation with keys. */
static const struct map *map_below(const struct key *k)
{
	if (k->kind == VALUE_MAP)
		return k->map;
	if (k->kind == VALUE_LIST)
		return map_below(k->list->item);
	return k->kind == VALUE_FORM ? k->form->map : NULL;
}

static void walk_key(const struct walk *w, const struct key *k, const char *above)
{
	const struct map *below = map_below(k);
	char path[SCENARIO_PATH], value[EXPECTED];
	struct scenario_key shown = {
		.path = path,
		.value = value,
		.help = k->help ? k->help : k->map->help,
		.usual = k->required   ? "required"
			 : k->usual    ? k->usual
			 : k->fallback ? k->fallback
				       : "",
		.is_section = below,
		.takes_word = k->kind == VALUE_MAP    ? map_takes_word(k->map)
			      : k->kind == VALUE_FORM ? k->form->word
						      : k->kind < VALUE_NONE,
	};

	snprintf(path, sizeof(path), "%s%s%s", above, *above ? "." : "", k->name);
	if (k->kind == VALUE_MAP)
		expected_map(k->map, value);
	else if (k->kind == VALUE_NONE)
		snprintf(value, sizeof(value), "the bare word");
	else if (k->kind == VALUE_FORM && !k->expected)
		snprintf(value, sizeof(value), "%s", k->form->expected);
	else
		expected_value(k, value);
	w->visit(w->arg, &shown);
	if (!below)
		return;
	if (k->kind != VALUE_MAP)
		strncat(path, ".N", sizeof(path) - strlen(path) - 1);
	walk_map(w, below, path);
}

static void walk_map(const struct walk *w, const struct map *map, const char *path)
{
	for (size_t i = 0; i < map->count; i++)
		walk_key(w, &map->keys[i], path);
}

void scenario_list_keys(void (*visit)(void *arg, const struct scenario_key *k), void *arg)
{
	const struct walk w = {visit, arg};

	walk_map(&w, &scenario_map, "");
}

/* Past steps that say which element of a list: a number, or N. */
static const char *past_element(const char *path)
{
	size_t digits = strspn(path, "0123456789"), length = *path == 'N' ? 1 : digits;

	return length && (!path[length] || path[length] == '.') ? tree_next_step(path) : path;
}

bool scenario_path_is(const char *path, const char *other)
{
	for (;;) {
		size_t length;

		path = past_element(path);
		other = past_element(other);
		length = strcspn(path, ".");
		if (!length || strcspn(other, ".") != length || strncmp(path, other, length))
			return !*path && !*other;
		path = tree_next_step(path);
		other = tree_next_step(other);
	}
}
