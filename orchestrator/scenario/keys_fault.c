/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include "scenario/check.h"
#include "scenario/keys_fault.h"

#define EXAMPLE(symbol, example) example
#define DO_EXPECTED              "down, or one of " FAULTS(EXAMPLE)

enum fault_kind fault_kind_named(const char *name, enum fault_target target)
{
	unsigned kind = 0;

	while (kind < FAULT_KINDS &&
		(!fault_befalls(kind, target) || strcmp(fault_keys[kind].name, name)))
		kind++;
	return kind;
}

size_t fault_kind_names(enum fault_target target, const char *names[FAULT_KINDS])
{
	size_t count = 0;

	for (unsigned kind = 0; kind < FAULT_KINDS; kind++)
		if (fault_befalls(kind, target))
			names[count++] = fault_keys[kind].name;
	return count;
}

const struct map do_map = {.keys = fault_keys,
	.count = FAULT_KINDS,
	.chosen = FIELD(struct fault_effect, kind),
	.expected = DO_EXPECTED};

/* ---- a fault ---- */

#define TARGET(word, such_as)                                                                      \
	KEY(word, LABEL, struct fault_spec, target, .choice = true, .max = LABEL_LIMIT,            \
		.expected = "the name of a " word ", or a pattern, such as " such_as,              \
		.help = "the " word ", or a pattern over the names of several, such as " such_as)

enum { AT, UNTIL, LINK, SWITCH, HOST, DO };

static const struct key keys[] = {
	[AT] = KEY("at", TIME, struct fault_spec, at_ps, .required = true, .max = MOMENT_MAX,
		.help = "when it begins"),
	[UNTIL] = KEY("until", TIME, struct fault_spec, until_ps, .fallback = "never",
		.word = "never", .word_value = UINT64_MAX, .max = MOMENT_MAX,
		.help = "when it ends"),
	[LINK] = TARGET("link", "agg0.1-core2"),
	[SWITCH] = TARGET("switch", "core2"),
	[HOST] = TARGET("host", "h7"),
	[DO] = KEY("do", MAP, struct fault_spec, effect, .required = true, .map = &do_map,
		.expected = DO_EXPECTED, .help = "what happens"),
};

const struct key *fault_target_key(enum fault_target target)
{
	return &keys[LINK + target];
}

const char *fault_target_expected(enum fault_target target)
{
	static const char *const expected[] = {DO_EXPECTED, "down", "{pause: 3}, with a class"};

	return expected[target];
}

/* What is done must be something that can be done to the target. */
static bool check_target(struct check *c, const struct tree *what, const struct fault_spec *f)
{
	if (fault_befalls(f->effect.kind, f->on))
		return true;
	explain_value(c->diags, what->kind == TREE_MAP ? what->items[0] : what,
		"not for a %s; expected %s", keys[LINK + f->on].name, fault_target_expected(f->on));
	return false;
}

static bool check_fault(struct check *c, const struct tree *n, void *fault, uint64_t valid)
{
	struct fault_spec *f = fault;

	if (valid >> DO & 1 && !check_target(c, tree_get(n, "do"), f))
		return false;
	if (!all_valid(&fault_map, valid))
		return false;
	if (f->until_ps <= f->at_ps) {
		explain_value(c->diags, tree_get(n, "until"), "%s is not after the start at %s",
			tree_get(n, "until")->text, tree_get(n, "at")->text);
		return false;
	}
	f->valid = true;
	return true;
}

const struct map fault_map = {KEYS(keys), .chosen = FIELD(struct fault_spec, on),
	.pos = offsetof(struct fault_spec, pos), .check = check_fault, .partial = true};

void check_storms(struct check *c, const struct tree *root, struct scenario *s)
{
	const struct tree *list = tree_get(root, "faults");

	for (size_t i = 0; i < s->fault_count; i++) {
		struct fault_spec *f = &s->faults[i];
		const struct fault_effect *e = &f->effect;
		const struct class_spec *class = &s->sw.classes[e->class % SCENARIO_CLASSES];

		if (!f->valid || !fault_kinds[e->kind].pauses_class ||
			(class->used && class->lossless))
			continue;
		f->valid = false;
		explain_value(c->diags,
			tree_get(tree_get(list->items[i], "do"), fault_keys[e->kind].name),
			"class %u is not lossless, so that nobody heeds its pauses%s", e->class,
			s->sw.pfc.on ? "; expected one that is" : "; add switch.pfc: on");
	}
}
