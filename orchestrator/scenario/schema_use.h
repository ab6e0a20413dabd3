/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_SCHEMA_USE_H
#define FABRICBED_SCENARIO_SCHEMA_USE_H

/* Reads, checks and writes files by the tables of base/schema.h. Private to scenario/. */
#include "base/schema.h"

/* The whole file: what a struct scenario has. */
extern const struct map scenario_map;

/* A member of a struct, and what a list at that place holds. */
static inline void *at(const void *base, size_t offset)
{
	return (char *)base + offset;
}

static inline char *list_items(const struct key *k, const void *base)
{
	return k->list->in_place ? at(base, k->offset) : *(char **)at(base, k->offset);
}

static inline size_t list_count(const struct key *k, const void *base)
{
	return *(const size_t *)at(base, k->list->count);
}

/* VALUE_COUNT to VALUE_BYTES: what they are called, how they are read and written. */
struct integer_kind {
	const char *what, *example;                    /* "a rate", "100Gbps" */
	int (*parse)(const char *text, uint64_t *ret); /* as those of base/units.h */
	const char *(*format)(char *buf, uint64_t value);
};

const struct integer_kind *integer_kind(enum value_kind kind);

/* Such a value where it is kept: VALUE_COUNT has 32 bits, the others have 64. */
static inline uint64_t integer_load(const struct key *k, const void *target)
{
	return k->kind == VALUE_COUNT ? *(const uint32_t *)target : *(const uint64_t *)target;
}

static inline void integer_store(const struct key *k, void *target, uint64_t value)
{
	if (k->kind == VALUE_COUNT)
		*(uint32_t *)target = (uint32_t)value;
	else
		*(uint64_t *)target = value;
}

/* ---- reading ---- */

/*
 * Fills `base` from a mapping; NULL counts as one without keys. Adds a message for each unknown
 * key, missing key and invalid value, which leaves the default. True: all is valid.
 */
bool map_read(struct check *c, const struct map *map, const struct tree *n, void *base);

/* Of a map's `check`: whether all keys are valid. */
bool all_valid(const struct map *map, uint64_t valid);

/* One value, of whatever kind; base is the struct that has the key's target. */
bool key_read(struct check *c, const struct key *k, const struct tree *n, void *base);

/* One scalar, as the key says, into target. False: there is a message. */
bool value_read(struct check *c, const struct key *k, const struct tree *n, void *target);

/* The file that a scalar names; the same. Release its content. */
bool file_read(struct check *c, const struct key *k, const struct tree *n, struct file_text *ret);
void file_release(struct file_text *f);

/* The key of that name; NULL: there is none. */
const struct key *map_key(const struct map *map, const char *name);

/* That scalar, ignoring case. "off" and "on" are all that YAML 1.1 reads as false and true. */
bool value_is_word(const struct tree *n, const char *word);

/* ---- writing ---- */

/* Where text goes. */
struct writer {
	FILE *out;
	void (*file)(FILE *out, const struct file_text *f); /* a VALUE_FILE; NULL: its path */
};

/* indent: of the mapping's keys, each in a line of its own; FLOW: {in: one, line: all}. */
#define FLOW (-1)
void map_write(const struct writer *w, const struct map *map, const void *base, int indent);

/* A scalar as it is read. */
void value_write(FILE *out, const struct key *k, const void *target);

/* ---- the end ---- */

/* Frees what the values of a mapping hold, and the struct itself where it was allocated. */
void map_release(const struct map *map, void *base);

/* A choice's number, from 0; and whether a key is the choice taken, or no choice. */
size_t choice_index(const struct map *map, const struct key *k);
bool key_is_taken(const struct map *map, const struct key *k, const void *base);

/* Calls visit for each value that names a host: its path below the mapping, and the name. */
void map_each_host(const struct map *map, const void *base, const char *path,
	void (*visit)(void *arg, const char *path, const char *name), void *arg);

/* ---- in words: each fills buf and returns it ---- */

#define EXPECTED 1024

/* What a message says was expected. */
const char *expected_value(const struct key *k, char buf[EXPECTED]);
const char *expected_map(const struct map *map, char buf[EXPECTED]);

/* "a, b, c" */
const char *expected_names(const char *const *names, size_t count, char buf[EXPECTED]);

/* Of a mapping: whether no key is required, and so "on" can stand for all defaults. */
bool map_takes_on(const struct map *map);

/* Of a mapping: whether it may be written as a single word or number. */
bool map_takes_word(const struct map *map);

#endif
