/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <string.h>
#include <strings.h>
#include "scenario/explain.h"

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define SLOWDOWN_MIN   1e-3
#define SLOWDOWN_MAX   1e6
#define CLOCK_EXPECTED "stepped, wall or {wall: {slowdown: 10}}"

static bool read_slowdown(struct check *c, const struct tree *n, void *target)
{
	static const struct key key = {
		.type = VALUE_NUMBER,
		.word = "auto", /* stored as 0 */
		.expected = "a number from 0.001 to 1000000, or auto",
	};
	double *slowdown = target;

	if (!value_read(c, &key, n, slowdown))
		return false;
	if (!strcasecmp(n->text, key.word))
		return true;
	if (*slowdown >= SLOWDOWN_MIN && *slowdown <= SLOWDOWN_MAX)
		return true;
	explain_value(c->diags, n, "%s is too %s; expected %s", n->text,
		*slowdown < SLOWDOWN_MIN ? "small" : "large", key.expected);
	return false;
}

static bool read_wall(struct check *c, const struct tree *n, void *clock_spec)
{
	static const struct key keys[] = {
		{.name = "slowdown",
			.type = VALUE_READ,
			.read = read_slowdown,
			.offset = offsetof(struct clock_spec, slowdown)},
	};
	struct clock_spec *s = clock_spec;

	s->wall = true;
	s->slowdown = 1;
	return keys_all(keys_read(c, n, keys, COUNT(keys), s), COUNT(keys));
}

bool check_clock(struct check *c, const struct tree *n, void *clock_spec)
{
	static const char *const names[] = {"wall"};
	static const char *const words[] = {"stepped", "wall", NULL};
	static const struct key word = {
		.type = VALUE_FLAG, .words = words, .expected = CLOCK_EXPECTED};
	static const struct key keys[] = {
		{.name = "wall", .type = VALUE_READ, .read = read_wall},
	};
	struct clock_spec *s = clock_spec;
	uint64_t good;
	size_t kind;

	if (!n)
		return true;
	if (n->kind != TREE_MAP) {
		if (!value_read(c, &word, n, &s->wall))
			return false;
		s->slowdown = s->wall ? 1 : 0;
		return true;
	}
	good = keys_read(c, n, keys, COUNT(keys), s);
	return keys_choose(c, n, names, COUNT(names), good & VALUE_UNKNOWN, &kind) &&
	       keys_all(good, COUNT(keys));
}
