/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/balance_name.h"
#include "base/switching.h"
#include "scenario/check.h"

#define FLOWS_MAX (1u << 20) /* of a switch: 64 MB */

/* ---- which policies use which keys ---- */

#define BIT(policy) (1u << (policy))

#define X(symbol, name, word, ahead, flows, reorders, meaning) ((flows) ? BIT(symbol) : 0) |
#define WITH_FLOWS                                             (BALANCES(X) BIT(BALANCE_FILE))

static const struct use {
	const char *key;
	uint32_t by; /* a bit a policy */
} uses[] = {
	[BALANCE_GAP] = {"gap", BIT(BALANCE_FLOWLET) | BIT(BALANCE_LETFLOW) | BIT(BALANCE_FILE)},
	[BALANCE_LIFETIME] = {"lifetime", WITH_FLOWS},
	[BALANCE_THRESHOLD] = {"threshold",
		BIT(BALANCE_ADAPTIVE) | BIT(BALANCE_ECMP_ADAPTIVE) | BIT(BALANCE_FILE)},
	[BALANCE_CHOICES] = {"choices", BIT(BALANCE_DRILL) | BIT(BALANCE_FILE)},
	[BALANCE_REMEMBERED] = {"remembered", BIT(BALANCE_DRILL) | BIT(BALANCE_FILE)},
	[BALANCE_FLOWS] = {"flows", WITH_FLOWS},
};
#undef X

bool balance_uses(uint32_t policy, enum balance_use use)
{
	return uses[use].by >> policy & 1;
}

/* A bit a policy. */
static uint32_t policies_of(const struct balance_spec *b)
{
	return BIT(balance_policy(b));
}

static uint32_t all_policies(const struct balances_spec *b)
{
	uint32_t all = policies_of(&b->all);

	for (size_t i = 0; i < BALANCE_TIERS; i++)
		if (b->tiers[i])
			all |= policies_of(b->tiers[i]);
	return all;
}

#define APPLIES(name, use)                                                                         \
	static bool name(const void *spec)                                                         \
	{                                                                                          \
		return uses[use].by & policies_of(spec);                                           \
	}

APPLIES(has_gap, BALANCE_GAP)
APPLIES(has_lifetime, BALANCE_LIFETIME)
APPLIES(has_threshold, BALANCE_THRESHOLD)
APPLIES(has_choices, BALANCE_CHOICES)
APPLIES(has_remembered, BALANCE_REMEMBERED)

static bool has_flows(const void *spec)
{
	return uses[BALANCE_FLOWS].by & all_policies(spec);
}

/* "flowlet, letflow, a policy of your own" */
static const char *users_of(const struct use *use, char buf[EXPECTED])
{
	const char *names[BALANCE_COUNT];
	size_t count = 0;

	for (unsigned i = 0; i < BALANCE_FILE; i++)
		if (use->by & BIT(i))
			names[count++] = balance_names[i];
	names[count++] = "a policy of your own";
	return expected_names(names, count, buf);
}

/* Whether a mapping has keys of these policies alone. */
static bool check_used(struct check *c, const struct tree *n, uint32_t policies)
{
	bool used = true;

	for (size_t i = 0; i < COUNT(uses); i++) {
		const struct tree *item = tree_get(n, uses[i].key);
		char users[EXPECTED];

		if (item && !(uses[i].by & policies))
			used = explain_value(c->diags, item,
				"only these policies use it: %s; leave it out, or take one of them",
				users_of(&uses[i], users));
	}
	return used;
}

/* ---- what a tier does not say it has of all ---- */

static bool take_policy(struct check *c, struct balance_spec *to, const struct balance_spec *all)
{
	if (to->policy.path)
		return true;
	to->policy.path = strdup(all->policy.path);
	to->policy.text = malloc(all->policy.length + 1);
	if (!to->policy.path || !to->policy.text) {
		c->out_of_memory = true;
		return false;
	}
	memcpy(to->policy.text, all->policy.text, all->policy.length + 1);
	to->policy.length = all->policy.length;
	return true;
}

static bool take_rest(struct check *c, const struct tree *n, struct balance_spec *to,
	const struct balance_spec *all)
{
	if (!tree_get(n, "gap"))
		to->gap_ps = all->gap_ps;
	if (!tree_get(n, "lifetime"))
		to->lifetime_ps = all->lifetime_ps;
	if (!tree_get(n, "threshold"))
		to->threshold = all->threshold;
	if (!tree_get(n, "choices"))
		to->choices = all->choices;
	if (!tree_get(n, "remembered"))
		to->remembered = all->remembered;
	return take_policy(c, to, all);
}

/* ---- checks ---- */

/* What the mapping n gives, with the rest of b, to these policies. */
static bool check_times(
	struct check *c, const struct tree *n, const struct balance_spec *b, uint32_t policies)
{
	const struct tree *gap = tree_get(n, "gap"), *lifetime = tree_get(n, "lifetime");
	bool is_used = uses[BALANCE_GAP].by & policies;

	if (!is_used || !b->lifetime_ps || b->gap_ps <= b->lifetime_ps || (!gap && !lifetime))
		return true;
	return explain_value(c->diags, lifetime ? lifetime : gap,
		"lifetime is shorter than gap, and a flow would be forgotten before the gap has passed; give a longer lifetime, or off");
}

