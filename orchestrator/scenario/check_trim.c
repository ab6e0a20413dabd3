/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include "scenario/explain.h"

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define CLASS_DEFAULT "6"
#define DSCP_MAX      63

static const char *const targets[] = {
	[TRIM_OFF] = "off",
	[TRIM_RECEIVER] = "receiver",
	[TRIM_SENDER] = "sender",
	NULL,
};

/* What has to do with each other inside the section; n is a map. */
static bool check_trim_keys(struct check *c, const struct tree *n, const struct switch_spec *s)
{
	const struct tree *last = tree_get(n, "return_dscp");

	if (s->trim.to == TRIM_SENDER && s->trim.or_return) {
		explain_value(c->diags, tree_get(n, "overflow"),
			"headers go to the sender anyway; return is for to: receiver");
		return false;
	}
	if (s->trim.dscp != s->trim.return_dscp)
		return true;
	explain_value(c->diags, last ? last : tree_get(n, "dscp"),
		"DSCP %u means headers to the receiver and to the sender; expected two",
		s->trim.dscp);
	return false;
}

bool check_trim(struct check *c, const struct tree *n, void *switch_spec)
{
	static const char *const to[] = {"receiver", "sender", NULL};
	static const char *const overflows[] = {"drop", "return", NULL};
	static const struct key word = {.type = VALUE_WORD, .words = targets};
	static const struct key keys[] = {
		{.name = "to",
			.type = VALUE_WORD,
			.words = to,
			.fallback = "receiver",
			.offset = offsetof(struct switch_spec, trim.to)},
		{.name = "overflow",
			.type = VALUE_FLAG,
			.words = overflows,
			.fallback = "drop",
			.offset = offsetof(struct switch_spec, trim.or_return)},
		{.name = "class",
			.type = VALUE_COUNT,
			.fallback = CLASS_DEFAULT,
			.max = SCENARIO_CLASSES - 1,
			.offset = offsetof(struct switch_spec, trim.class)},
		{.name = "dscp",
			.type = VALUE_COUNT,
			.fallback = "49",
			.max = DSCP_MAX,
			.offset = offsetof(struct switch_spec, trim.dscp)},
		{.name = "return_dscp",
			.type = VALUE_COUNT,
			.fallback = "50",
			.max = DSCP_MAX,
			.offset = offsetof(struct switch_spec, trim.return_dscp)},
		{.name = "queue",
			.type = VALUE_QUANTITY,
			.fallback = "64KB",
			.min = 1,
			.max = QUEUE_MAX,
			.offset = offsetof(struct switch_spec, trim.queue)},
	};
	struct switch_spec *s = switch_spec;
	enum trim_to kind = TRIM_OFF;

	if (n && n->kind != TREE_MAP && !value_read(c, &word, n, &kind))
		return false;
	if (!n || (n->kind != TREE_MAP && kind == TRIM_OFF))
		return true;
	if (n->kind != TREE_MAP)
		n = NULL;
	if (!keys_all(keys_read(c, n, keys, COUNT(keys), s), COUNT(keys)))
		return false;
	s->trim.to = n ? s->trim.to + TRIM_RECEIVER : kind;
	return !n || check_trim_keys(c, n, s);
}

/* Where a message about the class of headers belongs. */
static const struct tree *trim_place(const struct tree *n, const char *key)
{
	const struct tree *trim = tree_get(n, "trim"), *item = tree_get(trim, key);

	return item ? item : trim;
}

static bool claim_dscp(struct check *c, const struct tree *n, const char *key, uint32_t dscp,
	struct switch_spec *s)
{
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		if (i == s->trim.class || !s->classes[i].used || !(s->classes[i].dscp >> dscp & 1))
			continue;
		explain_value(c->diags, trim_place(n, key),
			"DSCP %u is class %u's; headers have it (%s) and go by class %u; take another",
			dscp, i, key, s->trim.class);
		return false;
	}
	s->classes[s->trim.class].dscp |= 1ull << dscp;
	return true;
}

/* Strict and without ECN, where the file says nothing of it. */
static void add_header_class(struct switch_spec *s)
{
	static const struct quantity automatic = {.unit = QUANTITY_AUTO};
	struct class_spec *class = &s->classes[s->trim.class];

	if (class->used)
		return;
	*class = (struct class_spec){.used = true,
		.added = true,
		.xoff = automatic,
		.xon = automatic,
		.headroom = automatic};
}

static bool something_to_trim(const struct switch_spec *s)
{
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++)
		if (s->classes[i].used && !s->classes[i].lossless && i != s->trim.class)
			return true;
	return false;
}

bool check_trim_class(struct check *c, const struct tree *n, struct switch_spec *s)
{
	const struct tree *item, *buffer;

	if (s->trim.to == TRIM_OFF)
		return true;
	item = class_item(n, s->trim.class);
	buffer = tree_get(item, "buffer");
	if (s->classes[s->trim.class].lossless) {
		explain_value(c->diags, trim_place(n, "class"),
			"class %u is lossless; headers need a class that is not", s->trim.class);
		return false;
	}
	if (buffer) {
		explain_value(c->diags, buffer,
			"class %u is that of trimmed headers, and switch.trim.queue says how much it holds; leave it out",
			s->trim.class);
		return false;
	}
	if (!something_to_trim(s)) {
		explain_value(c->diags, trim_place(n, "class"),
			"nothing to trim; only a lossy class beside class %u, that of headers, is trimmed",
			s->trim.class);
		return false;
	}
	add_header_class(s);
	s->classes[s->trim.class].buffer = s->trim.queue;
	return claim_dscp(c, n, "dscp", s->trim.dscp, s) &&
	       claim_dscp(c, n, "return_dscp", s->trim.return_dscp, s);
}
