/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include "scenario/check.h"
#include "scenario/fault_kind.h"

#define DO_EXPECTED                                                                                \
	"down, or one of {rate: 25%}, {delay: 5us}, {loss: 0.1%}, {gilbert: ...}, {flaky: ...}, {errors: 1e-9}"

#define FAULT(word, kind, member, ...) KEY(word, kind, struct fault_spec, member, __VA_ARGS__)

/* ---- what is done ---- */

#define OF_FRAMES .is_share = true

static const struct key gilbert_keys[] = {
	FAULT("enter", CHANCE, gilbert.enter, OF_FRAMES, .required = true, .min = 1,
		.help = "probability, a frame, of a change from the good state to the bad one"),
	FAULT("leave", CHANCE, gilbert.leave, OF_FRAMES, .required = true, .min = 1,
		.help = "of the change back"),
	FAULT("lost", CHANCE, gilbert.lost_bad, OF_FRAMES, .fallback = "100%", .min = 1,
		.help = "share of frames that are lost in the bad state"),
	FAULT("lost_good", CHANCE, gilbert.lost_good, OF_FRAMES, .fallback = "0",
		.help = "and in the good one"),
};

static const struct key flaky_keys[] = {
	FAULT("every", TIME, flaky.every_ps, .required = true, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "mean time from the start of one interruption to that of the next"),
	FAULT("last", TIME, flaky.last_ps, .required = true, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "mean length of an interruption"),
};

static const struct map gilbert_map = {KEYS(gilbert_keys)}, flaky_map = {KEYS(flaky_keys)};

#define ERRORS_EXPECTED "the share of bits that are wrong, above 0 and below 1, such as 1e-9"

static bool check_errors(struct check *c, const struct tree *n, void *target)
{
	if (*(double *)target < 1)
		return true;
	explain_value(c->diags, n, "%s is too large; expected " ERRORS_EXPECTED, n->text);
	return false;
}

enum { RATE, DELAY, LOSS, GILBERT, FLAKY, ERRORS, PAUSE, DOWN };

static const struct key do_keys[] = {
	[RATE] = FAULT("rate", SHARE, share, .choice = true,
		.help = "the link's rate falls to this share",
		.expected = "the share of the rate that is left, such as 25%"),
	[DELAY] = FAULT("delay", TIME, delay_ps, .choice = true, .min = 1, .max = DELAY_MAX,
		.help = "this much is added to the link's delay"),
	[LOSS] = FAULT("loss", CHANCE, loss, OF_FRAMES, .choice = true, .min = 1,
		.help = "frames are lost at random with this probability"),
	[GILBERT] = {.name = "gilbert",
		.kind = VALUE_MAP,
		.choice = true,
		.map = &gilbert_map,
		.help = "frames are lost in bursts, by the model of Gilbert and Elliott"},
	[FLAKY] = {.name = "flaky",
		.kind = VALUE_MAP,
		.choice = true,
		.map = &flaky_map,
		.help = "the link is interrupted time and again"},
	[ERRORS] = FAULT("errors", CHANCE, bit_errors, .choice = true, .min = 1,
		.check = check_errors, .expected = ERRORS_EXPECTED, .help = "bit error rate"),
	[PAUSE] = FAULT("pause", COUNT, class, .choice = true, .max = CLASS_MAX,
		.help = "the host sends PFC pauses for this class indefinitely"),
	[DOWN] = {.name = "down",
		.kind = VALUE_NONE,
		.choice = true,
		.help = "the link or the switch is down"},
};

static const struct fault_kind_info kinds[] = {
	{FAULT_LINK_RATE, TARGET_LINK, &do_keys[RATE]},
	{FAULT_LINK_DELAY, TARGET_LINK, &do_keys[DELAY]},
	{FAULT_LINK_LOSS, TARGET_LINK, &do_keys[LOSS]},
	{FAULT_LINK_GILBERT, TARGET_LINK, &do_keys[GILBERT]},
	{FAULT_LINK_FLAKY, TARGET_LINK, &do_keys[FLAKY]},
	{FAULT_LINK_ERRORS, TARGET_LINK, &do_keys[ERRORS]},
	{FAULT_HOST_STORM, TARGET_HOST, &do_keys[PAUSE]},
	{FAULT_LINK_DOWN, TARGET_LINK, &do_keys[DOWN]},
	{FAULT_SWITCH_DOWN, TARGET_SWITCH, &do_keys[DOWN]},
};

