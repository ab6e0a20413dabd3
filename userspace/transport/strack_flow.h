/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_FLOW_H
#define FABRICBED_STRACK_FLOW_H

/* What the two ends of an STrack flow have in common. */
#include "transport/headers.h"
#include "transport/ring.h"
#include "transport/strack.h"

#define STRACK_SACK_BITS 64

struct strack_flow {
	struct endpoint ep; /* first: an endpoint is one */
	const struct transport_env *env;
	struct header_template headers;
	uint64_t bytes;           /* of all messages */
	uint32_t packets;         /* of all messages */
	uint32_t message_packets; /* of one */
	uint32_t last_bytes;      /* payload of the last packet; of all others it is mtu */
	uint32_t mtu;
	uint32_t ring_bits; /* how far PSNs may run ahead of the expected one */
	bool sender;
};

/* All packets before psn have arrived, or are acknowledged. */
static inline void strack_count_done(struct strack_flow *f, uint32_t psn)
{
	if (f->packets != f->message_packets)
		f->ep.done = psn / f->message_packets;
}

/* Payload bytes of packet psn (below flow->packets). */
static inline uint32_t strack_payload(const struct strack_flow *f, uint32_t psn)
{
	return psn + 1 == f->packets ? f->last_bytes : f->mtu;
}

/* Payload bytes of the first n packets. */
static inline uint64_t strack_payload_before(const struct strack_flow *f, uint32_t n)
{
	return n == f->packets ? f->bytes : (uint64_t)n * f->mtu;
}

#endif
