/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/scenario.h"

#include <errno.h>
#include <string.h>
#include "base/units.h"
#include "scenario/check.h"
#include "scenario/deed.h"
#include "scenario/explain.h"
#include "scenario/expected.h"
#include "scenario/write.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS_LIMIT  32 /* no fault takes half of it */
#define DEEDS_LIMIT  16

static const char *const targets[] = {"link", "switch", "host"};

/* Words that are turned into what a file would hold: {at: 0, link: GLOB, do: DEED}. */
struct reader {
	const char *const *words;
	size_t count, next;
	struct diags *diags;
	struct tree *fault; /* the map */
	const char *target; /* "link", "switch" or "host" */
};

static struct diag_pos pos_of(size_t word)
{
	return (struct diag_pos){1, (unsigned)word + 1};
}

/* A value under a key of the map; the key is the word before it. NULL: nothing stands there. */
static int put(struct tree *map, const char *key, const char *value, size_t word)
{
	struct tree *item = tree_new_scalar(value ? value : "", value != NULL, pos_of(word));

	if (item && !tree_append(map, key, pos_of(word ? word - 1 : 0), item))
		return 0;
	tree_free(item);
	return -ENOMEM;
}

/* The next word, unless that is the "for" behind the deed; NULL: there is none. */
static const char *take(struct reader *r)
{
	if (r->next == r->count || !strcmp(r->words[r->next], "for"))
		return NULL;
	return r->words[r->next++];
}

/* A message about a word that is none of `valid`. */
static int explain_word(struct reader *r, size_t word, const char *const *valid, size_t count)
{
	struct tree *n = tree_new_scalar(r->words[word], true, pos_of(word));

	if (!n)
		return -ENOMEM;
	explain_unknown_word(r->diags, n, valid, count);
	tree_free(n);
	return -EINVAL;
}

static int take_target(struct reader *r)
{
	if (r->count) {
		for (size_t i = 0; i < COUNT(targets); i++)
			if (!strcmp(r->words[0], targets[i]))
				r->target = targets[i];
		if (!r->target)
			return explain_word(r, 0, targets, COUNT(targets));
	}
	if (r->count < 2) {
		diags_add(r->diags, pos_of(r->count),
			"expected link GLOB DEED, switch GLOB down or host GLOB pause CLASS");
		return -EINVAL;
	}
	r->next = 2;
	return put(r->fault, r->target, r->words[1], 1);
}

/* Names of what can be done to the target. */
static size_t list_deeds(const char *target, const char *names[DEEDS_LIMIT])
{
	size_t count, found = 0;
	const struct deed *deeds = fault_deeds(&count);

	for (size_t i = 0; i < count && found < DEEDS_LIMIT; i++)
		if (!strcmp(deeds[i].target, target))
			names[found++] = deeds[i].name;
	return found;
}

static bool is_deed(const char *name)
{
	size_t count;
	const struct deed *deeds = fault_deeds(&count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(deeds[i].name, name))
			return true;
	return false;
}

/* Keys and values up to the end, or to "for". */
static int take_pairs(struct reader *r, struct tree *map)
{
	for (const char *key; (key = take(r));) {
		bool again = tree_get(map, key);
		const char *value = take(r);
		int err = put(map, key, value, value ? r->next - 1 : r->next);

		if (err)
			return err;
		map->items[map->count - 1]->again = again;
		if (again)
			explain_value(
				r->diags, map->items[map->count - 1], "again; once is enough");
	}
	return 0;
}

/* {loss: 1%}, or {flaky: {every: 100us, last: 20us}}. */
static int take_values(struct reader *r, struct tree *deed, const char *name)
{
	struct tree *map;
	const char *value;
	int err;

	if (strcmp(name, "gilbert") && strcmp(name, "flaky")) {
		value = take(r);
		return put(deed, name, value, value ? r->next - 1 : r->next);
	}
	map = tree_new(TREE_MAP, pos_of(r->next - 1));
	err = map ? tree_append(deed, name, pos_of(r->next - 1), map) : -ENOMEM;
	if (err) {
		tree_free(map);
		return err;
	}
	return take_pairs(r, map);
}

static int explain_no_deed(struct reader *r, const char *const *names, size_t count)
{
	char list[EXPECTED];

	diags_add(r->diags, pos_of(r->next), "expected what happens to the %s: %s%s", r->target,
		count > 1 ? "one of " : "", expected_names(names, count, list));
	return -EINVAL;
}

static int take_deed(struct reader *r)
{
	const char *names[DEEDS_LIMIT], *name;
	size_t count = list_deeds(r->target, names), at = r->next;
	struct tree *deed;
	int err;

	name = take(r);
	if (!name)
		return explain_no_deed(r, names, count);
	if (!strcmp(name, "up") && strcmp(r->target, "host")) {
		diags_add(r->diags, pos_of(at),
			"'up' is no fault: heal ends faults ('fabricbed heal NAME %s GLOB')",
			r->target);
		return -EINVAL;
	}
	if (!is_deed(name))
		return explain_word(r, at, names, count);
	if (!strcmp(name, "down"))
		return put(r->fault, "do", name, at);
	deed = tree_new(TREE_MAP, pos_of(at));
	err = deed ? tree_append(r->fault, "do", pos_of(at), deed) : -ENOMEM;
	if (err) {
		tree_free(deed);
		return err;
	}
	return take_values(r, deed, name);
}

