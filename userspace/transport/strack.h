/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_H
#define FABRICBED_STRACK_H

/* STrack: adaptive packet spray, window control by RTT and ECN, selective retransmission. */
#include "base/quantity.h"
#include "base/units.h"
#include "transport/paths/strack_spray.h"
#include "transport/transport.h"

/* strack_kind.c has their ranges and defaults. */
struct strack_options {
	uint32_t paths; /* entropies */
	enum strack_spray spray;
	uint32_t sack_packets;    /* a SACK at least every so many data packets */
	uint64_t rto_ps;          /* 0: max(STRACK_RTO_MIN_PS, 10 base RTTs) */
	struct quantity window;   /* largest and first, bytes or BDP; 0.1..16 BDP count */
	uint32_t bitmap_rtts;     /* age in base RTTs at which the path bitmap is reset; 0: never */
	uint64_t target_delay_ps; /* target_Qdelay; 0: one base RTT */
	bool fixed;               /* no congestion control: the window stays the largest */
};

#define STRACK_RTO_MIN_PS (100 * PS_PER_US) /* "hundreds of microseconds" */

/* Packets of the longest message: PSNs have 24 bits and start at 0 in each. */
#define STRACK_PACKETS_MAX (1u << 24)

extern const struct transport_ops strack_transport;

#endif
