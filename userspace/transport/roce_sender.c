/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The requester: RDMA writes, go-back-N. InfiniBand volume 1, 9.7.1 to 9.7.3 and 9.7.6. */
#include <endian.h>
#include <string.h>
#include "transport/roce_sender.h"

size_t roce_sender_size(uint32_t qps)
{
	return sizeof(struct roce_sender) + qps * sizeof(struct roce_sender_qp);
}

void roce_sender_open(struct roce_sender *s, const struct flow_spec *flow, uint64_t now)
{
	const struct transport_env *env = s->flow.env;
	const struct roce_options *o = s->flow.options;

	s->rto_ps = transport_rto(o->rto_ps, ROCE_RTO_MIN_PS, env->base_rtt_ps);
	s->ack_every = o->ack_every ? o->ack_every : ROCE_ACK_EVERY;
	s->dcqcn = dcqcn_params_of(&o->reaction, env->host_rate_bps);
	s->left = s->flow.qps;
	for (uint32_t i = 0; i < s->flow.qps; i++) {
		struct roce_sender_qp *q = &s->qps[i];

		headers_prepare(&q->headers, env, flow, true, i, flow->dscp, env->mtu + ICRC_BYTES);
		q->part = roce_part(&s->flow, i);
		q->released = q->part.each;
		q->asked_ps = now;
		dcqcn_open(&q->rate, &s->dcqcn);
	}
}

static void arm(struct roce_sender *s, uint64_t at)
{
	if (!s->flow.ep.deadline_ps || at < s->flow.ep.deadline_ps)
		s->flow.ep.deadline_ps = at;
}

/* When the timeout is due; UINT64_MAX: no answer has been asked for (9.7.6.1.3). */
static uint64_t rto_due(const struct roce_sender *s, const struct roce_sender_qp *q)
{
	if (q->una >= q->asked_end)
		return UINT64_MAX;
	return q->rto_from_ps + (s->rto_ps << q->backoff);
}

static bool has_data(const struct roce_sender_qp *q)
{
	return q->next < q->part.packets && q->next < q->released &&
	       q->next - q->una < ROCE_OUTSTANDING_MAX;
}

/*
 * The last packet of a write asks, as queue pairs do, and so does one in every ack_every. At a low
 * rate these are far apart, and the one that has been waiting for an answer for a round trip asks
 * too: the timeout must not run out only since nobody asked.
 */
static bool wants_ack(const struct roce_sender *s, const struct roce_sender_qp *q,
	const struct roce_packet *p, uint64_t now)
{
	return p->opcode == RC_WRITE_LAST || p->opcode == RC_WRITE_ONLY ||
	       (q->next + 1) % s->ack_every == 0 || q->next + 1 - q->una == ROCE_OUTSTANDING_MAX ||
	       now - q->asked_ps > s->flow.env->base_rtt_ps;
}

/* Enters the packet in the books. */
static void take(struct roce_sender *s, struct roce_sender_qp *q, bool asks, uint64_t now)
{
	struct endpoint_stats *stats = &s->flow.ep.stats;

	stats->packets_sent++;
	if (q->next < q->high)
		stats->retransmitted++;
	else if (!q->high)
		stats->paths_used++;
	q->next++;
	if (q->next > q->high)
		q->high = q->next;
	if (!asks)
		return;
	q->asked_ps = now;
	if (q->asked_end <= q->una)
		q->rto_from_ps = now;
	q->asked_end = q->next;
	arm(s, rto_due(s, q));
}

static void write_packet(
	struct roce_sender *s, struct roce_sender_qp *q, struct tx_frame *tx, uint64_t now)
{
	struct header_fields fields = {.psn = q->next};
	struct roce_packet p;
	uint8_t *extension;

	roce_packet(&s->flow, &q->part, q->next, &p);
	fields.opcode = p.opcode;
	fields.ack_request = wants_ack(s, q, &p, now);
	fields.extension = roce_extension(&p);
	fields.payload = p.payload;
	extension = headers_write(&q->headers, &fields, tx);
	if (p.reth) {
		struct reth_hdr reth = {
			.address = htobe64(p.offset),
			.rkey = htobe32(s->flow.id),
			.length = htobe32(p.write_bytes),
		};

		memcpy(extension, &reth, sizeof(reth));
	}
	tx->payload_offset = p.offset;
	take(s, q, fields.ack_request, now);
	if (s->flow.options->dcqcn)
		dcqcn_on_send(&q->rate, &s->dcqcn, tx->length, now);
}

bool roce_sender_next_packet(struct roce_sender *s, struct tx_frame *tx, uint64_t now)
{
	uint64_t earliest = UINT64_MAX;

	for (uint32_t i = 0; i < s->flow.qps; i++) {
		struct roce_sender_qp *q = &s->qps[s->turn];
		uint64_t ready = 0;

		s->turn = s->turn + 1 < s->flow.qps ? s->turn + 1 : 0;
		if (!has_data(q))
			continue;
		if (s->flow.options->dcqcn)
			ready = dcqcn_ready(&q->rate, &s->dcqcn, now);
		if (ready <= now) {
			write_packet(s, q, tx, now);
			return true;
		}
		if (ready < earliest)
			earliest = ready;
	}
	if (earliest != UINT64_MAX)
		arm(s, earliest);
	return false;
}