const struct fault_kind_info *fault_kind_info(enum fault_kind kind)
{
	size_t i = 0;

	while (kinds[i].kind != kind)
		i++;
	return &kinds[i];
}

const struct fault_kind_info *fault_kind_named(const char *name, enum fault_target target)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].target == target && !strcmp(kinds[i].key->name, name))
			return &kinds[i];
	return NULL;
}

size_t fault_kind_names(enum fault_target target, const char *names[FAULT_NAMES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].target == target)
			names[count++] = kinds[i].key->name;
	return count;
}

const char *fault_word(enum fault_kind kind)
{
	return fault_kind_info(kind)->key->name;
}

static size_t which_kind(const void *fault)
{
	return (size_t)(fault_kind_info(((const struct fault_spec *)fault)->kind)->key - do_keys);
}

const struct map do_map = {KEYS(do_keys), .which = which_kind, .expected = DO_EXPECTED};

/* ---- a fault ---- */

#define TARGET(word, such_as)                                                                      \
	FAULT(word, LABEL, target, .choice = true, .max = LABEL_LIMIT,                             \
		.expected = "the name of a " word ", or a pattern, such as " such_as,              \
		.help = "the " word ", or a pattern over the names of several, such as " such_as)

enum { AT, UNTIL, LINK, SWITCH, HOST, DO };

static const struct key keys[] = {
	[AT] = FAULT(
		"at", TIME, at_ps, .required = true, .max = MOMENT_MAX, .help = "when it begins"),
	[UNTIL] = FAULT("until", TIME, until_ps, .fallback = "never", .word = "never",
		.word_value = UINT64_MAX, .max = MOMENT_MAX, .help = "when it ends"),
	[LINK] = TARGET("link", "agg0.1-core2"),
	[SWITCH] = TARGET("switch", "core2"),
	[HOST] = TARGET("host", "h7"),
	[DO] = {.name = "do",
		.kind = VALUE_MAP,
		.required = true,
		.map = &do_map,
		.expected = DO_EXPECTED,
		.help = "what happens"},
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

static size_t which_target(const void *fault)
{
	return fault_target(((const struct fault_spec *)fault)->kind);
}

/* What is done must be something that can be done to the target; a switch that is down is another kind. */
static bool find_kind(struct check *c, const struct tree *n, struct fault_spec *f)
{
	const struct tree *what = tree_get(n, "do");
	const char *name = what->kind == TREE_MAP ? what->items[0]->key : "down";
	enum fault_target target = tree_get(n, "link")     ? TARGET_LINK
				   : tree_get(n, "switch") ? TARGET_SWITCH
							   : TARGET_HOST;
	const struct fault_kind_info *kind = fault_kind_named(name, target);

	if (kind)
		f->kind = kind->kind;
	else
		explain_value(c->diags, what->kind == TREE_MAP ? what->items[0] : what,
			"not for a %s; expected %s", keys[LINK + target].name,
			fault_target_expected(target));
	return kind;
}

static bool check_fault(struct check *c, const struct tree *n, void *fault, uint64_t good)
{
	struct fault_spec *f = fault;

	if (good >> DO & 1 && !find_kind(c, n, f))
		return false;
	if (!all_good(&fault_map, good))
		return false;
	if (f->until_ps <= f->at_ps) {
		explain_value(c->diags, tree_get(n, "until"), "%s is not after the start at %s",
			tree_get(n, "until")->text, tree_get(n, "at")->text);
		return false;
	}
	f->sound = true;
	return true;
}

const struct map fault_map = {KEYS(keys), .which = which_target,
	.pos = offsetof(struct fault_spec, pos), .check = check_fault, .partial = true};
