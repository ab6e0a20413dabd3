/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_VALUE_H
#define FABRICBED_SCENARIO_VALUE_H

/* Mappings read by tables: what keys there are, of what type and range, with what default. Private
 * to scenario/. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "scenario/tree.h"

enum value_type {
	VALUE_TEXT,     /* char *: printable, may be empty or have several lines */
	VALUE_LABEL,    /* char *: one word */
	VALUE_COUNT,    /* uint32_t */
	VALUE_SEED,     /* uint64_t */
	VALUE_RATE,     /* uint64_t, bits a second */
	VALUE_TIME,     /* uint64_t, ps */
	VALUE_BYTES,    /* uint64_t */
	VALUE_QUANTITY, /* struct quantity */
	VALUE_SHARE, /* double, written as a percentage: above 0%, below 100%, or that where max is 1 */
	VALUE_CHANCE, /* double, 0..1, written as a percentage or a number; above 0 where min is not 0 */
	VALUE_NUMBER,  /* double, min..max unless both are 0 */
	VALUE_WORD,    /* unsigned: index in words */
	VALUE_FLAG,    /* bool: index in words */
	VALUE_READ,    /* by `read`, where the key is given */
	VALUE_SECTION, /* by `read`, with NULL where the key is not given */
};

struct check {
	struct diags *diags;
	bool out_of_memory;
};

#define VALUE_NOWHERE SIZE_MAX /* as an offset: checked, then forgotten */

/* One key of a mapping. What a type does not use stays 0. */
struct key {
	const char *name;
	enum value_type type;
	size_t offset; /* of the target in the struct that the mapping fills */
	bool required;
	const char *fallback; /* the default, as in a file; NULL: the target stays as it is */
	uint64_t min, max;
	bool times;    /* VALUE_QUANTITY: may be a time */
	bool is_share; /* VALUE_CHANCE: of frames; a bare 1 may mean 1%, and is refused */
	const char
		*word; /* stands for word_value (quantities: QUANTITY_AUTO): "auto", "off", ... */
	uint64_t word_value;
	const char *const *words; /* NULL ends the list */
	const char *expected;     /* in messages; NULL: worded from type and range */
	bool (*read)(struct check *c, const struct tree *n, void *target);
};

#define VALUE_UNKNOWN (1ull << 63) /* in a result of keys_read(): there were unknown keys */

/*
 * Fills `base` from a map; NULL and an empty value count as a map without keys. Adds a message for
 * each unknown key, missing key and wrong value. Returns a bit 1 << i for each keys[i] whose target
 * is good, and VALUE_UNKNOWN. At most 63 keys.
 */
uint64_t keys_read(
	struct check *c, const struct tree *map, const struct key *keys, size_t count, void *base);

/* All of `count` keys good, none unknown. */
static inline bool keys_all(uint64_t good, size_t count)
{
	return good == (1ull << count) - 1;
}

/* Reads one scalar, as the key says, into target; false: there is a message. */
bool value_read(struct check *c, const struct key *k, const struct tree *n, void *target);

/*
 * Calls `read` for each item of a list, with a zeroed element to fill, and sets the array and its
 * count even where some items are wrong. An empty value is an empty list. True: all are good.
 * `what` is for the message where n is no list.
 */
bool list_read(struct check *c, const struct tree *n, const char *what, size_t size,
	bool (*read)(struct check *c, const struct tree *n, void *element), void **ret_array,
	size_t *ret_count);

/*
 * The item of the map under the only one of `names` that is there, and which (index). NULL with a
 * message where there are none or several. No message about none where `quiet`: an unknown key has
 * been named.
 */
const struct tree *keys_choose(struct check *c, const struct tree *map, const char *const *names,
	size_t count, bool quiet, size_t *ret_index);

/* "off", or what else YAML 1.1 reads as false (type bool): "no", "false"; in any case of letters.
 */
bool value_is_off(const struct tree *n);

/* The same of "on", "yes" and "true". */
bool value_is_on(const struct tree *n);

#endif
