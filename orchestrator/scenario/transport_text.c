/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of a transport in a few words. */
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"

/* Percentages and plain numbers are easier to read than what is written to files. */
static void put_value(FILE *out, const struct key *k, const void *base)
{
	struct key shown = *k;

	shown.is_share = k->kind == VALUE_CHANCE;
	if (k->kind == VALUE_NUMBER)
		fprintf(out, "%.15g", *(const double *)at(base, k->offset));
	else
		value_write(out, &shown, at(base, k->offset));
}

static bool same_value(const struct key *k, const void *a, const void *b)
{
	char *texts[2] = {0};
	size_t length;
	bool same;

	for (int i = 0; i < 2; i++) {
		FILE *out = open_memstream(&texts[i], &length);

		if (!out)
			continue;
		put_value(out, k, i ? b : a);
		fclose(out);
	}
	same = texts[0] && texts[1] && !strcmp(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	return same;
}

/* The value of the lone key, and all others that are not as they are if nothing is said. */
static void put_options(FILE *out, const struct map *map, const void *options)
{
	struct diags diags = DIAGS_INIT;
	struct check c = {.diags = &diags, .wrong = explain_path};
	void *usual = NULL;

	map_read(&c, map, NULL, &usual);
	for (size_t i = 0; i < map->count; i++) {
		const struct key *k = &map->keys[i];

		if (k != map->lone && (!usual || same_value(k, options, usual)))
			continue;
		fprintf(out, " %s%s", k == map->lone ? "" : k->name, k == map->lone ? "" : " ");
		put_value(out, k, options);
	}
	map_release(map, &usual);
	diags_release(&diags);
}

/* The scheme that a part has, with its options. */
static void put_scheme(FILE *out, const struct map *schemes, const void *base)
{
	for (size_t i = 0; i < schemes->count; i++) {
		const struct key *k = &schemes->keys[i];

		if (!key_is_taken(schemes, k, base))
			continue;
		fputs(k->name, out);
		if (k->kind == VALUE_MAP)
			put_options(out, k->map, *(const void *const *)at(base, k->offset));
	}
}

/* The key of part `number`; NULL: there are not so many. */
static const struct key *part_key(const struct transport_choice *t, uint32_t number)
{
	const struct map *map = &transport_kinds[t->kind]->map;

	for (size_t i = 0; i < map->count; i++)
		if (map->keys[i].kind == VALUE_MAP && map->keys[i].map->chosen.size && !number--)
			return &map->keys[i];
	return NULL;
}

bool scenario_has_parts(const struct transport_choice *t)
{
	return part_key(t, 0);
}

char *scenario_part_text(const struct transport_choice *t, uint32_t number, const char **ret_key)
{
	const struct key *k = part_key(t, number);
	size_t length = 0;
	char *text = NULL;
	FILE *out = k ? open_memstream(&text, &length) : NULL;

	if (!out)
		return NULL;
	*ret_key = k->name;
	put_scheme(out, k->map, at(t->options, k->offset));
	fclose(out);
	return text;
}
