/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_PACKET_H
#define FABRICBED_TEST_PACKET_H

/*
 * Whole frames for tests, written byte by byte from the standards: this shares no struct and no
 * checksum with the code under test, so that an error in abi/wire.h shows too.
 */
#include <stdbool.h>
#include <stdint.h>

#define PACKET_MAX 256

/* Ethernet / IPv4 or IPv6 / UDP 4791 / BTH / STrack data, or another protocol's 20 bytes. */
struct packet_spec {
	uint8_t dst_mac[6], src_mac[6];
	bool ip6;
	uint32_t src_host, dst_host; /* 10.0.0.0/8 or fd00:fab::/64, plus 1, plus this */
	uint8_t tos;                 /* or the traffic class */
	uint8_t ttl;                 /* or the hop limit */
	uint8_t protocol;
	uint8_t options; /* IPv4: 32-bit words of options, all NOP */
	uint16_t id, fragment;
	uint32_t flow_label;
	uint16_t src_port;
	uint16_t payload; /* modelled, not present */
};

/* host 1 to host 7, UDP, ECT(0), TTL 64, 1,024 bytes of payload */
extern const struct packet_spec packet_spec_default;

struct packet {
	uint32_t captured; /* bytes that are there */
	uint32_t length;   /* modelled: Ethernet header to ICRC */
	uint8_t bytes[PACKET_MAX];
};

#define PACKET_IP  14u /* where IP starts */
#define PACKET_PFC 60u /* bytes of a PFC frame, without FCS */

void packet_build(struct packet *ret, const struct packet_spec *s);

/* A PFC frame (IEEE 802.3, annex 31D): a bit of `classes` for each that quanta counts for. */
void packet_build_pfc(
	struct packet *ret, const uint8_t src_mac[6], uint8_t classes, const uint16_t quanta[8]);

/* Where BTH starts. */
uint32_t packet_bth(const struct packet *p);

/* Puts the right checksum into the IPv4 header, options included, after bytes were changed. */
void packet_seal(struct packet *p);

/* The checksum that the header should carry, whatever it carries: a full sum (RFC 791, 3.1). */
uint16_t packet_checksum(const struct packet *p);

/* TOS or traffic class: the DSCP's six bits, then ECN's two. The checksum follows. */
uint8_t packet_tos(const struct packet *p);
void packet_set_tos(struct packet *p, uint8_t tos);

/*
 * What trimming leaves: 36 bytes above IP, of the lengths and of the modelled frame. The bytes that
 * are there stay, the checksum follows.
 */
void packet_trim(struct packet *p);

/* Source and destination address of IP change places. */
void packet_turn(struct packet *p);

uint16_t packet_get16(const uint8_t *at);
void packet_put16(uint8_t *at, uint16_t value);

/* Fails the test with a hex diff unless n bytes are equal. */
void packet_assert_equal(const char *what, const uint8_t *got, const uint8_t *want, uint32_t n);

#endif
