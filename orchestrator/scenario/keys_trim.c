/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

/* What has to do with each other inside the section. */
static bool check_trim(struct check *c, const struct tree *n, void *switch_spec, uint64_t valid)
{
	const struct tree *last = tree_get(n, "return_dscp");
	const struct switch_spec *s = switch_spec;

	(void)valid;
	if (s->trim.to == TRIM_SENDER && s->trim.or_return)
		return explain_value(c->diags, tree_get(n, "overflow"),
			"headers go to the sender anyway; return is for to: receiver");
	if (s->trim.dscp != s->trim.return_dscp)
		return true;
	return explain_value(c->diags, last ? last : tree_get(n, "dscp"),
		"DSCP %u means headers to the receiver and to the sender; expected two",
		s->trim.dscp);
}

static const char *const receivers[] = {"receiver", "sender", NULL};
static const char *const overflows[] = {"drop", "return", NULL};

#define TRIM_KEY(word, kind, member, ...)                                                          \
	KEY(word, kind, struct switch_spec, trim.member, __VA_ARGS__)

static const struct key trim_keys[] = {
	TRIM_KEY("to", WORD, to, .fallback = "receiver", .words = receivers, .min = TRIM_RECEIVER,
		.help = "who gets the headers"),
	TRIM_KEY("overflow", FLAG, or_return, .fallback = "drop", .words = overflows,
		.help = "headers that find no room themselves: dropped, or returned to the sender"),
	TRIM_KEY("class", COUNT, class, .fallback = "6", .max = CLASS_MAX,
		.help = "the class of headers"),
	TRIM_KEY("dscp", COUNT, dscp, .fallback = "49", .max = DSCP_MAX,
		.help = "of headers to the receiver"),
	TRIM_KEY("return_dscp", COUNT, return_dscp, .fallback = "50", .max = DSCP_MAX,
		.help = "of headers to the sender"),
	TRIM_KEY("queue", QUANTITY, queue, .fallback = "64KB", .min = 1, .max = QUEUE_MAX,
		.help = "the size of a port's queue of headers"),
};

const struct map trim_map = {KEYS(trim_keys), .on = FIELD(struct switch_spec, trim.to),
	.lone = &trim_keys[0], .check = check_trim};

static bool claim_dscp(struct check *c, const struct tree *n, const char *key, uint32_t dscp,
	struct switch_spec *s)
{
	for (uint32_t i = 0; i < SCENARIO_CLASSES; i++) {
		if (i == s->trim.class || !s->classes[i].used || !(s->classes[i].dscp >> dscp & 1))
			continue;
		return explain_path(c, tree_get(n, "trim"), key,
			"DSCP %u is class %u's; headers have it (%s) and go by class %u; take another",
			dscp, i, key, s->trim.class);
	}
	s->classes[s->trim.class].dscp |= 1ull << dscp;
	return true;
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
	const struct tree *buffer;

	if (s->trim.to == TRIM_OFF)
		return true;
	buffer = tree_get(class_item(n, s->trim.class), "buffer");
	if (s->classes[s->trim.class].lossless)
		return explain_path(c, n, "trim.class",
			"class %u is lossless; headers need a class that is not", s->trim.class);
	if (buffer)
		return explain_value(c->diags, buffer,
			"class %u is that of trimmed headers, and switch.trim.queue says how much it holds; leave it out",
			s->trim.class);
	if (!something_to_trim(s))
		return explain_path(c, n, "trim.class",
			"nothing to trim; only a lossy class beside class %u, that of headers, is trimmed",
			s->trim.class);
	if (!s->classes[s->trim.class].used)
		s->classes[s->trim.class] = class_added(0, &s->trim.queue);
	s->classes[s->trim.class].buffer = s->trim.queue;
	return claim_dscp(c, n, "dscp", s->trim.dscp, s) &&
	       claim_dscp(c, n, "return_dscp", s->trim.return_dscp, s);
}
