/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_SCHEMA_H
#define FABRICBED_SCENARIO_SCHEMA_H

/*
 * What a scenario file may hold. A key is a row of a table: its kind of value with range and unit, its default, one sentence of
 * help, and where the value goes. The same tables read files and --set, word the messages, write scenario.yaml, take the words of
 * `inject`, and are printed by `fabricbed help scenario`.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/numbers.h"

struct diags;
struct key;
struct tree;

enum value_kind {
	VALUE_TEXT,     /* char *: printable, may be empty or have several lines */
	VALUE_LABEL,    /* char *: one word of at most `max` bytes */
	VALUE_COUNT,    /* uint32_t */
	VALUE_SEED,     /* uint64_t */
	VALUE_RATE,     /* uint64_t, bits a second */
	VALUE_TIME,     /* uint64_t, ps */
	VALUE_BYTES,    /* uint64_t */
	VALUE_QUANTITY, /* struct quantity */
	VALUE_SHARE,  /* double, a percentage: above 0%, below 100%, or up to that where max is 1 */
	VALUE_CHANCE, /* double, 0..1, a percentage or a number; above 0 where min is not 0 */
	VALUE_NUMBER, /* double, least..most unless both are 0 */
	VALUE_WORD,   /* unsigned: index in `words`, from `min` on */
	VALUE_FLAG,   /* bool: index in `words` */
	VALUE_NONE,   /* a choice that is its bare name and has no value */
	VALUE_MAP,    /* by `map`, into the struct at the offset */
	VALUE_LIST,   /* by `list` */
	VALUE_FORM,   /* by `form`: a notation of its own */
};

/* What readers share: where messages go. */
struct check {
	struct diags *diags;
	bool out_of_memory;
	bool inherits; /* what is not given stays as the target has it, whatever its default is */
};

/* A member of a struct. Size 0: there is none. */
struct field {
	size_t offset, size;
};

#define FIELD(type, member)                                                                        \
	{                                                                                          \
		offsetof(type, member), sizeof(((type *)0)->member)                                \
	}

/*
 * A mapping. Where a value is no mapping, it may be "off" (`on`), "on" (all defaults; if no key is required), the bare name of a
 * choice whose value has defaults, or the value of the key `lone`.
 */
struct map {
	const struct key *keys;
	size_t count;         /* at most 63 */
	const char *expected; /* in messages; NULL: worded from the keys */
	struct field
		on; /* a member that is all zero where the mapping is off; a bool becomes true */
	struct field
		chosen; /* an unsigned or a bool: which of the keys with `choice` there is, from 0 */
	size_t (*which)(const void *base); /* the same, for writing, where no member says it */
	bool every_choice; /* the choices that are not taken get their defaults, too */
	const struct key *lone;
	size_t pos; /* offset of a struct diag_pos that gets the mapping's place; 0: none does */
	void (*prepare)(
		struct check *c, const struct tree *n, void *base); /* before any key is read */
	/* After all keys were good; `partial`: after any. `good` has a bit 1 << i for each good key. */
	bool (*check)(struct check *c, const struct tree *n, void *base, uint64_t good);
	bool partial;
};

/* An array at the key's offset, allocated unless `in_place`. */
struct list {
	const struct key *item;
	size_t size;      /* of an element */
	size_t count;     /* offset of the size_t beside the key's target that counts them */
	size_t pos;       /* offset of a struct diag_pos of an element; 0: none */
	const char *many; /* what the elements are called */
	size_t limit;     /* at most so many; 0: any number */
	bool in_place;
	bool lone; /* a single scalar stands for a list of one */
};

/* n is NULL where the key is not given. */
struct form {
	bool (*read)(struct check *c, const struct tree *n, void *target);
	void (*write)(FILE *out, const void *target, int indent);
	const char *expected;  /* in words */
	const struct map *map; /* of a part that is a mapping; NULL: there is none */
};

#define VALUE_NOWHERE SIZE_MAX /* as an offset: checked, then forgotten */

