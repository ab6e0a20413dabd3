/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FABRIC_FIXTURE_H
#define FABRICBED_FABRIC_FIXTURE_H

/* Scenarios without files, and fabrics from them. Include after cmocka.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/diag.h"
#include "lib/transport_options.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"
#include "topology/make_fabric.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

/* What options of topologies are kept in: those of the last 64 scenarios. */
static inline void *fixture_options(size_t size)
{
	static union {
		struct fat_tree fat_tree;
		struct leaf_spine leaf_spine;
		struct three_tier three_tier;
		struct custom custom;
	} options[64];
	static unsigned next;

	return memset(&options[next++ % 64], 0, size);
}

static inline struct scenario fixture_scenario(const struct topology_kind *kind)
{
	static struct strack_options options = STRACK_OPTIONS_DEFAULT;
	struct scenario s = {.name = (char *)"fixture", .seed = 1};

	while (topology_kinds[s.topology.kind] != kind)
		s.topology.kind++;
	s.topology.options = fixture_options(kind->map.size);
	s.topology.rate_bps = 100000000000ull;
	s.topology.delay_ps = 1000000;
	s.topology.mtu = 4096;
	s.topology.pos = (struct diag_pos){2, 3};
	s.sw.valid = true;
	s.host.transport.options = &options;
	s.sw.buffer.per_port = (struct quantity){400 * 1024, QUANTITY_BYTES};
	s.sw.classes[0] = (struct class_spec){
		.used = true,
		.buffer = s.sw.buffer.per_port,
		.ecn = {{0.25, QUANTITY_BDP}, {0.75, QUANTITY_BDP}, 1, 0},
		.xoff = {0, QUANTITY_AUTO},
		.xon = {0, QUANTITY_AUTO},
		.headroom = {0, QUANTITY_AUTO},
	};
	return s;
}

static inline struct scenario fixture_fat_tree(uint32_t k)
{
	struct scenario s = fixture_scenario(&topology_kind_fat_tree);

	((struct fat_tree *)s.topology.options)->k = k;
	return s;
}

static inline struct scenario fixture_leaf_spine(
	uint32_t leaves, uint32_t spines, uint32_t hosts_per_leaf, uint32_t links_per_pair)
{
	struct scenario s = fixture_scenario(&topology_kind_leaf_spine);

	*(struct leaf_spine *)s.topology.options =
		(struct leaf_spine){leaves, spines, hosts_per_leaf, links_per_pair};
	return s;
}

/* The fabric of a scenario that must be fine. */
static inline struct fabric *fixture_fabric(const struct scenario *s)
{
	struct diags diags = DIAGS_INIT;
	struct fabric *f = NULL;
	int err = fabric_new(&f, s, &diags);

	for (size_t i = 0; i < diags.count; i++)
		print_error("%s\n", diags.items[i].text);
	diags_release(&diags);
	assert_int_equal(err, 0);
	return f;
}

static inline uint32_t fixture_node(const struct fabric *f, const char *name)
{
	uint32_t node = UINT32_MAX;

	assert_true(fabric_find_node(f, name, &node));
	return node;
}

/* The link of that name; UINT32_MAX: there is none. */
static inline uint32_t fixture_link(const struct fabric *f, const char *name)
{
	for (uint32_t l = 0; l < f->net.link_count; l++)
		if (fabric_link_matches(f, l, name))
			return l;
	return UINT32_MAX;
}

/* The lists of a custom topology, each at most FIXTURE_LIST long; "a-b" makes a link. */
#define FIXTURE_LIST 512
struct fixture_custom {
	struct custom_node hosts[FIXTURE_LIST], switches[FIXTURE_LIST];
	struct custom_link links[FIXTURE_LIST];
	char text[4096];
};

/* Splits space-separated words in place into nodes; returns how many. */
static inline size_t fixture_nodes(struct custom_node *nodes, char *words, unsigned line)
{
	size_t n = 0;
	char *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		assert_true(n < FIXTURE_LIST);
		nodes[n] = (struct custom_node){w, {line, (unsigned)n + 1}};
		n++;
	}
	return n;
}

/* A custom topology from words: "h0 h1", "s0", "h0-s0 h1-s0". c holds the lists. */
static inline struct scenario fixture_custom(
	struct fixture_custom *c, const char *hosts, const char *switches, const char *links)
{
	struct scenario s = fixture_scenario(&topology_kind_custom);
	struct custom *o = s.topology.options;
	size_t n = strlen(hosts) + 1, m = strlen(switches) + 1;
	char *save = NULL;

	assert_true(n + m + strlen(links) + 1 <= sizeof(c->text));
	strcpy(c->text, hosts);
	strcpy(c->text + n, switches);
	strcpy(c->text + n + m, links);
	o->hosts = c->hosts;
	o->switches = c->switches;
	o->links = c->links;
	o->host_count = fixture_nodes(c->hosts, c->text, 10);
	o->switch_count = fixture_nodes(c->switches, c->text + n, 20);
	for (char *w = strtok_r(c->text + n + m, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *dash = strchr(w, '-');
		size_t i = o->link_count++;

		assert_true(dash && i < FIXTURE_LIST);
		*dash = 0;
		c->links[i] = (struct custom_link){.a = w,
			.b = dash + 1,
			.delay_ps = UINT64_MAX,
			.pos = {30, (unsigned)i + 1}};
	}
	return s;
}

#endif
