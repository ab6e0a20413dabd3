/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>
#include "scenario/check.h"

#define CLASSES_EXPECTED                                                                           \
	"a list of {class, dscp, lossless, schedule, buffer, ecn, xoff, xon, headroom}"

bool read_small(struct check *c, const struct tree *n, uint32_t max, uint32_t *ret)
{
	const struct key key = {.kind = VALUE_COUNT, .max = max};

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

struct class_spec class_added(uint64_t dscps, const struct quantity *buffer)
{
	const struct quantity automatic = {.unit = QUANTITY_AUTO};

	return (struct class_spec){
		.used = true,
		.added = true,
		.dscp = dscps,
		.buffer = *buffer,
		.xoff = automatic,
		.xon = automatic,
		.headroom = automatic,
	};
}

/* A class, and which. */
struct numbered {
	struct class_spec spec;
	uint32_t number;
	bool in_pool;    /* a pool has its buffer */
	bool of_headers; /* switch.trim.queue has it */
};

static bool add_dscp(struct check *c, const struct tree *n, uint64_t *mask)
{
	uint32_t dscp;

	if (!read_small(c, n, DSCP_MAX, &dscp))
		return false;
	if (*mask >> dscp & 1)
		return explain_value(c->diags, n, "DSCP %u again; once is enough", dscp);
	*mask |= 1ull << dscp;
	return true;
}

#define DSCPS_EXPECTED "a DSCP from 0 to 63, or a list such as [26, 27]"

static bool read_dscps(struct check *c, const struct tree *n, void *target)
{
	bool valid = true;

	if (!n)
		return true;
	if (n->kind == TREE_SCALAR && !tree_is_null(n))
		return add_dscp(c, n, target);
	if (n->kind != TREE_LIST)
		return explain_unexpected(c->diags, n, DSCPS_EXPECTED);
	for (size_t i = 0; i < n->count; i++)
		valid &= add_dscp(c, n->items[i], target);
	return valid;
}

static void write_dscps(FILE *out, const void *target, int indent)
{
	uint64_t mask = *(const uint64_t *)target;
	const char *between = "[";

	(void)indent;
	for (uint32_t i = 0; i <= DSCP_MAX; i++) {
		if (!(mask >> i & 1))
			continue;
		fprintf(out, "%s%u", between, i);
		between = ", ";
	}
	fputs(mask ? "]" : "[]", out);
}

static const struct form dscps_form = {
	.read = read_dscps, .write = write_dscps, .expected = DSCPS_EXPECTED, .word = true};

/* What a pool decides by itself. */
static bool check_in_pool(struct check *c, const struct tree *n, const struct class_spec *spec)
{
	const char *keys[4] = {"buffer"};
	size_t count = 1;

	if (spec->xoff.unit != QUANTITY_AUTO)
		keys[count++] = "xoff";
	if (spec->xon.unit != QUANTITY_AUTO)
		keys[count++] = "xon";
	return has_none(c, n, keys,
		"the shared pool decides, by its alpha; leave it out, or give buffer.per_port in the place of shared");
}

static bool check_xon(struct check *c, const struct tree *n, const struct class_spec *spec)
{
	const struct tree *xon = tree_get(n, "xon");

	if (spec->xon.unit == QUANTITY_AUTO)
		return true;
	if (spec->xoff.unit == QUANTITY_AUTO)
		return explain_value(c->diags, xon,
			"XOFF is automatic, and differs from link to link; give xoff too, or leave xon at auto");
	if (spec->xon.unit != spec->xoff.unit || spec->xon.value <= spec->xoff.value)
		return true;
	return explain_value(c->diags, xon,
		"XON is above XOFF, at %s; a queue that was paused must drain first",
		tree_get(n, "xoff")->text);
}

static bool check_class(struct check *c, const struct tree *n, void *target, uint64_t valid)
{
	static const char *const of_lossless[] = {"xoff", "xon", "headroom", NULL};
	const struct numbered *class = target;

	(void)valid;
	if (!class->spec.lossless &&
		!has_none(c, n, of_lossless,
			"only a lossless class has it; add lossless: yes, or leave it out"))
		return false;
	if (class->in_pool && !check_in_pool(c, n, &class->spec))
		return false;
	return check_xon(c, n, &class->spec);
}

static bool has_buffer(const void *target)
{
	const struct numbered *class = target;

	return !class->in_pool && !class->of_headers;
}

static bool is_lossless(const void *target)
{
	return ((const struct numbered *)target)->spec.lossless;
}

static const char *const no_yes[] = {"no", "yes", NULL};

#define CLASS_KEY(word, kind, member, ...) KEY(word, kind, struct numbered, member, __VA_ARGS__)

#define THRESHOLD .max = QUEUE_MAX, .word = "auto", .usual = "auto", .applies = is_lossless

static const struct key class_keys[] = {
	CLASS_KEY("class", COUNT, number, .required = true, .max = CLASS_MAX,
		.help = "the class's number"),
	CLASS_KEY("dscp", FORM, spec.dscp, .form = &dscps_form, .usual = "none",
		.help = "the DSCPs that map to it, 0 to 63: one, or a list; others map to the lowest class"),
	CLASS_KEY("lossless", FLAG, spec.lossless, .words = no_yes, .usual = "no",
		.help = "paused by PFC rather than dropped"),
	CLASS_KEY("schedule", SHARE, spec.share, .max = 1, .word = "strict", .usual = "strict",
		.help = "strict priority, the higher class first, or its ETS share of what strict classes leave"),
	CLASS_KEY("buffer", QUANTITY, spec.buffer, .min = 1, .max = QUEUE_MAX,
		.applies = has_buffer, .usual = "buffer.per_port",
		.help = "the size of its queues"),
	CLASS_KEY("ecn", MAP, spec.ecn, .map = &ecn_map, .inherits = true, .usual = "the switch's",
		.help = "its own marking"),
	CLASS_KEY("xoff", QUANTITY, spec.xoff, .min = 1, THRESHOLD,
		.help = "bytes at an ingress above which it is paused"),
	CLASS_KEY("xon", QUANTITY, spec.xon, THRESHOLD, .help = "bytes below which it is resumed"),
	CLASS_KEY("headroom", QUANTITY, spec.headroom, THRESHOLD,
		.help = "what an ingress takes beyond XOFF; auto: what the link can still send by then"),
};

static const struct map class_map = {
	KEYS(class_keys), .pos = offsetof(struct numbered, spec.pos), .check = check_class};

/* Enters a class beside those before it. */
static bool add_class(
	struct check *c, const struct tree *n, struct numbered *new, struct class_spec *classes)
{
	const struct tree *dscp = tree_get(n, "dscp");

	if (classes[new->number].used)
		return explain_value(
			c->diags, tree_get(n, "class"), "a second class %u", new->number);
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		uint64_t both = classes[i].used ? classes[i].dscp & new->spec.dscp : 0;

		if (!both)
			continue;
		return explain_value(c->diags, dscp,
			"DSCP %d is class %u's and class %u's; keep one", __builtin_ctzll(both), i,
			new->number);
	}
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
	return explain_value(c->diags, list,
		"the shares of the classes sum to %.6g%%; expected at most 100%%", 100 * sum);
}

