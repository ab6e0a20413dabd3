/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Three tiers of any counts: in a pod every ToR has links to every aggregation switch. The
 * aggregation switches of a pod, and the cores, divide into planes: each plane's aggregation
 * switches have links to all of its cores. With as many planes as a pod has aggregation switches
 * that is a fat-tree's wiring, with one plane every aggregation switch reaches every core.
 */
#include <stdio.h>
#include "scenario/check.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

/* Of each count: a switch has no more ports, and products of four stay within 64 bits. */
#define COUNT_MAX SWITCH_PORTS_MAX

#define PER(word, member, help_)                                                                   \
	KEY(word, COUNT, struct three_tier, member, .required = true, .min = 1, .max = COUNT_MAX,  \
		.help = help_)
#define LINKS(word, member, help_)                                                                 \
	KEY(word, COUNT, struct three_tier, member, .fallback = "1", .min = 1, .max = COUNT_MAX,   \
		.help = help_)
#define OWN_RATE(word, member, help_)                                                              \
	KEY(word, RATE, struct three_tier, member, .optional = true, .usual = "the topology's",    \
		.min = RATE_MIN, .max = RATE_MAX, .help = help_)

static const struct key keys[] = {
	PER("pods", pods, "parts that the cores join"),
	PER("tors_per_pod", tors, "switches with hosts in each pod"),
	PER("aggs_per_pod", aggs,
		"aggregation switches in each pod, each with links to all its ToRs"),
	PER("cores", cores, "switches of the highest tier, all planes together"),
	PER("hosts_per_tor", hosts, "hosts at each ToR"),
	KEY("planes", COUNT, struct three_tier, planes, .usual = "aggs_per_pod", .min = 1,
		.max = COUNT_MAX,
		.help = "groups of cores; aggregation switch i of a pod has links to all of group i modulo planes"),
	LINKS("tor_agg_links", tor_agg_links, "parallel links of a ToR and an aggregation switch"),
	LINKS("agg_core_links", agg_core_links,
		"parallel links of an aggregation switch and a core"),
	OWN_RATE("tor_agg_rate", tor_agg_bps, "of the links of ToRs and aggregation switches"),
	OWN_RATE("agg_core_rate", agg_core_bps, "of the links of aggregation switches and cores"),
};

static uint64_t link_count(const struct three_tier *o)
{
	uint64_t tors = (uint64_t)o->pods * o->tors, aggs = (uint64_t)o->pods * o->aggs;

	return tors * o->hosts + tors * o->aggs * o->tor_agg_links +
	       aggs * (o->cores / o->planes) * o->agg_core_links;
}

static bool check_planes(struct check *c, const struct tree *n, const struct three_tier *o)
{
	uint32_t below = o->planes, above = o->planes, rest = o->cores % o->planes;

	if (o->planes > o->aggs)
		return explain_value(c->diags, tree_get(n, "planes"),
			"%u planes for %u aggregation switches in a pod; expected at most %u, one for each",
			o->planes, o->aggs, o->aggs);
	while (o->aggs % below)
		below--;
	while (o->aggs % above)
		above++;
	if (below != above)
		return explain_value(c->diags, tree_get(n, "planes"),
			"the %u aggregation switches of a pod do not divide into %u planes; the nearest numbers that fit are %u and %u",
			o->aggs, o->planes, below, above);
	if (!rest)
		return true;
	if (o->cores < o->planes)
		return explain_value(c->diags, tree_get(n, "cores"),
			"%u cores do not divide into %u planes; take %u, or fewer planes", o->cores,
			o->planes, o->planes);
	return explain_value(c->diags, tree_get(n, "cores"),
		"%u cores do not divide into %u planes; the nearest numbers that do are %u and %u",
		o->cores, o->planes, o->cores - rest, o->cores - rest + o->planes);
}

