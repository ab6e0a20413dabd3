/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include "scenario/check.h"

#define PORT_MAX     65535
#define CGROUP_LIMIT 1023 /* bytes of a path */

/* A path that leads nowhere but down from the mount. */
static bool is_cgroup(const char *path)
{
	if (*path != '/')
		return false;
	for (const char *step = path; step; step = strchr(step + 1, '/'))
		if (!strncmp(step, "/..", 3) && (!step[3] || step[3] == '/'))
			return false;
	return true;
}

static const struct key rule_keys[] = {
	KEY("port", COUNT, struct stack_class, port, .choice = true, .min = 1, .max = PORT_MAX,
		.help = "a TCP or UDP port, at either end"),
	KEY("cgroup", LABEL, struct stack_class, cgroup, .choice = true, .max = CGROUP_LIMIT,
		.is_valid = is_cgroup,
		.expected = "a path below the mount of cgroup2, '/' in front, such as /bulk",
		.help = "the sender's cgroup, and those below it"),
	KEY("dscp", COUNT, struct stack_class, dscp, .required = true, .max = DSCP_MAX,
		.help = "what such packets get"),
};

/* 1: the rule is of a cgroup. */
static size_t which_match(const void *rule)
{
	return ((const struct stack_class *)rule)->cgroup != NULL;
}

static const struct map rule_map = {
	KEYS(rule_keys), .pos = offsetof(struct stack_class, pos), .which = which_match};
static const struct list rule_list = {.item = ITEM(&rule_map),
	.size = sizeof(struct stack_class),
	.count = offsetof(struct stack_spec, class_count),
	.many = "rules",
	.limit = STACK_CLASSES,
	.in_place = true};

static bool same_match(const struct stack_class *a, const struct stack_class *b)
{
	if (a->cgroup && b->cgroup)
		return !strcmp(a->cgroup, b->cgroup);
	return !a->cgroup && !b->cgroup && a->port == b->port;
}

/* The first rule that fits counts, so that a second one of the same would be for nothing. */
static bool check_rules(struct check *c, const struct tree *n, void *stack_spec, uint64_t valid)
{
	const struct tree *rules = tree_get(n, "classes");
	const struct stack_spec *s = stack_spec;
	bool fine = true;

	(void)valid;
	for (size_t i = 1; i < s->class_count; i++) {
		const struct tree *match =
			tree_get(rules->items[i], s->classes[i].cgroup ? "cgroup" : "port");
		size_t same = 0;

		while (!same_match(&s->classes[same], &s->classes[i]))
			same++;
		if (same < i)
			fine = explain_value(c->diags, match, "%s again, as in rule %zu; keep one",
				match->text, same);
	}
	return fine;
}

/* In the order of enum stack_entropy. */
static const struct key entropy_keys[] = {
	BARE("flow", "one value a flow"),
	KEY("flowlet", TIME, struct stack_spec, flowlet_ps, .choice = true, .min = PS_PER_NS,
		.max = TIME_MAX, .help = "a new value after a gap of this length"),
	BARE("packet", "a new value for each packet"),
};

static const struct map entropy_map = {KEYS(entropy_keys),
	.chosen = FIELD(struct stack_spec, entropy), .expected = "flow, packet or {flowlet: 50us}"};

static const char *const off_on[] = {"off", "on", NULL};

static const struct key keys[] = {
	KEY("classes", LIST, struct stack_spec, classes, .list = &rule_list, .usual = "none",
		.expected = "a list of {port | cgroup, dscp}",
		.help = "DSCPs of packets; the first rule that fits counts"),
	KEY("ect", FLAG, struct stack_spec, ect, .fallback = "off", .words = off_on,
		.help = "packets that are not ECN-capable become ECT(0)"),
	KEY("ecn", FLAG, struct stack_spec, ecn, .fallback = "off", .words = off_on,
		.help = "TCP asks for ECN (net.ipv4.tcp_ecn)"),
	SECTION("entropy", &entropy_map, .fallback = "flow",
		.help = "of the IPv6 flow label, by which switches choose paths"),
	KEY("queue", BYTES, struct stack_spec, queue_bytes, .fallback = "1MB", .min = 1,
		.max = QUEUE_MAX, .help = "bytes that wait for the host's line"),
};

const struct map stack_map = {KEYS(keys), .check = check_rules};

void check_stack_clock(struct check *c, const struct tree *root, const struct scenario *s)
{
	if (s->host.stack.entropy == ENTROPY_FLOWLET && s->clock.wall && s->clock.slowdown == 0)
		explain_path(c, root, "host.stack.entropy",
			"flowlets need a slowdown that is known beforehand; give clock.wall.slowdown a number instead of auto");
}

void check_stack_switch(struct check *c, const struct tree *root, const struct scenario *s)
{
	const struct tree *rules = tree_get(root, "host.stack.classes");

	for (size_t i = 0; s->sw.trim.to != TRIM_OFF && i < s->host.stack.class_count; i++) {
		if (scenario_class_of(&s->sw, s->host.stack.classes[i].dscp) != s->sw.trim.class)
			continue;
		explain_value(c->diags, tree_get(rules->items[i], "dscp"),
			"what has it would go by class %u, that of trimmed headers; expected a DSCP of another class",
			s->sw.trim.class);
	}
}
