/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/hand_fabric.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/wire.h"

#define BUFFER_BYTES (1u << 30)

static void *allocate(size_t count, size_t bytes)
{
	void *at = calloc(count ? count : 1, bytes);

	if (!at)
		abort();
	return at;
}

/* Ports in the order of their nodes; fills nodes and first_port from the links' degrees. */
static void make_nodes(struct fabric *f, uint32_t hosts, const uint32_t (*links)[2])
{
	uint32_t i, port = PORT_FIRST;

	for (i = 0; i < f->net.link_count; i++) {
		f->net.nodes[links[i][0]].port_count++;
		f->net.nodes[links[i][1]].port_count++;
	}
	for (i = 0; i < f->net.node_count; i++) {
		struct net_node *node = &f->net.nodes[i];

		node->kind = i < hosts ? NODE_HOST : NODE_SWITCH;
		node->number = i < hosts ? i : i - hosts;
		node->first_port = port;
		port += node->port_count;
		snprintf(f->nodes[i].name, NODE_NAME, "%c%u", i < hosts ? 'h' : 's', node->number);
	}
}

static uint32_t take_port(struct fabric *f, uint32_t *used, uint32_t node, uint32_t link)
{
	uint32_t port = f->net.nodes[node].first_port + used[node]++;

	f->net.ports[port].node = node;
	f->net.ports[port].link = link;
	return port;
}

struct fabric *hand_fabric(
	uint32_t hosts, uint32_t switches, const uint32_t (*links)[2], uint32_t link_count)
{
	struct fabric *f = allocate(1, sizeof(*f));
	uint32_t i, *used = allocate(hosts + switches, sizeof(*used));

	f->net.host_count = hosts;
	f->net.switch_count = switches;
	f->net.node_count = hosts + switches;
	f->net.link_count = link_count;
	f->net.port_count = 2 * link_count;
	f->net.nodes = allocate(f->net.node_count, sizeof(*f->net.nodes));
	f->net.ports = allocate(PORT_FIRST + f->net.port_count, sizeof(*f->net.ports));
	f->nodes = allocate(f->net.node_count, sizeof(*f->nodes));
	f->links = allocate(link_count, sizeof(*f->links));
	make_nodes(f, hosts, links);
	for (i = 0; i < link_count; i++) {
		uint32_t a = take_port(f, used, links[i][0], i);
		uint32_t b = take_port(f, used, links[i][1], i);

		f->links[i].a = f->net.ports[b].peer = a;
		f->links[i].b = f->net.ports[a].peer = b;
	}
	free(used);
	return f;
}

struct fabric *hand_fat_tree(uint32_t k)
{
	uint32_t half = k / 2, hosts = k * half * half, tors = k * half, aggs = k * half;
	uint32_t(*links)[2] = allocate(3 * (size_t)hosts, sizeof(*links));
	uint32_t i, j, n = 0;
	struct fabric *f;

	for (i = 0; i < hosts; i++, n++) {
		links[n][0] = i;
		links[n][1] = hosts + i / half;
	}
	for (i = 0; i < tors; i++)
		for (j = 0; j < half; j++, n++) {
			links[n][0] = hosts + i;
			links[n][1] = hosts + tors + i / half * half + j;
		}
	for (i = 0; i < aggs; i++)
		for (j = 0; j < half; j++, n++) {
			links[n][0] = hosts + tors + i;
			links[n][1] = hosts + tors + aggs + i % half * half + j;
		}
	f = hand_fabric(hosts, tors + aggs + half * half, (const uint32_t(*)[2])links, n);
	free(links);
	return f;
}

void hand_fabric_free(struct fabric *f)
{
	if (!f)
		return;
	free(f->net.nodes);
	free(f->net.ports);
	free(f->nodes);
	free(f->links);
	free(f);
}

static uint32_t route_blocks(const struct fabric *f)
{
	return (f->net.host_count + ROUTE_BLOCK - 1) / ROUTE_BLOCK;
}

struct sw_sizes hand_sizes(const struct fabric *f)
{
	return (struct sw_sizes){
		.ports = PORT_FIRST + f->net.port_count,
		.switches = f->net.switch_count,
		.routes = f->net.switch_count * route_blocks(f),
		.groups = f->net.switch_count,
	};
}

static void set_mac(uint8_t mac[6], uint32_t port)
{
	uint32_t low = htonl(port);

	mac[0] = 0x02;
	mac[1] = 0xfb;
	memcpy(mac + 2, &low, sizeof(low));
}

void hand_tables(const struct fabric *f, const struct sw_tables *t)
{
	uint32_t p, s;

	for (p = PORT_FIRST; p < PORT_FIRST + f->net.port_count; p++) {
		const struct net_node *node = &f->net.nodes[f->net.ports[p].node];
		struct port *port = &t->ports[p];

		port->kind = node->kind == NODE_HOST ? PORT_HOST : PORT_SWITCH;
		port->switch_id = port->host = node->number;
		port->up = 1;
		port->peer = f->net.ports[p].peer;
		t->queues[p * CLASSES].limit_bytes = BUFFER_BYTES;
		set_mac(port->mac, p);
		set_mac(port->peer_mac, f->net.ports[p].peer);
	}
	for (s = 0; s < f->net.switch_count; s++) {
		const struct net_node *node = &f->net.nodes[f->net.host_count + s];

		t->switches[s].first_port = node->first_port;
		t->switches[s].port_count = node->port_count;
		t->switches[s].host_count = f->net.host_count;
		t->switches[s].first_route = s * route_blocks(f);
		t->switches[s].first_group = s;
		t->groups[s].count = 1; /* port 0; all routes lead to group 0 */
	}
}

static uint16_t ip4_checksum(const struct ip4_hdr *ip)
{
	uint16_t words[sizeof(*ip) / 2];
	uint32_t sum = 0, i;

	memcpy(words, ip, sizeof(words));
	for (i = 0; i < sizeof(words) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

void hand_frame(const struct fabric *f, uint32_t port, struct frame *frame, uint32_t captured)
{
	const struct net_node *node = &f->net.nodes[f->net.ports[port].node];
	struct eth_hdr *eth = (struct eth_hdr *)frame->bytes;
	struct ip4_hdr *ip = (struct ip4_hdr *)(eth + 1);
	struct udp_hdr *udp = (struct udp_hdr *)(ip + 1);

	frame->hop = (struct hop){.magic = HOP_MAGIC, .length = captured, .now_ps = 1};
	memset(frame->bytes, 0, captured);
	set_mac(eth->dst, port);
	set_mac(eth->src, f->net.ports[port].peer);
	eth->type = htons(ETHERTYPE_IP4);
	ip->version_ihl = 0x45;
	ip->length = htons((uint16_t)(captured - sizeof(*eth)));
	ip->ttl = 64;
	ip->protocol = PROTO_UDP;
	ip->src = htonl(HOST_IP4_NET + 1);
	ip->dst = htonl(HOST_IP4_NET + 1 + (node->kind == NODE_HOST ? node->number : 0));
	ip->checksum = ip4_checksum(ip);
	udp->dst = htons(UDP_PORT_ROCE);
	udp->length = htons((uint16_t)(captured - sizeof(*eth) - sizeof(*ip)));
}
