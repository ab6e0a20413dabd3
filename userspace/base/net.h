/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NET_H
#define FABRICBED_NET_H

/* The fabric as the runtime sees it: numbers only. */
#include <endian.h>
#include <stdint.h>
#include <string.h>
#include "abi/shared_state.h"
#include "abi/wire.h"

enum node_kind { NODE_HOST, NODE_SWITCH };

struct net_node {
	enum node_kind kind;
	uint32_t number;     /* host number, or switch number: each from 0 */
	uint32_t first_port; /* port id; a node's ports have consecutive ids */
	uint32_t port_count;
	uint8_t balance; /* of a switch: its number in struct switching */
};

/* One end of a link. */
struct net_port {
	uint32_t node;
	uint32_t peer; /* port id at the other end */
	uint32_t link;
	uint64_t rate_bps;   /* the same at both ends */
	uint64_t delay_ps;   /* propagation */
	uint64_t latency_ps; /* of the switch that it leads to; 0: to a host */
};

/* From a frame's last bit here to the far end's queue, or to the far host. */
static inline uint64_t net_port_flight(const struct net_port *p)
{
	return p->delay_ps + p->latency_ps;
}

struct net {
	struct net_node *nodes; /* hosts first, in the order of their numbers, then switches */
	uint32_t node_count, host_count, switch_count;
	struct net_port *ports; /* indexed by port id, PORT_FIRST .. PORT_FIRST + port_count - 1 */
	uint32_t port_count;    /* 2 * link_count */
	uint32_t link_count;
};

/* All switches take so long to forward a frame. */
static inline void net_set_latency(struct net *net, uint64_t latency_ps)
{
	for (uint32_t p = PORT_FIRST; p < PORT_FIRST + net->port_count; p++) {
		uint32_t to = net->ports[net->ports[p].peer].node;

		net->ports[p].latency_ps = net->nodes[to].kind == NODE_SWITCH ? latency_ps : 0;
	}
}

/* A port's MAC: locally administered, 02:fb and its id in four bytes. */
static inline void port_mac(uint32_t port, uint8_t mac[6])
{
	mac[0] = 0x02;
	mac[1] = 0xfb;
	for (int i = 0; i < 4; i++)
		mac[2 + i] = (uint8_t)(port >> (24 - 8 * i));
}

/* Of a host, in network byte order. */
struct host_address {
	uint32_t ip4;
	uint8_t ip6[16];
};

static inline struct host_address host_address(uint32_t host)
{
	struct host_address a = {htobe32(HOST_IP4_NET + host + 1), HOST_IP6_NET_BYTES};
	uint32_t low = htobe32(host + 1);

	memcpy(a.ip6 + sizeof(a.ip6) - sizeof(low), &low, sizeof(low));
	return a;
}

#endif
