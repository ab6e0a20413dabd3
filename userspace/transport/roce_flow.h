/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROCE_FLOW_H
#define FABRICBED_ROCE_FLOW_H

/* What the two ends of a RoCEv2 flow have in common: how the message is split, and PSNs. */
#include "abi/wire.h"
#include "transport/headers.h"
#include "transport/roce.h"

struct roce_flow {
	struct endpoint ep; /* first: an endpoint is one */
	const struct transport_env *env;
	const struct roce_options *options;
	uint64_t bytes; /* of all messages */
	uint32_t id;
	uint32_t packets;         /* of all messages */
	uint32_t message_packets; /* of one */
	uint32_t last_bytes;      /* payload of the last packet */
	uint32_t write_packets;   /* of the longest RDMA write */
	uint32_t qps;             /* used: no more than a message has packets */
	bool sender;
};

/*
 * A queue pair's share of each message. Its packets are counted from 0 through all messages, and so
 * are its PSNs.
 */
struct roce_part {
	uint32_t first;   /* packet of a message that it starts with */
	uint32_t each;    /* packets of a message */
	uint32_t packets; /* of all messages */
};

/* What packet n of a part is. */
struct roce_packet {
	uint8_t opcode;
	bool reth;
	uint32_t payload;
	uint64_t offset;      /* of the payload in the message */
	uint32_t write_bytes; /* of its RDMA write, for the RETH */
};

void roce_flow_open(struct roce_flow *f, const struct transport_env *env,
	const struct flow_spec *flow, bool sender);

/* Which of this endpoint's own queue pairs, of those in use, has that number. False: none. */
bool roce_flow_qp(const struct roce_flow *f, uint32_t qp, uint32_t *ret);

/* Part i of flow->qps: contiguous, sizes equal to within one packet. */
struct roce_part roce_part(const struct roce_flow *f, uint32_t i);

/* Whether the connection carries several messages. */
static inline bool roce_has_several(const struct roce_flow *f)
{
	return f->packets != f->message_packets;
}

/* RDMA writes of a part that end before its packet n. */
uint32_t roce_writes(const struct roce_flow *f, const struct roce_part *part, uint32_t n);

/* n is below part->packets. */
void roce_packet(const struct roce_flow *f, const struct roce_part *part, uint32_t n,
	struct roce_packet *ret);

/* Bytes after the BTH that the packet's own headers take. */
static inline uint32_t roce_extension(const struct roce_packet *p)
{
	return p->reth ? (uint32_t)sizeof(struct reth_hdr) : 0;
}

#endif
