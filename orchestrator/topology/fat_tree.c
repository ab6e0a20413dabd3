/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * The three-tier fat-tree of k-port switches (Al-Fares, Loukissas, Vahdat: A Scalable, Commodity
 * Data Center Network Architecture, SIGCOMM 2008, section 2.2): k pods of k/2 edge and k/2
 * aggregation switches, k^2/4 cores, k^3/4 hosts.
 */
#include <stdio.h>
#include "scenario/check.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

#define K_LIMIT 88

/* k^3/4 links in each of three layers */
_Static_assert(3ull * K_LIMIT * K_LIMIT * K_LIMIT / 2 <= PORTS_MAX, "");

static bool check_k(struct check *c, const struct tree *n, void *target)
{
	uint32_t k = *(uint32_t *)target;

	if (k > K_LIMIT) {
		explain_value(c->diags, n,
			"%u is too large; a fat-tree of k-port switches has 3k^3/2 ports, and the limit is %u (k up to %u)",
			k, PORTS_MAX, K_LIMIT);
		return false;
	}
	if (k % 2)
		explain_value(c->diags, n,
			"%u is odd; a fat-tree needs an even number of ports (4, 6, 8, ...)", k);
	return k % 2 == 0;
}

static const struct key keys[] = {
	KEY("k", COUNT, struct fat_tree, k, .required = true, .min = 2, .max = UINT32_MAX,
		.check = check_k, .expected = "an even number of ports from 2 to 88",
		.help = "ports of each switch; the fabric has k^3/4 hosts"),
};

struct layout {
	uint32_t half; /* k/2 */
	uint32_t first_tor, first_agg, first_core;
};

static void name_nodes(struct shape *s, const struct layout *at)
{
	uint32_t half = at->half;

	for (uint32_t h = 0; h < s->host_count; h++)
		snprintf(s->nodes[h].name, NODE_NAME, "h%u", h);
	for (uint32_t i = 0; i < 2 * half * half; i++) {
		struct fabric_node *tor = &s->nodes[at->first_tor + i];
		struct fabric_node *agg = &s->nodes[at->first_agg + i];

		snprintf(tor->name, NODE_NAME, "tor%u.%u", i / half, i % half);
		tor->tier = 1;
		snprintf(agg->name, NODE_NAME, "agg%u.%u", i / half, i % half);
		agg->tier = 2;
	}
	for (uint32_t i = 0; i < half * half; i++) {
		snprintf(s->nodes[at->first_core + i].name, NODE_NAME, "core%u", i);
		s->nodes[at->first_core + i].tier = 3;
	}
}

static void link_nodes(struct shape *s, const struct topology_spec *t, const struct layout *at)
{
	uint32_t half = at->half;

	for (uint32_t h = 0; h < s->host_count; h++)
		shape_link(s, t, h, at->first_tor + h / half);
	for (uint32_t tor = 0; tor < 2 * half * half; tor++)
		for (uint32_t i = 0; i < half; i++)
			shape_link(
				s, t, at->first_tor + tor, at->first_agg + tor / half * half + i);
	/* Aggregation switch i of every pod has the i-th k/2 cores. */
	for (uint32_t agg = 0; agg < 2 * half * half; agg++)
		for (uint32_t i = 0; i < half; i++)
			shape_link(
				s, t, at->first_agg + agg, at->first_core + agg % half * half + i);
}

static int make_shape(struct shape *s, const struct topology_spec *t, struct diags *diags)
{
	uint32_t half = ((const struct fat_tree *)t->options)->k / 2;
	struct layout at = {.half = half};
	int err = shape_alloc(s, 2 * half * half * half, 5 * half * half, 6 * half * half * half);

	(void)diags; /* every k that a scenario may have makes one */
	if (err)
		return err;
	s->regular = true;
	at.first_tor = s->host_count;
	at.first_agg = at.first_tor + 2 * half * half;
	at.first_core = at.first_agg + 2 * half * half;
	name_nodes(s, &at);
	link_nodes(s, t, &at);
	return 0;
}

const struct topology_kind topology_kind_fat_tree = {
	.title = "fat-tree",
	.map = {KEYS(keys), .size = sizeof(struct fat_tree),
		.help = "three tiers of k-port switches"},
	.near = "in one pod",
	.far = "across pods",
	.pods = true,
	.shape = make_shape,
};