/* Counts that are each fine, and together make no fabric. */
static bool check_wiring(struct check *c, const struct tree *n, void *options, uint64_t valid)
{
	struct three_tier *o = options;
	uint64_t tor, agg, core, links;

	(void)valid;
	o->planes = o->planes ? o->planes : o->aggs;
	if (!check_planes(c, n, o))
		return false;
	tor = o->hosts + (uint64_t)o->aggs * o->tor_agg_links;
	agg = (uint64_t)o->tors * o->tor_agg_links +
	      (uint64_t)(o->cores / o->planes) * o->agg_core_links;
	core = (uint64_t)o->pods * (o->aggs / o->planes) * o->agg_core_links;
	if (tor > SWITCH_PORTS_MAX || agg > SWITCH_PORTS_MAX || core > SWITCH_PORTS_MAX)
		return explain_value(c->diags, n,
			"%llu ports of a ToR, %llu of an aggregation switch and %llu of a core; a switch has at most %u",
			(unsigned long long)tor, (unsigned long long)agg, (unsigned long long)core,
			SWITCH_PORTS_MAX);
	links = link_count(o);
	if (2 * links > PORTS_MAX)
		return explain_value(c->diags, n,
			"too large; %llu links have %llu ports, and the limit is %u",
			(unsigned long long)links, (unsigned long long)(2 * links), PORTS_MAX);
	if ((uint64_t)o->pods * o->tors * o->hosts < 2)
		return explain_value(
			c->diags, n, "one host has nobody to send to; at least two are needed");
	return true;
}

/* Where the nodes of each tier begin. */
struct layout {
	uint32_t tor, agg, core;
};

static void name_tier(struct shape *s, const char *name, uint32_t tier, uint32_t first,
	uint32_t end, uint32_t per_pod)
{
	for (uint32_t i = first; i < end; i++) {
		snprintf(s->nodes[i].name, NODE_NAME, "%s%u.%u", name, (i - first) / per_pod,
			(i - first) % per_pod);
		s->nodes[i].tier = tier;
	}
}

static void name_nodes(struct shape *s, const struct three_tier *o, const struct layout *at)
{
	for (uint32_t h = 0; h < s->host_count; h++)
		snprintf(s->nodes[h].name, NODE_NAME, "h%u", h);
	name_tier(s, "tor", 1, at->tor, at->agg, o->tors);
	name_tier(s, "agg", 2, at->agg, at->core, o->aggs);
	for (uint32_t i = 0; i < o->cores; i++) {
		snprintf(s->nodes[at->core + i].name, NODE_NAME, "core%u", i);
		s->nodes[at->core + i].tier = 3;
	}
}

/* From a switch to each of several above it. */
static void link_up(struct shape *s, const struct topology_spec *t, uint32_t from, uint32_t first,
	uint32_t count, uint32_t parallel, uint64_t rate_bps)
{
	for (uint32_t i = 0; i < count * parallel; i++) {
		shape_link(s, t, from, first + i / parallel);
		if (rate_bps)
			s->links[s->link_count - 1].rate_bps = rate_bps;
	}
}

static void link_nodes(struct shape *s, const struct topology_spec *t, const struct three_tier *o,
	const struct layout *at)
{
	uint32_t plane = o->cores / o->planes;

	for (uint32_t h = 0; h < s->host_count; h++)
		shape_link(s, t, h, at->tor + h / o->hosts);
	for (uint32_t i = 0; i < o->pods * o->tors; i++)
		link_up(s, t, at->tor + i, at->agg + i / o->tors * o->aggs, o->aggs,
			o->tor_agg_links, o->tor_agg_bps);
	for (uint32_t i = 0; i < o->pods * o->aggs; i++)
		link_up(s, t, at->agg + i, at->core + i % o->planes * plane, plane,
			o->agg_core_links, o->agg_core_bps);
}

int three_tier_shape(struct shape *s, const struct topology_spec *t, const struct three_tier *o)
{
	uint32_t hosts = o->pods * o->tors * o->hosts;
	const struct layout at = {.tor = hosts,
		.agg = hosts + o->pods * o->tors,
		.core = hosts + o->pods * (o->tors + o->aggs)};
	int err = shape_alloc(s, hosts, at.core + o->cores - hosts, (uint32_t)link_count(o));

	if (err)
		return err;
	s->regular = true;
	name_nodes(s, o, &at);
	link_nodes(s, t, o, &at);
	return 0;
}

static int make_shape(struct shape *s, const struct topology_spec *t, struct diags *diags)
{
	(void)diags; /* what passed check_wiring() makes one */
	return three_tier_shape(s, t, t->options);
}

const struct topology_kind topology_kind_three_tier = {
	.title = "three-tier",
	.map = {KEYS(keys), .size = sizeof(struct three_tier), .help = "three tiers of any counts",
		.check = check_wiring},
	.near = "in one pod",
	.far = "across pods",
	.pods = true,
	.shape = make_shape,
};
