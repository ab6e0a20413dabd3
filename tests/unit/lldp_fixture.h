/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LLDP_FIXTURE_H
#define FABRICBED_LLDP_FIXTURE_H

/* LLDP frames made by hand: two as they must be, and a kit for those that need not. */
#include <stdint.h>
#include <string.h>
#include "control/lldp_frame.h"

/* 802.1AB, clause 8; 802.1Qcz, D.2.16. */
static const uint8_t host_frame[] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e,          /* nearest bridge */
	0x02, 0xfb, 0x00, 0x00, 0x00, 0x02,          /* the port's MAC */
	0x88, 0xcc,                                  /* LLDP */
	0x02, 0x07,                                  /* Chassis ID, 7 bytes */
	0x04, 0x02, 0xfb, 0x00, 0x00, 0x00, 0x02,    /* a MAC */
	0x04, 0x05,                                  /* Port ID, 5 bytes */
	0x05, 'e', 't', 'h', '2',                    /* an interface's name */
	0x06, 0x02, 0x00, 0x79,                      /* Time To Live, 121 s */
	0x0a, 0x02, 'h', '0',                        /* System Name */
	0x0e, 0x04, 0x00, 0x80, 0x00, 0x80,          /* System Capabilities: station only */
	0xfe, 0x07, 0x00, 0x80, 0xc2, 0x14, 0, 0, 0, /* station, level 0, uplink */
	0x00, 0x00,                                  /* End */
	0x00, 0x00, 0x00, 0x00, 0x00,                /* padding */
};

/* A switch at level 1, its second port, which leads to a host; the chassis is its first port. */
static const uint8_t switch_frame[] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e,          /* nearest bridge */
	0x02, 0xfb, 0x00, 0x00, 0x00, 0x05,          /* the port's MAC */
	0x88, 0xcc,                                  /* LLDP */
	0x02, 0x07,                                  /* Chassis ID */
	0x04, 0x02, 0xfb, 0x00, 0x00, 0x00, 0x04,    /* the first port's MAC */
	0x04, 0x05,                                  /* Port ID */
	0x05, 'e', 't', 'h', '5',                    /* its name */
	0x06, 0x02, 0x00, 0x79,                      /* Time To Live, 121 s */
	0x0a, 0x02, 's', '0',                        /* System Name */
	0x0e, 0x04, 0x00, 0x14, 0x00, 0x10,          /* can bridge and route, does route */
	0xfe, 0x07, 0x00, 0x80, 0xc2, 0x14, 2, 1, 1, /* router, level 1, downlink */
	0x00, 0x00,                                  /* End */
	0x00, 0x00, 0x00, 0x00, 0x00,                /* padding */
};
_Static_assert(sizeof(host_frame) == LLDP_FRAME_MIN, "60 bytes by the names' choice");

/* Offsets in both. */
#define AT_PORT_ID      23
#define AT_TTL          30
#define AT_SYSTEM       34
#define AT_CAPABILITIES 38
#define AT_TOPOLOGY     44
#define AT_END          53

/* A frame under construction, not necessarily a good one. */
struct draft {
	uint8_t bytes[4096];
	uint32_t length;
};

static inline void draft_begin(struct draft *d)
{
	memcpy(d->bytes, host_frame, 14);
	d->length = 14;
}

static inline void draft_raw(struct draft *d, const void *bytes, uint32_t length)
{
	memcpy(d->bytes + d->length, bytes, length);
	d->length += length;
}

static inline void draft_tlv(struct draft *d, uint32_t type, const void *value, uint32_t length)
{
	uint8_t head[2] = {(uint8_t)(type << 1 | length >> 8), (uint8_t)length};

	draft_raw(d, head, 2);
	draft_raw(d, value, length);
}

/* A TLV of that type and length, filled with the letter a. */
static inline void draft_filled(struct draft *d, uint32_t type, uint32_t length)
{
	uint8_t value[511];

	memset(value, 'a', sizeof(value));
	draft_tlv(d, type, value, length);
}

static inline void draft_mandatory(struct draft *d)
{
	draft_begin(d);
	draft_raw(d, host_frame + 14, AT_SYSTEM - 14);
}

static const uint8_t topology_tlv[] = {0x00, 0x80, 0xc2, 20, 1, 3, 1}; /* a bridge, level 3 */

#endif
