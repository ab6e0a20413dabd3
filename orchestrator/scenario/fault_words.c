/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults as words of a command line: "link GLOB loss 1% for 5ms". Keys and values are a file's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"
#include "scenario/keys_fault.h"

#define WORDS_LIMIT 32 /* no fault takes half of it */

struct reader {
	const char *const *words;
	size_t count, next;
	struct check *c;
	struct fault_spec *fault;
};

/* Words stand in line 1, each in a column of its own. */
static struct diag_pos pos_of(size_t word)
{
	return (struct diag_pos){1, (unsigned)word + 1};
}

/* A word as a value for messages: under a key of `parent`. text NULL: it is missing. */
static struct tree word_of(struct tree *parent, const char *key, const char *text, size_t word)
{
	return (struct tree){
		.kind = TREE_SCALAR,
		.pos = pos_of(word),
		.key_pos = pos_of(word ? word - 1 : 0),
		.parent = parent,
		.key = (char *)key,
		.text = (char *)(text ? text : ""),
		.quoted = text,
	};
}

static struct tree map_of(struct tree *parent, const char *key, size_t word)
{
	return (struct tree){
		.kind = TREE_MAP, .pos = pos_of(word), .parent = parent, .key = (char *)key};
}

/* The next word, unless that is the "for" behind what is done; NULL: there is none. */
static const char *take(struct reader *r)
{
	if (r->next == r->count || !strcmp(r->words[r->next], "for"))
		return NULL;
	return r->words[r->next++];
}

/* Of a value that take() has returned, or that is missing. */
static size_t taken(const struct reader *r, const char *value)
{
	return value ? r->next - 1 : r->next;
}

static bool explain_word(struct reader *r, size_t word, const char *const *valid, size_t count)
{
	struct tree n = word_of(NULL, NULL, r->words[word], word);

	explain_unknown_word(r->c->diags, &n, valid, count);
	return false;
}

static bool take_target(struct reader *r)
{
	const char *names[FAULT_TARGETS];
	struct tree root = map_of(NULL, NULL, 0), glob;
	size_t target = 0;

	for (size_t i = 0; i < FAULT_TARGETS; i++)
		names[i] = fault_target_key(i)->name;
	while (r->count && target < FAULT_TARGETS && strcmp(r->words[0], names[target]))
		target++;
	if (target == FAULT_TARGETS)
		return explain_word(r, 0, names, FAULT_TARGETS);
	if (r->count < 2) {
		diags_add(r->c->diags, pos_of(r->count),
			"expected link GLOB FAULT, switch GLOB down or host GLOB pause CLASS");
		return false;
	}
	r->fault->on = (enum fault_target)target;
	r->next = 2;
	glob = word_of(&root, names[target], r->words[1], 1);
	return key_read(r->c, fault_target_key(r->fault->on), &glob, r->fault);
}

/* Whether the next word is that one; then it is behind. */
static bool take_word(struct reader *r, const char *word)
{
	if (r->next == r->count || strcmp(r->words[r->next], word))
		return false;
	r->next++;
	return true;
}

/* "pick 2 per pod skip 1", if that is next. */
static bool take_pick(struct reader *r)
{
	struct tree root = map_of(NULL, NULL, r->next), pick, skip, *items[] = {&pick, &skip};
	const char *value;
	char text[64];
	size_t at;

	root.items = items;
	if (!take_word(r, "pick"))
		return true;
	value = take(r);
	at = taken(r, value);
	if (value && take_word(r, "per")) {
		const char *per = take(r);

		snprintf(text, sizeof(text), "%s per %s", value, per ? per : "");
		value = text;
	}
	pick = word_of(&root, "pick", value, at);
	root.count++;
	if (!key_read(r->c, fault_pick_key(), &pick, r->fault))
		return false;
	if (!r->fault->pick.count)
		return explain_value(
			r->c->diags, &pick, "nothing would happen; expected at least 1");
	if (take_word(r, "skip")) {
		value = take(r);
		skip = word_of(&root, "skip", value, taken(r, value));
		root.count++;
		if (!key_read(r->c, fault_skip_key(), &skip, r->fault))
			return false;
	}
	return fault_check_pick(r->c, &root, r->fault);
}

/* Reads "every 100us last 20us" as the mapping {flaky: {every: 100us, last: 20us}}. */
static bool take_pairs(struct reader *r, const struct map *map, struct tree *n)
{
	struct tree pairs[WORDS_LIMIT], *items[WORDS_LIMIT];
	bool valid = true;

	n->items = items;
	for (const char *name; (name = take(r)); n->count++) {
		const char *value = take(r);
		struct tree *pair = &pairs[n->count];

		*pair = word_of(n, name, value, taken(r, value));
		pair->again = map_key(map, name) && tree_get(n, name);
		if (pair->again)
			valid = explain_value(r->c->diags, pair, "again; once is enough");
		items[n->count] = pair;
	}
	return map_read(r->c, map, n, &r->fault->effect) && valid;
}

static bool explain_no_kind(struct reader *r, const char *const *names, size_t count)
{
	char list[EXPECTED];

	diags_add(r->c->diags, pos_of(r->next), "expected what happens to the %s: %s%s",
		fault_target_key(r->fault->on)->name, count > 1 ? "one of " : "",
		expected_names(names, count, list));
	return false;
}

