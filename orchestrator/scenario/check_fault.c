/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <string.h>
#include "base/units.h"
#include "scenario/deed.h"
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define DO_EXPECTED                                                                                \
	"down, or one of {rate: 25%}, {delay: 5us}, {loss: 0.1%}, {gilbert: ...}, {flaky: ...}, {errors: 1e-9}"

#define OF(field) offsetof(struct fault_spec, field)

static bool read_gilbert(struct check *c, const struct tree *n, void *fault)
{
	static const struct key keys[] = {
		{.name = "enter",
			.type = VALUE_CHANCE,
			.is_share = true,
			.required = true,
			.min = 1,
			.offset = OF(gilbert.enter)},
		{.name = "leave",
			.type = VALUE_CHANCE,
			.is_share = true,
			.required = true,
			.min = 1,
			.offset = OF(gilbert.leave)},
		{.name = "lost",
			.type = VALUE_CHANCE,
			.is_share = true,
			.fallback = "100%",
			.min = 1,
			.offset = OF(gilbert.lost_bad)},
		{.name = "lost_good",
			.type = VALUE_CHANCE,
			.is_share = true,
			.fallback = "0",
			.offset = OF(gilbert.lost_good)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), fault), COUNT(keys));
}

static bool read_flaky(struct check *c, const struct tree *n, void *fault)
{
	static const struct key keys[] = {
		{.name = "every",
			.type = VALUE_TIME,
			.required = true,
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.offset = OF(flaky.every_ps)},
		{.name = "last",
			.type = VALUE_TIME,
			.required = true,
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.offset = OF(flaky.last_ps)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), fault), COUNT(keys));
}

static bool read_errors(struct check *c, const struct tree *n, void *fault)
{
	static const struct key key = {.type = VALUE_CHANCE,
		.min = 1,
		.expected = "the share of bits that are wrong, above 0 and below 1, such as 1e-9"};
	struct fault_spec *f = fault;

	if (!value_read(c, &key, n, &f->bit_errors))
		return false;
	if (f->bit_errors < 1)
		return true;
	explain_value(c->diags, n, "%s is too large; expected %s", n->text, key.expected);
	return false;
}

/* What can be done, and to what; in the order of the keys of read_do(). */
static const struct deed deeds[] = {
	{FAULT_LINK_RATE, "rate", "link", "slow down"},
	{FAULT_LINK_DELAY, "delay", "link", "delay frames on"},
	{FAULT_LINK_LOSS, "loss", "link", "lose frames on"},
	{FAULT_LINK_GILBERT, "gilbert", "link", "lose frames (gilbert) on"},
	{FAULT_LINK_FLAKY, "flaky", "link", "interrupt"},
	{FAULT_LINK_ERRORS, "errors", "link", "put bit errors on"},
	{FAULT_HOST_STORM, "pause", "host", "pause what is sent to"},
	{FAULT_LINK_DOWN, "down", "link", "take down"},
	{FAULT_SWITCH_DOWN, "down", "switch", "take down"},
};

#define DEED_KEYS 7 /* those that are keys, not the word "down" */

static bool read_deed(struct check *c, const struct tree *n, struct fault_spec *f)
{
	static const struct key keys[DEED_KEYS] = {
		{.name = "rate",
			.type = VALUE_SHARE,
			.offset = OF(share),
			.expected = "the share of the rate that is left, such as 25%"},
		{.name = "delay",
			.type = VALUE_TIME,
			.min = 1,
			.max = DELAY_MAX,
			.offset = OF(delay_ps)},
		{.name = "loss",
			.type = VALUE_CHANCE,
			.is_share = true,
			.min = 1,
			.offset = OF(loss)},
		{.name = "gilbert", .type = VALUE_READ, .read = read_gilbert},
		{.name = "flaky", .type = VALUE_READ, .read = read_flaky},
		{.name = "errors", .type = VALUE_READ, .read = read_errors},
		{.name = "pause",
			.type = VALUE_COUNT,
			.max = SCENARIO_CLASSES - 1,
			.offset = OF(class)},
	};
	const char *names[DEED_KEYS];
	uint64_t good = keys_read(c, n, keys, DEED_KEYS, f);
	size_t kind;

	for (size_t i = 0; i < DEED_KEYS; i++)
		names[i] = keys[i].name;
	if (!keys_choose(c, n, names, DEED_KEYS, good & VALUE_UNKNOWN, &kind))
		return false;
	f->kind = deeds[kind].kind;
	return keys_all(good, DEED_KEYS);
}

