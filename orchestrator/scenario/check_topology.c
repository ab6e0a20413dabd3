/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <string.h>
#include "base/units.h"
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A machine's interfaces and the engine's arrays: two ports a link. */
#define PORT_LIMIT       (1u << 20)
#define FAT_TREE_K_LIMIT 88

/* A fat-tree of k-port switches has k^3/4 links in each of three layers. */
_Static_assert(3ull * FAT_TREE_K_LIMIT * FAT_TREE_K_LIMIT * FAT_TREE_K_LIMIT / 2 <= PORT_LIMIT, "");

static bool read_fat_tree(struct check *c, const struct tree *n, void *topology)
{
	static const struct key keys[] = {
		{.name = "k",
			.type = VALUE_COUNT,
			.offset = offsetof(struct topology_spec, k),
			.required = true,
			.min = 2,
			.max = UINT32_MAX,
			.expected = "an even number of ports from 2 to 88"},
	};
	struct topology_spec *t = topology;
	const struct tree *k = tree_get(n, "k");

	t->kind = TOPOLOGY_FAT_TREE;
	t->pos = n->pos;
	if (!keys_all(keys_read(c, n, keys, COUNT(keys), t), COUNT(keys)))
		return false;
	if (t->k > FAT_TREE_K_LIMIT) {
		explain_value(c->diags, k,
			"%u is too large; a fat-tree of k-port switches has 3k^3/2 ports, and the limit is %u (k up to %u)",
			t->k, PORT_LIMIT, FAT_TREE_K_LIMIT);
		return false;
	}
	if (t->k % 2) {
		explain_value(c->diags, k,
			"%u is odd; a fat-tree needs an even number of ports (4, 6, 8, ...)", t->k);
		return false;
	}
	return true;
}

static bool read_leaf_spine(struct check *c, const struct tree *n, void *topology)
{
	static const struct key keys[] = {
		{.name = "leaves",
			.type = VALUE_COUNT,
			.required = true,
			.min = 1,
			.max = PORT_LIMIT,
			.offset = offsetof(struct topology_spec, leaves)},
		{.name = "spines",
			.type = VALUE_COUNT,
			.required = true,
			.min = 1,
			.max = PORT_LIMIT,
			.offset = offsetof(struct topology_spec, spines)},
		{.name = "hosts_per_leaf",
			.type = VALUE_COUNT,
			.required = true,
			.min = 1,
			.max = PORT_LIMIT,
			.offset = offsetof(struct topology_spec, hosts_per_leaf)},
		{.name = "links_per_pair",
			.type = VALUE_COUNT,
			.fallback = "1",
			.min = 1,
			.max = PORT_LIMIT,
			.offset = offsetof(struct topology_spec, links_per_pair)},
	};
	struct topology_spec *t = topology;
	uint64_t links;

	t->kind = TOPOLOGY_LEAF_SPINE;
	t->pos = n->pos;
	if (!keys_all(keys_read(c, n, keys, COUNT(keys), t), COUNT(keys)))
		return false;
	/* Each factor is at most 2^20, so that 64 bits hold the product. */
	links = (uint64_t)t->leaves * t->hosts_per_leaf +
		(uint64_t)t->leaves * t->spines * t->links_per_pair;
	if (2 * links > PORT_LIMIT) {
		explain_value(c->diags, n,
			"too large; %llu links have %llu ports, and the limit is %u",
			(unsigned long long)links, (unsigned long long)(2 * links), PORT_LIMIT);
		return false;
	}
	return true;
}

static bool read_override(struct check *c, const struct tree *n, void *link_override)
{
	static const struct key keys[] = {
		{.name = "match",
			.type = VALUE_LABEL,
			.required = true,
			.max = LABEL_LIMIT,
			.offset = offsetof(struct link_override, match),
			.expected = "a pattern over link names such as agg*-core*"},
		{.name = "rate",
			.type = VALUE_RATE,
			.min = RATE_MIN,
			.max = RATE_MAX,
			.offset = offsetof(struct link_override, rate_bps)},
		{.name = "delay",
			.type = VALUE_TIME,
			.max = DELAY_MAX,
			.offset = offsetof(struct link_override, delay_ps)},
	};
	struct link_override *o = link_override;

	o->delay_ps = UINT64_MAX;
	o->pos = n->pos;
	if (!keys_all(keys_read(c, n, keys, COUNT(keys), o), COUNT(keys)))
		return false;
	if (!tree_get(n, "rate") && !tree_get(n, "delay")) {
		explain_value(c->diags, n, "changes nothing; expected a rate or a delay");
		return false;
	}
	return true;
}

static bool read_overrides(struct check *c, const struct tree *n, void *topology)
{
	struct topology_spec *t = topology;

	return list_read(c, n, "a list of {match, rate, delay}", sizeof(*t->overrides),
		read_override, (void **)&t->overrides, &t->override_count);
}

enum { FAT_TREE, LEAF_SPINE, CUSTOM, RATE, HOST_RATE, DELAY, MTU, LINKS };

bool check_topology(struct check *c, const struct tree *n, void *topology)
{
	static const struct key keys[] = {
		[FAT_TREE] = {.name = "fat_tree", .type = VALUE_READ, .read = read_fat_tree},
		[LEAF_SPINE] = {.name = "leaf_spine", .type = VALUE_READ, .read = read_leaf_spine},
		[CUSTOM] = {.name = "custom", .type = VALUE_READ, .read = check_custom},
		[RATE] = {.name = "rate",
			.type = VALUE_RATE,
			.fallback = "100Gbps",
			.min = RATE_MIN,
			.max = RATE_MAX,
			.offset = offsetof(struct topology_spec, rate_bps)},
		[HOST_RATE] = {.name = "host_rate",
			.type = VALUE_RATE,
			.min = RATE_MIN,
			.max = RATE_MAX,
			.offset = offsetof(struct topology_spec, host_rate_bps)},
		[DELAY] = {.name = "delay",
			.type = VALUE_TIME,
			.fallback = "1us",
			.max = DELAY_MAX,
			.offset = offsetof(struct topology_spec, delay_ps)},
		[MTU] = {.name = "mtu",
			.type = VALUE_COUNT,
			.fallback = "4096",
			.min = 64,
			.max = 65000,
			.offset = offsetof(struct topology_spec, mtu)},
		[LINKS] = {.name = "links", .type = VALUE_READ, .read = read_overrides},
	};
	static const char *const kinds[] = {"fat_tree", "leaf_spine", "custom"};
	struct topology_spec *t = topology;
	uint64_t good = keys_read(c, n, keys, COUNT(keys), t);
	size_t kind;

	if (!good)
		return false;
	if (!keys_choose(c, n, kinds, COUNT(kinds), good & VALUE_UNKNOWN, &kind))
		return false;
	if (!t->host_rate_bps)
		t->host_rate_bps = t->rate_bps;
	return keys_all(good, COUNT(keys));
}