/* "for TIME", if there is more; *map gets {for: TIME}. */
static int take_time(struct reader *r, struct tree *map)
{
	static const char *const words[] = {"for"};
	const char *value = NULL;

	if (r->next == r->count)
		return 0;
	if (strcmp(r->words[r->next], words[0]))
		return explain_word(r, r->next, words, COUNT(words));
	if (++r->next < r->count)
		value = r->words[r->next++];
	if (r->next < r->count) {
		diags_add(r->diags, pos_of(r->next), "nothing may follow the time of 'for'");
		return -EINVAL;
	}
	return put(map, words[0], value, value ? r->next - 1 : r->next);
}

/* The value of what the words came to; what is wrong with it is told as in a file. */
static int read_fault(struct fault_spec *ret, const struct tree *fault, const struct tree *time,
	struct diags *diags)
{
	static const struct key keys[] = {
		{.name = "for",
			.type = VALUE_TIME,
			.min = 1,
			.max = TIME_MAX,
			.offset = offsetof(struct fault_spec, until_ps)},
	};
	struct check c = {.diags = diags};
	struct fault_spec f = {0};
	bool good = check_fault(&c, fault, &f);

	good &= keys_all(keys_read(&c, time, keys, COUNT(keys), &f), COUNT(keys));
	if (!good || c.out_of_memory) {
		fault_spec_release(&f);
		return c.out_of_memory || diags->out_of_memory ? -ENOMEM : -EINVAL;
	}
	f.pos = (struct diag_pos){0}; /* it stands in no file */
	*ret = f;
	return 0;
}

static int take_words(struct reader *r, struct tree *time)
{
	size_t before = r->diags->count;
	int err = put(r->fault, "at", "0", 0);

	if (!err)
		err = take_target(r);
	if (!err)
		err = take_deed(r);
	if (!err)
		err = take_time(r, time);
	return !err && r->diags->count != before ? -EINVAL : err;
}

int scenario_fault_words(
	struct fault_spec *ret, const char *const *words, size_t count, struct diags *diags)
{
	struct tree *time = tree_new(TREE_MAP, pos_of(0));
	struct reader r = {.words = words, .count = count, .diags = diags};
	int err = -ENOMEM;

	r.fault = tree_new(TREE_MAP, pos_of(0));
	if (count > WORDS_LIMIT) {
		diags_add(diags, pos_of(WORDS_LIMIT), "%zu words; no fault has so many", count);
		err = -EINVAL;
	} else if (r.fault && time) {
		err = take_words(&r, time);
		if (!err)
			err = read_fault(ret, r.fault, time, diags);
	}
	tree_free(r.fault);
	tree_free(time);
	diags_sort(diags);
	return err == -EINVAL && diags->out_of_memory ? -ENOMEM : err;
}

/* As people write it: a percentage, unless that is a long row of zeroes. */
static const char *chance_text(char buf[NUMBER_TEXT], double chance)
{
	return chance >= 1e-4 && strlen(percent_text(buf, chance)) <= 6 ? buf
									: number_text(buf, chance);
}

static void deed_words(char buf[FAULT_WORDS], const struct fault_spec *f)
{
	char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT], d[NUMBER_TEXT];

	switch (f->kind) {
	case FAULT_LINK_DOWN:
	case FAULT_SWITCH_DOWN:
		buf[0] = '\0';
		break;
	case FAULT_LINK_RATE:
		snprintf(buf, FAULT_WORDS, " %s", percent_text(a, f->share));
		break;
	case FAULT_LINK_DELAY:
		snprintf(buf, FAULT_WORDS, " %s", format_time(a, f->delay_ps));
		break;
	case FAULT_LINK_LOSS:
		snprintf(buf, FAULT_WORDS, " %s", chance_text(a, f->loss));
		break;
	case FAULT_LINK_ERRORS:
		snprintf(buf, FAULT_WORDS, " %s", number_text(a, f->bit_errors));
		break;
	case FAULT_LINK_GILBERT:
		snprintf(buf, FAULT_WORDS, " enter %s leave %s lost %s lost_good %s",
			chance_text(a, f->gilbert.enter), chance_text(b, f->gilbert.leave),
			chance_text(c, f->gilbert.lost_bad), chance_text(d, f->gilbert.lost_good));
		break;
	case FAULT_LINK_FLAKY:
		snprintf(buf, FAULT_WORDS, " every %s last %s", format_time(a, f->flaky.every_ps),
			format_time(b, f->flaky.last_ps));
		break;
	case FAULT_HOST_STORM:
		snprintf(buf, FAULT_WORDS, " %u", f->class);
		break;
	}
}

int fault_words(const struct fault_spec *f, char *buf, size_t size)
{
	const struct deed *deed = fault_deed(f->kind);
	char values[FAULT_WORDS], text[FAULT_WORDS];
	int length;

	deed_words(values, f);
	length = snprintf(
		text, sizeof(text), "%s %s %s%s", deed->target, f->target, deed->name, values);
	if (length < 0 || (size_t)length >= sizeof(text) || (size_t)length >= size)
		return -ENOSPC;
	memcpy(buf, text, (size_t)length + 1);
	return 0;
}

const char *fault_word(enum fault_kind kind)
{
	return fault_deed(kind)->name;
}