static bool read_do(struct check *c, const struct tree *n, void *fault)
{
	static const char *const words[] = {"down", NULL};
	static const struct key word = {
		.type = VALUE_WORD,
		.words = words,
		.expected = DO_EXPECTED,
	};
	struct fault_spec *f = fault;

	if (n->kind == TREE_MAP)
		return read_deed(c, n, f);
	f->kind = FAULT_LINK_DOWN;
	return value_read(c, &word, n, NULL);
}

const struct deed *fault_deeds(size_t *ret_count)
{
	*ret_count = COUNT(deeds);
	return deeds;
}

const struct deed *fault_deed(enum fault_kind kind)
{
	size_t i = 0;

	while (deeds[i].kind != kind)
		i++;
	return &deeds[i];
}

static const char *const targets[] = {"link", "switch", "host"};

/* What is done must be something that can be done to the target; a switch that is down is another kind. */
static bool fit_target(
	struct check *c, const struct tree *deed, size_t target, struct fault_spec *f)
{
	const char *key = deed->kind == TREE_MAP ? deed->items[0]->key : "down";

	for (size_t i = 0; i < COUNT(deeds); i++) {
		if (strcmp(deeds[i].name, key) || strcmp(deeds[i].target, targets[target]))
			continue;
		f->kind = deeds[i].kind;
		return true;
	}
	explain_value(c->diags, deed->kind == TREE_MAP ? deed->items[0] : deed,
		"not for a %s; expected %s", targets[target],
		target == 0   ? DO_EXPECTED
		: target == 1 ? "down"
			      : "{pause: 3}, with a class");
	return false;
}

enum { AT, UNTIL, LINK, SWITCH, HOST, DO };

static bool read_keys(struct check *c, const struct tree *n, struct fault_spec *f)
{
#define TARGET(word, such_as)                                                                      \
	{                                                                                          \
		.name = word, .type = VALUE_LABEL, .max = LABEL_LIMIT, .offset = OF(target),       \
		.expected = "the name of a " word ", or a pattern, such as " such_as               \
	}
	static const struct key keys[] = {
		[AT] = {.name = "at",
			.type = VALUE_TIME,
			.required = true,
			.max = MOMENT_MAX,
			.offset = OF(at_ps)},
		[UNTIL] = {.name = "until",
			.type = VALUE_TIME,
			.fallback = "never",
			.max = MOMENT_MAX,
			.word = "never",
			.word_value = UINT64_MAX,
			.offset = OF(until_ps)},
		[LINK] = TARGET("link", "agg0.1-core2"),
		[SWITCH] = TARGET("switch", "core2"),
		[HOST] = TARGET("host", "h7"),
		[DO] = {.name = "do",
			.type = VALUE_READ,
			.read = read_do,
			.required = true,
			.expected = DO_EXPECTED},
	};
#undef TARGET
	uint64_t good = keys_read(c, n, keys, COUNT(keys), f);
	size_t target;

	if (!good || !keys_choose(c, n, targets, COUNT(targets), good & VALUE_UNKNOWN, &target))
		return false;
	if (good & 1u << DO && !fit_target(c, tree_get(n, "do"), target, f))
		return false;
	return keys_all(good, COUNT(keys));
}

bool check_fault(struct check *c, const struct tree *n, void *fault)
{
	struct fault_spec *f = fault;

	f->pos = n->pos;
	if (!read_keys(c, n, f)) {
		f->until_ps = 0; /* an empty time, that overlaps nothing */
		return false;
	}
	if (f->until_ps <= f->at_ps) {
		explain_value(c->diags, tree_get(n, "until"), "%s is not after the start at %s",
			tree_get(n, "until")->text, tree_get(n, "at")->text);
		return false;
	}
	f->sound = true;
	return true;
}
