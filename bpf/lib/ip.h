/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_IP_H
#define FABRICBED_LIB_IP_H

/* Changes in IP headers, the IPv4 checksum following. One of ip4 and ip6 is NULL. */
#include "abi/wire.h"
#include "lib/checksum.h"
#include "lib/compiler.h"

static __always_inline __u8 ip_tos(const struct ip4_hdr *ip4, const struct ip6_hdr *ip6)
{
	if (ip4)
		return ip4->tos;
	return ip6 ? (__u8)(be32(ip6->version_class_flow) >> 20) : 0;
}

static __always_inline void ip_set_tos(struct ip4_hdr *ip4, struct ip6_hdr *ip6, __u8 tos)
{
	if (ip4) {
		ip4->checksum = checksum_replace(ip4->checksum, be16(ip4->tos), be16(tos));
		ip4->tos = tos;
	} else if (ip6) {
		__u32 word = be32(ip6->version_class_flow) & ~(0xffu << 20);

		ip6->version_class_flow = be32(word | (__u32)tos << 20);
	}
}

/* TTL or hop limit; 0 if there is neither header. */
static __always_inline __u8 ip_ttl(const struct ip4_hdr *ip4, const struct ip6_hdr *ip6)
{
	if (ip4)
		return ip4->ttl;
	return ip6 ? ip6->hop_limit : 0;
}

static __always_inline void ip_set_ttl(struct ip4_hdr *ip4, struct ip6_hdr *ip6, __u8 ttl)
{
	if (ip4) {
		__u16 protocol = ip4->protocol;

		ip4->checksum = checksum_replace(ip4->checksum, (__u16)(ip4->ttl | protocol << 8),
			(__u16)(ttl | protocol << 8));
		ip4->ttl = ttl;
	} else if (ip6) {
		ip6->hop_limit = ttl;
	}
}

/* `above`: bytes above the IP header. */
static __always_inline void ip_set_length(struct ip4_hdr *ip4, struct ip6_hdr *ip6, __u16 above)
{
	if (ip4) {
		__be16 length = be16(above + sizeof(*ip4));

		ip4->checksum = checksum_replace(ip4->checksum, ip4->length, length);
		ip4->length = length;
	} else if (ip6) {
		ip6->payload_length = be16(above);
	}
}

/* Source and destination change places: no checksum depends on their order. */
static __always_inline void ip_turn(struct ip4_hdr *ip4, struct ip6_hdr *ip6)
{
	if (ip4) {
		__be32 src = ip4->src;

		ip4->src = ip4->dst;
		ip4->dst = src;
	} else if (ip6) {
		__u8 src[16];

		__builtin_memcpy(src, ip6->src, 16);
		__builtin_memcpy(ip6->src, ip6->dst, 16);
		__builtin_memcpy(ip6->dst, src, 16);
	}
}

#endif
