/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_HEADERS_H
#define FABRICBED_HEADERS_H

/*
 * Ethernet / IPv4 or IPv6 / UDP 4791 / BTH for any transport. Nearly all of it is the same in every
 * packet of an endpoint, so it is built once and copied; a packet patches what differs.
 */
#include <stdbool.h>
#include <stdint.h>
#include "abi/wire.h"
#include "transport/transport.h"

/*
 * Copied whole, a constant size: five vector moves. The longest of them, with IPv6, has 74
 * bytes.
 */
#define TEMPLATE_BYTES 80

#define HEADERS_TTL 64 /* as a packet leaves its host */

struct header_template {
	uint8_t bytes[TEMPLATE_BYTES];
	uint8_t length; /* Ethernet header to BTH */
	uint8_t tos;    /* DSCP << 2 | ECT(0) */
	bool ip6;
	uint16_t entropy;   /* the flow's random base; a path is added to it */
	uint16_t full_body; /* bytes after the BTH for which the lengths in bytes[] are right */
};

/* What differs from packet to packet. */
struct header_fields {
	uint8_t opcode;
	bool ack_request;
	uint16_t path;
	uint32_t psn;       /* lower 24 bits are used */
	uint32_t extension; /* bytes of the transport's own header after the BTH */
	uint32_t payload;   /* bytes of payload, present or not */
};

/* What a BTH says. */
struct bth {
	uint8_t opcode;
	bool ack_request;
	uint32_t qp;
	uint32_t psn;
};

/*
 * Prepares the headers that the flow's sender or receiver sends on queue pair `pair` (0..env->qps
 * - 1), with that DSCP. full_body: bytes after the BTH, ICRC included, of the most frequent
 * packet, which then needs no new checksum.
 */
void headers_prepare(struct header_template *t, const struct transport_env *env,
	const struct flow_spec *flow, bool sender, uint32_t pair, uint8_t dscp, uint32_t full_body);

/*
 * Writes the headers at tx->bytes and sets all of tx but payload_offset. Returns where the
 * extension goes; the caller writes all of it.
 */
uint8_t *headers_write(
	const struct header_template *t, const struct header_fields *f, struct tx_frame *tx);

/* Reads a BTH. False: it is not all there. */
bool headers_read_bth(const struct rx_frame *rx, struct bth *ret);

/*
 * The number nearest to `reference` whose lower 24 bits are the PSN; negative, or beyond all
 * packets, if none has it.
 */
static inline int64_t psn_number(uint32_t reference, uint32_t psn)
{
	return (int64_t)reference + ((int32_t)((psn - reference) << 8) >> 8);
}

/* The `bytes` bytes after the BTH, which has been read, or NULL if not all are captured. */
static inline const uint8_t *headers_extension(const struct rx_frame *rx, uint32_t bytes)
{
	uint32_t offset = rx->transport_offset + (uint32_t)sizeof(struct bth_hdr);

	return rx->captured - offset >= bytes ? rx->bytes + offset : NULL;
}

#endif
