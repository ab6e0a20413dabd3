/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EGRESS_PARSE_PORTS_H
#define FABRICBED_EGRESS_PARSE_PORTS_H

/* Finds the IP header and the ports. It trusts the kernel's stack and checks nothing else. */
#include "egress/packet.h"

/* TCP and UDP alike begin with their ports. */
static __always_inline void egress_ports(struct egress_packet *p)
{
	const struct tcp_ports *ports;

	if (p->protocol != PROTO_TCP && p->protocol != PROTO_UDP)
		return;
	ports = cursor_pull(&p->cursor, sizeof(*ports));
	if (!ports)
		return;
	p->src_port = ports->src;
	p->dst_port = ports->dst;
}

/* Options, where there are any; false: they are cut short. */
static __always_inline int egress_skip_options(struct egress_packet *p, __u8 words)
{
	/* one step a word: each is a constant for the verifier */
	for (__u8 i = 5; i < 15; i++)
		if (i < words && !cursor_pull(&p->cursor, 4))
			return 0;
	return 1;
}

static __always_inline int egress_parse_ip4(struct egress_packet *p)
{
	struct ip4_hdr *ip4 = cursor_pull(&p->cursor, sizeof(*ip4));

	if (!ip4)
		return 0;
	p->ip4 = ip4;
	p->protocol = ip4->protocol;
	if (!(ip4->fragment & be16(IP4_OFFSET_MASK)) &&
		egress_skip_options(p, ip4->version_ihl & 15))
		egress_ports(p);
	return 1;
}

/* Behind extension headers no ports are looked for. */
static __always_inline int egress_parse_ip6(struct egress_packet *p)
{
	struct ip6_hdr *ip6 = cursor_pull(&p->cursor, sizeof(*ip6));

	if (!ip6)
		return 0;
	p->ip6 = ip6;
	p->protocol = ip6->next_header;
	egress_ports(p);
	return 1;
}

/* Fills p; its cursor is at the Ethernet header, the rest is zero. False: not IP, or tagged. */
static __always_inline int egress_parse(struct egress_packet *p)
{
	const struct eth_hdr *eth = cursor_pull(&p->cursor, sizeof(*eth));

	if (!eth)
		return 0;
	if (eth->type == be16(ETHERTYPE_IP4))
		return egress_parse_ip4(p);
	if (eth->type == be16(ETHERTYPE_IP6))
		return egress_parse_ip6(p);
	return 0;
}

#endif
