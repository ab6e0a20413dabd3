/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The receiver: a bitmap from the expected PSN on, and coalesced SACKs that carry 64 bits of it. */
#include <endian.h>
#include <string.h>
#include "transport/strack_receiver.h"

/* What a SACK echoes. */
struct echo {
	__be64 sent_ps;
	__be16 path;
	uint8_t flags;
};

size_t strack_receiver_size(uint32_t ring_bits)
{
	return sizeof(struct strack_receiver) + ring_words(ring_bits) * sizeof(uint64_t);
}

void strack_receiver_open(struct strack_receiver *r, uint32_t sack_packets)
{
	r->arrived = (struct ring){r->words, r->flow.ring_bits};
	r->lowest = UINT32_MAX;
	r->sack_packets = sack_packets;
}

/* psn: of the BTH, which says something only where the flags say what. */
static unsigned write_sack(struct strack_receiver *r, uint32_t psn, uint32_t base,
	const struct echo *e, struct tx_frame *reply)
{
	struct header_fields fields = {
		.opcode = STRACK_SACK,
		/*
		 * Answers take their packet's path number, so that no link carries all of a
		 * flow's.
		 */
		.path = be16toh(e->path),
		.psn = psn,
		.extension = sizeof(struct strack_sack),
	};
	struct strack_sack sack = {
		.epsn = htobe32(r->epsn),
		.base_psn = htobe32(base),
		.bitmap = htobe64(ring_read64(&r->arrived, base)),
		.bytes_recvd = htobe64(r->flow.ep.received),
		.ooo_packets = htobe32(r->ooo),
		.path = e->path,
		.flags = e->flags,
		.sent_ps = e->sent_ps,
	};

	memcpy(headers_write(&r->flow.headers, &fields, reply), &sack, sizeof(sack));
	reply->payload_offset = 0;
	return TRANSPORT_REPLY;
}

/*
 * The last segment would run past the ring's end and so around into what EPSN starts with; a
 * segment never starts so late.
 */
static uint32_t segment_limit(const struct strack_receiver *r)
{
	return r->epsn + r->flow.ring_bits - STRACK_SACK_BITS;
}

/*
 * 3.3.1: segments are counted from the expected PSN; the one with the lowest PSN that arrived
 * since the last SACK is sent. Arrivals that the expected PSN has passed do not count, since it
 * reports them: else a SACK for the last packets before a hole and the first ones after it would
 * leave the latter out.
 */
static unsigned send_sack(struct strack_receiver *r, const struct echo *e, struct tx_frame *reply)
{
	uint32_t base = r->epsn;

	if (r->lowest > r->epsn && r->lowest != UINT32_MAX)
		base += (r->lowest - r->epsn) / STRACK_SACK_BITS * STRACK_SACK_BITS;
	r->unsacked = 0;
	r->lowest = UINT32_MAX;
	return write_sack(r, r->epsn, base, e, reply);
}

/* Enters a packet that is new; true: it closed the gap before packets that were there already. */
static bool accept(struct strack_receiver *r, uint32_t psn, uint64_t now)
{
	bool closed = false;

	r->flow.ep.received += strack_payload(&r->flow, psn);
	if (psn != r->epsn) {
		ring_set(&r->arrived, psn);
		r->ooo++;
		r->flow.ep.stats.out_of_order++;
		return false;
	}
	r->epsn++;
	if (r->ooo) {
		uint32_t end = r->epsn + r->flow.ring_bits - 1;
		uint32_t next = ring_first_clear(&r->arrived, r->epsn, end);
		uint32_t run = ring_clear_range(&r->arrived, r->epsn, next);

		r->epsn += run;
		r->ooo -= run;
		closed = run;
	}
	strack_count_done(&r->flow, r->epsn);
	if (r->epsn == r->flow.packets)
		r->flow.ep.delivered_ps = now;
	return closed;
}

