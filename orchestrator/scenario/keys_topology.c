/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"

/* A machine's interfaces and the engine's arrays: two ports a link. */
#define PORT_LIMIT       (1u << 20)
#define FAT_TREE_K_LIMIT 88

/* A fat-tree of k-port switches has k^3/4 links in each of three layers. */
_Static_assert(3ull * FAT_TREE_K_LIMIT * FAT_TREE_K_LIMIT * FAT_TREE_K_LIMIT / 2 <= PORT_LIMIT, "");

/* ---- fat-tree and leaf-spine ---- */

static bool check_k(struct check *c, const struct tree *n, void *target)
{
	uint32_t k = *(uint32_t *)target;

	if (k > FAT_TREE_K_LIMIT) {
		explain_value(c->diags, n,
			"%u is too large; a fat-tree of k-port switches has 3k^3/2 ports, and the limit is %u (k up to %u)",
			k, PORT_LIMIT, FAT_TREE_K_LIMIT);
		return false;
	}
	if (k % 2)
		explain_value(c->diags, n,
			"%u is odd; a fat-tree needs an even number of ports (4, 6, 8, ...)", k);
	return k % 2 == 0;
}

static const struct key fat_tree_keys[] = {
	KEY("k", COUNT, struct topology_spec, k, .required = true, .min = 2, .max = UINT32_MAX,
		.check = check_k, .expected = "an even number of ports from 2 to 88",
		.help = "ports of each switch; the fabric has k^3/4 hosts"),
};

static const struct map fat_tree_map = {
	KEYS(fat_tree_keys), .pos = offsetof(struct topology_spec, pos)};

static bool check_leaf_spine(struct check *c, const struct tree *n, void *topology, uint64_t good)
{
	const struct topology_spec *t = topology;
	/* Each factor is at most 2^20, so that 64 bits hold the product. */
	uint64_t links = (uint64_t)t->leaves * t->hosts_per_leaf +
			 (uint64_t)t->leaves * t->spines * t->links_per_pair;

	(void)good;
	if (2 * links <= PORT_LIMIT)
		return true;
	explain_value(c->diags, n, "too large; %llu links have %llu ports, and the limit is %u",
		(unsigned long long)links, (unsigned long long)(2 * links), PORT_LIMIT);
	return false;
}

static const struct key leaf_spine_keys[] = {
	KEY("leaves", COUNT, struct topology_spec, leaves, .required = true, .min = 1,
		.max = PORT_LIMIT, .help = "switches of the lower tier"),
	KEY("spines", COUNT, struct topology_spec, spines, .required = true, .min = 1,
		.max = PORT_LIMIT, .help = "switches of the upper tier"),
	KEY("hosts_per_leaf", COUNT, struct topology_spec, hosts_per_leaf, .required = true,
		.min = 1, .max = PORT_LIMIT, .help = "hosts at each leaf"),
	KEY("links_per_pair", COUNT, struct topology_spec, links_per_pair, .fallback = "1",
		.min = 1, .max = PORT_LIMIT,
		.help = "parallel links between each leaf and each spine"),
};

static const struct map leaf_spine_map = {KEYS(leaf_spine_keys),
	.pos = offsetof(struct topology_spec, pos), .check = check_leaf_spine};

/* ---- custom ---- */

static const char node_expected[] =
	"the name of a node: at most 31 letters, digits, '.' and '_', a letter first";

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

static bool is_node_name(struct check *c, const struct tree *n, void *target)
{
	if (check_node_name(*(char **)target))
		return true;
	explain_unexpected(c->diags, n, node_expected);
	return false;
}

#define NODE_NAME .max = NODE_NAME_LIMIT, .check = is_node_name, .expected = node_expected

/* What an override or a link of its own may change. */
#define LINK_KEYS(type)                                                                            \
	KEY("rate", RATE, type, rate_bps, .optional = true, .usual = "the topology's",             \
		.min = RATE_MIN, .max = RATE_MAX, .help = "of these links"),                       \
		KEY("delay", TIME, type, delay_ps, .optional = true, .usual = "the topology's",    \
			.word_value = UINT64_MAX, .max = DELAY_MAX,                                \
			.help = "propagation delay of these links")

