/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Explicit pairs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "workload/kind.h"
#include "workload/list.h"

int workload_pairs(struct operations *m, const struct workload_params *p,
	const struct workload_rounds *rounds, const uint32_t *from, const uint32_t *to,
	size_t count)
{
	return operations_add_rounds(m, p, rounds, from, to, count);
}

struct names {
	char **names;
	size_t count;
};

struct pairs {
	struct workload_rounds rounds;
	struct names from, to; /* as many */
};

static const struct key host = {.kind = VALUE_LABEL,
	.max = NODE_NAME_LIMIT,
	.is_host = true,
	.expected = "the name of a host such as h0"};
static const struct list senders = {.item = &host,
	.size = sizeof(char *),
	.count = offsetof(struct pairs, from.count),
	.lone = true};
static const struct list receivers = {.item = &host,
	.size = sizeof(char *),
	.count = offsetof(struct pairs, to.count),
	.lone = true};

static const struct key keys[] = {
	KEY("from", LIST, struct pairs, from.names, .required = true, .list = &senders,
		.expected = "a list of hosts such as [h0, h1]",
		.help = "senders: one host, or a list"),
	KEY("to", LIST, struct pairs, to.names, .required = true, .list = &receivers,
		.expected = "a list of hosts such as [h2, h3]",
		.help = "their receivers, in the same order"),
	WORKLOAD_ROUNDS_KEYS(struct pairs),
};

static bool check_pairs(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	const struct pairs *o = options;
	bool fine = true;

	if (!(good & 1) || !(good & 2))
		return false;
	if (o->from.count != o->to.count)
		return c->wrong(c, n, "to",
			"%zu receivers for %zu senders; expected one for each, in the same order",
			o->to.count, o->from.count);
	if (!o->from.count)
		return c->wrong(c, n, "from", "no hosts; expected at least one");
	for (size_t i = 0; i < o->from.count; i++) {
		char path[32];

		snprintf(path, sizeof(path), "to.%zu", i);
		if (!strcmp(o->from.names[i], o->to.names[i]))
			fine = c->wrong(c, n, path, "'%s' sends to itself", o->to.names[i]);
	}
	return fine;
}

static double count(const void *options, const struct workload_hosts *hosts)
{
	const struct pairs *o = options;

	(void)hosts;
	return (double)o->from.count * o->rounds.repeat;
}

static int make_operations(struct operations *m, const struct workload_params *p,
	const void *options, const struct workload_hosts *hosts)
{
	const struct pairs *o = options;
	uint32_t *from = calloc(2 * o->from.count + 1, sizeof(*from)), *to = from + o->from.count;
	int r;

	if (!from)
		return -ENOMEM;
	for (size_t i = 0; i < o->from.count; i++) {
		from[i] = hosts->number(hosts->fabric, o->from.names[i]);
		to[i] = hosts->number(hosts->fabric, o->to.names[i]);
	}
	r = workload_pairs(m, p, &o->rounds, from, to, o->from.count);
	free(from);
	return r;
}

const struct workload_kind workload_kind_pairs = {
	.name = "pairs",
	.map = {KEYS(keys), .size = sizeof(struct pairs), .check = check_pairs, .partial = true,
		.help = "hosts that are named"},
	.count = count,
	.operations = make_operations,
	.turns = workload_rounds_turns,
};
