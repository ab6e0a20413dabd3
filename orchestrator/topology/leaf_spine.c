/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Two tiers: every leaf has links_per_pair links to every spine. */
#include <stdio.h>
#include "abi/shared_state.h"
#include "scenario/scenario.h"
#include "topology/shape.h"

#define WHERE "topology.leaf_spine"

/* What counts that are each fine, and all ports together, do not make a fabric. */
static bool check(const struct topology_spec *t, struct diags *diags)
{
	uint64_t uplinks = (uint64_t)t->spines * t->links_per_pair;
	uint64_t downlinks = (uint64_t)t->leaves * t->links_per_pair;

	if (uplinks > GROUP_PORTS) {
		diags_add(diags, t->pos,
			WHERE
			": %llu uplinks of a leaf (spines x links_per_pair), but a switch spreads over at most %u equal ports; take fewer, faster links",
			(unsigned long long)uplinks, GROUP_PORTS);
		return false;
	}
	if (uplinks + t->hosts_per_leaf > SWITCH_PORTS_MAX || downlinks > SWITCH_PORTS_MAX) {
		diags_add(diags, t->pos,
			WHERE ": %llu ports of a leaf and %llu of a spine; a switch has at most %u",
			(unsigned long long)uplinks + t->hosts_per_leaf,
			(unsigned long long)downlinks, SWITCH_PORTS_MAX);
		return false;
	}
	if ((uint64_t)t->leaves * t->hosts_per_leaf < 2) {
		diags_add(diags, t->pos,
			WHERE ": one host has nobody to send to; at least two are needed");
		return false;
	}
	return true;
}

int leaf_spine_shape(struct shape *s, const struct topology_spec *t, struct diags *diags)
{
	uint32_t hosts, first_spine;
	int err;

	if (!check(t, diags))
		return 0;
	hosts = t->leaves * t->hosts_per_leaf;
	err = shape_alloc(
		s, hosts, t->leaves + t->spines, hosts + t->leaves * t->spines * t->links_per_pair);
	if (err)
		return err;
	s->regular = true;
	first_spine = hosts + t->leaves;
	for (uint32_t h = 0; h < hosts; h++) {
		snprintf(s->nodes[h].name, NODE_NAME, "h%u", h);
		shape_link(s, t, h, hosts + h / t->hosts_per_leaf);
	}
	for (uint32_t l = 0; l < t->leaves; l++) {
		snprintf(s->nodes[hosts + l].name, NODE_NAME, "leaf%u", l);
		s->nodes[hosts + l].tier = 1;
		for (uint32_t i = 0; i < t->spines * t->links_per_pair; i++)
			shape_link(s, t, hosts + l, first_spine + i / t->links_per_pair);
	}
	for (uint32_t i = 0; i < t->spines; i++) {
		snprintf(s->nodes[first_spine + i].name, NODE_NAME, "spine%u", i);
		s->nodes[first_spine + i].tier = 2;
	}
	return 0;
}