static void go_back(struct roce_sender *s, struct roce_sender_qp *q, uint64_t now)
{
	q->next = q->una;
	q->asked_end = q->una; /* whoever asked is sent again, and asks again */
	if (s->flow.options->dcqcn)
		dcqcn_on_loss(&q->rate, &s->dcqcn, now);
}

/* Messages of which each queue pair's part is acknowledged. */
static uint32_t messages_acknowledged(const struct roce_sender *s)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < s->flow.qps; i++) {
		uint32_t n = s->qps[i].una / s->qps[i].part.each;

		least = n < least ? n : least;
	}
	return least;
}

/* All before `end` have arrived. */
static void acknowledge(struct roce_sender *s, struct roce_sender_qp *q, uint32_t end, uint64_t now)
{
	/* its part of the first message that is not done: the pairs are looked through only then */
	uint32_t part_end = (s->flow.ep.done + 1) * q->part.each, una = q->una;

	if (end <= una)
		return;
	q->una = end;
	q->rto_from_ps = now;
	q->backoff = 0;
	if (q->next < end)
		q->next = end; /* it had gone back for nothing */
	if (roce_has_several(&s->flow) && una < part_end && end >= part_end)
		s->flow.ep.done = messages_acknowledged(s);
	if (end < q->part.packets || --s->left)
		return;
	s->flow.ep.finished_ps = now;
	s->flow.ep.deadline_ps = 0;
}

/*
 * An ACK names the last packet that has arrived, a NAK the one that is expected (9.7.5.1,
 * 9.7.5.2).
 */
static unsigned on_answer(struct roce_sender *s, struct roce_sender_qp *q,
	const struct rx_frame *rx, const struct bth *bth, uint64_t now)
{
	const uint8_t *extension = headers_extension(rx, sizeof(struct aeth_hdr));
	int64_t n = psn_number(q->una, bth->psn);
	bool full = q->next - q->una == ROCE_OUTSTANDING_MAX;
	struct aeth_hdr aeth;
	uint32_t syndrome;

	if (!extension || n < q->una || n >= q->high)
		return 0;
	memcpy(&aeth, extension, sizeof(aeth));
	syndrome = be32toh(aeth.syndrome_msn) >> 24;
	if (syndrome >> 5 == AETH_ACK >> 5) {
		acknowledge(s, q, (uint32_t)n + 1, now);
		return full ? TRANSPORT_WAKE : 0;
	}
	if (syndrome != AETH_NAK)
		return 0;
	s->flow.ep.stats.naks++;
	acknowledge(s, q, (uint32_t)n, now);
	go_back(s, q, now);
	return TRANSPORT_WAKE;
}

unsigned roce_sender_on_packet(
	struct roce_sender *s, const struct rx_frame *rx, const struct bth *bth, uint64_t now)
{
	struct roce_sender_qp *q;
	uint32_t i;

	if (s->flow.ep.finished_ps || !roce_flow_qp(&s->flow, bth->qp, &i))
		return 0;
	q = &s->qps[i];
	if (bth->opcode == RC_ACK)
		return on_answer(s, q, rx, bth, now);
	if (bth->opcode == ROCE_CNP && headers_extension(rx, CNP_RESERVED_BYTES)) {
		s->flow.ep.stats.marks++;
		if (s->flow.options->dcqcn)
			dcqcn_on_cnp(&q->rate, &s->dcqcn, now);
	}
	return 0;
}

unsigned roce_sender_on_timer(struct roce_sender *s, uint64_t now)
{
	s->flow.ep.deadline_ps = 0;
	for (uint32_t i = 0; i < s->flow.qps; i++) {
		struct roce_sender_qp *q = &s->qps[i];

		if (rto_due(s, q) <= now) {
			s->flow.ep.stats.timeouts++;
			go_back(s, q, now);
			if (q->backoff < RTO_BACKOFF_MAX)
				q->backoff++;
		}
		if (rto_due(s, q) != UINT64_MAX)
			arm(s, rto_due(s, q));
	}
	/* What waits for its rate is armed by next_packet, which knows. */
	return TRANSPORT_WAKE;
}

void roce_sender_state(const struct roce_sender *s, uint64_t now, struct sender_state *ret)
{
	uint64_t rate_bps = 0;

	for (uint32_t i = 0; i < s->flow.qps; i++) {
		const struct roce_sender_qp *q = &s->qps[i];
		uint64_t end = q->part.first + q->next;
		struct dcqcn rate = q->rate;

		if (q->una == q->part.packets)
			continue;
		/* a copy: what its timers would have done is caught up with at a look */
		dcqcn_ready(&rate, &s->dcqcn, now);
		rate_bps += rate.rate_bps;
		ret->in_flight_bytes += (uint64_t)(q->next - q->una) * s->flow.env->mtu;
		if (q->next > q->una && end == s->flow.packets)
			ret->in_flight_bytes -= s->flow.env->mtu - s->flow.last_bytes;
	}
	if (s->flow.options->dcqcn)
		ret->rate_bps = rate_bps;
}
