/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <stdlib.h>
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CLASS_MAX    (SCENARIO_CLASSES - 1)
#define DSCP_MAX     63

#define CLASSES_EXPECTED                                                                           \
	"a list of {class, dscp, lossless, schedule, buffer, ecn, xoff, xon, headroom}"

bool read_small(struct check *c, const struct tree *n, uint32_t max, uint32_t *ret)
{
	const struct key key = {.type = VALUE_COUNT, .max = max};

	return value_read(c, &key, n, ret);
}

const struct tree *class_item(const struct tree *sw, uint32_t number)
{
	const struct tree *list = tree_get(sw, "classes");

	for (size_t i = 0; list && i < list->count; i++) {
		const struct tree *n = tree_get(list->items[i], "class");

		if (n && n->kind == TREE_SCALAR && strtoul(n->text, NULL, 10) == number)
			return list->items[i];
	}
	return NULL;
}

/* A class, and which. */
struct numbered {
	struct class_spec spec;
	uint32_t number;
};

static bool add_dscp(struct check *c, const struct tree *n, uint64_t *mask)
{
	uint32_t dscp;

	if (!read_small(c, n, DSCP_MAX, &dscp))
		return false;
	if (*mask >> dscp & 1) {
		explain_value(c->diags, n, "DSCP %u again; once is enough", dscp);
		return false;
	}
	*mask |= 1ull << dscp;
	return true;
}

static bool read_dscps(struct check *c, const struct tree *n, void *target)
{
	bool good = true;

	if (n->kind == TREE_SCALAR && !tree_is_null(n))
		return add_dscp(c, n, target);
	if (n->kind != TREE_LIST) {
		explain_unexpected(c->diags, n, "a DSCP from 0 to 63, or a list such as [26, 27]");
		return false;
	}
	for (size_t i = 0; i < n->count; i++)
		good &= add_dscp(c, n->items[i], target);
	return good;
}

/* A class without ECN of its own has the switch's; one that says something has at least the usual defaults. */
static bool read_class_ecn(struct check *c, const struct tree *n, void *ecn_spec)
{
	struct ecn_spec *e = ecn_spec;

	if (e->kmax.value == 0)
		*e = (struct ecn_spec){
			.kmin = {0.25, QUANTITY_BDP}, .kmax = {0.75, QUANTITY_BDP}, .pmax = 1};
	return check_ecn(c, n, e);
}

/* What only a lossless class has. */
static bool check_lossy(struct check *c, const struct tree *n)
{
	static const char *const lossless[] = {"xoff", "xon", "headroom"};
	bool good = true;

	for (size_t i = 0; i < COUNT(lossless); i++) {
		const struct tree *item = tree_get(n, lossless[i]);

		if (!item)
			continue;
		explain_value(c->diags, item,
			"only a lossless class has it; add lossless: yes, or leave it out");
		good = false;
	}
	return good;
}

/* What a pool decides by itself. */
static bool check_in_pool(struct check *c, const struct tree *n, const struct class_spec *spec)
{
	const struct tree *items[] = {
		tree_get(n, "buffer"),
		spec->xoff.unit == QUANTITY_AUTO ? NULL : tree_get(n, "xoff"),
		spec->xon.unit == QUANTITY_AUTO ? NULL : tree_get(n, "xon"),
	};
	bool good = true;

	for (size_t i = 0; i < COUNT(items); i++) {
		if (!items[i])
			continue;
		explain_value(c->diags, items[i],
			"the shared pool decides, by its alpha; leave it out, or give buffer.per_port in the place of shared");
		good = false;
	}
	return good;
}

static bool check_xon(struct check *c, const struct tree *n, const struct class_spec *spec)
{
	const struct tree *xon = tree_get(n, "xon");

	if (spec->xon.unit == QUANTITY_AUTO)
		return true;
	if (spec->xoff.unit == QUANTITY_AUTO) {
		explain_value(c->diags, xon,
			"XOFF is automatic, and differs from link to link; give xoff too, or leave xon at auto");
		return false;
	}
	if (spec->xon.unit != spec->xoff.unit || spec->xon.value <= spec->xoff.value)
		return true;
	explain_value(c->diags, xon,
		"XON is above XOFF, at %s; a queue that was paused must drain first",
		tree_get(n, "xoff")->text);
	return false;
}

#define OF(field) offsetof(struct numbered, field)

