/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Two tiers: every leaf has links_per_pair links to every spine. */
#include <stdio.h>
#include "abi/shared_state.h"
#include "scenario/check.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

#define WHERE "topology.leaf_spine"

static bool check_size(struct check *c, const struct tree *n, void *options, uint64_t valid)
{
	const struct leaf_spine *o = options;
	/* Each factor is at most 2^20, so that 64 bits hold the product. */
	uint64_t links = (uint64_t)o->leaves * o->hosts_per_leaf +
			 (uint64_t)o->leaves * o->spines * o->links_per_pair;

	(void)valid;
	if (2 * links <= PORTS_MAX)
		return true;
	explain_value(c->diags, n, "too large; %llu links have %llu ports, and the limit is %u",
		(unsigned long long)links, (unsigned long long)(2 * links), PORTS_MAX);
	return false;
}

static const struct key keys[] = {
	KEY("leaves", COUNT, struct leaf_spine, leaves, .required = true, .min = 1,
		.max = PORTS_MAX, .help = "switches of the lower tier"),
	KEY("spines", COUNT, struct leaf_spine, spines, .required = true, .min = 1,
		.max = PORTS_MAX, .help = "switches of the upper tier"),
	KEY("hosts_per_leaf", COUNT, struct leaf_spine, hosts_per_leaf, .required = true, .min = 1,
		.max = PORTS_MAX, .help = "hosts at each leaf"),
	KEY("links_per_pair", COUNT, struct leaf_spine, links_per_pair, .fallback = "1", .min = 1,
		.max = PORTS_MAX, .help = "parallel links between each leaf and each spine"),
};

/* What counts that are each fine, and all ports together, do not make a fabric. */
static bool check(const struct leaf_spine *o, struct diag_pos pos, struct diags *diags)
{
	uint64_t uplinks = (uint64_t)o->spines * o->links_per_pair;
	uint64_t downlinks = (uint64_t)o->leaves * o->links_per_pair;

	if (uplinks > GROUP_PORTS) {
		diags_add(diags, pos,
			WHERE
			": %llu uplinks of a leaf (spines x links_per_pair), but a switch spreads over at most %u equal ports; take fewer, faster links",
			(unsigned long long)uplinks, GROUP_PORTS);
		return false;
	}
	if (uplinks + o->hosts_per_leaf > SWITCH_PORTS_MAX || downlinks > SWITCH_PORTS_MAX) {
		diags_add(diags, pos,
			WHERE ": %llu ports of a leaf and %llu of a spine; a switch has at most %u",
			(unsigned long long)uplinks + o->hosts_per_leaf,
			(unsigned long long)downlinks, SWITCH_PORTS_MAX);
		return false;
	}
	if ((uint64_t)o->leaves * o->hosts_per_leaf < 2) {
		diags_add(diags, pos,
			WHERE ": one host has nobody to send to; at least two are needed");
		return false;
	}
	return true;
}

static int make_shape(struct shape *s, const struct topology_spec *t, struct diags *diags)
{
	const struct leaf_spine *o = t->options;
	uint32_t hosts, first_spine;
	int err;

	if (!check(o, t->pos, diags))
		return 0;
	hosts = o->leaves * o->hosts_per_leaf;
	err = shape_alloc(
		s, hosts, o->leaves + o->spines, hosts + o->leaves * o->spines * o->links_per_pair);
	if (err)
		return err;
	s->regular = true;
	first_spine = hosts + o->leaves;
	for (uint32_t h = 0; h < hosts; h++) {
		snprintf(s->nodes[h].name, NODE_NAME, "h%u", h);
		shape_link(s, t, h, hosts + h / o->hosts_per_leaf);
	}
	for (uint32_t l = 0; l < o->leaves; l++) {
		snprintf(s->nodes[hosts + l].name, NODE_NAME, "leaf%u", l);
		s->nodes[hosts + l].tier = 1;
		for (uint32_t i = 0; i < o->spines * o->links_per_pair; i++)
			shape_link(s, t, hosts + l, first_spine + i / o->links_per_pair);
	}
	for (uint32_t i = 0; i < o->spines; i++) {
		snprintf(s->nodes[first_spine + i].name, NODE_NAME, "spine%u", i);
		s->nodes[first_spine + i].tier = 2;
	}
	return 0;
}

const struct topology_kind topology_kind_leaf_spine = {
	.title = "leaf-spine",
	.map = {KEYS(keys), .size = sizeof(struct leaf_spine), .help = "two tiers",
		.check = check_size},
	.near = "across leaves",
	.far = "across leaves",
	.shape = make_shape,
};
