/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What values hold: memory, and names of hosts. */
#include <stdio.h>
#include <stdlib.h>
#include "scenario/schema_use.h"

#define PATH_SHOWN 128

static void release_value(const struct key *k, void *base)
{
	void *target = at(base, k->offset);

	switch (k->kind) {
	case VALUE_TEXT:
	case VALUE_LABEL:
		free(*(char **)target);
		*(char **)target = NULL;
		break;
	case VALUE_FILE:
		file_release(target);
		break;
	case VALUE_MAP:
		map_release(k->map, target);
		break;
	case VALUE_LIST:
		for (size_t i = 0; i < list_count(k, base); i++)
			release_value(k->list->item, list_items(k, base) + i * k->list->size);
		if (!k->list->in_place)
			free(*(void **)target);
		break;
	case VALUE_FORM:
		if (k->form->release)
			k->form->release(target);
		break;
	default:
		break;
	}
}

void map_release(const struct map *map, void *base)
{
	void *values = map->size ? *(void **)base : base;

	for (size_t i = 0; values && i < map->count; i++) {
		const struct key *k = &map->keys[i];
		bool shared = k->kind == VALUE_MAP && k->map->size;

		/* after an error (several choices) those not taken may hold something too */
		if (!shared || key_is_taken(map, k, values))
			release_value(k, values);
	}
	if (map->size) {
		free(values);
		*(void **)base = NULL;
	}
}

struct visit {
	void (*visit)(void *arg, const char *path, const char *name);
	void *arg;
};

static void visit_value(
	const struct visit *v, const struct key *k, const void *base, const char *path)
{
	if (k->kind == VALUE_LABEL && k->is_host && *(char **)at(base, k->offset))
		v->visit(v->arg, path, *(char **)at(base, k->offset));
	else if (k->kind == VALUE_MAP)
		map_each_host(k->map, at(base, k->offset), path, v->visit, v->arg);
	for (size_t i = 0; k->kind == VALUE_LIST && i < list_count(k, base); i++)
		visit_value(v, k->list->item, list_items(k, base) + i * k->list->size, path);
}

void map_each_host(const struct map *map, const void *base, const char *path,
	void (*visit)(void *arg, const char *path, const char *name), void *arg)
{
	const void *values = map->size ? *(void *const *)base : base;
	const struct visit v = {visit, arg};

	for (size_t i = 0; values && i < map->count; i++) {
		const struct key *k = &map->keys[i];
		char below[PATH_SHOWN];

		snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", k->name);
		if (key_is_taken(map, k, values))
			visit_value(&v, k, values, below);
	}
}