static const struct key link_keys[] = {
	KEY("a", LABEL, struct custom_link, a, .required = true, NODE_NAME, .help = "one end"),
	KEY("b", LABEL, struct custom_link, b, .required = true, NODE_NAME,
		.help = "the other end"),
	LINK_KEYS(struct custom_link),
};

static const struct map link_map = {KEYS(link_keys), .pos = offsetof(struct custom_link, pos)};

/* "a-b" */
static bool split_link(struct check *c, const struct tree *n, struct custom_link *link)
{
	const char *dash = strchr(n->text, '-');
	bool good = true;

	link->a = strndup(n->text, (size_t)(dash - n->text));
	link->b = strdup(dash + 1);
	if (!link->a || !link->b) {
		c->out_of_memory = true;
		return false;
	}
	good = is_node_name(c, n, &link->a);
	return good && is_node_name(c, n, &link->b);
}

#define LINK_EXPECTED "a link: a-b, [a, b] or {a: , b: , rate: , delay: }"

static bool read_link(struct check *c, const struct tree *n, void *custom_link)
{
	struct custom_link *link = custom_link;
	bool good;

	link->pos = n->pos;
	link->delay_ps = UINT64_MAX;
	if (n->kind == TREE_MAP) {
		good = map_read(c, &link_map, n, link);
	} else if (n->kind == TREE_LIST && n->count == 2) {
		good = key_read(c, &link_keys[0], n->items[0], link);
		good &= key_read(c, &link_keys[1], n->items[1], link);
	} else if (n->kind == TREE_SCALAR && strchr(n->text, '-')) {
		good = split_link(c, n, link);
	} else {
		explain_unexpected(c->diags, n, LINK_EXPECTED);
		return false;
	}
	if (good && !strcmp(link->a, link->b)) {
		explain_value(c->diags, n, "links '%s' to itself", link->a);
		good = false;
	}
	return good;
}

/* Short where it can be: what a file of 1 MB can hold must still fit one when written. */
static void write_link(FILE *out, const void *target, int indent)
{
	const struct custom_link *link = target;

	(void)indent;
	if (!link->rate_bps && link->delay_ps == UINT64_MAX)
		fprintf(out, "%s-%s", link->a, link->b);
	else
		map_write(out, &link_map, link, FLOW);
}

static void release_link(void *target)
{
	map_release(&link_map, target);
}

static const struct form link_form = {.read = read_link,
	.write = write_link,
	.expected = LINK_EXPECTED,
	.map = &link_map,
	.release = release_link};

struct named {
	const char *name;
	const struct tree *item;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	if (r)
		return r;
	if (x->item->parent != y->item->parent) /* hosts before switches, as they are written out */
		return x->item->parent->index < y->item->parent->index ? -1 : 1;
	return (x->item->index > y->item->index) - (x->item->index < y->item->index);
}

/* Sorted rather than compared pair by pair: there may be a hundred thousand. */
static bool check_distinct(struct check *c, const struct tree *n, const struct topology_spec *t)
{
	const struct tree *hosts = tree_get(n, "hosts"), *switches = tree_get(n, "switches");
	size_t count = t->host_count + t->switch_count;
	struct named *all = calloc(count, sizeof(*all));
	bool good = true;

	if (!all) {
		c->out_of_memory = true;
		return false;
	}
	for (size_t i = 0; i < t->host_count; i++)
		all[i] = (struct named){t->hosts[i].name, hosts->items[i]};
	for (size_t i = 0; i < t->switch_count; i++)
		all[t->host_count + i] = (struct named){t->switches[i].name, switches->items[i]};
	qsort(all, count, sizeof(*all), compare_named);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(all[i].name, all[i - 1].name))
			continue;
		explain_value(c->diags, all[i].item, "a second node '%s'", all[i].name);
		good = false;
	}
	free(all);
	return good;
}

static const struct map custom_map;

