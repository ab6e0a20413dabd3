/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RESOLVE_H
#define FABRICBED_RESOLVE_H

/*
 * What follows from a wired fabric: rates and delays of its links, round trip, bandwidth-delay
 * product, and the switch settings that are given as shares of it. Internal to topology/.
 */
#include "topology/fabric.h"

struct diags;
struct scenario;
struct topology_spec;

/* Applies topology.links; a glob that matches nothing is a message. */
void resolve_overrides(struct fabric *f, const struct topology_spec *t, struct diags *diags);

/*
 * Sets mtu, packet_bytes, host_rate_bps, base_rtt_ps and bdp_bytes, and switches' latency. 0 or
 * -ENOMEM.
 */
int resolve_times(struct fabric *f, const struct scenario *s, struct diags *diags);

/* Sets switching; adds messages about settings that conflict. After resolve_times(). */
void resolve_switch(struct fabric *f, const struct scenario *s, struct diags *diags);

#endif
