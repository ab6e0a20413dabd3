/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include "base/units.h"
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define QUEUE_MAX    (1u << 31) /* bytes: the switch counts a queue's in 32 bits */

static bool read_buffer(struct check *c, const struct tree *n, void *switch_spec)
{
	static const struct key keys[] = {
		{.name = "per_port",
			.type = VALUE_QUANTITY,
			.min = 1,
			.max = QUEUE_MAX,
			.fallback = "500% BDP",
			.offset = offsetof(struct switch_spec, buffer)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), switch_spec), COUNT(keys));
}

static bool read_ecn(struct check *c, const struct tree *n, void *switch_spec)
{
	static const struct key keys[] = {
		{.name = "kmin",
			.type = VALUE_QUANTITY,
			.max = QUEUE_MAX,
			.fallback = "25% BDP",
			.offset = offsetof(struct switch_spec, kmin)},
		{.name = "kmax",
			.type = VALUE_QUANTITY,
			.min = 1,
			.max = QUEUE_MAX,
			.fallback = "75% BDP",
			.offset = offsetof(struct switch_spec, kmax)},
		{.name = "pmax",
			.type = VALUE_NUMBER,
			.max = 1,
			.fallback = "1.0",
			.offset = offsetof(struct switch_spec, pmax)},
	};
	struct switch_spec *s = switch_spec;
	const struct tree *wrong;

	if (n && value_is_off(n)) {
		s->kmin = s->kmax = (struct quantity){0};
		return true;
	}
	if (n && n->kind != TREE_MAP && !tree_is_null(n)) {
		explain_unexpected(
			c->diags, n, "off, or a mapping of these keys: kmin, kmax, pmax");
		return false;
	}
	if (!keys_all(keys_read(c, n, keys, COUNT(keys), s), COUNT(keys)))
		return false;
	if (s->kmin.of_bdp == s->kmax.of_bdp && s->kmin.value > s->kmax.value) {
		wrong = tree_get(n, "kmin");
		explain_value(c->diags, wrong ? wrong : tree_get(n, "kmax"),
			"kmin is above kmax; expected marking to rise from kmin to kmax");
		return false;
	}
	return true;
}

bool check_switch(struct check *c, const struct tree *n, void *switch_spec)
{
	static const char *const balances[] = {"ecmp", NULL};
	static const char *const off[] = {"off", NULL};
	static const struct key keys[] = {
		{.name = "buffer", .type = VALUE_SECTION, .read = read_buffer},
		{.name = "ecn", .type = VALUE_SECTION, .read = read_ecn},
		{.name = "balance", .type = VALUE_WORD, .words = balances, .offset = VALUE_NOWHERE},
		{.name = "trim", .type = VALUE_WORD, .words = off, .offset = VALUE_NOWHERE},
		{.name = "pfc", .type = VALUE_WORD, .words = off, .offset = VALUE_NOWHERE},
		{.name = "reroute",
			.type = VALUE_TIME,
			.fallback = "100us",
			.max = TIME_MAX,
			.offset = offsetof(struct switch_spec, reroute_ps)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), switch_spec), COUNT(keys));
}
