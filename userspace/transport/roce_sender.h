/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROCE_SENDER_H
#define FABRICBED_ROCE_SENDER_H

/* The requester: what may leave, ACK, NAK, timeout; DCQCN's reaction point. */
#include "transport/control/dcqcn.h"
#include "transport/roce_flow.h"

struct roce_sender_qp {
	struct header_template headers;
	struct roce_part part;
	struct dcqcn rate;
	uint64_t asked_ps;    /* an ACK was last asked for */
	uint64_t rto_from_ps; /* counts while una < asked_end */
	uint32_t released;    /* packets of messages that have begun */
	uint32_t una;         /* all before it are acknowledged */
	uint32_t next;        /* the next to be sent */
	uint32_t high;        /* one more than the highest sent so far */
	uint32_t asked_end;   /* one more than the last that asked for an ACK */
	uint32_t backoff;     /* the timeout is doubled so many times */
};

struct roce_sender {
	struct roce_flow flow;
	struct dcqcn_params dcqcn;
	uint64_t rto_ps;
	uint32_t ack_every;
	uint32_t turn; /* the queue pair that is served next */
	uint32_t left; /* queue pairs that are not done */
	struct roce_sender_qp qps[];
};

size_t roce_sender_size(uint32_t qps);
/* flow has been filled in. */
void roce_sender_open(struct roce_sender *s, const struct flow_spec *flow, uint64_t now);
bool roce_sender_next_packet(struct roce_sender *s, struct tx_frame *tx, uint64_t now);
unsigned roce_sender_on_packet(
	struct roce_sender *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now);
unsigned roce_sender_on_timer(struct roce_sender *s, uint64_t now);
/* See transport.h: a rate with DCQCN; there is no window, and round trips are not measured. */
void roce_sender_state(const struct roce_sender *s, uint64_t now, struct sender_state *ret);

#endif
