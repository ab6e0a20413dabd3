/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRACK_SENDER_H
#define FABRICBED_STRACK_SENDER_H

/* What is sent, what is known to have arrived, what is believed lost: STrack, 3.3.2. */
#include "transport/control/strack_window.h"
#include "transport/paths/strack_spray.h"
#include "transport/strack_flow.h"

struct strack_sender {
	struct strack_flow flow;
	struct strack_window window;
	struct strack_paths paths;
	struct ring acked; /* from epsn to next_psn: reported as arrived */
	struct ring
		lost; /* from epsn to next_psn: claimed for retransmission, not yet sent again */
	uint64_t recvd_bytes; /* the highest bytes_recvd of any SACK */
	uint64_t opened_ps;
	uint64_t quiet_ps;        /* the last data sent, SACK received or probe sent */
	uint64_t left_ps;         /* the last data sent */
	uint64_t probed_ps;       /* the last probe sent */
	uint64_t delay_ps;        /* longest queueing delay of data since delays_ps ... */
	uint64_t delay_before_ps; /* ... and in the period before */
	uint64_t delays_ps;
	uint64_t rtt_ps;   /* the latest round trip that was measured; 0: none yet */
	uint64_t asked_ps; /* the last SACK received or asked for */
	uint64_t rto_from_ps;
	uint64_t claimed_ps;
	uint64_t rto_ps;
	uint64_t probe_after_ps;
	uint32_t epsn;        /* all before it have arrived */
	uint32_t next_psn;    /* the next to be sent for the first time */
	uint32_t released;    /* packets of messages that have begun */
	uint32_t acked_end;   /* one more than the highest PSN known to have arrived */
	uint32_t recover_end; /* loss recovery lasts until epsn gets here */
	uint32_t claimed_end; /* all before it were acknowledged or claimed at claimed_ps */
	uint32_t lost_count;
	uint32_t lost_from; /* no claimed packet before it */
	uint32_t sack_packets;
	uint32_t backoff; /* the timeout is doubled so many times */
	bool fixed;
	uint64_t words[];
};

size_t strack_sender_size(uint32_t ring_bits, uint32_t paths);
/* flow has been filled in. */
void strack_sender_open(struct strack_sender *s, const struct strack_options *options,
	const struct flow_spec *flow, uint32_t max_packets, uint64_t now);
/* Payload bytes on their way: equations 1 and 2. */
uint64_t strack_sender_inflight(const struct strack_sender *s);
bool strack_sender_next_packet(struct strack_sender *s, struct tx_frame *tx, uint64_t now);
unsigned strack_sender_on_packet(
	struct strack_sender *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now);
unsigned strack_sender_on_timer(struct strack_sender *s, struct tx_frame *reply, uint64_t now);

#endif