/* A program has one policy beside its own. */
static bool check_one_file(struct check *c, const struct tree *n, const struct balances_spec *b)
{
	const struct file_text *first = NULL;

	for (size_t i = 0; i <= BALANCE_TIERS; i++) {
		const struct balance_spec *of = i ? b->tiers[i - 1] : &b->all;
		char path[64] = "policy";

		if (!of || balance_policy(of) != BALANCE_FILE)
			continue;
		if (i)
			snprintf(path, sizeof(path), "%s.policy", balance_tiers[i - 1]);
		if (first && strcmp(first->path, of->policy.path))
			return explain_path(c, n, path,
				"'%s' is a second file, beside '%s'; the switches of a fabric share one: make it tell them apart, or use a policy of fabricbed's beside it",
				file_text_name(&of->policy), file_text_name(first));
		first = &of->policy;
	}
	return true;
}

static bool check_balance(struct check *c, const struct tree *n, void *spec, uint64_t valid)
{
	struct balances_spec *b = spec;
	uint32_t same_times = policies_of(&b->all); /* policies with those of all */
	bool fits = true;

	(void)valid;
	for (size_t i = 0; i < BALANCE_TIERS; i++) {
		const struct tree *tier = tree_get(n, balance_tiers[i]);

		if (!b->tiers[i])
			continue;
		if (!take_rest(c, tier, b->tiers[i], &b->all))
			return false;
		if (!tree_get(tier, "gap") && !tree_get(tier, "lifetime"))
			same_times |= policies_of(b->tiers[i]);
		fits &= check_times(c, tier, b->tiers[i], policies_of(b->tiers[i]));
		fits &= check_used(c, tier, policies_of(b->tiers[i]));
	}
	fits &= check_times(c, n, &b->all, same_times);
	fits &= check_used(c, n, all_policies(b));
	return fits && check_one_file(c, n, b);
}

/* ---- the keys ---- */

static const char *policy_word(const char *text)
{
	for (size_t i = 0; balance_names[i]; i++)
		if (!strcasecmp(text, balance_names[i]))
			return balance_names[i];
	return NULL;
}

#define X(symbol, name, word, ahead, flows, reorders, meaning) word,
static const char *const policy_words[] = {BALANCES(X) "or the name of a file, such as my.c", NULL};
#undef X

#define X(symbol, name, word, ahead, flows, reorders, meaning) word ", "
#define POLICIES                                               BALANCES(X) "or the name of a file"

const char *const balance_tiers[BALANCE_TIERS + 1] = {"tor", "leaf", "agg", "spine", "core", NULL};

/* A tier has those of the keys that come first. */
#define TIER_KEYS 6
static const struct key balance_keys[TIER_KEYS + 1 + BALANCE_TIERS];

static const struct map tier_map = {.keys = balance_keys,
	.count = TIER_KEYS,
	.size = sizeof(struct balance_spec),
	.lone = &balance_keys[0],
	.pos = offsetof(struct balance_spec, pos),
	.expected =
		"a policy: " POLICIES
		" with one; or a mapping of these keys: policy, gap, lifetime, threshold, choices, remembered"};

#define BALANCE_KEY(word, kind, member, ...)                                                       \
	KEY(word, kind, struct balances_spec, all.member, __VA_ARGS__)
_Static_assert(offsetof(struct balances_spec, all) == 0, "a tier has these keys too");

/* What is not named is NULL, and not written. */
#define TIER(word, i)                                                                              \
	KEY(word, MAP, struct balances_spec, tiers[i], .map = &tier_map, .optional = true,         \
		.inherits = true, .usual = "as the others",                                        \
		.help = "of the switches whose names begin with " word)

static const struct key balance_keys[TIER_KEYS + 1 + BALANCE_TIERS] = {
	BALANCE_KEY("policy", FILE, policy, .fallback = "ecmp", .built_in = policy_word,
		.words = policy_words, .max = POLICY_FILE_MAX,
		.expected = "a policy: " POLICIES " with one, such as my.c",
		.help = "one of fabricbed's policies, or the name of a C file with your own"),
	BALANCE_KEY("gap", TIME, gap_ps, .fallback = "100us", .min = PS_PER_NS, .max = TIME_MAX,
		.applies = has_gap,
		.help = "time without a packet of a flow after which the next one may take another port"),
	BALANCE_KEY("lifetime", TIME, lifetime_ps, .fallback = "1ms", .word = "off",
		.min = PS_PER_NS, .max = TIME_MAX, .applies = has_lifetime,
		.help = "time without a packet of a flow after which a switch forgets it; off: never"),
	BALANCE_KEY("threshold", QUANTITY, threshold, AUTO, .max = QUEUE_MAX,
		.applies = has_threshold,
		.help = "adaptive: a queue counts as short if it is at most this much longer than the shortest (auto: a full packet); ecmp-adaptive: a new flow takes the shortest queue where that of its hash is longer (auto: 25% BDP)"),
	BALANCE_KEY("choices", COUNT, choices, .fallback = "2", .min = 1,
		.max = BALANCE_CHOICES_MAX, .applies = has_choices,
		.help = "queues that are drawn for each packet"),
	BALANCE_KEY("remembered", COUNT, remembered, .fallback = "1", .max = BALANCE_REMEMBERED_MAX,
		.applies = has_remembered,
		.help = "shortest queues of packets before that are looked at beside these"),
	KEY("flows", COUNT, struct balances_spec, flows, .fallback = "4096", .min = 8,
		.max = FLOWS_MAX, .applies = has_flows,
		.help = "flows that a switch has room for, rounded up to a multiple of 8"),
	TIER("tor", 0),
	TIER("leaf", 1),
	TIER("agg", 2),
	TIER("spine", 3),
	TIER("core", 4),
};

const struct map balance_map = {KEYS(balance_keys), .lone = &balance_keys[0],
	.pos = offsetof(struct balances_spec, all.pos),
	.expected =
		"a policy: " POLICIES
		" with one; or a mapping of these keys: policy, gap, lifetime, threshold, choices, remembered, flows, tor, leaf, agg, spine, core",
	.check = check_balance};
#undef X
