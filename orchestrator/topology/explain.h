/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EXPLAIN_H
#define FABRICBED_EXPLAIN_H

/* What a scenario comes to: what `validate` tells. */
#include <jansson.h>
#include <stdio.h>
#include "scenario/scenario.h"
#include "topology/fabric.h"

struct explain_cost {
	double memory_mb, wall_s;
};

/* What the scenario's workloads come to on this fabric. */
struct explain_load {
	uint64_t flows, bytes, packets, packet_hops;
	uint64_t ideal_ps;
	struct explain_cost kernel, in_process; /* of a run on either dataplane */
};

/* Pairs of hosts whose shortest paths have that many links. */
struct explain_paths {
	uint32_t links;
	uint64_t least, most; /* equal-cost paths of a pair */
};

/* Switches of a tier, and how much more comes from below than goes up: 1 is balanced. */
struct explain_tier {
	uint32_t switches;
	double oversubscription; /* of the worst switch; 0: it has no ports up */
};

/* Headroom of a lossless class at the ports of links of one rate and delay. */
struct explain_headroom {
	uint32_t class;
	uint32_t links;
	char name[LINK_NAME]; /* of one of them */
	uint64_t rate_bps, delay_ps;
	uint64_t bytes;
	uint64_t xoff_bytes, xon_bytes; /* static buffers */
	/* automatic: what is on the wire while the PFC frame waits, leaves, travels and takes effect */
	bool automatic;
	uint64_t frame, pfc, control, flight, response;
};

/* A switch with a shared pool. */
struct explain_pool {
	const char *name;     /* the fabric's */
	uint64_t bytes, left; /* in all, and what its queues share */
};

#define EXPLAIN_FAILURES 100 /* moments that are told of */

/* The moment at which a fault of links or switches of the upper tier begins: see explain_failures.c. */
struct explain_failure {
	uint64_t at_ps;
	uint32_t *faults; /* those of them that are in force then */
	uint32_t fault_count;
	char pod[NODE_NAME]; /* the worst */
	uint32_t hosts;      /* of the pod */
	/* of the pod, counted in host links' rates: without the faults, and with them */
	double uplinks, left;
	double host_flows;       /* on a host's link */
	double uplink_flows;     /* on what is left of an uplink; INFINITY: nothing is */
	bool bottleneck, before; /* with the faults, and without */
};

struct explain {
	const char *name; /* the scenario's; outlives this */
	enum topology_kind kind;
	uint32_t hosts, switches, links, ports;
	struct explain_tier *tiers; /* tiers[0] is the switches that hosts hang on */
	uint32_t tier_count;
	struct explain_paths *paths; /* by number of links */
	uint32_t path_count;
	uint64_t host_rate_bps, base_rtt_ps, bdp_bytes;
	uint32_t packet_bytes;
	struct switch_spec sw;
	struct switching switching;
	struct explain_pool smallest, largest;
	struct explain_headroom *headrooms;
	size_t headroom_count;
	bool permutation; /* what failures are judged by; else all-to-all */
	struct explain_failure *failures;
	size_t failure_count;
	size_t failures_more; /* moments after those */
	char **notes;         /* what is no mistake, and yet hardly what was meant */
	size_t note_count;
	struct clock_spec clock;
	const struct host_spec *host;         /* the scenario's */
	const struct stack_spec *stack;       /* the host's */
	const struct external_spec *external; /* the same */
	struct explain_load load;
};

/* The scenario outlives it. Free with explain_release(). 0 or -ENOMEM. */
int explain_fabric(struct explain *ret, const struct fabric *f, const struct scenario *s,
	const struct explain_load *load);
void explain_release(struct explain *e);

/* The same as text for people and as a JSON object (NULL: no memory). 0 or -EIO. */
int explain_write(const struct explain *e, FILE *out);
json_t *explain_json(const struct explain *e);

#endif
