/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOPOLOGY_MAKE_FABRIC_H
#define FABRICBED_TOPOLOGY_MAKE_FABRIC_H

/* From a scenario to its fabric. */
#include "topology/fabric.h"

struct diags;
struct scenario;

/*
 * Ports: those of hosts first, then of the switches in their order. A switch has its down ports
 * first, then those to its own tier, then its up ports; each in the order of the peers.
 *
 * Builds the fabric that the scenario asks for; anything that makes no sense (links to nodes that
 * are not there, unconnected hosts, faults and workloads that name what is not there, kmin above
 * kmax once resolved, too many nodes or ports) is a message in diags. 0; -EINVAL with messages;
 * -ENOMEM.
 */
int fabric_new(struct fabric **ret, const struct scenario *s, struct diags *diags);

/* Only the messages, also for a scenario of which scenario_inspect() found but a part valid. */
int fabric_inspect(const struct scenario *s, struct diags *diags);

#endif
