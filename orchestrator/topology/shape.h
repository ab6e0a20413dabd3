/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SHAPE_H
#define FABRICBED_SHAPE_H

/*
 * What a kind of topology says: which nodes there are and which of them a link joins. Ports, names
 * of links and everything computed are fabric.c's. Internal to topology/.
 */
#include "base/diag.h"
#include "topology/fabric.h"

struct topology_spec;

#define SWITCH_PORTS_MAX 4096u

struct shape_link {
	uint32_t a, b; /* node indices; a is not above b's tier */
	uint64_t rate_bps, delay_ps;
};

struct shape {
	struct fabric_node *nodes; /* hosts first */
	struct shape_link *links;
	uint32_t host_count, switch_count, link_count;
	bool regular; /* every host sees the same fabric, as far as nodes and links go */
};

/* Room for that many, zeroed. 0 or -ENOMEM. */
int shape_alloc(struct shape *s, uint32_t hosts, uint32_t switches, uint32_t links);
void shape_release(struct shape *s);

/* Appends a link with the topology's rate (host links: the hosts') and delay. */
void shape_link(struct shape *s, const struct topology_spec *t, uint32_t a, uint32_t b);

/*
 * Makes servers with t->nics NICs of a shape's hosts: numbers and names them, and copies the shape
 * for planes. What does not come out even is a message in diags. 0 or -ENOMEM.
 */
int shape_nics(struct shape *s, const struct topology_spec *t, struct diags *diags);

/* ---- options of kinds of topology ---- */

struct fat_tree {
	uint32_t k; /* ports a switch; even, 2.. */
};

struct leaf_spine {
	uint32_t leaves, spines, hosts_per_leaf, links_per_pair;
};

struct three_tier {
	uint32_t pods, tors, aggs, cores, hosts; /* tors, aggs: of a pod; hosts: of a ToR */
	uint32_t planes;                         /* divides aggs and cores */
	uint32_t tor_agg_links, agg_core_links;  /* parallel ones */
	uint64_t tor_agg_bps, agg_core_bps;      /* 0: the topology's rate */
};

struct custom_link {
	char *a, *b;       /* node names */
	uint64_t rate_bps; /* 0: the topology's */
	uint64_t delay_ps; /* UINT64_MAX: the topology's */
	struct diag_pos pos;
};

struct custom_node {
	char *name;
	struct diag_pos pos;
};

struct custom {
	struct custom_node *hosts, *switches;
	struct custom_link *links;
	size_t host_count, switch_count, link_count;
};

/* `shape` of struct topology_kind, for counts that together make a fabric. */
int three_tier_shape(struct shape *s, const struct topology_spec *t, const struct three_tier *o);

/* `shape` of struct topology_kind, for the lists of struct custom. */
int custom_shape(struct shape *s, const struct topology_spec *t, struct diags *diags);

#endif
