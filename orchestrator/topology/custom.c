/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any hosts, switches and links: as a scenario lists them. custom_shape.c puts them together. */
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

static const char node_expected[] =
	"the name of a node: at most 31 letters, digits, '.' and '_', a letter first";

static bool is_node_name(struct check *c, const struct tree *n, void *target)
{
	if (check_node_name(*(char **)target))
		return true;
	explain_unexpected(c->diags, n, node_expected);
	return false;
}

#define OF_NODE .max = NODE_NAME_LIMIT, .check = is_node_name, .expected = node_expected

static const struct key link_keys[] = {
	KEY("a", LABEL, struct custom_link, a, .required = true, OF_NODE, .help = "one end"),
	KEY("b", LABEL, struct custom_link, b, .required = true, OF_NODE, .help = "the other end"),
	LINK_KEYS(struct custom_link),
};

static const struct map link_map = {KEYS(link_keys), .pos = offsetof(struct custom_link, pos)};

/* "a-b" */
static bool split_link(struct check *c, const struct tree *n, struct custom_link *link)
{
	const char *dash = strchr(n->text, '-');
	bool valid = true;

	link->a = strndup(n->text, (size_t)(dash - n->text));
	link->b = strdup(dash + 1);
	if (!link->a || !link->b) {
		c->out_of_memory = true;
		return false;
	}
	valid = is_node_name(c, n, &link->a);
	return valid && is_node_name(c, n, &link->b);
}

#define LINK_EXPECTED "a link: a-b, [a, b] or {a: , b: , rate: , delay: }"

static bool read_link(struct check *c, const struct tree *n, void *custom_link)
{
	struct custom_link *link = custom_link;
	bool valid;

	link->pos = n->pos;
	link->delay_ps = UINT64_MAX;
	if (n->kind == TREE_MAP) {
		valid = map_read(c, &link_map, n, link);
	} else if (n->kind == TREE_LIST && n->count == 2) {
		valid = key_read(c, &link_keys[0], n->items[0], link);
		valid &= key_read(c, &link_keys[1], n->items[1], link);
	} else if (n->kind == TREE_SCALAR && strchr(n->text, '-')) {
		valid = split_link(c, n, link);
	} else {
		explain_unexpected(c->diags, n, LINK_EXPECTED);
		return false;
	}
	if (valid && !strcmp(link->a, link->b)) {
		explain_value(c->diags, n, "links '%s' to itself", link->a);
		valid = false;
	}
	return valid;
}

/* Short where it can be: what a file of 1 MB can hold must still fit one when written. */
static void write_link(FILE *out, const void *target, int indent)
{
	const struct custom_link *link = target;

	(void)indent;
	if (!link->rate_bps && link->delay_ps == UINT64_MAX)
		fprintf(out, "%s-%s", link->a, link->b);
	else
		map_write(&(struct writer){.out = out}, &link_map, link, FLOW);
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
static bool check_distinct(struct check *c, const struct tree *n, const struct custom *o)
{
	const struct tree *hosts = tree_get(n, "hosts"), *switches = tree_get(n, "switches");
	size_t count = o->host_count + o->switch_count;
	struct named *all = calloc(count, sizeof(*all));
	bool valid = true;

	if (!all) {
		c->out_of_memory = true;
		return false;
	}
	for (size_t i = 0; i < o->host_count; i++)
		all[i] = (struct named){o->hosts[i].name, hosts->items[i]};
	for (size_t i = 0; i < o->switch_count; i++)
		all[o->host_count + i] = (struct named){o->switches[i].name, switches->items[i]};
	qsort(all, count, sizeof(*all), compare_named);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(all[i].name, all[i - 1].name))
			continue;
		explain_value(c->diags, all[i].item, "a second node '%s'", all[i].name);
		valid = false;
	}
	free(all);
	return valid;
}

static const struct map *const map = &topology_kind_custom.map;

static bool check_nodes(struct check *c, const struct tree *n, void *options, uint64_t valid)
{
	const struct custom *o = options;
	bool hosts = is_valid(map, valid, "hosts");

	if (hosts && !o->host_count) {
		explain_value(c->diags, tree_get(n, "hosts"), "no hosts; expected at least one");
		return false;
	}
	return !hosts || !is_valid(map, valid, "switches") || check_distinct(c, n, o);
}

static const struct key node_item = KEY("", LABEL, struct custom_node, name, OF_NODE);
static const struct key link_item = {.kind = VALUE_FORM, .form = &link_form};
static const struct list host_list = {.item = &node_item,
	.size = sizeof(struct custom_node),
	.count = offsetof(struct custom, host_count),
	.pos = offsetof(struct custom_node, pos)};
static const struct list switch_list = {.item = &node_item,
	.size = sizeof(struct custom_node),
	.count = offsetof(struct custom, switch_count),
	.pos = offsetof(struct custom_node, pos)};
static const struct list link_list = {.item = &link_item,
	.size = sizeof(struct custom_link),
	.count = offsetof(struct custom, link_count)};

static const struct key keys[] = {
	KEY("hosts", LIST, struct custom, hosts, .required = true, .list = &host_list,
		.expected = "a list of names such as [h0, h1]",
		.help = "names, in the order of their numbers"),
	KEY("switches", LIST, struct custom, switches, .usual = "none", .list = &switch_list,
		.expected = "a list of names such as [s0, s1]", .help = "names"),
	KEY("links", LIST, struct custom, links, .required = true, .list = &link_list,
		.expected = "a list of links such as [h0-s0, h1-s0]",
		.help = "each a-b, [a, b] or {a: h0, b: s0, rate: 50Gbps, delay: 2us}"),
};

const struct topology_kind topology_kind_custom = {
	.title = "custom",
	.map = {KEYS(keys), .size = sizeof(struct custom), .help = "any hosts, switches and links",
		.check = check_nodes, .partial = true},
	.listed = true,
	.near = "further apart",
	.far = "further apart",
	.shape = custom_shape,
};
