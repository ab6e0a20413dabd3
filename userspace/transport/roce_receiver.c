/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The responder: InfiniBand volume 1, 9.7.4 and 9.7.5; annex A17 for the CNP. */
#include <endian.h>
#include <string.h>
#include "transport/roce_receiver.h"

#define AETH_NO_CREDITS 0x1fu /* of an ACK's syndrome: writes need none (9.7.7.2) */

size_t roce_receiver_size(uint32_t qps)
{
	return sizeof(struct roce_receiver) + qps * sizeof(struct roce_receiver_qp);
}

void roce_receiver_open(struct roce_receiver *r, const struct flow_spec *flow)
{
	const struct transport_env *env = r->flow.env;

	r->left = r->flow.qps;
	for (uint32_t i = 0; i < r->flow.qps; i++) {
		struct roce_receiver_qp *q = &r->qps[i];

		headers_prepare(&q->answer, env, flow, false, i, env->control_dscp,
			sizeof(struct aeth_hdr) + ICRC_BYTES);
		headers_prepare(&q->cnp, env, flow, false, i, env->notify_dscp,
			CNP_RESERVED_BYTES + ICRC_BYTES);
		q->part = roce_part(&r->flow, i);
	}
}

bool roce_receiver_find(const struct roce_receiver *r, const struct bth *bth, uint32_t *ret_qp,
	uint32_t *ret_number, struct roce_packet *ret)
{
	const struct roce_receiver_qp *q;
	int64_t n;

	if (!roce_flow_qp(&r->flow, bth->qp, ret_qp))
		return false;
	q = &r->qps[*ret_qp];
	n = psn_number(q->epsn, bth->psn);
	if (n < 0 || n >= q->part.packets)
		return false;
	*ret_number = (uint32_t)n;
	roce_packet(&r->flow, &q->part, *ret_number, ret);
	return ret->opcode == bth->opcode;
}

static void write_answer(struct roce_receiver *r, struct roce_receiver_qp *q, enum roce_answer kind,
	struct tx_frame *reply)
{
	struct header_fields fields = {
		.opcode = RC_ACK,
		.psn = kind == ROCE_NAK ? q->epsn : q->epsn - 1,
		.extension = sizeof(struct aeth_hdr),
	};
	uint32_t syndrome = kind == ROCE_NAK ? AETH_NAK : AETH_ACK | AETH_NO_CREDITS;
	uint32_t writes = roce_writes(&r->flow, &q->part, q->epsn);
	struct aeth_hdr aeth = {.syndrome_msn = htobe32(syndrome << 24 | (writes & BTH_MASK_24))};

	memcpy(headers_write(&q->answer, &fields, reply), &aeth, sizeof(aeth));
	reply->payload_offset = 0;
	r->flow.ep.stats.naks += kind == ROCE_NAK;
}

static void write_cnp(struct roce_receiver *r, struct roce_receiver_qp *q, struct tx_frame *reply)
{
	struct header_fields fields = {.opcode = ROCE_CNP, .extension = CNP_RESERVED_BYTES};
	uint8_t *extension = headers_write(&q->cnp, &fields, reply);
	struct bth_hdr bth;

	memcpy(&bth, extension - sizeof(bth), sizeof(bth));
	bth.qp |= htobe32(BTH_BECN);
	memcpy(extension - sizeof(bth), &bth, sizeof(bth));
	memset(extension, 0, CNP_RESERVED_BYTES);
	reply->payload_offset = 0;
	r->flow.ep.stats.marks++;
}

/* Messages of which each queue pair has its part. */
static uint32_t messages_arrived(const struct roce_receiver *r)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < r->flow.qps; i++) {
		uint32_t n = r->qps[i].epsn / r->qps[i].part.each;

		least = n < least ? n : least;
	}
	return least;
}

/* What the packet calls for, the expected PSN moved on if it is the one (9.7.4.1.2, 9.7.5.1.3). */
static enum roce_answer take(struct roce_receiver *r, struct roce_receiver_qp *q, uint32_t n,
	uint32_t payload, bool ack_request, uint64_t now)
{
	if (n < q->epsn) {
		r->flow.ep.stats.duplicates++;
		return ROCE_ACK;
	}
	if (n > q->epsn) {
		bool first = !q->nak_sent;

		r->flow.ep.stats.out_of_order++;
		q->nak_sent = true;
		return first ? ROCE_NAK : ROCE_NOTHING;
	}
	q->epsn++;
	r->flow.ep.received += payload;
	q->nak_sent = false;
	if (q->due == ROCE_NAK)
		q->due = ROCE_ACK; /* its gap has gone */
	if (roce_has_several(&r->flow) && q->epsn % q->part.each == 0)
		r->flow.ep.done = messages_arrived(r);
	if (q->epsn == q->part.packets && !--r->left)
		r->flow.ep.delivered_ps = now;
	return ack_request ? ROCE_ACK : ROCE_NOTHING;
}

/* An answer that finds its frame taken by a CNP leaves right after it. */
static void owe(
	struct roce_receiver *r, struct roce_receiver_qp *q, enum roce_answer kind, uint64_t now)
{
	r->due += q->due == ROCE_NOTHING;
	if (kind > q->due)
		q->due = kind;
	r->flow.ep.deadline_ps = now;
}

static void settle(struct roce_receiver *r, struct roce_receiver_qp *q)
{
	r->due -= q->due != ROCE_NOTHING;
	q->due = ROCE_NOTHING;
}

unsigned roce_receiver_on_packet(struct roce_receiver *r, const struct rx_frame *rx,
	const struct bth *bth, struct tx_frame *reply, uint64_t now)
{
	struct roce_receiver_qp *q;
	enum roce_answer answer;
	struct roce_packet p;
	uint32_t i, n;

	if (!roce_receiver_find(r, bth, &i, &n, &p) || !headers_extension(rx, roce_extension(&p)) ||
		rx->transport_length !=
			sizeof(struct bth_hdr) + roce_extension(&p) + p.payload + ICRC_BYTES)
		return 0;
	q = &r->qps[i];
	answer = take(r, q, n, p.payload, bth->ack_request, now);
	if (rx->ecn == ECN_CE && now >= q->cnp_ps) {
		q->cnp_ps = now + r->flow.options->reaction.cnp_ps;
		write_cnp(r, q, reply);
		if (answer != ROCE_NOTHING)
			owe(r, q, answer, now);
		return TRANSPORT_REPLY;
	}
	if (answer == ROCE_NOTHING)
		return 0;
	if (q->due > answer)
		answer = q->due;
	settle(r, q);
	write_answer(r, q, answer, reply);
	return TRANSPORT_REPLY;
}

unsigned roce_receiver_on_timer(struct roce_receiver *r, struct tx_frame *reply, uint64_t now)
{
	struct roce_receiver_qp *q = r->qps;

	r->flow.ep.deadline_ps = 0;
	if (!r->due)
		return 0;
	while (q->due == ROCE_NOTHING)
		q++;
	write_answer(r, q, q->due, reply);
	settle(r, q);
	if (r->due)
		r->flow.ep.deadline_ps = now;
	return TRANSPORT_REPLY;
}
