/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCHEMA_H
#define FABRICBED_SCHEMA_H

/*
 * What a mapping of a scenario file may hold. A key is a row of a table: its kind of value with
 * range and unit, its default, one sentence of help, and where the value goes. Whoever has options
 * (a transport, a workload) has a table of them beside its code; orchestrator/scenario/ reads,
 * checks, writes and prints by these tables.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/numbers.h"
#include "base/quantity.h"
#include "base/units.h"

struct diags;
struct key;
struct tree;

enum value_kind {
	VALUE_TEXT,     /* char *: printable, may be empty or have several lines */
	VALUE_LABEL,    /* char *: one word of at most `max` bytes */
	VALUE_COUNT,    /* uint32_t; from here to VALUE_BYTES: whole numbers */
	VALUE_SEED,     /* uint64_t */
	VALUE_RATE,     /* uint64_t, bits a second */
	VALUE_TIME,     /* uint64_t, ps */
	VALUE_BYTES,    /* uint64_t */
	VALUE_QUANTITY, /* struct quantity */
	VALUE_SHARE,  /* double, a percentage: above 0%, below 100%, or up to that where max is 1 */
	VALUE_CHANCE, /* double, 0..1, percentage or number; > 0 unless min is 0; most 1: below 1 */
	VALUE_NUMBER, /* double, least..most unless both are 0 */
	VALUE_WORD,   /* unsigned: index in `words`, from `min` on */
	VALUE_FLAG,   /* bool: index in `words` */
	VALUE_FILE,   /* struct file_text: the content of a file, or of what `built_in` knows */
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
	/* The scenario's file: what it names is relative to its folder; NULL: the current one. */
	const char *path;
	/* Adds a message about what is below n on a path ("to.1"; "": n itself). Returns false. */
	bool (*wrong)(struct check *c, const struct tree *n, const char *path, const char *format,
		...) __attribute__((format(printf, 4, 5)));
};

/* A file that a scenario names, as it was when that was read. */
#define FILE_TEXT_MAX (1u << 30)
struct file_text {
	char *path; /* absolute, or the name of a built-in one */
	char *text; /* with a zero behind it */
	size_t length;
};

/* Its name without its folders, for messages. */
static inline const char *file_text_name(const struct file_text *f)
{
	const char *slash = strrchr(f->path, '/');

	return slash ? slash + 1 : f->path;
}

/* A member of a struct. Size 0: there is none. */
struct field {
	size_t offset, size;
};

#define FIELD(type, member)                                                                        \
	{                                                                                          \
		offsetof(type, member), sizeof(((type *)0)->member)                                \
	}

/*
 * A mapping. In its place there may be "off" (`on`), "on" (all defaults; if no key is required),
 * the bare name of a choice whose value has defaults, or the value of the key `lone`.
 */
struct map {
	const struct key *keys;
	size_t count;         /* at most 63 */
	const char *help;     /* a sentence, where its key has none */
	size_t size;          /* of the allocated struct that the target points to; 0: no pointer */
	const char *expected; /* in messages; NULL: worded from the keys */
	struct field
		on; /* a member that is all zero where the mapping is off; a bool becomes true */
	struct field chosen; /* unsigned or bool: which key with `choice` there is, from 0 */
	size_t (*which)(const void *base); /* the same, for writing, where no member says it */
	struct field valid;                /* a bool that is set if all was valid */
	const struct key *lone;
	size_t pos; /* offset of a struct diag_pos that gets the mapping's place; 0: none does */
	void (*prepare)(
		struct check *c, const struct tree *n, void *base); /* before any key is read */
	/* If all keys are valid; `partial`: always. `valid` has a bit 1 << i for each valid key. */
	bool (*check)(struct check *c, const struct tree *n, void *base, uint64_t valid);
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
	const char *expected;          /* in words */
	const struct map *map;         /* of a part that is a mapping; NULL: there is none */
	void (*release)(void *target); /* NULL: it holds no memory */
	bool word;                     /* its value may be a single word or number */
	bool lines;                    /* in a file its value stands in lines below its key */
};

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
	bool is_host;  /* VALUE_LABEL: the name of a host of the fabric */
	bool times;    /* VALUE_QUANTITY: may be a time */
	bool is_share; /* VALUE_CHANCE: of frames; a bare 1 may mean 1%, and is refused */
	const char
		*word; /* stands for word_value (quantities: QUANTITY_AUTO): "auto", "off", ... */
	uint64_t word_value;
	/* NULL ends the list. VALUE_FILE: what a message lists where it is no name of a file */
	const char *const *words;
	const char *expected;               /* in messages; NULL: worded from kind and range */
	bool (*is_valid)(const char *text); /* VALUE_LABEL; NULL: any word is */
	const char *(*built_in)(
		const char *name); /* VALUE_FILE: its text; NULL: it is the name of a file */
	const struct map *map;
	const struct list *list;
	const struct form *form;
	bool (*check)(
		struct check *c, const struct tree *n, void *target); /* of a value that is valid */
	bool (*applies)(const void *base); /* it is written only then; NULL: always */
};

/* A row: KEY("delay", TIME, struct topology_spec, delay_ps, .fallback = "1us", ...). */
#define KEY(word_, kind_, type, member, ...)                                                       \
	{                                                                                          \
		.name = word_, .kind = VALUE_##kind_, .offset = offsetof(type, member),            \
		__VA_ARGS__                                                                        \
	}

/* A row whose mapping fills the same struct, or an item of a list that is a mapping. */
#define SECTION(word_, map_, ...)                                                                  \
	{                                                                                          \
		.name = word_, .kind = VALUE_MAP, .map = map_, __VA_ARGS__                         \
	}

#define ITEM(map_) (&(const struct key)SECTION(NULL, map_))

/* A choice that is its bare name. */
#define BARE(word_, help_)                                                                         \
	{                                                                                          \
		.name = word_, .kind = VALUE_NONE, .choice = true, .help = help_                   \
	}

#define KEYS(array) .keys = array, .count = COUNT(array)

#define KEY_UNKNOWN (1ull << 63) /* among valid keys: there were unknown ones */

/* Limits that many keys have. */
#define RATE_MIN        1000ull
#define RATE_MAX        10000000000000ull     /* 10 Tbps: a byte takes most of a picosecond */
#define TIME_MAX        864000000000000000ull /* ten days */
#define DELAY_MAX       1000000000000ull      /* a second, 200,000 km of fibre */
#define TIMES_MAX       1000000               /* anything counted that has no limit of its own */
#define NODE_NAME_LIMIT 31                    /* bytes of a node's name */

#define AUTO .fallback = "auto", .word = "auto" /* stored as 0, or as QUANTITY_AUTO */

#endif