/* A name that is no kind of fault on this target. */
static bool explain_kind(struct reader *r, size_t word, const char *const *names, size_t count)
{
	const struct key *k = map_key(&do_map, r->words[word]);
	const char *target = fault_target_key(r->fault->on)->name, *value = take(r);
	bool lone = k && k->kind == VALUE_NONE;
	struct tree root = map_of(NULL, NULL, 0), what = map_of(&root, "do", word),
		    item = lone ? word_of(&root, "do", r->words[word], word)
				: word_of(&what, r->words[word], value, taken(r, value));

	if (!k)
		return explain_word(r, word, names, count);
	explain_value(r->c->diags, &item, "not for a %s; expected %s", target,
		fault_target_expected(r->fault->on));
	return false;
}

static bool take_kind(struct reader *r)
{
	const char *names[FAULT_KINDS], *name, *value;
	size_t count = fault_kind_names(r->fault->on, names), at = r->next;
	enum fault_kind kind;
	const struct key *k;
	struct tree root = map_of(NULL, NULL, 0), what = map_of(&root, "do", at), item;

	name = take(r);
	if (!name)
		return explain_no_kind(r, names, count);
	if (!strcmp(name, "up") && r->fault->on != TARGET_HOST) {
		diags_add(r->c->diags, pos_of(at),
			"'up' is no fault: heal ends faults ('fabricbed heal NAME %s GLOB')",
			fault_target_key(r->fault->on)->name);
		return false;
	}
	kind = fault_kind_named(name, r->fault->on);
	if (kind == FAULT_KINDS)
		return explain_kind(r, at, names, count);
	r->fault->effect.kind = kind;
	k = &fault_keys[kind];
	if (k->kind == VALUE_NONE)
		return true;
	if (k->kind == VALUE_MAP) {
		item = map_of(&what, name, at);
		return take_pairs(r, k->map, &item);
	}
	value = take(r);
	item = word_of(&what, name, value, taken(r, value));
	return key_read(r->c, k, &item, &r->fault->effect);
}

/* "for TIME", if there is more. */
static bool take_time(struct reader *r)
{
	static const char *const words[] = {"for"};
	static const struct key key =
		KEY("for", TIME, struct fault_spec, until_ps, .min = 1, .max = TIME_MAX);
	struct tree root = map_of(NULL, NULL, 0), item;
	const char *value = NULL;

	if (r->next == r->count)
		return true;
	if (strcmp(r->words[r->next], words[0]))
		return explain_word(r, r->next, words, COUNT(words));
	if (++r->next < r->count)
		value = r->words[r->next++];
	if (r->next < r->count) {
		diags_add(r->c->diags, pos_of(r->next), "nothing may follow the time of 'for'");
		return false;
	}
	item = word_of(&root, "for", value, taken(r, value));
	return key_read(r->c, &key, &item, r->fault);
}

/* A target that is wrong does not keep the rest from being read; a kind that is unknown does. */
static bool take_words(struct reader *r)
{
	size_t before = r->c->diags->count;
	bool valid;

	if (r->count > WORDS_LIMIT) {
		diags_add(r->c->diags, pos_of(WORDS_LIMIT), "%zu words; no fault has so many",
			r->count);
		return false;
	}
	valid = take_target(r);
	if (!r->next)
		return false;
	if (!take_pick(r))
		return false;
	valid &= take_kind(r);
	if (r->c->diags->count != before && r->next < r->count && strcmp(r->words[r->next], "for"))
		return false;
	return take_time(r) && valid;
}

int scenario_fault_words(
	struct fault_spec *ret, const char *const *words, size_t count, struct diags *diags)
{
	struct fault_spec f = {.until_ps = UINT64_MAX, .valid = true};
	struct check c = {.diags = diags, .wrong = explain_path};
	struct reader r = {.words = words, .count = count, .c = &c, .fault = &f};
	bool valid = take_words(&r);

	diags_sort(diags);
	if (valid && !c.out_of_memory) {
		*ret = f;
		return 0;
	}
	fault_spec_release(&f);
	return c.out_of_memory || diags->out_of_memory ? -ENOMEM : -EINVAL;
}

/* Values as inject takes them: " 1%", or " every 100us last 20us". */
static void write_words(FILE *out, const struct key *k, const struct fault_effect *e)
{
	if (k->kind == VALUE_MAP) {
		for (size_t i = 0; i < k->map->count; i++) {
			fprintf(out, " %s", k->map->keys[i].name);
			write_words(out, &k->map->keys[i], e);
		}
	} else if (k->kind != VALUE_NONE) {
		fputc(' ', out);
		value_write(out, k, (const char *)e + k->offset);
	}
}

int fault_words(const struct fault_spec *f, char *buf, size_t size)
{
	const struct key *k = &fault_keys[f->effect.kind];
	char text[FAULT_WORDS] = "", pick[PICK_TEXT];
	FILE *out = fmemopen(text, sizeof(text), "w");
	bool whole;

	if (!out)
		return -ENOMEM;
	fprintf(out, "%s %s ", fault_target_key(f->on)->name, f->target);
	if (f->pick.per != PICK_ALL)
		fprintf(out, "pick %s ", fault_pick_text(&f->pick, pick));
	if (f->pick.skip)
		fprintf(out, "skip %u ", f->pick.skip);
	fputs(k->name, out);
	write_words(out, k, &f->effect);
	whole = !fclose(out) && strlen(text) + 1 < sizeof(text) && strlen(text) < size;
	if (!whole)
		return -ENOSPC;
	memcpy(buf, text, strlen(text) + 1);
	return 0;
}
