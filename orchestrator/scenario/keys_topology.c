/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <string.h>
#include "scenario/check.h"
#include "topology/topology_kind.h"

bool check_node_name(const char *name)
{
	size_t length = strlen(name);

	if (!length || length > NODE_NAME_LIMIT || !isalpha((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '.' && name[i] != '_')
			return false;
	return true;
}

static bool check_override(struct check *c, const struct tree *n, void *target, uint64_t valid)
{
	(void)target;
	(void)valid;
	if (tree_get(n, "rate") || tree_get(n, "delay"))
		return true;
	explain_value(c->diags, n, "changes nothing; expected a rate or a delay");
	return false;
}

static const struct key override_keys[] = {
	KEY("match", LABEL, struct link_override, match, .required = true, .max = LABEL_LIMIT,
		.expected = "a pattern over link names such as agg*-core*",
		.help = "the links that are changed"),
	LINK_KEYS(struct link_override),
};

static const struct map override_map = {
	KEYS(override_keys), .pos = offsetof(struct link_override, pos), .check = check_override};
static const struct key override_item = {.kind = VALUE_MAP, .map = &override_map};
static const struct list override_list = {.item = &override_item,
	.size = sizeof(struct link_override),
	.count = offsetof(struct topology_spec, override_count)};

/* A kind has its keys beside its code. */
#define ROW(word)                                                                                  \
	KEY(#word, MAP, struct topology_spec, options, .choice = true,                             \
		.map = &topology_kind_##word.map),

static const char *const nics_to_words[] = {"leaf", "rails", "planes", NULL};

static const struct key keys[] = {
	TOPOLOGIES(ROW) KEY("rate", RATE, struct topology_spec, rate_bps, .fallback = "100Gbps",
		.min = RATE_MIN, .max = RATE_MAX, .help = "of each link"),
	KEY("host_rate", RATE, struct topology_spec, host_rate_bps, .usual = "rate",
		.min = RATE_MIN, .max = RATE_MAX, .help = "of the links of hosts"),
	KEY("delay", TIME, struct topology_spec, delay_ps, .fallback = "1us", .max = DELAY_MAX,
		.help = "propagation delay of each link"),
	KEY("mtu", COUNT, struct topology_spec, mtu, .fallback = "4096", .min = 64, .max = 65000,
		.help = "payload bytes of a full packet"),
	KEY("nics", COUNT, struct topology_spec, nics, .fallback = "1", .min = 1, .max = 64,
		.help = "NICs of a server; each is a host of the fabric"),
	KEY("nics_to", WORD, struct topology_spec, nics_to, .fallback = "leaf",
		.words = nics_to_words,
		.help = "a server's NICs are at one leaf, each at one of its own, or each in a fabric of its own"),
	KEY("links", LIST, struct topology_spec, overrides, .usual = "none", .list = &override_list,
		.expected = "a list of {match, rate, delay}",
		.help = "changes links whose names match; a later entry wins"),
};

static bool check_topology(struct check *c, const struct tree *n, void *topology, uint64_t valid)
{
	struct topology_spec *t = topology;

	(void)c;
	(void)valid;
	t->pos = tree_get(n, keys[t->kind].name)->pos;
	if (!t->host_rate_bps)
		t->host_rate_bps = t->rate_bps;
	return true;
}

const struct map topology_map = {KEYS(keys), .chosen = FIELD(struct topology_spec, kind),
	.check = check_topology, .valid = FIELD(struct topology_spec, valid)};
