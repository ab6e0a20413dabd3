/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_PARSE_H
#define FABRICBED_SW_PARSE_H

/*
 * Ethernet, IPv4 or IPv6, UDP, and where programs send too, TCP. Sets eth, ip4 or ip6, udp, the
 * input of the flow hash, dst_host, DSCP and class. IPv4 headers with options, fragments and other
 * protocols pass; their hash covers the addresses and the protocol only. The modelled length
 * counts, not the bytes present: a frame may be cut after its headers.
 */
#include "sw/context.h"

static __always_inline enum sw_step sw_parse_udp(struct sw_ctx *c)
{
	struct udp_hdr *udp = cursor_pull(&c->cursor, sizeof(*udp));

	if (!udp)
		return sw_drop(c, c->in_id, DROP_MALFORMED);
	c->udp = udp;
	c->ports ^= (__u64)udp->src << 32 | (__u64)udp->dst << 16;
	return SW_NEXT;
}

/* Of TCP only the ports, which lie where UDP has them. */
static __always_inline enum sw_step sw_parse_tcp(struct sw_ctx *c)
{
	const struct tcp_ports *tcp = cursor_pull(&c->cursor, sizeof(*tcp));

	if (!tcp)
		return sw_drop(c, c->in_id, DROP_MALFORMED);
	c->ports ^= (__u64)tcp->src << 32 | (__u64)tcp->dst << 16;
	return SW_NEXT;
}

static __always_inline enum sw_step sw_parse_above(struct sw_ctx *c, __u8 protocol)
{
	if (sw_likely(protocol == PROTO_UDP))
		return sw_parse_udp(c);
	if (sw_has(c, SW_STACK) && protocol == PROTO_TCP)
		return sw_parse_tcp(c);
	return SW_NEXT;
}

static __always_inline enum sw_step sw_parse_ip4(struct sw_ctx *c)
{
	struct ip4_hdr *ip = cursor_pull(&c->cursor, sizeof(*ip));
	__u32 length;

	if (!ip)
		return sw_drop(c, c->in_id, DROP_MALFORMED);
	length = be16(ip->length);
	if ((ip->version_ihl & 0xf0) != 0x40 || (ip->version_ihl & 0x0f) < 5 ||
		length < (__u32)(ip->version_ihl & 0x0f) * 4 ||
		length + sizeof(struct eth_hdr) > c->hop.length)
		return sw_drop(c, c->in_id, DROP_MALFORMED);
	c->ip4 = ip;
	c->dscp = ip->tos >> 2;
	c->addresses = (__u64)ip->src << 32 | ip->dst;
	c->ports = ip->protocol;
	c->dst_host = be32(ip->dst) - HOST_IP4_NET - 1;
	if (sw_unlikely(ip->version_ihl != 0x45))
		return SW_NEXT;
	if (checksum_ip4(ip) != 0xffff)
		return sw_drop(c, c->in_id, DROP_CHECKSUM);
	return ip->fragment & be16(IP4_FRAGMENTED) ? SW_NEXT : sw_parse_above(c, ip->protocol);
}

static __always_inline enum sw_step sw_parse_ip6(struct sw_ctx *c)
{
	struct address {
		__u64 net, host;
	} __attribute__((packed));
	struct ip6_hdr *ip = cursor_pull(&c->cursor, sizeof(*ip));
	const struct address *src, *dst;
	__u32 word;

	if (!ip)
		return sw_drop(c, c->in_id, DROP_MALFORMED);
	word = be32(ip->version_class_flow);
	if (word >> 28 != 6 ||
		be16(ip->payload_length) + sizeof(*ip) + sizeof(struct eth_hdr) > c->hop.length)
		return sw_drop(c, c->in_id, DROP_MALFORMED);
	src = (const struct address *)ip->src;
	dst = (const struct address *)ip->dst;
	c->ip6 = ip;
	c->dscp = word >> 22 & (DSCP_COUNT - 1);
	/*
	 * RFC 6437, section 3: the flow label is part of the equal-cost hash. It is mixed with the
	 * addresses and not with the ports, since it may have been made from a port.
	 */
	c->addresses = rng_mix(src->net ^ rng_mix(src->host ^ (word & 0xfffff))) ^
		       rng_mix(dst->host ^ dst->net);
	c->ports = ip->next_header;
	c->dst_host = (__u32)be64(dst->host) - 1;
	if (dst->net != be64(HOST_IP6_NET) || be64(dst->host) >> 32)
		c->dst_host = HOST_NONE;
	return sw_parse_above(c, ip->next_header);
}

/* The gateway takes addresses that no host has; multicast does not leave the fabric. */
static __always_inline void sw_parse_gateway(struct sw_ctx *c)
{
	if (!(c->eth->dst[0] & 1) && c->dst_host >= table_config(c->t)->host_count)
		c->dst_host = table_config(c->t)->gateway;
}

/* Only the Ethernet header: frames for the port itself have types of their own. */
static __always_inline enum sw_step sw_parse_eth(struct sw_ctx *c)
{
	c->eth = cursor_pull(&c->cursor, sizeof(*c->eth));
	return c->eth ? SW_NEXT : sw_drop(c, c->in_id, DROP_MALFORMED);
}

static __always_inline enum sw_step sw_parse(struct sw_ctx *c)
{
	enum sw_step step;

	if (sw_likely(c->eth->type == be16(ETHERTYPE_IP4)))
		step = sw_parse_ip4(c);
	else if (c->eth->type == be16(ETHERTYPE_IP6))
		step = sw_parse_ip6(c);
	else
		step = sw_drop(c, c->in_id, DROP_MALFORMED);
	if (sw_has(c, SW_GATEWAY))
		sw_parse_gateway(c);
	c->in_queue = c->queue = sw_class(c, c->dscp);
	return step;
}

#endif
