/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char name_expected[] =
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

static bool copy_name(
	struct check *c, const struct tree *n, const char *name, size_t length, char **ret)
{
	char *copy = strndup(name, length);

	if (!copy) {
		c->out_of_memory = true;
		return false;
	}
	if (!check_node_name(copy)) {
		explain_unexpected(c->diags, n, name_expected);
		free(copy);
		return false;
	}
	*ret = copy;
	return true;
}

/* A node's name by itself; a value for VALUE_READ and for list_read(). */
static bool read_node_name(struct check *c, const struct tree *n, void *target)
{
	if (n->kind != TREE_SCALAR || tree_is_null(n)) {
		explain_unexpected(c->diags, n, name_expected);
		return false;
	}
	return copy_name(c, n, n->text, strlen(n->text), target);
}

static bool read_node(struct check *c, const struct tree *n, void *custom_node)
{
	struct custom_node *node = custom_node;

	node->pos = n->pos;
	return read_node_name(c, n, &node->name);
}

static bool read_hosts(struct check *c, const struct tree *n, void *topology)
{
	struct topology_spec *t = topology;

	return list_read(c, n, "a list of names such as [h0, h1]", sizeof(*t->hosts), read_node,
		(void **)&t->hosts, &t->host_count);
}

static bool read_switches(struct check *c, const struct tree *n, void *topology)
{
	struct topology_spec *t = topology;

	return list_read(c, n, "a list of names such as [s0, s1]", sizeof(*t->switches), read_node,
		(void **)&t->switches, &t->switch_count);
}

static bool read_link_map(struct check *c, const struct tree *n, struct custom_link *link)
{
	static const struct key keys[] = {
		{.name = "a",
			.type = VALUE_READ,
			.read = read_node_name,
			.required = true,
			.offset = offsetof(struct custom_link, a),
			.expected = name_expected},
		{.name = "b",
			.type = VALUE_READ,
			.read = read_node_name,
			.required = true,
			.offset = offsetof(struct custom_link, b),
			.expected = name_expected},
		{.name = "rate",
			.type = VALUE_RATE,
			.min = RATE_MIN,
			.max = RATE_MAX,
			.offset = offsetof(struct custom_link, rate_bps)},
		{.name = "delay",
			.type = VALUE_TIME,
			.max = DELAY_MAX,
			.offset = offsetof(struct custom_link, delay_ps)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), link), COUNT(keys));
}

static bool read_link(struct check *c, const struct tree *n, void *custom_link)
{
	struct custom_link *link = custom_link;
	const char *dash;
	bool good;

	link->pos = n->pos;
	link->delay_ps = UINT64_MAX;
	if (n->kind == TREE_MAP) {
		good = read_link_map(c, n, link);
	} else if (n->kind == TREE_LIST && n->count == 2) {
		good = read_node_name(c, n->items[0], &link->a);
		good &= read_node_name(c, n->items[1], &link->b);
	} else if (n->kind == TREE_SCALAR && (dash = strchr(n->text, '-'))) {
		good = copy_name(c, n, n->text, (size_t)(dash - n->text), &link->a) &&
		       copy_name(c, n, dash + 1, strlen(dash + 1), &link->b);
	} else {
		explain_unexpected(
			c->diags, n, "a link: a-b, [a, b] or {a: , b: , rate: , delay: }");
		return false;
	}
	if (good && !strcmp(link->a, link->b)) {
		explain_value(c->diags, n, "links '%s' to itself", link->a);
		good = false;
	}
	return good;
}

static bool read_links(struct check *c, const struct tree *n, void *topology)
{
	struct topology_spec *t = topology;

	return list_read(c, n, "a list of links such as [h0-s0, h1-s0]", sizeof(*t->links),
		read_link, (void **)&t->links, &t->link_count);
}

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

enum { HOSTS, SWITCHES, LINKS };

bool check_custom(struct check *c, const struct tree *n, void *topology)
{
	static const struct key keys[] = {
		[HOSTS] = {.name = "hosts",
			.type = VALUE_READ,
			.read = read_hosts,
			.required = true,
			.expected = "a list of names such as [h0, h1]"},
		[SWITCHES] = {.name = "switches", .type = VALUE_READ, .read = read_switches},
		[LINKS] = {.name = "links",
			.type = VALUE_READ,
			.read = read_links,
			.required = true,
			.expected = "a list of links such as [h0-s0, h1-s0]"},
	};
	struct topology_spec *t = topology;
	uint64_t good;

	t->kind = TOPOLOGY_CUSTOM;
	t->pos = n->pos;
	good = keys_read(c, n, keys, COUNT(keys), t);
	if (good & 1u << HOSTS && tree_get(n, "hosts") && !t->host_count) {
		explain_value(c->diags, tree_get(n, "hosts"), "no hosts; expected at least one");
		return false;
	}
	if (good & 1u << HOSTS && good & 1u << SWITCHES && !check_distinct(c, n, t))
		return false;
	return keys_all(good, COUNT(keys));
}
