/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_HAND_FABRIC_H
#define FABRICBED_HAND_FABRIC_H

/*
 * Fabrics made by hand, for tests and benchmarks of what lies below scenario and topology: every
 * switch sends all that it gets out of its port 0. Out of memory ends the program.
 */
#include "dataplane/dataplane.h"
#include "topology/fabric.h"

/*
 * Nodes: hosts 0..hosts-1 ("h0"), then switches ("s0"). A link is a pair of nodes, the lower tier
 * first.
 */
struct fabric *hand_fabric(
	uint32_t hosts, uint32_t switches, const uint32_t (*links)[2], uint32_t link_count);

/* The shape of a 3-tier fat-tree: k^3/4 hosts, 5k^2/4 switches, 3k^3/4 links. */
struct fabric *hand_fat_tree(uint32_t k);

void hand_fabric_free(struct fabric *f);

/* The sizes of its tables, and their content. */
struct sw_sizes hand_sizes(const struct fabric *f);
void hand_tables(const struct fabric *f, const struct sw_tables *t);

/*
 * Writes a frame for port `port`: a hop header and `captured` bytes (at least 42) of an IPv4/UDP
 * packet, to the host there or to host 0.
 */
void hand_frame(const struct fabric *f, uint32_t port, struct frame *frame, uint32_t captured);

#endif
