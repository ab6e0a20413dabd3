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
	uint64_t bytes;      /* of the message */
	uint32_t packets;    /* of the message */
	uint32_t last_bytes; /* payload of its last packet */
	uint32_t mtu;
	uint32_t ring_bits; /* how far PSNs may run ahead of the expected one */
	bool sender;
};

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
