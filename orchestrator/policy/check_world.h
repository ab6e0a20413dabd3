/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_CHECK_WORLD_H
#define FABRICBED_POLICY_CHECK_WORLD_H

/*
 * Switches, packets and what changes between them, at random, for the trial of a policy. All of it
 * follows from a seed.
 */
#include <stdint.h>
#include "abi/shared_state.h"
#include "dataplane/dataplane.h"
#include "policy/check.h"

#define WORLD_FRAME   80u /* bytes of a frame that are there: up to the BTH, with IPv6 */
#define WORLD_CHANGES 4u  /* packets between two changes */
#define WORLD_GROUPS  8u  /* of each switch */
#define WORLD_INGRESS 4u  /* ports of each switch at which packets arrive */

struct check_world {
	uint64_t rng, seed;
	uint64_t now_ps;
	uint32_t first_port[CHECK_SWITCHES];
	struct group groups[CHECK_SWITCHES][WORLD_GROUPS]; /* as they are now */
};

/* A packet, and where it arrives. */
struct world_packet {
	uint32_t sw, port;
	uint32_t candidates;
};

void world_init(struct check_world *w, uint64_t seed);

struct sw_sizes world_sizes(const struct check_world *w);

/* The i-th port of a switch at which packets arrive, i < WORLD_INGRESS. */
uint32_t world_ingress(const struct check_world *w, uint32_t sw, uint32_t i);

/* Writes tables that are all zero. */
void world_write(const struct check_world *w, struct sw_tables *t);

/* Changes queues, rates, links and groups in both alike; other may be NULL. */
void world_change(struct check_world *w, struct sw_tables *one, struct sw_tables *other);

/* The next packet, WORLD_FRAME bytes behind the hop header. */
void world_packet(struct check_world *w, struct world_packet *ret, struct frame *frame);

#endif
