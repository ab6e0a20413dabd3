/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The input is a script for the two ends of a flow: frames of the fuzzer's making, the flow's own
 * packets, delivered or not, and time passing. Whatever happens, the books must stay sane, and data
 * that was never handed in never counts as delivered.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/headers_parse.h"
#include "lib/transport_options.h"
#include "transport/headers.h"
#include "transport/roce_receiver.h"
#include "transport/roce_sender.h"

#define MESSAGE 400000
#define MTU     1000
#define STEPS   4096

enum action { FORGED, SEND, SEND_LOST, SEND_MARKED, REPLY, TIMER, ACTIONS };

struct script {
	const uint8_t *at;
	size_t left;
};

struct bout {
	struct endpoint *ends[2]; /* receiver, sender */
	struct transport_env env;
	uint64_t now;
	uint8_t answer[HEADERS_MAX]; /* the last reply of the receiver */
	uint32_t answered;
	uint32_t forgeries; /* of frames that the receiver took for its own */
};

static void take(struct script *s, void *to, size_t n)
{
	size_t have = n < s->left ? n : s->left;

	memset(to, 0, n);
	memcpy(to, s->at, have);
	s->at += have;
	s->left -= have;
}

static void check_sender(const struct roce_sender *s)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < s->flow.qps; i++) {
		const struct roce_sender_qp *q = &s->qps[i];

		left += q->una < q->part.packets;
		if (q->una > q->next || q->next > q->high || q->high > q->part.packets ||
			q->asked_end > q->next || q->rate.rate_bps < s->dcqcn.min_bps ||
			q->rate.rate_bps > s->dcqcn.line_bps ||
			q->rate.target_bps > s->dcqcn.line_bps || q->rate.alpha > DCQCN_ALPHA_ONE)
			abort();
	}
	if (left != s->left || !left != !!s->flow.ep.finished_ps ||
		(s->flow.ep.finished_ps && s->flow.ep.deadline_ps))
		abort();
}

static void check_receiver(const struct roce_receiver *r)
{
	uint32_t left = 0, due = 0;

	for (uint32_t i = 0; i < r->flow.qps; i++) {
		left += r->qps[i].epsn < r->qps[i].part.packets;
		due += r->qps[i].due != ROCE_NOTHING;
		if (r->qps[i].epsn > r->qps[i].part.packets)
			abort();
	}
	if (left != r->left || due != r->due || !left != !!r->flow.ep.delivered_ps ||
		(due && !r->flow.ep.deadline_ps))
		abort();
}

static void check(const struct bout *b)
{
	const struct roce_sender *s = (const struct roce_sender *)b->ends[1];
	const struct roce_receiver *r = (const struct roce_receiver *)b->ends[0];

	check_sender(s);
	check_receiver(r);
	/*
	 * in order, and only what was sent: unless somebody forged data, which nothing guards
	 * against
	 */
	for (uint32_t i = 0; i < r->flow.qps && !b->forgeries; i++)
		if (r->qps[i].epsn > s->qps[i].high)
			abort();
}

static void hand_in(struct bout *b, int end, const struct rx_frame *rx)
{
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame reply = {.bytes = bytes};
	unsigned asks = b->ends[end]->ops->on_packet(b->ends[end], rx, &reply, b->now);

	if (!(asks & TRANSPORT_REPLY))
		return;
	memcpy(b->answer, bytes, sizeof(bytes));
	b->answered = reply.captured;
}

static void hand_in_whole(
	struct bout *b, int end, const uint8_t *bytes, uint32_t captured, uint8_t ecn)
{
	struct rx_frame rx;

	if (headers_parse(bytes, captured, &rx))
		abort();
	rx.ecn = ecn;
	hand_in(b, end, &rx);
}

static void forged(struct bout *b, struct script *s)
{
	uint8_t head[4], *copy;
	struct rx_frame rx = {.transport_length = 12 + MTU + 4};
	uint32_t start, length;
	uint64_t offset;

	take(s, head, sizeof(head));
	rx.captured = head[0] % 70;
	rx.transport_offset = head[1] > 250 ? head[1] : 0;
	rx.ecn = head[2] & 3;
	rx.trimmed = (head[2] & 0x18) == 8;
	rx.returned = (head[2] & 0x18) == 16;
	if (head[2] & 4)
		rx.transport_length = head[3] & 0x80 ? 12 + 16 + MTU + 4 : head[3];
	copy = malloc(rx.captured); /* of its exact size, for the sanitizer to watch */
	take(s, copy, rx.captured);
	rx.bytes = copy;
	if (b->ends[0]->ops->payload(b->ends[0], &rx, &offset, &start, &length)) {
		if (offset + length > MESSAGE || length > MTU)
			abort();
		b->forgeries++;
	}
	hand_in(b, head[2] >> 7, &rx);
	free(copy);
}

static void send(struct bout *b, enum action how)
{
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes};

	if (b->ends[1]->ops->next_packet(b->ends[1], &tx, b->now) && how != SEND_LOST)
		hand_in_whole(b, 0, bytes, tx.captured, how == SEND_MARKED ? ECN_CE : ECN_ECT0);
}

static void fire(struct bout *b, int end)
{
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes};
	struct endpoint *ep = b->ends[end];

	if (!ep->deadline_ps)
		return;
	if (ep->deadline_ps > b->now)
		b->now = ep->deadline_ps;
	if (ep->ops->on_timer(ep, &tx, b->now) & TRANSPORT_REPLY)
		hand_in_whole(b, !end, bytes, tx.captured, ECN_ECT0);
}

static void step(struct bout *b, struct script *s)
{
	uint8_t op;

	take(s, &op, 1);
	b->now += 1 + (uint64_t)(op / ACTIONS) * 1000000;
	switch (op % ACTIONS) {
	case FORGED:
		forged(b, s);
		break;
	case REPLY:
		if (b->answered)
			hand_in_whole(b, 1, b->answer, b->answered, ECN_ECT0);
		break;
	case TIMER:
		fire(b, op / ACTIONS % 2);
		break;
	default:
		send(b, op % ACTIONS);
	}
	check(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct script s = {input, size};
	struct roce_options options = ROCE_OPTIONS_DEFAULT;
	struct flow_spec flow = {.id = 1, .dst_host = 1, .bytes = MESSAGE, .seed = 1};
	struct bout b = {.now = 1,
		.env = {.mtu = MTU,
			.host_rate_bps = 40000000000,
			.base_rtt_ps = 8000000,
			.options = &options}};
	uint8_t first;

	take(&s, &first, 1);
	b.env.qps = 1 + (first & 7);
	options.dcqcn = first >> 3 & 1;
	options.ack_every = first >> 4 & 7;
	b.env.ip6 = first >> 7;
	for (int end = 0; end < 2; end++) {
		b.ends[end] = calloc(1, roce_transport.size(&b.env, &flow, end));
		if (!b.ends[end])
			abort();
		roce_transport.open(b.ends[end], &b.env, &flow, end, b.now);
	}
	for (int i = 0; s.left && i < STEPS; i++)
		step(&b, &s);
	free(b.ends[0]);
	free(b.ends[1]);
	return 0;
}