static bool read_class(struct check *c, const struct tree *n, struct numbered *target)
{
	static const char *const no_yes[] = {"no", "yes", NULL};
	static const struct key keys[] = {
		{.name = "class",
			.type = VALUE_COUNT,
			.required = true,
			.max = CLASS_MAX,
			.offset = OF(number)},
		{.name = "dscp", .type = VALUE_READ, .read = read_dscps, .offset = OF(spec.dscp)},
		{.name = "lossless",
			.type = VALUE_FLAG,
			.words = no_yes,
			.offset = OF(spec.lossless)},
		{.name = "schedule",
			.type = VALUE_SHARE,
			.max = 1,
			.word = "strict",
			.offset = OF(spec.share)},
		{.name = "buffer",
			.type = VALUE_QUANTITY,
			.min = 1,
			.max = QUEUE_MAX,
			.offset = OF(spec.buffer)},
		{.name = "ecn", .type = VALUE_READ, .read = read_class_ecn, .offset = OF(spec.ecn)},
		{.name = "xoff",
			.type = VALUE_QUANTITY,
			.min = 1,
			.max = QUEUE_MAX,
			.word = "auto",
			.offset = OF(spec.xoff)},
		{.name = "xon",
			.type = VALUE_QUANTITY,
			.max = QUEUE_MAX,
			.word = "auto",
			.offset = OF(spec.xon)},
		{.name = "headroom",
			.type = VALUE_QUANTITY,
			.max = QUEUE_MAX,
			.word = "auto",
			.offset = OF(spec.headroom)},
	};
	bool in_pool = target->spec.buffer.unit == QUANTITY_AUTO;

	if (!keys_all(keys_read(c, n, keys, COUNT(keys), target), COUNT(keys)))
		return false;
	if (!target->spec.lossless && !check_lossy(c, n))
		return false;
	if (in_pool && !check_in_pool(c, n, &target->spec))
		return false;
	return check_xon(c, n, &target->spec);
}

/* Enters a class beside those before it. */
static bool add_class(
	struct check *c, const struct tree *n, struct numbered *new, struct class_spec *classes)
{
	const struct tree *dscp = tree_get(n, "dscp");

	if (classes[new->number].used) {
		explain_value(c->diags, tree_get(n, "class"), "a second class %u", new->number);
		return false;
	}
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		uint64_t both = classes[i].used ? classes[i].dscp & new->spec.dscp : 0;

		if (!both)
			continue;
		explain_value(c->diags, dscp, "DSCP %d is class %u's and class %u's; keep one",
			__builtin_ctzll(both), i, new->number);
		return false;
	}
	new->spec.used = true;
	new->spec.pos = n->pos;
	classes[new->number] = new->spec;
	return true;
}

static bool check_shares(struct check *c, const struct tree *list, const struct class_spec *classes)
{
	double sum = 0;

	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++)
		sum += classes[i].share;
	/* thirds written with a few digits may sum to a rounding more */
	if (sum <= 1 + 1e-9)
		return true;
	explain_value(c->diags, list,
		"the shares of the classes sum to %.6g%%; expected at most 100%%", 100 * sum);
	return false;
}

bool check_classes(struct check *c, const struct tree *n, void *switch_spec)
{
	static const struct quantity automatic = {.unit = QUANTITY_AUTO};
	struct switch_spec *s = switch_spec;
	const struct class_spec usual = {
		.buffer = s->buffer.per_port,
		.ecn = s->classes[0].ecn,
		.xoff = automatic,
		.xon = automatic,
		.headroom = automatic,
	};
	struct class_spec classes[SCENARIO_CLASSES] = {{0}};
	bool good = true;

	if (!n || tree_is_null(n)) {
		s->classes[0] = usual;
		s->classes[0].used = true;
		return true;
	}
	if (n->kind != TREE_LIST) {
		explain_unexpected(c->diags, n, CLASSES_EXPECTED);
		return false;
	}
	if (!n->count) {
		explain_value(c->diags, n, "empty; expected at least one class, or leave it out");
		return false;
	}
	for (size_t i = 0; i < n->count; i++) {
		struct numbered new = {.spec = usual};

		good &= read_class(c, n->items[i], &new) &&
			add_class(c, n->items[i], &new, classes);
	}
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++)
		s->classes[i] = classes[i];
	return good && check_shares(c, n, classes);
}
