/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROUTING_H
#define FABRICBED_ROUTING_H

/*
 * What the control plane of a fabric knows: shortest paths, all that are equal. After a failure
 * they are computed again over the live links, or each switch helps itself.
 */
#include <stdbool.h>
#include "base/net.h"
#include "dataplane/dataplane.h"

struct routing;

/*
 * Sizes of the route and group tables that any set of live links needs. 0; -ENOMEM; -E2BIG if a
 * switch has more than GROUP_PORTS equal-cost ports or too many groups for 16 bits; -EINTR: *stop
 * (NULL: none) is set. For a large fabric this takes seconds, and so do the first routes: *stop
 * cuts them short too, up to routing_go_on().
 */
int routing_new(struct routing **ret, const struct net *net, const volatile bool *stop);
void routing_go_on(struct routing *r);
void routing_table_sizes(const struct routing *r, uint32_t *ret_routes, uint32_t *ret_groups);

/*
 * Writes switches[] (first_port ... first_group), routes[] and groups[] of t for the links that are
 * up; link_up is indexed by link. Allocates nothing. Returns the number of route entries that
 * changed.
 */
uint32_t routing_compute(struct routing *r, const bool *link_up, struct sw_tables *t);

/*
 * The same, of switches that know no other's links: each takes its own dead ports out of the routes
 * of the fabric with all links up. One that has no port left towards a host bounces its packets: up
 * another uplink, else over any live port to a switch, those first from which there is another way.
 * Packets must not go back where they came from (SW_DETOUR). There is no promise that they arrive;
 * TTL ends those that circle.
 */
uint32_t routing_repair(struct routing *r, const bool *link_up, struct sw_tables *t);
void routing_free(struct routing *r);

#endif
