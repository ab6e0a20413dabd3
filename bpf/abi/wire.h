/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_WIRE_H
#define FABRICBED_ABI_WIRE_H

#include <linux/types.h>

/*
 * Wire formats: Ethernet / IPv4 or IPv6 / UDP 4791 / InfiniBand BTH / the transport's extension;
 * and two that are not routed: PFC and LLDP. Sources: IEEE 802.3, RFC 791, RFC 8200, RFC 768,
 * InfiniBand annex A17 (RoCEv2, CNP) and its volume 1, 9.2 to 9.3 (BTH, RETH, AETH), IEEE 802.3
 * annex 31D and 802.1Q clause 36 (PFC), IEEE 802.1AB (LLDP). The UDP source port is the path
 * entropy. STrack's opcodes lie in BTH's range for manufacturers (110b in the upper three bits).
 */
struct eth_hdr {
	__u8 dst[6];
	__u8 src[6];
	__be16 type;
} __attribute__((packed));

struct ip4_hdr {
	__u8 version_ihl;
	__u8 tos; /* DSCP << 2 | ECN */
	__be16 length;
	__be16 id;
	__be16 fragment;
	__u8 ttl;
	__u8 protocol;
	__be16 checksum;
	__be32 src;
	__be32 dst;
} __attribute__((packed));

struct ip6_hdr {
	__be32 version_class_flow; /* 4 + 8 + 20 bits */
	__be16 payload_length;
	__u8 next_header;
	__u8 hop_limit;
	__u8 src[16];
	__u8 dst[16];
} __attribute__((packed));

struct udp_hdr {
	__be16 src;
	__be16 dst;
	__be16 length;
	__be16 checksum;
} __attribute__((packed));

/* What every TCP segment begins with (RFC 9293, 3.1). */
struct tcp_ports {
	__be16 src;
	__be16 dst;
} __attribute__((packed));

struct bth_hdr {
	__u8 opcode;
	__u8 flags;
	__be16 pkey;
	__be32 qp;  /* 8 bits of FECN, BECN and reserve, then the 24 bits of the destination QP */
	__be32 psn; /* acknowledge request in bit 31, PSN in the lower 24 bits */
} __attribute__((packed));

/* RDMA extended transport header: in the first packet of a write. */
struct reth_hdr {
	__be64 address;
	__be32 rkey;
	__be32 length; /* of the whole message */
} __attribute__((packed));

/* Acknowledge extended transport header. */
struct aeth_hdr {
	__be32 syndrome_msn; /* upper 8 bits: syndrome; lower 24: message sequence number */
} __attribute__((packed));

/* What follows the BTH of a congestion notification packet: 16 reserved bytes (annex A17). */
#define CNP_RESERVED_BYTES 16

/* A PFC frame: Ethernet header, then this, padded to the shortest frame. */
struct pfc_hdr {
	__be16 opcode;    /* PFC_OPCODE */
	__be16 classes;   /* bit n: quanta[n] counts */
	__be16 quanta[8]; /* times of 512 bits that class n is to pause; 0: go on */
	__u8 padding[26];
} __attribute__((packed));

#define IP4_OFFSET_MASK 0x1fff /* of ip4_hdr.fragment, in units of 8 bytes */
#define IP4_FRAGMENTED  0x3fff /* any bit of these: more fragments, or an offset */

#define ETHERTYPE_IP4  0x0800
#define ETHERTYPE_IP6  0x86dd
#define ETHERTYPE_MAC  0x8808 /* MAC control */
#define ETHERTYPE_LLDP 0x88cc
#define PFC_OPCODE     0x0101
#define PFC_BITS       512 /* of one quantum */
#define PFC_FRAME      60  /* bytes, without FCS */
#define PFC_QUANTA_MAX 0xffff
/* 01:80:c2:00:00:01, MAC control; ...:0e, the nearest bridge (802.1Q, tables 8-1 to 8-3) */
#define MAC_CONTROL_BYTES                                                                          \
	{                                                                                          \
		0x01, 0x80, 0xc2, 0, 0, 0x01                                                       \
	}
#define MAC_NEAREST_BRIDGE_BYTES                                                                   \
	{                                                                                          \
		0x01, 0x80, 0xc2, 0, 0, 0x0e                                                       \
	}
#define PROTO_TCP     6
#define PROTO_UDP     17
#define UDP_PORT_ROCE 4791
#define BTH_ACK_REQ   0x80000000u
#define BTH_MASK_24   0x00ffffffu
#define BTH_BECN      0x40000000u /* beside the QP */
#define BTH_PKEY      0xffff
#define ICRC_BYTES    4

/* The low two bits of TOS and traffic class (RFC 3168, section 5). */
#define ECN_NOT_ECT 0
#define ECN_ECT1    1
#define ECN_ECT0    2
#define ECN_CE      3

/*
 * Wire bytes that are no frame bytes: FCS 4, preamble 8, gap 12; and the shortest frame, FCS
 * included (802.3, clauses 3.1.1 and 4.4.2). A frame of n bytes occupies its link for
 * max(n + 4, 64) + 20 byte times.
 */
