/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RESOLVE_H
#define FABRICBED_RESOLVE_H

/*
 * What follows from a wired fabric: rates and delays of its links, round trip, bandwidth-delay
 * product, and the switch settings that are given as shares of it. Internal to topology/.
 */
#include "base/diag.h"
#include "base/quantity.h"
#include "topology/fabric.h"

struct scenario;
struct topology_spec;

/* Applies topology.links; a glob that matches nothing is a message. */
void resolve_overrides(struct fabric *f, const struct topology_spec *t, struct diags *diags);

/*
 * Sets mtu, packet_bytes, host_rate_bps, base_rtt_ps and bdp_bytes, and switches' latency. 0 or
 * -ENOMEM.
 */
int resolve_times(struct fabric *f, const struct scenario *s, struct diags *diags);

/*
 * Bytes that a key says, at most 32 bits of them; no BDP share comes to 0. A message where there
 * are more.
 */
uint64_t resolve_bytes(const struct fabric *f, const struct quantity *q, const char *key,
	struct diag_pos pos, struct diags *diags);

/* Sets switches' policies of load balancing; a tier that the topology lacks is a message. */
void resolve_balance(struct fabric *f, const struct scenario *s, struct diags *diags);

/* Sets switching; adds messages about settings that conflict. After resolve_times(). */
void resolve_switch(struct fabric *f, const struct scenario *s, struct diags *diags);

#endif
