/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_H
#define FABRICBED_STRACK_H

/* STrack: adaptive packet spray, window control by RTT and ECN, selective retransmission. */
#include "transport/transport.h"

enum strack_spray {
	STRACK_ADAPTIVE,  /* algorithm 3 */
	STRACK_OBLIVIOUS, /* all paths in turn, whatever their marks */
	STRACK_SINGLE,    /* one path, as ECMP gives it */
};

struct strack_options {
	uint32_t paths; /* entropies, 1..STRACK_PATHS_MAX; the paper's default is 256 */
	enum strack_spray spray;
	uint32_t sack_packets;    /* a SACK at least every so many data packets */
	uint64_t rto_ps;          /* 0: max(100 us, 10 base RTTs) */
	double window_share;      /* largest window and the first, of a BDP, 0.1..16 */
	uint32_t bitmap_rtts;     /* age in base RTTs at which the path bitmap is reset; 0: never */
	uint64_t target_delay_ps; /* target_Qdelay; 0: one base RTT */
	bool fixed;               /* no congestion control: the window stays the largest */
};

#define STRACK_PATHS_MAX 1024
#define WINDOW_SHARE_MIN 0.1
#define WINDOW_SHARE_MAX 16.0

#define STRACK_OPTIONS_DEFAULT                                                                     \
	{                                                                                          \
		.paths = 256, .spray = STRACK_ADAPTIVE, .sack_packets = 1, .window_share = 1.4,    \
		.bitmap_rtts = 8,                                                                  \
	}

/* Packets of the longest message: PSNs have 24 bits and start at 0 in each. */
#define STRACK_PACKETS_MAX (1u << 24)

extern const struct transport_ops strack_transport;

#endif
