/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the engine reads of a frame. */
#include "abi/wire.h"
#include "engine/internal.h"

/* Of IPv4's TOS, or IPv6's traffic class, which starts half a byte later. */
uint8_t frame_dscp(const uint8_t *bytes)
{
	const uint8_t *ip = bytes + sizeof(struct eth_hdr);

	if (((const struct eth_hdr *)bytes)->type == be16(ETHERTYPE_IP6))
		return (uint8_t)((ip[0] & 0xf) << 2 | ip[1] >> 6);
	if (((const struct eth_hdr *)bytes)->type == be16(ETHERTYPE_IP4))
		return ip[1] >> 2;
	return 0;
}

bool frame_parse(
	const struct engine *e, const struct packet *k, const uint8_t *bytes, struct rx_frame *ret)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)bytes;
	const uint8_t *ip = bytes + sizeof(*eth);
	bool six = eth->type == be16(ETHERTYPE_IP6);
	uint32_t offset = sizeof(*eth) + sizeof(struct udp_hdr) +
			  (six ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr));

	if (k->captured < offset + sizeof(struct bth_hdr))
		return false;
	*ret = (struct rx_frame){
		.bytes = bytes,
		.captured = k->captured,
		.transport_offset = offset,
		.transport_length = k->length - offset,
		.ecn = (six ? ip[1] >> 4 : ip[1]) & 3,
	};
	if (engine_has(e, SW_TRIM)) {
		uint8_t dscp = frame_dscp(bytes);

		ret->trimmed = dscp == e->dp->tables.config.trimmed_dscp;
		ret->returned = dscp == e->dp->tables.config.returned_dscp;
	}
	return true;
}
