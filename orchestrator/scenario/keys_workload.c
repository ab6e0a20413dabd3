/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include "scenario/check.h"

#define MESSAGE_MAX (1ull << 40)

/* The keys that every kind has. */
#define COMMON_KEYS                                                                                \
	KEY("message", BYTES, struct workload_spec, message_bytes, .required = true, .min = 1,     \
		.max = MESSAGE_MAX, .help = "the size of each message"),                           \
		KEY("start", TIME, struct workload_spec, start_ps, .fallback = "0",                \
			.max = MOMENT_MAX, .help = "when the first message is handed over"),       \
		KEY("repeat", COUNT, struct workload_spec, repeat, .fallback = "1", .min = 1,      \
			.max = TIMES_MAX, .help = "so many messages one after the other"),         \
		KEY("gap", TIME, struct workload_spec, gap_ps, .fallback = "0", .max = TIME_MAX,   \
			.help = "from the end of one to the start of the next")

static const struct key permutation_keys[] = {
	KEY("count", COUNT, struct workload_spec, count, .fallback = "1", .min = 1,
		.max = TIMES_MAX, .help = "so many permutations at once"),
	COMMON_KEYS,
};

static const struct key incast_keys[] = {
	KEY("senders", COUNT, struct workload_spec, senders, .required = true, .min = 1,
		.max = TIMES_MAX, .help = "hosts that send at once, drawn by the seed"),
	KEY("to", LABEL, struct workload_spec, to, .fallback = "h0", .max = NODE_NAME_LIMIT,
		.expected = "the name of a host such as h0", .help = "the receiver"),
	COMMON_KEYS,
};

static const struct map permutation_map = {KEYS(permutation_keys)};
static const struct map incast_map = {KEYS(incast_keys)};

/* ---- pairs ---- */

static const struct key host_item = {
	.kind = VALUE_LABEL, .max = NODE_NAME_LIMIT, .expected = "the name of a host such as h0"};
static const struct list from_list = {.item = &host_item,
	.size = sizeof(char *),
	.count = offsetof(struct workload_spec, from.count),
	.lone = true};
static const struct list to_list = {.item = &host_item,
	.size = sizeof(char *),
	.count = offsetof(struct workload_spec, receivers.count),
	.lone = true};

static const struct key pairs_keys[] = {
	KEY("from", LIST, struct workload_spec, from.names, .required = true, .list = &from_list,
		.expected = "a list of hosts such as [h0, h1]",
		.help = "senders: one host, or a list"),
	KEY("to", LIST, struct workload_spec, receivers.names, .required = true, .list = &to_list,
		.expected = "a list of hosts such as [h2, h3]",
		.help = "their receivers, in the same order"),
	COMMON_KEYS,
};

static const struct map pairs_map;

static bool check_pairs(struct check *c, const struct tree *n, void *workload, uint64_t good)
{
	const struct workload_spec *w = workload;
	const struct tree *to = tree_get(n, "to");
	bool fine = true;

	if (!is_good(&pairs_map, good, "from") || !is_good(&pairs_map, good, "to"))
		return false;
	if (w->from.count != w->receivers.count) {
		explain_value(c->diags, to,
			"%zu receivers for %zu senders; expected one for each, in the same order",
			w->receivers.count, w->from.count);
		return false;
	}
	if (!w->from.count) {
		explain_value(c->diags, tree_get(n, "from"), "no hosts; expected at least one");
		return false;
	}
	for (size_t i = 0; i < w->from.count; i++) {
		if (strcmp(w->from.names[i], w->receivers.names[i]))
			continue;
		explain_value(c->diags, to->kind == TREE_LIST ? to->items[i] : to,
			"'%s' sends to itself", w->receivers.names[i]);
		fine = false;
	}
	return fine;
}

static const struct map pairs_map = {KEYS(pairs_keys), .check = check_pairs, .partial = true};

/* ---- the section ---- */

static bool is_sound(struct check *c, const struct tree *n, void *workload, uint64_t good)
{
	(void)c;
	(void)n;
	(void)good;
	((struct workload_spec *)workload)->sound = true;
	return true;
}

/* A kind of workload; in the order of enum workload_kind. */
#define KIND(word, its_map, its_help)                                                              \
	{                                                                                          \
		.name = word, .kind = VALUE_MAP, .choice = true, .map = its_map, .help = its_help  \
	}

static const struct key keys[] = {
	KIND("permutation", &permutation_map,
		"each host sends to another one, and receives from one"),
	KIND("incast", &incast_map, "many hosts send to one"),
	KIND("pairs", &pairs_map, "hosts that are named"),
};

const struct map workload_map = {KEYS(keys), .chosen = FIELD(struct workload_spec, kind),
	.pos = offsetof(struct workload_spec, pos), .check = is_sound};

void check_messages(struct check *c, const struct tree *list, const struct scenario *s)
{
	uint64_t max = MESSAGE_PACKETS * s->topology.mtu;
	char text[UNITS_TEXT];

	for (size_t i = 0; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		const struct tree *n;

		if (w->message_bytes <= max)
			continue;
		n = tree_get(tree_get(list->items[i], keys[w->kind].name), "message");
		explain_value(c->diags, n,
			"%s is too large; a message has at most 2^24 packets, %s at an mtu of %u",
			n->text, format_bytes(text, max), s->topology.mtu);
	}
}