static bool check_nodes(struct check *c, const struct tree *n, void *topology, uint64_t good)
{
	const struct topology_spec *t = topology;
	bool hosts = is_good(&custom_map, good, "hosts");

	if (hosts && !t->host_count) {
		explain_value(c->diags, tree_get(n, "hosts"), "no hosts; expected at least one");
		return false;
	}
	return !hosts || !is_good(&custom_map, good, "switches") || check_distinct(c, n, t);
}

static const struct key node_item = KEY("", LABEL, struct custom_node, name, NODE_NAME);
static const struct key link_item = {.kind = VALUE_FORM, .form = &link_form};
static const struct list host_list = {.item = &node_item,
	.size = sizeof(struct custom_node),
	.count = offsetof(struct topology_spec, host_count),
	.pos = offsetof(struct custom_node, pos)};
static const struct list switch_list = {.item = &node_item,
	.size = sizeof(struct custom_node),
	.count = offsetof(struct topology_spec, switch_count),
	.pos = offsetof(struct custom_node, pos)};
static const struct list link_list = {.item = &link_item,
	.size = sizeof(struct custom_link),
	.count = offsetof(struct topology_spec, link_count)};

static const struct key custom_keys[] = {
	KEY("hosts", LIST, struct topology_spec, hosts, .required = true, .list = &host_list,
		.expected = "a list of names such as [h0, h1]",
		.help = "names, in the order of their numbers"),
	KEY("switches", LIST, struct topology_spec, switches, .usual = "none", .list = &switch_list,
		.expected = "a list of names such as [s0, s1]", .help = "names"),
	KEY("links", LIST, struct topology_spec, links, .required = true, .list = &link_list,
		.expected = "a list of links such as [h0-s0, h1-s0]",
		.help = "each a-b, [a, b] or {a: h0, b: s0, rate: 50Gbps, delay: 2us}"),
};

static const struct map custom_map = {KEYS(custom_keys), .pos = offsetof(struct topology_spec, pos),
	.check = check_nodes, .partial = true};

/* ---- all kinds ---- */

static bool check_override(struct check *c, const struct tree *n, void *target, uint64_t good)
{
	(void)target;
	(void)good;
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

static bool check_topology(struct check *c, const struct tree *n, void *topology, uint64_t good)
{
	struct topology_spec *t = topology;

	(void)c;
	(void)n;
	(void)good;
	if (!t->host_rate_bps)
		t->host_rate_bps = t->rate_bps;
	return true;
}

/* A kind of topology; in the order of enum topology_kind. */
#define KIND(word, its_map, its_help)                                                              \
	{                                                                                          \
		.name = word, .kind = VALUE_MAP, .choice = true, .map = its_map, .help = its_help  \
	}

static const struct key keys[] = {
	KIND("fat_tree", &fat_tree_map, "three tiers of k-port switches"),
	KIND("leaf_spine", &leaf_spine_map, "two tiers"),
	KIND("custom", &custom_map, "any hosts, switches and links"),
	KEY("rate", RATE, struct topology_spec, rate_bps, .fallback = "100Gbps", .min = RATE_MIN,
		.max = RATE_MAX, .help = "of each link"),
	KEY("host_rate", RATE, struct topology_spec, host_rate_bps, .usual = "rate",
		.min = RATE_MIN, .max = RATE_MAX, .help = "of the links of hosts"),
	KEY("delay", TIME, struct topology_spec, delay_ps, .fallback = "1us", .max = DELAY_MAX,
		.help = "propagation delay of each link"),
	KEY("mtu", COUNT, struct topology_spec, mtu, .fallback = "4096", .min = 64, .max = 65000,
		.help = "payload bytes of a full packet"),
	KEY("links", LIST, struct topology_spec, overrides, .usual = "none", .list = &override_list,
		.expected = "a list of {match, rate, delay}",
		.help = "changes links whose names match; a later entry wins"),
};

const struct map topology_map = {KEYS(keys), .chosen = FIELD(struct topology_spec, kind),
	.check = check_topology, .sound = FIELD(struct topology_spec, sound)};
