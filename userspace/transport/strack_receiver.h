/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_RECEIVER_H
#define FABRICBED_STRACK_RECEIVER_H

/* What has arrived, and when to say so: STrack, 3.3.1. */
#include "transport/strack_flow.h"

struct strack_receiver {
	struct strack_flow flow;
	struct ring arrived; /* from epsn on */
	uint32_t epsn;
	uint32_t ooo;      /* packets that arrived beyond epsn */
	uint32_t unsacked; /* data packets since the last SACK */
	uint32_t lowest;   /* lowest PSN from epsn on among them; UINT32_MAX: none */
	uint32_t sack_packets;
	uint64_t words[];
};

size_t strack_receiver_size(uint32_t ring_bits);
/* flow has been filled in. */
void strack_receiver_open(struct strack_receiver *r, uint32_t sack_packets);
unsigned strack_receiver_on_packet(struct strack_receiver *r, const struct rx_frame *rx,
	const struct bth *bth, struct tx_frame *reply, uint64_t now);

#endif
