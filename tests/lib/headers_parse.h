/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_HEADERS_PARSE_H
#define FABRICBED_TEST_HEADERS_PARSE_H

/* What an endpoint gets of a frame, checked more than the engine does, which knows what it sent. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include "abi/wire.h"
#include "lib/checksum.h"
#include "transport/transport.h"

/* The bytes above IP, and how many bytes IP's own header has. */
static inline int headers_parse_ip(const uint8_t *l3, uint32_t captured, bool ip6,
	uint32_t *ret_above, uint32_t *ret_header, uint8_t *ret_ecn)
{
	if (ip6) {
		const struct ip6_hdr *ip = (const struct ip6_hdr *)l3;

		if (captured < sizeof(*ip) || l3[0] >> 4 != 6)
			return -EBADMSG;
		if (ip->next_header != PROTO_UDP)
			return -EPROTONOSUPPORT;
		*ret_above = be16toh(ip->payload_length);
		*ret_header = sizeof(*ip);
		*ret_ecn = be32toh(ip->version_class_flow) >> 20 & ECN_CE;
		return 0;
	}
	const struct ip4_hdr *ip = (const struct ip4_hdr *)l3;
	if (captured < sizeof(*ip) || l3[0] != 0x45 || checksum_ip4(ip) != 0xffff ||
		be16toh(ip->length) < sizeof(*ip))
		return -EBADMSG;
	if (ip->protocol != PROTO_UDP)
		return -EPROTONOSUPPORT;
	*ret_above = be16toh(ip->length) - (uint32_t)sizeof(*ip);
	*ret_header = sizeof(*ip);
	*ret_ecn = ip->tos & ECN_CE;
	return 0;
}

/*
 * Finds the BTH in a frame from the wire. 0; -EBADMSG: cut short, or lengths or the IPv4 checksum
 * do not fit; -EPROTONOSUPPORT: not for UDP port 4791 over plain IPv4 or IPv6.
 */
static inline int headers_parse(const uint8_t *bytes, uint32_t captured, struct rx_frame *ret)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)bytes;
	uint32_t above, header, offset;
	uint8_t ecn;
	int r;

	if (captured < sizeof(*eth))
		return -EBADMSG;
	if (eth->type != htobe16(ETHERTYPE_IP4) && eth->type != htobe16(ETHERTYPE_IP6))
		return -EPROTONOSUPPORT;
	r = headers_parse_ip(bytes + sizeof(*eth), captured - (uint32_t)sizeof(*eth),
		eth->type == htobe16(ETHERTYPE_IP6), &above, &header, &ecn);
	if (r < 0)
		return r;
	offset = (uint32_t)sizeof(*eth) + header;
	const struct udp_hdr *udp = (const struct udp_hdr *)(bytes + offset);
	if (captured < offset + sizeof(*udp) || be16toh(udp->length) != above ||
		above < sizeof(*udp) + sizeof(struct bth_hdr) + ICRC_BYTES)
		return -EBADMSG;
	if (udp->dst != htobe16(UDP_PORT_ROCE))
		return -EPROTONOSUPPORT;
	*ret = (struct rx_frame){
		.bytes = bytes,
		.captured = captured,
		.transport_offset = offset + (uint32_t)sizeof(*udp),
		.transport_length = above - (uint32_t)sizeof(*udp),
		.ecn = ecn,
	};
	return 0;
}

#endif
