/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LLDP_FRAME_H
#define FABRICBED_LLDP_FRAME_H

/*
 * LLDP frames: IEEE 802.1AB-2016, clause 8, and the Topology Recognition TLV, 802.1Qcz-2023,
 * D.2.16.
 *
 * The TLV: OUI 00-80-C2, subtype 20, then an octet each of device type (D.2.16.3), topology level
 * (D.2.16.4) and port orientation (D.2.16.5). Values, order of the fields and the level's width are
 * those of the standard's own YANG module ieee802-dot1q-lldp-tr-tlv (2023-07-03), the subtype's
 * number is as Wireshark has it; that the other two fields are an octet wide too follows from their
 * "unknown", 255.
 */
#include <stdbool.h>
#include <stdint.h>

#define LLDP_TYPE_END          0
#define LLDP_TYPE_CHASSIS      1
#define LLDP_TYPE_PORT         2
#define LLDP_TYPE_TTL          3
#define LLDP_TYPE_SYSTEM_NAME  5
#define LLDP_TYPE_CAPABILITIES 7
#define LLDP_TYPE_ORGANISATION 127

/* What an id is: 802.1AB, tables 8-2 (chassis) and 8-3 (port). */
#define LLDP_CHASSIS_MAC 4
#define LLDP_PORT_MAC    3
#define LLDP_PORT_NAME   5 /* of the interface */

/* 802.1AB, table 8-4. */
#define LLDP_CAN_BRIDGE  0x0004
#define LLDP_CAN_ROUTE   0x0010
#define LLDP_CAN_STATION 0x0080 /* and nothing else */

#define LLDP_OUI_8021       0x0080c2
#define LLDP_8021_TOPOLOGY  20
#define LLDP_DEVICE_STATION 0
#define LLDP_DEVICE_BRIDGE  1
#define LLDP_DEVICE_ROUTER  2
#define LLDP_DEVICE_UNKNOWN 255
#define LLDP_LEVEL_UNKNOWN  255u /* others: links to the edge of the topology, at least */
#define LLDP_FACES_UP       0
#define LLDP_FACES_DOWN     1
#define LLDP_FACES_ACROSS   2
#define LLDP_FACES_UNKNOWN  255

/*
 * A frame's content. Strings have no terminating zero; of a frame that was read they lie within it.
 */
struct lldp_frame {
	const uint8_t *chassis, *port;        /* subtype, then the id */
	const uint8_t *system;                /* name */
	uint32_t chassis_length, port_length; /* 2..256 */
	uint32_t system_length;               /* 0..255 */
	uint16_t ttl_s;                       /* 0: the sender goes away */
	uint16_t capabilities, enabled;       /* LLDP_CAN_* */
	bool has_system, has_capabilities, has_topology;
	uint8_t device, level, orientation; /* LLDP_DEVICE_*, 0..255, LLDP_FACES_* */
};

/* The longest frame that is made here, without FCS: names of up to LLDP_NAME_MAX bytes. */
#define LLDP_NAME_MAX  63
#define LLDP_FRAME_MIN 60
#define LLDP_FRAME_MAX                                                                             \
	(14 + (2 + 1 + 6) + (2 + 1 + LLDP_NAME_MAX) + (2 + 2) + (2 + LLDP_NAME_MAX) + (2 + 4) +    \
		(2 + 7) + 2)

/*
 * Writes a frame to the nearest bridge; returns its length, at least LLDP_FRAME_MIN, without FCS.
 * bytes has room for all that *f says: LLDP_FRAME_MAX where names and ids keep to LLDP_NAME_MAX.
 */
uint32_t lldp_frame_write(uint8_t *bytes, const uint8_t source[6], const struct lldp_frame *f);

/*
 * Reads any bytes, by the rules of 802.1AB, 9.2.7.7: what is wrong with chassis, port or TTL, or
 * with their order, condemns the frame; an optional TLV that is too long, too short, cut off or
 * there twice is itself ignored, as are those not known here. 0 or -EBADMSG.
 */
int lldp_frame_read(struct lldp_frame *ret, const uint8_t *bytes, uint32_t captured);

#endif
