/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_WINDOW_H
#define FABRICBED_STRACK_WINDOW_H

/*
 * The congestion window: STrack, algorithms 2 and 4, table 1. Fixed point, so that every compiler
 * and machine computes the same; windows are in packets of a full payload, times WINDOW_ONE.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/quantity.h"

#define WINDOW_SHIFT 20
#define WINDOW_ONE   (1ull << WINDOW_SHIFT)

struct strack_window {
	uint64_t cwnd;  /* WINDOW_ONE..max */
	uint64_t max;   /* also the first window */
	uint64_t bytes; /* cwnd in payload bytes */
	uint64_t base_rtt_ps;
	uint64_t avg_delay_ps;
	uint64_t achieved_bytes; /* achievedBDP */
	uint64_t rx_bytes;       /* rx_count */
	uint64_t rx_cleared_ps;  /* 0: no answer yet */
	uint64_t decreased_ps;
	uint64_t shuffled_ps;

	/* Table 1, scaled to this fabric. */
	uint64_t target_ps; /* target_Qdelay */
	uint64_t high_ps;   /* target_Qhigh */
	uint64_t alpha;     /* packets, times WINDOW_ONE, a round for ... */
	uint64_t alpha_ps;  /* ... so much below the target */
	uint64_t beta;      /* packets, times WINDOW_ONE, a round */
	uint64_t eta;       /* packets, times WINDOW_ONE, a base RTT */
	uint32_t mtu;
};

/* What a SACK says to the window. */
struct strack_signal {
	bool marked;
	bool probe;           /* a probe brought it about: its bytes do not count as achieved */
	uint64_t delay_ps;    /* queueing delay */
	uint64_t acked_bytes; /* payload that it reports for the first time */
};

/* Bytes that fill a line for a round trip. */
uint64_t strack_window_bdp(uint64_t rate_bps, uint64_t base_rtt_ps);

/*
 * A window in whole packets: so many bytes, or that share of a BDP; of 0.1 to 16 BDP; and what a
 * receiver that answers every sack_packets-th packet may be holding back. At least 1.
 */
uint32_t strack_window_packets(uint64_t rate_bps, uint64_t base_rtt_ps, uint32_t mtu,
	const struct quantity *window, uint32_t sack_packets);

/*
 * alpha is 4 bdp_sf delay_sf / base_rtt, but delay_sf counts as no more than 1: past 12 us it
 * would add whole windows a round, and at 50 us the queue swings between empty and twice its
 * target. own_rtt_ps: the flow's idle round trip, base_rtt_ps the fabric's. target_ps:
 * target_Qdelay. Packets: from strack_window_packets().
 */
void strack_window_open(struct strack_window *w, uint64_t rate_bps, uint64_t base_rtt_ps,
	uint64_t own_rtt_ps, uint64_t target_ps, uint32_t mtu, uint32_t max_packets, uint64_t now);

/*
 * The queueing delay that a measured round trip means; a shorter round trip than ever before
 * becomes the base RTT, if `lower` (STrack, algorithm 1, lines 5 to 8).
 */
uint64_t strack_window_delay(struct strack_window *w, uint64_t rtt_ps, bool lower);

/*
 * News that came with headers whose payload a switch cut off: they overtook the queue, so that
 * their round trip measures nothing. STrack, algorithm 2 alone.
 */
void strack_window_on_trimmed(struct strack_window *w, uint64_t acked_bytes, uint64_t now);

/* STrack, algorithms 2 and 4. */
void strack_window_on_ack(struct strack_window *w, const struct strack_signal *s, uint64_t now);

#endif
