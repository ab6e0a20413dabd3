/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SHAPE_H
#define FABRICBED_SHAPE_H

/*
 * What a kind of topology says: which nodes there are and which of them a link joins. Ports, names
 * of links and everything computed are fabric.c's. Internal to topology/.
 */
#include "topology/fabric.h"

struct diags;
struct topology_spec;

#define PORTS_MAX        (1u << 20)
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
 * The kinds. Each value, and each name, has been checked by who read the scenario; what makes no sense together is a message
 * in diags, and then *s stays empty. 0 or -ENOMEM.
 */
int fat_tree_shape(struct shape *s, const struct topology_spec *t, struct diags *diags);
int leaf_spine_shape(struct shape *s, const struct topology_spec *t, struct diags *diags);
int custom_shape(struct shape *s, const struct topology_spec *t, struct diags *diags);

#endif
