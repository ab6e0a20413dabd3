/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mappings and lists put down, by the tables of the schema, so that they read as the same ones. */
#include <errno.h>
#include "scenario/scenario.h"
#include "scenario/schema_use.h"

#define STEP       2 /* blanks a level */
#define FLOW_LIMIT 6 /* keys of a mapping that stands in one line, and holds only scalars */

/* Which of the choices a mapping has, from 0. */
static size_t map_chosen(const struct map *map, const void *base)
{
	if (map->which)
		return map->which(base);
	if (map->chosen.size == sizeof(bool))
		return *(const bool *)at(base, map->chosen.offset);
	return map->chosen.size ? *(const unsigned *)at(base, map->chosen.offset) : 0;
}

size_t choice_index(const struct map *map, const struct key *k)
{
	size_t index = 0;

	for (const struct key *before = map->keys; before < k; before++)
		index += before->choice;
	return index;
}

bool key_is_taken(const struct map *map, const struct key *k, const void *base)
{
	return !k->choice || choice_index(map, k) == map_chosen(map, base);
}

/* Whether a key is written at all. */
static bool key_is_written(const struct map *map, const struct key *k, const void *base)
{
	if (!key_is_taken(map, k, base) || (k->applies && !k->applies(base)))
		return false;
	if (k->kind == VALUE_LABEL)
		return *(char *const *)at(base, k->offset);
	return !k->optional || integer_load(k, at(base, k->offset)) != k->word_value;
}

/* The name of the choice that has no value, where it stands alone; NULL: there is more to say. */
static const char *bare_choice(const struct map *map, const void *base)
{
	const char *name = NULL;

	for (size_t i = 0; i < map->count; i++) {
		if (!key_is_written(map, &map->keys[i], base))
			continue;
		if (map->keys[i].kind != VALUE_NONE)
			return NULL;
		name = map->keys[i].name;
	}
	return name;
}

/* The key whose value stands for the whole mapping; NULL: there is more to say. */
static const struct key *lone_key(const struct map *map, const void *base)
{
	for (size_t i = 0; map->lone && i < map->count; i++)
		if (&map->keys[i] != map->lone && key_is_written(map, &map->keys[i], base))
			return NULL;
	return map->lone;
}

static bool is_off(const struct map *map, const void *base)
{
	const char *member = at(base, map->on.offset);

	for (size_t i = 0; i < map->on.size; i++)
		if (member[i])
			return false;
	return map->on.size;
}

/* Whether a mapping is short enough for one line. */
static bool fits_line(const struct map *map, const void *base)
{
	size_t count = 0;

	for (size_t i = 0; i < map->count; i++) {
		const struct key *k = &map->keys[i];

		if (!key_is_written(map, k, base))
			continue;
		if (k->kind >= VALUE_MAP || ++count > FLOW_LIMIT)
			return false;
	}
	return true;
}

static void new_line(FILE *out, int indent)
{
	fprintf(out, "\n%*s", indent, "");
}

/* Of a mapping the struct, also where that was allocated. */
static const void *target_of(const struct key *k, const void *base)
{
	const void *target = at(base, k->offset);

	return k->kind == VALUE_MAP && k->map->size ? *(const void *const *)target : target;
}

/* Whether a value stands in lines of its own, below its key. */
static bool takes_lines(const struct key *k, const void *base)
{
	const void *target = target_of(k, base);

	if (k->kind == VALUE_LIST)
		return k->list->item->kind >= VALUE_MAP && list_count(k, base);
	if (k->kind == VALUE_FORM)
		return k->form->lines;
	return k->kind == VALUE_MAP && !fits_line(k->map, target) && !is_off(k->map, target) &&
	       !bare_choice(k->map, target);
}

static void write_value(const struct writer *w, const struct key *k, const void *base, int indent);

static void write_list(const struct writer *w, const struct key *k, const void *base, int indent)
{
	FILE *out = w->out;
	const struct list *l = k->list;
	size_t count = list_count(k, base);
	bool lines = indent >= 0 && takes_lines(k, base);

	if (!lines)
		fputc('[', out);
	for (size_t i = 0; i < count; i++) {
		if (lines)
			new_line(out, indent);
		fputs(lines ? "- " : i ? ", " : "", out);
		write_value(w, l->item, list_items(k, base) + i * l->size, FLOW);
	}
	if (!lines)
		fputc(']', out);
}

/* indent: of lines that the value takes beyond the present one. */
static void write_value(const struct writer *w, const struct key *k, const void *base, int indent)
{
	const void *target = target_of(k, base);

	if (k->kind == VALUE_MAP)
		map_write(w, k->map, target,
			indent >= 0 && fits_line(k->map, target) ? FLOW : indent);
	else if (k->kind == VALUE_LIST)
		write_list(w, k, base, indent);
	else if (k->kind == VALUE_FORM)
		k->form->write(w->out, target, indent);
	else if (k->kind == VALUE_FILE && w->file)
		w->file(w->out, target);
	else
		value_write(w->out, k, target);
}

void map_write(const struct writer *w, const struct map *map, const void *base, int indent)
{
	const char *word = is_off(map, base) ? "off" : bare_choice(map, base), *between = "";
	const struct key *lone = word ? NULL : lone_key(map, base);
	bool lines = indent >= 0;
	FILE *out = w->out;

	if (word) {
		fputs(word, out);
		return;
	}
	if (lone) {
		write_value(w, lone, base, FLOW);
		return;
	}
	if (!lines)
		fputc('{', out);
	for (size_t i = 0; i < map->count; i++) {
		const struct key *k = &map->keys[i];

		if (!key_is_written(map, k, base))
			continue;
		if (lines && (indent || *between))
			new_line(out, indent);
		fprintf(out, "%s%s:%s", lines ? "" : between, k->name,
			lines && takes_lines(k, base) ? "" : " ");
		between = ", ";
		write_value(w, k, base, lines ? indent + STEP : FLOW);
	}
	if (!lines)
		fputc('}', out);
}

int scenario_write(const struct scenario *s, FILE *out)
{
	map_write(&(struct writer){.out = out}, &scenario_map, s, 0);
	fputc('\n', out);
	return ferror(out) ? -EIO : 0;
}
