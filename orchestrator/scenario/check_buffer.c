/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define POOL_MAX     (1ull << 40)
#define ALPHA_MAX    256
#define ALPHA_SCALE  256 /* switches count alpha in 256ths */

/* A pool and queues of a fixed size exclude each other, and alpha and reserve are a pool's. */
static bool pool_or_queues(struct check *c, const struct tree *n)
{
	static const char *const kinds[] = {"per_port", "shared"};
	static const char *const pools[] = {"alpha", "reserve"};
	bool good = true;
	size_t kind;

	if (tree_get(n, "shared"))
		return keys_choose(c, n, kinds, COUNT(kinds), true, &kind);
	for (size_t i = 0; i < COUNT(pools); i++) {
		const struct tree *item = tree_get(n, pools[i]);

		if (!item)
			continue;
		explain_value(c->diags, item, "only a shared pool has it; add shared: auto");
		good = false;
	}
	return good;
}

bool check_buffer(struct check *c, const struct tree *n, void *switch_spec)
{
	static const struct key keys[] = {
		{.name = "per_port",
			.type = VALUE_QUANTITY,
			.min = 1,
			.max = QUEUE_MAX,
			.fallback = "500% BDP",
			.offset = offsetof(struct switch_spec, buffer.per_port)},
		{.name = "shared",
			.type = VALUE_QUANTITY,
			.min = 1,
			.max = POOL_MAX,
			.fallback = "auto",
			.word = "auto",
			.offset = offsetof(struct switch_spec, buffer.pool)},
		{.name = "alpha",
			.type = VALUE_NUMBER,
			.max = ALPHA_MAX,
			.fallback = "1",
			.offset = offsetof(struct switch_spec, buffer.alpha),
			.expected = "a number from 1/256 to 256"},
		{.name = "reserve",
			.type = VALUE_QUANTITY,
			.max = QUEUE_MAX,
			.fallback = "auto",
			.word = "auto",
			.offset = offsetof(struct switch_spec, buffer.reserve)},
	};
	struct switch_spec *s = switch_spec;

	if (!keys_all(keys_read(c, n, keys, COUNT(keys), s), COUNT(keys)))
		return false;
	if (!pool_or_queues(c, n))
		return false;
	s->buffer.shared = tree_get(n, "shared");
	if (s->buffer.shared)
		s->buffer.per_port = (struct quantity){.unit = QUANTITY_AUTO};
	if (s->buffer.alpha >= 1.0 / ALPHA_SCALE)
		return true;
	explain_value(c->diags, tree_get(n, "alpha"),
		"%s is too small; expected a number from 1/256 to 256", tree_get(n, "alpha")->text);
	return false;
}

/* The target has the defaults, and keeps them where what is said is wrong: others are told nothing that follows from it. */
bool check_ecn(struct check *c, const struct tree *n, void *ecn_spec)
{
	static const struct key keys[] = {
		{.name = "kmin",
			.type = VALUE_QUANTITY,
			.times = true,
			.max = QUEUE_MAX,
			.offset = offsetof(struct ecn_spec, kmin)},
		{.name = "kmax",
			.type = VALUE_QUANTITY,
			.times = true,
			.min = 1,
			.max = QUEUE_MAX,
			.offset = offsetof(struct ecn_spec, kmax)},
		{.name = "pmax",
			.type = VALUE_NUMBER,
			.max = 1,
			.offset = offsetof(struct ecn_spec, pmax)},
		{.name = "average",
			.type = VALUE_COUNT,
			.min = 1,
			.max = 9,
			.word = "off",
			.offset = offsetof(struct ecn_spec, average)},
	};
	struct ecn_spec e = *(const struct ecn_spec *)ecn_spec;
	const struct tree *wrong;

	if (n && value_is_off(n)) {
		*(struct ecn_spec *)ecn_spec = (struct ecn_spec){0};
		return true;
	}
	if (n && n->kind != TREE_MAP && !tree_is_null(n)) {
		explain_unexpected(
			c->diags, n, "off, or a mapping of these keys: kmin, kmax, pmax, average");
		return false;
	}
	if (!keys_all(keys_read(c, n, keys, COUNT(keys), &e), COUNT(keys)))
		return false;
	if (e.kmin.unit != e.kmax.unit || e.kmin.value <= e.kmax.value) {
		*(struct ecn_spec *)ecn_spec = e;
		return true;
	}
	wrong = tree_get(n, "kmin");
	explain_value(c->diags, wrong ? wrong : tree_get(n, "kmax"),
		"kmin is above kmax; expected marking to rise from kmin to kmax");
	return false;
}