#define ETH_FCS_BYTES  4
#define ETH_MIN_BYTES  64
#define ETH_LEAD_BYTES 20

/* InfiniBand's reliable connection, as far as it is used here, and annex A17's CNP. */
enum rc_opcode {
	RC_WRITE_FIRST = 0x06, /* RETH */
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,
	RC_WRITE_ONLY = 0x0a, /* RETH */
	RC_ACK = 0x11,        /* AETH */
	ROCE_CNP = 0x81,
};

/* The upper three bits of an AETH's syndrome: 000 ACK, 011 NAK (code 0: PSN sequence error). */
#define AETH_ACK 0x00u
#define AETH_NAK 0x60u

enum strack_opcode {
	STRACK_DATA = 0xc0,
	STRACK_SACK = 0xc1,
	STRACK_PROBE = 0xc2,
};

#define STRACK_FLAG_CE    0x01 /* SACK: the packet that caused it carried CE */
#define STRACK_FLAG_PROBE 0x02 /* SACK: a probe caused it (paper, 3.3.2) */
#define STRACK_FLAG_AGAIN 0x04 /* data: a retransmission */
#define STRACK_FLAG_TRIMMED                                                                        \
	0x08 /* SACK: data came without its payload; its PSN is the SACK's own */

struct strack_data {
	__be64 sent_ps; /* sender's clock, echoed */
	__be16 path;    /* path id, echoed */
	__u8 flags;
	__u8 reserved[5];
} __attribute__((packed));

struct strack_probe {
	__be64 sent_ps;
	__be16 path;
	__u8 flags;
	__u8 reserved;
	__be32 base_psn; /* which bitmap segment to return */
} __attribute__((packed));

/* STrack, figure 7: the fields that a SACK adds. */
struct strack_sack {
	__be32 epsn;        /* expected PSN: all before it has arrived */
	__be32 base_psn;    /* PSN of bit 0 of the bitmap */
	__be64 bitmap;      /* bit i: base_psn + i has arrived */
	__be64 bytes_recvd; /* payload, duplicates eliminated */
	__be32 ooo_packets; /* arrived beyond epsn */
	__be16 path;
	__u8 flags;
	__u8 reserved;
	__be64 sent_ps;
} __attribute__((packed));

/* What trimming leaves of a data packet after the BTH. */
#define TRIMMED_EXTENSION 16

enum assembled_opcode {
	ASSEMBLED_DATA = 0xc4,
	ASSEMBLED_ANSWER = 0xc5,
};

#define ASSEMBLED_FLAG_CE      0x01 /* answer: the packet that it answers carried CE */
#define ASSEMBLED_FLAG_AGAIN   0x04 /* data: a repeat; answer: to a repeat */
#define ASSEMBLED_FLAG_TRIMMED 0x08 /* answer: the packet came without its payload */
#define ASSEMBLED_FLAG_NAK     0x10 /* answer: all from `expected` on is to be sent again */

/* After the BTH, whose PSN is of the packet's subflow. Trimming leaves all before `message`. */
struct assembled_data {
	__be64 sent_ps; /* sender's clock, echoed */
	__be32 number;  /* of the packet in all messages; coding: of the symbol in its message */
	__be16 path;    /* path id, echoed */
	__be16 subflow; /* echoed */
	__be32 message; /* which it is of, from 0 */
	__u8 flags;
	__u8 recovery; /* the scheme's number in RECOVERIES */
	__u8 reserved[2];
} __attribute__((packed));

/* After the BTH, whose PSN is that of the packet that is answered. */
struct assembled_answer {
	__be64 sent_ps;  /* of that packet */
	__be32 expected; /* of its subflow: all before has arrived; coding: messages complete */
	__be32 count;    /* arrived beyond that; coding: symbols of the message that is next */
	__be32 base;     /* PSN of bit 0 of the bitmap */
	__be64 bitmap;   /* bit i: base + i has arrived */
	__be16 path;
	__be16 subflow;
	__u8 flags;
	__u8 recovery;
	__u8 hops; /* switches that the packet crossed */
	__u8 reserved[5];
} __attribute__((packed));

/*
 * Addresses. Host h (from 0) has 10.0.0.0/8 plus h + 1, and fd00:fab::/64 plus h + 1. Port p has
 * the locally administered MAC 02:fb and p in four bytes.
 */
#define HOST_IP4_NET      0x0a000000u
#define HOST_IP4_NET_BITS 8
#define HOST_LIMIT        0x00fffffeu /* hosts at most */
#define HOST_NONE         0xffffffffu
#define HOST_IP6_NET      0xfd000fab00000000ull
#define HOST_IP6_NET_BITS 64
#define HOST_IP6_NET_BYTES                                                                         \
	{                                                                                          \
		HOST_IP6_NET >> 56, HOST_IP6_NET >> 48 & 0xff, HOST_IP6_NET >> 40 & 0xff,          \
			HOST_IP6_NET >> 32 & 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0              \
	}

#endif
