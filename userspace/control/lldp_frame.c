/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/lldp_frame.h"

#include <errno.h>
#include <string.h>
#include "abi/wire.h"

#define ETH_BYTES         ((uint32_t)sizeof(struct eth_hdr))
#define STRING_MAX        255 /* of a name, and of an id without its subtype */
#define CAPABILITY_LENGTH 4
#define TOPOLOGY_LENGTH   7

static const uint8_t nearest_bridge[6] = MAC_NEAREST_BRIDGE_BYTES;

static uint8_t *put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

/* Type in 7 bits and length in 9 (802.1AB, 8.4). */
static uint8_t *put_head(uint8_t *at, uint32_t type, uint32_t length)
{
	return put16(at, type << 9 | length);
}

static uint8_t *put_bytes(uint8_t *at, uint32_t type, const uint8_t *bytes, uint32_t length)
{
	at = put_head(at, type, length);
	memcpy(at, bytes, length);
	return at + length;
}

static uint8_t *put_topology(uint8_t *at, const struct lldp_frame *f)
{
	at = put_head(at, LLDP_TYPE_ORGANISATION, TOPOLOGY_LENGTH);
	*at++ = (uint8_t)(LLDP_OUI_8021 >> 16);
	at = put16(at, LLDP_OUI_8021 & 0xffff);
	*at++ = LLDP_8021_TOPOLOGY;
	*at++ = f->device;
	*at++ = f->level;
	*at++ = f->orientation;
	return at;
}

uint32_t lldp_frame_write(uint8_t *bytes, const uint8_t source[6], const struct lldp_frame *f)
{
	uint8_t *at = bytes;
	uint32_t length;

	memcpy(at, nearest_bridge, 6);
	memcpy(at + 6, source, 6);
	at = put16(at + 12, ETHERTYPE_LLDP);
	at = put_bytes(at, LLDP_TYPE_CHASSIS, f->chassis, f->chassis_length);
	at = put_bytes(at, LLDP_TYPE_PORT, f->port, f->port_length);
	at = put16(put_head(at, LLDP_TYPE_TTL, 2), f->ttl_s);
	if (f->has_system)
		at = put_bytes(at, LLDP_TYPE_SYSTEM_NAME, f->system, f->system_length);
	if (f->has_capabilities) {
		at = put_head(at, LLDP_TYPE_CAPABILITIES, CAPABILITY_LENGTH);
		at = put16(put16(at, f->capabilities), f->enabled);
	}
	if (f->has_topology)
		at = put_topology(at, f);
	at = put_head(at, LLDP_TYPE_END, 0);
	length = (uint32_t)(at - bytes);
	if (length >= LLDP_FRAME_MIN)
		return length;
	memset(at, 0, LLDP_FRAME_MIN - length);
	return LLDP_FRAME_MIN;
}

/* What is left of a frame, and the TLV taken last. */
struct cursor {
	const uint8_t *at, *end;
	const uint8_t *value;
	uint32_t type, length;
};

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* The next TLV, if all of it is there. */
static bool take(struct cursor *c)
{
	uint32_t head;

	if (c->end - c->at < 2)
		return false;
	head = get16(c->at);
	if ((uint32_t)(c->end - c->at - 2) < (head & 0x1ff))
		return false;
	c->type = head >> 9;
	c->length = head & 0x1ff;
	c->value = c->at + 2;
	c->at = c->value + c->length;
	return true;
}

/* The next TLV, which must be of that type and at least so long (802.1AB, 9.2.7.7.1). */
static bool take_mandatory(struct cursor *c, uint32_t type, uint32_t least)
{
	return take(c) && c->type == type && c->length >= least;
}

static bool take_id(struct cursor *c, uint32_t type, const uint8_t **id, uint32_t *length)
{
	if (!take_mandatory(c, type, 2) || c->length > 1 + STRING_MAX)
		return false;
	*id = c->value;
	*length = c->length;
	return true;
}

static void read_topology(struct lldp_frame *f, const struct cursor *c)
{
	if (f->has_topology || c->length != TOPOLOGY_LENGTH || c->value[0] != LLDP_OUI_8021 >> 16 ||
		get16(c->value + 1) != (LLDP_OUI_8021 & 0xffff) ||
		c->value[3] != LLDP_8021_TOPOLOGY)
		return;
	f->has_topology = true;
	f->device = c->value[4];
	f->level = c->value[5];
	f->orientation = c->value[6];
}

/* An optional TLV; false: it condemns the frame. */
static bool read_optional(struct lldp_frame *f, const struct cursor *c)
{
	switch (c->type) {
	case LLDP_TYPE_CHASSIS:
	case LLDP_TYPE_PORT:
	case LLDP_TYPE_TTL:
		return false;
	case LLDP_TYPE_SYSTEM_NAME:
		if (f->has_system || c->length > STRING_MAX)
			return true;
		f->has_system = true;
		f->system = c->value;
		f->system_length = c->length;
		return true;
	case LLDP_TYPE_CAPABILITIES:
		if (f->has_capabilities || c->length != CAPABILITY_LENGTH)
			return true;
		f->has_capabilities = true;
		f->capabilities = get16(c->value);
		f->enabled = get16(c->value + 2);
		return true;
	case LLDP_TYPE_ORGANISATION:
		read_topology(f, c);
		return true;
	default:
		return true;
	}
}

int lldp_frame_read(struct lldp_frame *ret, const uint8_t *bytes, uint32_t captured)
{
	struct cursor c = {.end = bytes + captured};
	struct lldp_frame f = {
		.device = LLDP_DEVICE_UNKNOWN,
		.level = LLDP_LEVEL_UNKNOWN,
		.orientation = LLDP_FACES_UNKNOWN,
	};

	if (captured < ETH_BYTES || memcmp(bytes, nearest_bridge, 6) ||
		get16(bytes + 12) != ETHERTYPE_LLDP)
		return -EBADMSG;
	c.at = bytes + ETH_BYTES;
	if (!take_id(&c, LLDP_TYPE_CHASSIS, &f.chassis, &f.chassis_length) ||
		!take_id(&c, LLDP_TYPE_PORT, &f.port, &f.port_length) ||
		!take_mandatory(&c, LLDP_TYPE_TTL, 2))
		return -EBADMSG;
	f.ttl_s = get16(c.value);
	/*
	 * the End TLV may be missing where the frame ends with the last TLV; padding follows it
	 * otherwise
	 */
	while (take(&c) && c.type != LLDP_TYPE_END)
		if (!read_optional(&f, &c))
			return -EBADMSG;
	*ret = f;
	return 0;
}
