/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <string.h>
#include <strings.h>
#include "base/units.h"
#include "scenario/explain.h"

#define COUNT(array)     (sizeof(array) / sizeof((array)[0]))
#define PORT_MAX         65535
#define DSCP_MAX         63
#define CGROUP_LIMIT     1023 /* bytes of a path */
#define ENTROPY_EXPECTED "flow, packet or {flowlet: 50us}"

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

static bool read_cgroup(struct check *c, const struct tree *n, void *target)
{
	static const struct key key = {
		.type = VALUE_LABEL,
		.max = CGROUP_LIMIT,
		.expected = "a path below the mount of cgroup2, '/' in front, such as /bulk",
	};

	if (n->kind == TREE_SCALAR && !tree_is_null(n) && !is_cgroup(n->text)) {
		explain_unexpected(c->diags, n, key.expected);
		return false;
	}
	return value_read(c, &key, n, target);
}

/* The one of a rule's two keys that is there. */
static const struct tree *what_is_matched(const struct tree *rule)
{
	const struct tree *port = tree_get(rule, "port");

	return port ? port : tree_get(rule, "cgroup");
}

static bool read_rule(struct check *c, const struct tree *n, struct stack_class *rule)
{
	static const char *const matches[] = {"port", "cgroup"};
	static const struct key keys[] = {
		{.name = "port",
			.type = VALUE_COUNT,
			.min = 1,
			.max = PORT_MAX,
			.offset = offsetof(struct stack_class, port)},
		{.name = "cgroup",
			.type = VALUE_READ,
			.read = read_cgroup,
			.offset = offsetof(struct stack_class, cgroup)},
		{.name = "dscp",
			.type = VALUE_COUNT,
			.required = true,
			.max = DSCP_MAX,
			.offset = offsetof(struct stack_class, dscp)},
	};
	uint64_t good = keys_read(c, n, keys, COUNT(keys), rule);
	size_t kind;

	rule->pos = n->pos;
	return n->kind == TREE_MAP &&
	       keys_choose(c, n, matches, COUNT(matches), good & VALUE_UNKNOWN, &kind) &&
	       keys_all(good, COUNT(keys));
}

static bool same_match(const struct stack_class *a, const struct stack_class *b)
{
	if (a->cgroup && b->cgroup)
		return !strcmp(a->cgroup, b->cgroup);
	return !a->cgroup && !b->cgroup && a->port == b->port;
}

/* The first rule that fits counts, so that a second one of the same would be for nothing. */
static bool check_again(
	struct check *c, const struct tree *n, const struct stack_spec *s, size_t index)
{
	const struct tree *match = what_is_matched(n);

	for (size_t i = 0; i < index; i++) {
		if (!same_match(&s->classes[i], &s->classes[index]))
			continue;
		explain_value(
			c->diags, match, "%s again, as in rule %zu; keep one", match->text, i);
		return false;
	}
	return true;
}

static bool read_rules(struct check *c, const struct tree *n, void *stack_spec)
{
	struct stack_spec *s = stack_spec;
	bool good = true;

	if (tree_is_null(n))
		return true;
	if (n->kind != TREE_LIST) {
		explain_unexpected(c->diags, n, "a list of {port | cgroup, dscp}");
		return false;
	}
	if (n->count > STACK_CLASSES) {
		explain_value(
			c->diags, n, "%zu rules; expected at most %d", n->count, STACK_CLASSES);
		return false;
	}
	s->class_count = n->count;
	for (size_t i = 0; i < n->count; i++)
		good &= read_rule(c, n->items[i], &s->classes[i]) &&
			check_again(c, n->items[i], s, i);
	return good;
}

static bool read_entropy_word(struct check *c, const struct tree *n, struct stack_spec *s)
{
	static const char *const words[] = {"flow", "packet", NULL};
	static const enum stack_entropy meant[] = {ENTROPY_FLOW, ENTROPY_PACKET};
	static const struct key key = {
		.type = VALUE_WORD,
		.words = words,
		.expected = ENTROPY_EXPECTED,
	};
	unsigned word = 0;

	if (n->kind == TREE_SCALAR && !strcasecmp(n->text, "flowlet")) {
		explain_value(c->diags, n,
			"a flowlet begins after a gap; say which, as in {flowlet: 50us}");
		return false;
	}
	if (!value_read(c, &key, n, &word))
		return false;
	s->entropy = meant[word];
	return true;
}

static bool read_entropy(struct check *c, const struct tree *n, void *stack_spec)
{
	static const char *const names[] = {"flowlet"};
	static const struct key keys[] = {
		{.name = "flowlet",
			.type = VALUE_TIME,
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.offset = offsetof(struct stack_spec, flowlet_ps)},
	};
	struct stack_spec *s = stack_spec;
	uint64_t good;
	size_t kind;

	if (n->kind != TREE_MAP)
		return read_entropy_word(c, n, s);
	s->entropy = ENTROPY_FLOWLET;
	good = keys_read(c, n, keys, COUNT(keys), s);
	return keys_choose(c, n, names, COUNT(names), good & VALUE_UNKNOWN, &kind) &&
	       keys_all(good, COUNT(keys));
}

bool check_stack(struct check *c, const struct tree *n, void *stack_spec)
{
	static const char *const off_on[] = {"off", "on", NULL};
	static const struct key keys[] = {
		{.name = "classes", .type = VALUE_READ, .read = read_rules},
		{.name = "ect",
			.type = VALUE_FLAG,
			.fallback = "off",
			.words = off_on,
			.offset = offsetof(struct stack_spec, ect)},
		{.name = "ecn",
			.type = VALUE_FLAG,
			.fallback = "off",
			.words = off_on,
			.offset = offsetof(struct stack_spec, ecn)},
		{.name = "entropy", .type = VALUE_READ, .read = read_entropy},
		{.name = "queue",
			.type = VALUE_BYTES,
			.fallback = "1MB",
			.min = 1,
			.max = QUEUE_MAX,
			.offset = offsetof(struct stack_spec, queue_bytes)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), stack_spec), COUNT(keys));
}

void check_stack_clock(struct check *c, const struct tree *root, const struct scenario *s)
{
	const struct tree *stack = tree_get(tree_get(root, "host"), "stack");

	if (s->host.stack.entropy == ENTROPY_FLOWLET && s->clock.wall && s->clock.slowdown == 0)
		explain_value(c->diags, tree_get(stack, "entropy"),
			"flowlets need a slowdown that is known beforehand; give clock.wall.slowdown a number instead of auto");
}

void check_stack_switch(struct check *c, const struct tree *root, const struct scenario *s)
{
	const struct tree *rules = tree_get(tree_get(tree_get(root, "host"), "stack"), "classes");

	for (size_t i = 0; s->sw.trim.to != TRIM_OFF && i < s->host.stack.class_count; i++) {
		if (scenario_class_of(&s->sw, s->host.stack.classes[i].dscp) != s->sw.trim.class)
			continue;
		explain_value(c->diags, tree_get(rules->items[i], "dscp"),
			"what has it would go by class %u, that of trimmed headers; expected a DSCP of another class",
			s->sw.trim.class);
	}
}
