/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FABRIC_H
#define FABRICBED_FABRIC_H

/*
 * A fabric: nodes, ports and links with every number resolved. A pure value, made from a scenario
 * without touching the machine (topology/make_fabric.h).
 */
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include "base/net.h"
#include "base/switching.h"

#define NODE_NAME 32 /* with its terminating zero */

struct scenario;

struct fabric_node {
	char name[NODE_NAME];
	uint32_t tier; /* hosts 0, the switches that hosts hang on 1, ... */
};

/* Its name is "<a's node>-<b's node>", with "#n" (n from 0) where two nodes share several. */
struct fabric_link {
	uint32_t a, b; /* port ids; a at the lower tier */
	uint32_t parallel;
	bool is_parallel;
};

struct fabric {
	struct net net;
	struct fabric_node *nodes; /* beside net.nodes */
	struct fabric_link *links;
	uint32_t *by_name;   /* node indices, sorted by name */
	uint32_t tier_count; /* the hosts' included */
	uint32_t nics;       /* of a server: hosts with consecutive numbers */
	uint32_t planes;     /* host h is in plane h % planes; nothing joins one with another */
	bool has_pods;       /* its kind of topology speaks of pods */
	bool regular;        /* wired alike from every host's view (rates and delays may differ) */

	uint32_t mtu;
	bool ip6;
	uint32_t packet_bytes;  /* frame length of a full data packet, Ethernet header to ICRC */
	uint64_t host_rate_bps; /* slowest host link */
	uint64_t base_rtt_ps;   /* largest idle round trip by shortest paths: full packet, SACK */
	uint64_t bdp_bytes;     /* host_rate_bps x base_rtt_ps */
	struct switching switching; /* its features: those of the scenario */
};

/* NULL is fine. */
void fabric_free(struct fabric *f);

/* Writes "a-b" or "a-b#n"; returns buf. */
#define LINK_NAME (2 * NODE_NAME + 8)
const char *fabric_link_name(const struct fabric *f, uint32_t link, char buf[LINK_NAME]);

/* Writes "a->b" or "a->b#n", of the node that has the port and the one at the other end. */
#define PORT_NAME (2 * NODE_NAME + 16)
const char *fabric_port_name(const struct fabric *f, uint32_t port, char buf[PORT_NAME]);

/* Whether the link's name, written from either end ("tor0.0-h1" too), matches the glob. */
bool fabric_link_matches(const struct fabric *f, uint32_t link, const char *glob);

/* Whether a node's name matches the glob. */
bool fabric_node_matches(const struct fabric *f, uint32_t node, const char *glob);

/* The server whose NIC a host is. */
static inline uint32_t fabric_server(const struct fabric *f, uint32_t host)
{
	return host / f->nics;
}

/* Whether a full packet with all of its bytes is a frame that either dataplane passes. */
bool fabric_holds_payload(const struct fabric *f);

/*
 * The most that a switch's queue of a transport's lossy data can hold, bytes; 0: none is lossy. Its
 * classes are those of its workloads' DSCPs. If these are not known, since messages have DSCPs of
 * their own or workloads are still to come, they are all, but for one that is known for answers
 * alone. transport: its number, as scenario_transport() has it.
 */
uint64_t fabric_data_queue(const struct fabric *f, const struct scenario *s, uint32_t transport);

/* The index of the node of that name; false: there is none. */
bool fabric_find_node(const struct fabric *f, const char *name, uint32_t *ret_node);

#endif
