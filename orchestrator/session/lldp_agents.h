/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LLDP_AGENTS_H
#define FABRICBED_LLDP_AGENTS_H

/*
 * Runs the LLDP agents of a fabric: frames are sent at each interval, and at once when a node's
 * level changes; port roles are written to the switches' tables at the next interval.
 */
#include "control/lldp_agent.h"
#include "engine/engine.h"

struct fabric;

struct agents;

/* port_name is what an agent calls a port. 0 or -ENOMEM. */
int agents_new(
	struct agents **ret, const struct fabric *f, uint64_t interval_ps, lldp_name port_name);
void agents_free(struct agents *a);

/* At an interval: all ports send. Returns how many ports' roles have changed in the tables. */
uint32_t agents_tick(struct agents *a, struct engine *e, struct sw_tables *t);

/* A frame has come. */
void agents_receive(struct agents *a, struct engine *e, uint64_t now_ps, uint32_t port,
	const uint8_t *bytes, uint32_t captured);

/* Makes roles.csv.new in directory. Per port: its node's level, role and neighbour. 0 or -errno. */
int agents_write(const struct agents *a, int directory);

/* What they know, for whoever shows it. */
const struct lldp *agents_lldp(const struct agents *a);

#endif