static bool read_classes(struct check *c, const struct tree *n, void *switch_spec)
{
	struct switch_spec *s = switch_spec;
	struct class_spec usual = class_added(0, &s->buffer.per_port);
	bool valid = true;

	usual.added = false;
	usual.ecn = s->ecn;
	if (!n || tree_is_null(n)) {
		s->classes[0] = usual;
		return true;
	}
	if (n->kind != TREE_LIST)
		return explain_unexpected(c->diags, n, CLASSES_EXPECTED);
	if (!n->count)
		return explain_value(
			c->diags, n, "empty; expected at least one class, or leave it out");
	for (size_t i = 0; i < n->count; i++) {
		struct numbered new = {.spec = usual, .in_pool = s->buffer.shared};

		valid &= map_read(c, &class_map, n->items[i], &new) &&
			 add_class(c, n->items[i], &new, s->classes);
	}
	return valid && check_shares(c, n, s->classes);
}

static void write_classes(FILE *out, const void *switch_spec, int indent)
{
	const struct switch_spec *s = switch_spec;

	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		struct numbered class = {s->classes[i], i, s->buffer.shared,
			s->trim.to != TRIM_OFF && i == s->trim.class};

		if (!class.spec.used)
			continue;
		fprintf(out, "\n%*s- ", indent, "");
		map_write(&(struct writer){.out = out}, &class_map, &class, FLOW);
	}
}

const struct form classes_form = {.read = read_classes,
	.write = write_classes,
	.expected = CLASSES_EXPECTED,
	.map = &class_map,
	.lines = true};
