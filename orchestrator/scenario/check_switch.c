/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <stdio.h>
#include <string.h>
#include "base/units.h"
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EVERY_MIN    PS_PER_NS

/* The ECN of class 0, until it is known which classes there are. */
static bool read_ecn(struct check *c, const struct tree *n, void *switch_spec)
{
	struct switch_spec *s = switch_spec;

	s->classes[0].ecn = (struct ecn_spec){
		.kmin = {0.25, QUANTITY_BDP}, .kmax = {0.75, QUANTITY_BDP}, .pmax = 1};
	return check_ecn(c, n, &s->classes[0].ecn);
}

/* off, on, or {every: TIME}; usual: what `on` means. */
static bool read_every(struct check *c, const struct tree *n, const char *usual, uint64_t *target)
{
	const struct key keys[] = {
		{.name = "every",
			.type = VALUE_TIME,
			.fallback = usual,
			.min = EVERY_MIN,
			.max = TIME_MAX,
			.word = strcmp(usual, "auto") ? NULL : usual,
			.word_value = EVERY_AUTO},
	};

	char expected[64];

	*target = 0;
	if (!n || value_is_off(n))
		return true;
	if (value_is_on(n))
		n = NULL;
	if (n && n->kind != TREE_MAP) {
		snprintf(expected, sizeof(expected), "off, on, or {every: %s}", usual);
		explain_unexpected(c->diags, n, expected);
		return false;
	}
	return keys_all(keys_read(c, n, keys, COUNT(keys), target), COUNT(keys));
}

static bool read_lldp(struct check *c, const struct tree *n, void *switch_spec)
{
	return read_every(c, n, "100us", &((struct switch_spec *)switch_spec)->lldp_ps);
}

static bool read_cnp(struct check *c, const struct tree *n, void *switch_spec)
{
	return read_every(c, n, "auto", &((struct switch_spec *)switch_spec)->cnp_ps);
}

/* A time, or {after: TIME, mode: WORD}. */
static bool read_reroute(struct check *c, const struct tree *n, void *switch_spec)
{
	static const char *const modes[] = {
		[REROUTE_GLOBAL] = "global",
		[REROUTE_LOCAL] = "local",
		NULL,
	};
	static const struct key keys[] = {
		{.name = "after",
			.type = VALUE_TIME,
			.fallback = "100us",
			.max = TIME_MAX,
			.offset = offsetof(struct switch_spec, reroute_ps)},
		{.name = "mode",
			.type = VALUE_WORD,
			.fallback = "global",
			.words = modes,
			.offset = offsetof(struct switch_spec, reroute_mode)},
	};
	struct switch_spec *s = switch_spec;

	if (!n || n->kind == TREE_MAP)
		return keys_all(keys_read(c, n, keys, COUNT(keys), s), COUNT(keys));
	s->reroute_mode = REROUTE_GLOBAL;
	return value_read(c, &keys[0], n, &s->reroute_ps);
}

enum { BUFFER, ECN, CLASSES, BALANCE, TRIM, PFC, ROLES, LLDP, CNP, REROUTE };

bool check_switch(struct check *c, const struct tree *n, void *switch_spec)
{
	static const char *const balances[] = {"ecmp", NULL};
	static const struct key keys[] = {
		[BUFFER] = {.name = "buffer", .type = VALUE_SECTION, .read = check_buffer},
		[ECN] = {.name = "ecn", .type = VALUE_SECTION, .read = read_ecn},
		[CLASSES] = {.name = "classes", .type = VALUE_SECTION, .read = check_classes},
		[BALANCE] = {.name = "balance",
			.type = VALUE_WORD,
			.words = balances,
			.offset = VALUE_NOWHERE},
		[TRIM] = {.name = "trim", .type = VALUE_SECTION, .read = check_trim},
		[PFC] = {.name = "pfc", .type = VALUE_SECTION, .read = check_pfc},
		[ROLES] = {.name = "roles", .type = VALUE_SECTION, .read = check_roles},
		[LLDP] = {.name = "lldp", .type = VALUE_SECTION, .read = read_lldp},
		[CNP] = {.name = "cnp", .type = VALUE_SECTION, .read = read_cnp},
		[REROUTE] = {.name = "reroute", .type = VALUE_SECTION, .read = read_reroute},
	};
	const uint64_t classes = 1u << BUFFER | 1u << ECN | 1u << CLASSES;
	const uint64_t trim = classes | 1u << TRIM, lossless = classes | 1u << PFC;
	const uint64_t known = 1u << ROLES | 1u << LLDP, remap = lossless | known;
	struct switch_spec *s = switch_spec;
	uint64_t good = keys_read(c, n, keys, COUNT(keys), s);
	bool fit = true;

	if ((good & lossless) == lossless)
		fit &= check_lossless(c, n, s);
	if ((good & trim) == trim)
		fit &= check_trim_class(c, n, s);
	if ((good & known) == known)
		fit &= check_roles_known(c, n, s);
	if (fit && (good & remap) == remap)
		fit &= check_remap(c, n, s);
	return fit && keys_all(good, COUNT(keys));
}
