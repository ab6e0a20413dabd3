/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
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

/* ---- pick ---- */

#define PICK_EXPECTED "a number up to 1000000, in all or per pod or switch, such as 3 or 2 per pod"

/* In the order of enum pick_per, from PICK_OF_ALL on. */
static const char *const pick_words[] = {"", " per pod", " per switch"};

const char *fault_pick_text(const struct fault_pick *p, char buf[PICK_TEXT])
{
	snprintf(buf, PICK_TEXT, "%u%s", p->count,
		p->per == PICK_ALL ? "" : pick_words[p->per - PICK_OF_ALL]);
	return buf;
}

static bool read_pick(struct check *c, const struct tree *n, void *target)
{
	struct fault_pick *p = target;
	size_t digits, per = 0;

	if (!n)
		return true;
	digits = n->kind == TREE_SCALAR ? strspn(n->text, "0123456789") : 0;
	while (digits && per < COUNT(pick_words) && strcmp(n->text + digits, pick_words[per]))
		per++;
	if (!digits || digits > 7 || per == COUNT(pick_words) || atoi(n->text) > TIMES_MAX)
		return explain_unexpected(c->diags, n, PICK_EXPECTED);
	p->per = (enum pick_per)(PICK_OF_ALL + per);
	p->count = (uint32_t)atoi(n->text);
	p->pos = n->pos;
	return true;
}

static void write_pick(FILE *out, const void *target, int indent)
{
	char text[PICK_TEXT];

	(void)indent;
	fputs(fault_pick_text(target, text), out);
}

static const struct form pick_form = {
	.read = read_pick, .write = write_pick, .expected = PICK_EXPECTED, .word = true};

static bool picks(const void *fault)
{
	return ((const struct fault_spec *)fault)->pick.per != PICK_ALL;
}

/* ---- a fault ---- */

#define TARGET(word, one, such_as, help_)                                                          \
	KEY(word, LABEL, struct fault_spec, target, .choice = true, .max = LABEL_LIMIT,            \
		.expected = "the name of a " one ", or a pattern, such as " such_as,               \
		.help = help_)
#define ONE(word, such_as)                                                                         \
	TARGET(word, word, such_as,                                                                \
		"the " word ", or a pattern over the names of several, such as " such_as)
#define SEVERAL(word, one, such_as) TARGET(word, one, such_as, "another word for '" one "'")

/* The words of several have the places of enum fault_target, behind those of one. */
enum { AT, UNTIL, PICK, SKIP, LINK, SWITCH, HOST, LINKS, SWITCHES, HOSTS, DO };

static const struct key keys[] = {
	[AT] = KEY("at", TIME, struct fault_spec, at_ps, .fallback = "0us", .max = MOMENT_MAX,
		.help = "when it begins"),
	[UNTIL] = KEY("until", TIME, struct fault_spec, until_ps, .fallback = "never",
		.word = "never", .word_value = UINT64_MAX, .max = MOMENT_MAX,
		.help = "when it ends"),
	[PICK] = KEY("pick", FORM, struct fault_spec, pick, .form = &pick_form,
		.usual = "all that match", .applies = picks,
		.help = "it befalls so many of what matches, drawn by the seed"),
	[SKIP] = KEY("skip", COUNT, struct fault_spec, pick.skip, .fallback = "0", .max = TIMES_MAX,
		.applies = picks,
		.help = "'pick' leaves out so many, which a fault without 'skip' picks first"),
	[LINK] = ONE("link", "agg0.1-core2"),
	[SWITCH] = ONE("switch", "core2"),
	[HOST] = ONE("host", "h7"),
	[LINKS] = SEVERAL("links", "link", "agg*-core*"),
	[SWITCHES] = SEVERAL("switches", "switch", "core*"),
	[HOSTS] = SEVERAL("hosts", "host", "h*"),
	[DO] = KEY("do", MAP, struct fault_spec, effect, .required = true, .map = &do_map,
		.expected = DO_EXPECTED, .help = "what happens"),
};

const struct key *fault_target_key(enum fault_target target)
{
	return &keys[LINK + target];
}

const struct key *fault_pick_key(void)
{
	return &keys[PICK];
}

const struct key *fault_skip_key(void)
{
	return &keys[SKIP];
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

bool fault_check_pick(struct check *c, const struct tree *n, const struct fault_spec *f)
{
	if (f->on == TARGET_SWITCH && f->pick.per == PICK_PER_SWITCH)
		return explain_value(c->diags, tree_get(n, "pick"),
			"a switch has no other switches; expected a number in all or per pod");
	if (f->pick.skip && f->pick.per == PICK_ALL)
		return explain_value(c->diags, tree_get(n, "skip"),
			"nothing is picked; add pick, or leave skip out");
	return true;
}

static bool check_fault(struct check *c, const struct tree *n, void *fault, uint64_t valid)
{
	struct fault_spec *f = fault;

	f->on %= FAULT_TARGETS;
	if (valid >> DO & 1 && !check_target(c, tree_get(n, "do"), f))
		return false;
	if (!all_valid(&fault_map, valid) || !fault_check_pick(c, n, f))
		return false;
	if (f->until_ps <= f->at_ps) {
		const struct tree *at = tree_get(n, "at");

		explain_value(c->diags, tree_get(n, "until"), "%s is not after the start at %s",
			tree_get(n, "until")->text, at ? at->text : keys[AT].fallback);
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
