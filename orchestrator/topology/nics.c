/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Servers with several NICs. A shape's hosts become NICs: consecutive ones are a server's. Rails
 * number them anew, so that a server's are at different leaves; planes are copies of the shape.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/scenario.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

#define WHERE "topology.nics"

struct nics {
	struct shape *s;
	const struct topology_spec *t;
	struct diags *diags;
	uint32_t count;   /* of a server */
	uint32_t at_leaf; /* hosts of each switch that has any */
};

/*
 * How many hosts each leaf has: all as many, and consecutive ones, as the kinds that name their
 * hosts themselves wire them. False, with a message: they do not.
 */
static bool find_at_leaf(struct nics *n)
{
	uint32_t hosts = n->s->host_count, *leaf = calloc(hosts, sizeof(*leaf));
	bool alike;

	if (!leaf) {
		n->diags->out_of_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < n->s->link_count; i++)
		if (n->s->links[i].a < hosts)
			leaf[n->s->links[i].a] = n->s->links[i].b;
	while (n->at_leaf < hosts && leaf[n->at_leaf] == leaf[0])
		n->at_leaf++;
	alike = hosts % n->at_leaf == 0;
	for (uint32_t h = 1; h < hosts; h++)
		alike &= (leaf[h] == leaf[h - 1]) == (h % n->at_leaf != 0);
	free(leaf);
	if (!alike)
		diags_add(n->diags, n->t->pos,
			WHERE
			": not all leaves have as many hosts, so that there are no places for servers; take nics_to: planes");
	return alike;
}

/* "h3" -> "h3n0"; false, with a message: it has no room. */
static bool name_part(const struct nics *n, struct fabric_node *node, const char *of, char letter,
	uint32_t number)
{
	char name[NODE_NAME];

	if (snprintf(name, sizeof(name), "%s%c%u", of, letter, number) >= NODE_NAME) {
		diags_add(n->diags, n->t->pos,
			WHERE
			": '%s' is too long to have '%c%u' behind it; a name has at most %d letters",
			of, letter, number, NODE_NAME - 1);
		return false;
	}
	strcpy(node->name, name);
	return true;
}

/* Server i is named as host i was. The last first: what is read has not been written yet. */
static bool name_nics(struct nics *n)
{
	struct fabric_node *nodes = n->s->nodes;
	bool named = true;

	for (uint32_t h = n->s->host_count; named && h-- > 0;)
		named = name_part(n, &nodes[h], nodes[h / n->count].name, 'n', h % n->count);
	return named;
}

/* A server's NICs are at one leaf. Hosts that a scenario lists stay what and where they are. */
static bool to_leaf(struct nics *n)
{
	if (topology_kinds[n->t->kind]->listed) {
		if (n->s->host_count % n->count == 0)
			return true;
		diags_add(n->diags, n->t->pos,
			WHERE
			": %u hosts are no whole number of servers with %u NICs; list NICs of a server one after the other",
			n->s->host_count, n->count);
		return false;
	}
	if (!find_at_leaf(n))
		return false;
	if (n->at_leaf % n->count == 0)
		return name_nics(n);
	diags_add(n->diags, n->t->pos,
		WHERE
		": %u hosts at each leaf are no whole number of servers with %u NICs; take a multiple of %u, or nics_to: rails",
		n->at_leaf, n->count, n->count);
	return false;
}

/* `count` leaves after each other are a group: NIC r of each of its servers is at leaf r. */
static bool to_rails(struct nics *n)
{
	uint32_t group, leaves;

	if (topology_kinds[n->t->kind]->listed) {
		diags_add(n->diags, n->t->pos,
			WHERE
			"_to: rails: the links of a custom topology say where NICs are; link NIC r of each server to the leaf of rail r, and take nics_to: leaf");
		return false;
	}
	if (!find_at_leaf(n))
		return false;
	group = n->at_leaf * n->count;
	leaves = n->s->host_count / n->at_leaf;
	if (leaves % n->count) {
		diags_add(n->diags, n->t->pos,
			WHERE
			": %u leaves are no whole number of groups of %u, a leaf for each rail; take a multiple of %u",
			leaves, n->count, n->count);
		return false;
	}
	for (uint32_t i = 0; i < n->s->link_count; i++) {
		uint32_t *host = &n->s->links[i].a, in_group = *host % group;

		if (*host < n->s->host_count)
			*host +=
				in_group % n->at_leaf * n->count + in_group / n->at_leaf - in_group;
	}
	return name_nics(n);
}

/* Node i of plane p is number i * planes + p. */
static bool to_planes(struct nics *n)
{
	struct shape *s = n->s, made = {0};
	uint64_t links = (uint64_t)s->link_count * n->count;
	bool fine = true;

	if (2 * links > PORTS_MAX) {
		diags_add(n->diags, n->t->pos,
			WHERE
			": too large; the %llu links of %u planes have %llu ports, and the limit is %u",
			(unsigned long long)links, n->count, (unsigned long long)(2 * links),
			PORTS_MAX);
		return false;
	}
	if (shape_alloc(&made, s->host_count * n->count, s->switch_count * n->count,
		    (uint32_t)links) < 0) {
		n->diags->out_of_memory = true;
		return false;
	}
	made.regular = s->regular;
	for (uint32_t i = 0; fine && i < made.host_count + made.switch_count; i++) {
		const struct fabric_node *of = &s->nodes[i / n->count];

		made.nodes[i].tier = of->tier;
		fine = name_part(
			n, &made.nodes[i], of->name, i < made.host_count ? 'n' : 'p', i % n->count);
	}
	for (uint32_t i = 0; i < links; i++) {
		struct shape_link link = s->links[i / n->count];

		link.a = link.a * n->count + i % n->count;
		link.b = link.b * n->count + i % n->count;
		made.links[made.link_count++] = link;
	}
	shape_release(s);
	*s = made;
	return fine;
}

int shape_nics(struct shape *s, const struct topology_spec *t, struct diags *diags)
{
	static bool (*const connect[])(struct nics * n) = {
		[NICS_TO_LEAF] = to_leaf, [NICS_TO_RAILS] = to_rails, [NICS_TO_PLANES] = to_planes};
	struct nics n = {.s = s, .t = t, .diags = diags, .count = t->nics};

	if (t->nics > 1)
		connect[t->nics_to](&n);
	return diags->out_of_memory ? -ENOMEM : 0;
}
