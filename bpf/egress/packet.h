/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EGRESS_PACKET_H
#define FABRICBED_EGRESS_PACKET_H

/* What is known of a packet of a host's kernel stack. */
#include "abi/egress.h"
#include "abi/wire.h"
#include "lib/cursor.h"

/* Zeroed before use: it is compared and hashed byte by byte. Addresses and ports as on the wire. */
struct egress_flow {
	__u8 src[16];
	__u8 dst[16];
	__be16 src_port;
	__be16 dst_port;
	__u8 protocol;
	__u8 reserved[3];
};

_Static_assert(sizeof(struct egress_flow) == 40, "");

struct egress_packet {
	struct cursor cursor;
	struct ip4_hdr *ip4; /* one of them, the other is NULL */
	struct ip6_hdr *ip6;
	__u8 protocol;
	__be16 src_port; /* 0: neither TCP nor UDP, or the ports are not in this fragment */
	__be16 dst_port;
	__u64 cgroups
		[EGRESS_LEVELS]; /* ids of the sending socket's, from the root; 0: none so deep */
};

/* Most bytes of a packet that are looked at: Ethernet, IPv4 with options, ports. */
#define EGRESS_HEADERS (14 + 60 + 4)

#endif
