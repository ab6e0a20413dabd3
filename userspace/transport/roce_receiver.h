/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ROCE_RECEIVER_H
#define FABRICBED_ROCE_RECEIVER_H

/* The responder: data in order, ACK and NAK; DCQCN's notification point. */
#include "transport/roce_flow.h"

enum roce_answer { ROCE_NOTHING, ROCE_ACK, ROCE_NAK };

struct roce_receiver_qp {
	struct header_template answer, cnp;
	struct roce_part part;
	uint64_t cnp_ps;      /* the next CNP may leave from then on */
	uint32_t epsn;        /* the packet that is expected */
	bool nak_sent;        /* for the gap at epsn */
	enum roce_answer due; /* a CNP took its place; it leaves at the same time */
};

struct roce_receiver {
	struct roce_flow flow;
	uint32_t left; /* queue pairs whose part is not complete */
	uint32_t due;  /* queue pairs that owe an answer */
	struct roce_receiver_qp qps[];
};

size_t roce_receiver_size(uint32_t qps);
/* flow has been filled in. */
void roce_receiver_open(struct roce_receiver *r, const struct flow_spec *flow);
unsigned roce_receiver_on_packet(struct roce_receiver *r, const struct rx_frame *rx,
	const struct bth *bth, struct tx_frame *reply, uint64_t now);
unsigned roce_receiver_on_timer(struct roce_receiver *r, struct tx_frame *reply, uint64_t now);

/* The packet that a BTH belongs to: of which queue pair, and its number there. False: none. */
bool roce_receiver_find(const struct roce_receiver *r, const struct bth *bth, uint32_t *ret_qp,
	uint32_t *ret_number, struct roce_packet *ret);

#endif
