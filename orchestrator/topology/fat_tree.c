/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * The three-tier fat-tree of k-port switches (Al-Fares, Loukissas, Vahdat: A Scalable, Commodity
 * Data Center Network Architecture, SIGCOMM 2008, section 2.2): k pods of k/2 edge and k/2
 * aggregation switches, k^2/4 cores, k^3/4 hosts.
 */
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

static int make_shape(struct shape *s, const struct topology_spec *t, struct diags *diags)
{
	uint32_t k = ((const struct fat_tree *)t->options)->k, half = k / 2;
	const struct three_tier o = {.pods = k,
		.tors = half,
		.aggs = half,
		.cores = half * half,
		.hosts = half,
		.planes = half,
		.tor_agg_links = 1,
		.agg_core_links = 1};

	(void)diags; /* every k that a scenario may have makes one */
	return three_tier_shape(s, t, &o);
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
