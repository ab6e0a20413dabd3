/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PORT_ROLES_H
#define FABRICBED_PORT_ROLES_H

/*
 * Levels and port roles, learnt from neighbours (802.1Qcz, topology recognition): a host is at
 * level 0 and its ports are uplinks; a switch is one above the lowest of its neighbours; a port
 * leads up, down or across as the neighbour's level is higher, lower or the same. A node knows of
 * itself that it is a host or a switch, and of others what they say; never the topology.
 *
 * A neighbour's level is the lowest that it ever claimed: silence, a restart with a level of
 * "unknown", or a claim that has risen leave it as it was, so that a failure changes no role. Only
 * another neighbour in its place begins anew. Where nobody is replaced, levels therefore only fall,
 * and none falls below the hops to the nearest host that ever spoke; there they arrive, whatever is
 * lost or overtakes. Nor can two switches that have lost their hosts talk each other up to
 * infinity: neither believes the other's rise.
 */
#include <stdbool.h>
#include "abi/shared_state.h"
#include "base/net.h"

struct roles;

#define ROLES_UNKNOWN 255u /* a level; others are 0..254 */

/* What roles_learn() may have changed. */
#define ROLES_LEVEL_CHANGED 0x1u /* of the port's node */
#define ROLES_PORTS_CHANGED 0x2u /* the role of one of its ports, at least */

/* net outlives it. 0 or -ENOMEM. */
int roles_new(struct roles **ret, const struct net *net);
void roles_free(struct roles *r);

/*
 * The neighbour at a port claims to be at that level, 0..255; another: it is not the one that was
 * heard there before. Returns ROLES_*.
 */
unsigned roles_learn(struct roles *r, uint32_t port, uint32_t level, bool another);

uint32_t roles_level(const struct roles *r, uint32_t node);
uint32_t roles_neighbour_level(const struct roles *r, uint32_t port);
enum port_role roles_of(const struct roles *r, uint32_t port);

#endif
