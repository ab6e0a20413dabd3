/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MESSAGE_MAX  (1ull << 40)

/* The keys that every kind has. */
#define COMMON_KEYS                                                                                \
	{.name = "message",                                                                        \
		.type = VALUE_BYTES,                                                               \
		.required = true,                                                                  \
		.min = 1,                                                                          \
		.max = MESSAGE_MAX,                                                                \
		.offset = offsetof(struct workload_spec, message_bytes)},                          \
		{.name = "start",                                                                  \
			.type = VALUE_TIME,                                                        \
			.fallback = "0",                                                           \
			.max = MOMENT_MAX,                                                         \
			.offset = offsetof(struct workload_spec, start_ps)},                       \
		{.name = "repeat",                                                                 \
			.type = VALUE_COUNT,                                                       \
			.fallback = "1",                                                           \
			.min = 1,                                                                  \
			.max = TIMES_MAX,                                                          \
			.offset = offsetof(struct workload_spec, repeat)},                         \
	{                                                                                          \
		.name = "gap", .type = VALUE_TIME, .fallback = "0", .max = TIME_MAX,               \
		.offset = offsetof(struct workload_spec, gap_ps)                                   \
	}

static bool read_permutation(struct check *c, const struct tree *n, void *workload)
{
	static const struct key keys[] = {
		COMMON_KEYS,
		{.name = "count",
			.type = VALUE_COUNT,
			.fallback = "1",
			.min = 1,
			.max = TIMES_MAX,
			.offset = offsetof(struct workload_spec, count)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), workload), COUNT(keys));
}

static bool read_incast(struct check *c, const struct tree *n, void *workload)
{
	static const struct key keys[] = {
		COMMON_KEYS,
		{.name = "senders",
			.type = VALUE_COUNT,
			.required = true,
			.min = 1,
			.max = TIMES_MAX,
			.offset = offsetof(struct workload_spec, senders)},
		{.name = "to",
			.type = VALUE_LABEL,
			.fallback = "h0",
			.max = NODE_NAME_LIMIT,
			.offset = offsetof(struct workload_spec, to),
			.expected = "the name of a host such as h0"},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), workload), COUNT(keys));
}

static bool read_host(struct check *c, const struct tree *n, void *target)
{
	static const struct key key = {
		.type = VALUE_LABEL,
		.max = NODE_NAME_LIMIT,
		.expected = "the name of a host such as h0",
	};

	return value_read(c, &key, n, target);
}

struct host_list {
	char **names;
	size_t count;
};

/* One name stands for a list of one. */
static bool read_hosts(struct check *c, const struct tree *n, void *target)
{
	struct host_list *h = target;

	if (n->kind != TREE_SCALAR || tree_is_null(n))
		return list_read(c, n, "a list of hosts such as [h0, h1]", sizeof(char *),
			read_host, (void **)&h->names, &h->count);
	h->names = calloc(1, sizeof(char *));
	if (!h->names) {
		c->out_of_memory = true;
		return false;
	}
	h->count = 1;
	return read_host(c, n, h->names);
}

static void free_hosts(struct host_list *h)
{
	for (size_t i = 0; i < h->count; i++)
		free(h->names[i]);
	free(h->names);
}

/* A workload_spec has one count for both lists, which in a file may differ. */
struct pairs {
	struct workload_spec workload; /* first, so that the common keys' offsets hold */
	struct host_list from, to;
};

static bool check_pairs(struct check *c, const struct tree *n, const struct pairs *p)
{
	const struct tree *to = tree_get(n, "to");
	bool good = true;

	if (p->from.count != p->to.count) {
		explain_value(c->diags, to,
			"%zu receivers for %zu senders; expected one for each, in the same order",
			p->to.count, p->from.count);
		return false;
	}
	if (!p->from.count) {
		explain_value(c->diags, tree_get(n, "from"), "no hosts; expected at least one");
		return false;
	}
	for (size_t i = 0; i < p->from.count; i++) {
		if (strcmp(p->from.names[i], p->to.names[i]))
			continue;
		explain_value(c->diags, to->kind == TREE_LIST ? to->items[i] : to,
			"'%s' sends to itself", p->to.names[i]);
		good = false;
	}
	return good;
}

enum { FROM, TO };

static bool read_pairs(struct check *c, const struct tree *n, void *workload)
{
	static const struct key keys[] = {
		[FROM] = {.name = "from",
			.type = VALUE_READ,
			.read = read_hosts,
			.required = true,
			.offset = offsetof(struct pairs, from),
			.expected = "a list of hosts such as [h0, h1]"},
		[TO] = {.name = "to",
			.type = VALUE_READ,
			.read = read_hosts,
			.required = true,
			.offset = offsetof(struct pairs, to),
			.expected = "a list of hosts such as [h2, h3]"},
		COMMON_KEYS,
	};
	struct workload_spec *w = workload;
	struct pairs p = {.workload = *w};
	uint64_t good = keys_read(c, n, keys, COUNT(keys), &p);
	bool paired = (good & 1u << FROM) && (good & 1u << TO) && check_pairs(c, n, &p);

	*w = p.workload;
	if (!paired) {
		free_hosts(&p.from);
		free_hosts(&p.to);
		return false;
	}
	w->from = p.from.names;
	w->pair_to = p.to.names;
	w->pair_count = p.from.count;
	return keys_all(good, COUNT(keys));
}

static const char *const kinds[] = {
	[WORKLOAD_PERMUTATION] = "permutation",
	[WORKLOAD_INCAST] = "incast",
	[WORKLOAD_PAIRS] = "pairs",
};

static bool read_workload(struct check *c, const struct tree *n, void *workload)
{
	static const struct key keys[] = {
		{.name = "permutation", .type = VALUE_READ, .read = read_permutation},
		{.name = "incast", .type = VALUE_READ, .read = read_incast},
		{.name = "pairs", .type = VALUE_READ, .read = read_pairs},
	};
	struct workload_spec *w = workload;
	uint64_t good = keys_read(c, n, keys, COUNT(keys), w);
	size_t kind;

	w->pos = n->pos;
	if (!good || !keys_choose(c, n, kinds, COUNT(kinds), good & VALUE_UNKNOWN, &kind))
		return false;
	w->kind = (enum workload_kind)kind;
	w->sound = keys_all(good, COUNT(keys));
	return w->sound;
}

bool check_workload(struct check *c, const struct tree *n, void *scenario)
{
	struct scenario *s = scenario;

	return list_read(c, n, "a list of {permutation: ...}, {incast: ...} or {pairs: ...}",
		sizeof(*s->workloads), read_workload, (void **)&s->workloads, &s->workload_count);
}

void check_messages(struct check *c, const struct tree *list, const struct scenario *s)
{
	uint64_t max = MESSAGE_PACKETS * s->topology.mtu;
	char text[UNITS_TEXT];

	for (size_t i = 0; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		const struct tree *n;

		if (w->message_bytes <= max)
			continue;
		n = tree_get(tree_get(list->items[i], kinds[w->kind]), "message");
		explain_value(c->diags, n,
			"%s is too large; a message has at most 2^24 packets, %s at an mtu of %u",
			n->text, format_bytes(text, max), s->topology.mtu);
	}
}