/*
 * 3.3.1, condition (2), taken by its letter, would answer every packet of a flow that arrives in
 * order: each is the expected one. What the sender is waiting to hear is that a hole has been
 * filled, so the condition is met when the expected PSN jumps over packets that were waiting.
 */
static unsigned on_data(struct strack_receiver *r, const struct rx_frame *rx, const struct bth *bth,
	struct tx_frame *reply, uint64_t now)
{
	const uint8_t *extension = headers_extension(rx, sizeof(struct strack_data));
	struct strack_data data;
	uint32_t psn = bth->psn;
	bool closed = false;

	if (!extension || psn >= r->flow.packets || psn >= r->epsn + r->flow.ring_bits ||
		rx->transport_length != sizeof(struct bth_hdr) + sizeof(data) +
						strack_payload(&r->flow, psn) + ICRC_BYTES)
		return 0;
	memcpy(&data, extension, sizeof(data));
	if (psn < r->epsn || ring_test(&r->arrived, psn))
		r->flow.ep.stats.duplicates++;
	else
		closed = accept(r, psn, now);
	r->unsacked++;
	if (psn >= r->epsn && psn < r->lowest)
		r->lowest = psn;
	if (r->unsacked < r->sack_packets && !closed && !bth->ack_request)
		return 0;
	return send_sack(r,
		&(struct echo){.sent_ps = data.sent_ps,
			.path = data.path,
			.flags = rx->ecn == ECN_CE ? STRACK_FLAG_CE : 0},
		reply);
}

/*
 * The payload is gone, which the sender is to hear at once: of this packet by its number, and
 * whatever else has arrived around it, since it may have come in another copy. The count of the
 * data that waits for a SACK is left alone.
 */
static unsigned on_trimmed(struct strack_receiver *r, const struct rx_frame *rx,
	const struct bth *bth, struct tx_frame *reply)
{
	const uint8_t *extension = headers_extension(rx, sizeof(struct strack_data));
	uint32_t psn = bth->psn, base = r->epsn;
	struct strack_data data;

	if (!extension || psn >= r->flow.packets || psn >= r->epsn + r->flow.ring_bits)
		return 0;
	memcpy(&data, extension, sizeof(data));
	r->flow.ep.stats.trimmed++;
	if (psn > r->epsn)
		base += (psn - r->epsn) / STRACK_SACK_BITS * STRACK_SACK_BITS;
	return write_sack(r, psn, base,
		&(struct echo){.sent_ps = data.sent_ps,
			.path = data.path,
			.flags = STRACK_FLAG_TRIMMED | (rx->ecn == ECN_CE ? STRACK_FLAG_CE : 0)},
		reply);
}

/* An answer to a probe stands outside the counting: the data still gets the SACKs it is due. */
static unsigned on_probe(
	struct strack_receiver *r, const struct rx_frame *rx, struct tx_frame *reply)
{
	const uint8_t *extension = headers_extension(rx, sizeof(struct strack_probe));
	struct strack_probe probe;
	uint32_t base;

	if (!extension)
		return 0;
	memcpy(&probe, extension, sizeof(probe));
	base = be32toh(probe.base_psn);
	if (base < r->epsn || base > segment_limit(r))
		base = r->epsn;
	return write_sack(r, r->epsn, base,
		&(struct echo){.sent_ps = probe.sent_ps,
			.path = probe.path,
			.flags = STRACK_FLAG_PROBE | (rx->ecn == ECN_CE ? STRACK_FLAG_CE : 0)},
		reply);
}

unsigned strack_receiver_on_packet(struct strack_receiver *r, const struct rx_frame *rx,
	const struct bth *bth, struct tx_frame *reply, uint64_t now)
{
	switch (bth->opcode) {
	case STRACK_DATA:
		return rx->trimmed ? on_trimmed(r, rx, bth, reply)
				   : on_data(r, rx, bth, reply, now);
	case STRACK_PROBE:
		return on_probe(r, rx, reply);
	default:
		return 0;
	}
}