/* One key of a mapping. What a kind does not use stays 0. */
struct key {
	const char *name;
	enum value_kind kind;
	size_t offset;        /* of the target in the struct that the mapping fills */
	const char *fallback; /* the default, as in a file; NULL: the target stays as it is */
	const char *usual;    /* the default in words, where `fallback` does not have it */
	const char *help;     /* a sentence, without its full stop */
	uint64_t min, max;
	double least, most;
	bool required;
	bool choice;   /* one of those of its mapping, and only one */
	bool optional; /* what is not given is word_value, and is not written */
	bool inherits; /* VALUE_MAP: keeps what the target has */
	bool times;    /* VALUE_QUANTITY: may be a time */
	bool is_share; /* VALUE_CHANCE: of frames; a bare 1 may mean 1%, and is refused */
	const char
		*word; /* stands for word_value (quantities: QUANTITY_AUTO): "auto", "off", ... */
	uint64_t word_value;
	const char *const *words; /* NULL ends the list */
	const char *expected;     /* in messages; NULL: worded from kind and range */
	const struct map *map;
	const struct list *list;
	const struct form *form;
	bool (*check)(
		struct check *c, const struct tree *n, void *target); /* of a value that is good */
	bool (*applies)(const void *base); /* it is written only then; NULL: always */
};

/* A row: KEY("delay", TIME, struct topology_spec, delay_ps, .fallback = "1us", ...). */
#define KEY(word_, kind_, type, member, ...)                                                       \
	{                                                                                          \
		.name = word_, .kind = VALUE_##kind_, .offset = offsetof(type, member),            \
		__VA_ARGS__                                                                        \
	}

#define KEYS(array) .keys = array, .count = COUNT(array)

#define KEY_UNKNOWN (1ull << 63) /* among good keys: there were unknown ones */

/* The whole file: what a struct scenario has. */
extern const struct map scenario_map;

/* ---- reading ---- */

/*
 * Fills `base` from a mapping; NULL counts as one without keys. Adds a message for each unknown key, missing key and wrong
 * value. What is wrong leaves the default. True: all is good.
 */
bool map_read(struct check *c, const struct map *map, const struct tree *n, void *base);

/* One value, of whatever kind; base is the struct that has the key's target. */
bool key_read(struct check *c, const struct key *k, const struct tree *n, void *base);

/* The default of a key that is not given. */
bool key_default(struct check *c, const struct map *map, const struct key *k, void *base);

/* One scalar, as the key says, into target. False: there is a message. */
bool value_read(struct check *c, const struct key *k, const struct tree *n, void *target);

/* The key of that name; NULL: there is none. */
const struct key *map_key(const struct map *map, const char *name);

/* "off", or what else YAML 1.1 reads as false (type bool): "no", "false"; in any case of letters. */
bool value_is_off(const struct tree *n);

/* The same of "on", "yes" and "true". */
bool value_is_on(const struct tree *n);

/* ---- writing ---- */

/* indent: of the mapping's keys, each in a line of its own; FLOW: {in: one, line: all}. */
#define FLOW (-1)
void map_write(FILE *out, const struct map *map, const void *base, int indent);

/* Whether a key is written at all. */
bool key_is_written(const struct map *map, const struct key *k, const void *base);

/* A scalar as it is read. */
void value_write(FILE *out, const struct key *k, const void *target);

/* A name, bare as people write it, unless YAML would then take it for nothing or for syntax. */
void write_name(FILE *out, const char *name);

/* ---- in words: each fills buf and returns it ---- */

#define EXPECTED 1024

/* What a message says was expected. */
const char *expected_value(const struct key *k, char buf[EXPECTED]);
const char *expected_map(const struct map *map, char buf[EXPECTED]);

/* "a, b, c" */
const char *expected_names(const char *const *names, size_t count, char buf[EXPECTED]);

/* Of a mapping: whether no key is required, and so "on" can stand for all defaults. */
bool map_takes_on(const struct map *map);

#endif
