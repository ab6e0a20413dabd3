/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The input is a script for the two ends of a flow: frames of the fuzzer's making, the flow's own
 * packets, delivered or not, and time passing. Whatever happens, the books must stay sane.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/headers_parse.h"
#include "lib/strack_state.h"
#include "lib/transport_options.h"
#include "transport/headers.h"

#define MESSAGE 400000
#define MTU     1000
#define STEPS   4096

enum action { FORGED, SEND, SEND_LOST, SEND_TRIMMED, SEND_RETURNED, REPLY, TIMER, ACTIONS };

struct script {
	const uint8_t *at;
	size_t left;
};

struct bout {
	struct endpoint *ends[2]; /* receiver, sender */
	uint64_t now;
	uint8_t answer[HEADERS_MAX]; /* the last reply of the receiver */
	uint32_t answered;
};

static void take(struct script *s, void *to, size_t n)
{
	size_t have = n < s->left ? n : s->left;

	memset(to, 0, n);
	memcpy(to, s->at, have);
	s->at += have;
	s->left -= have;
}

static void check(const struct bout *b)
{
	const struct endpoint *s = b->ends[1];

	if (strack_inflight(s) > MESSAGE || strack_cwnd(s) < 1 ||
		(s->finished_ps && (strack_inflight(s) || s->deadline_ps)))
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

static void hand_in_whole(struct bout *b, int end, const uint8_t *bytes, uint32_t captured)
{
	struct rx_frame rx;

	if (headers_parse(bytes, captured, &rx))
		abort();
	hand_in(b, end, &rx);
}

/* Without its payload: at the receiver, or back at the sender a moment later. */
static void hand_in_cut(struct bout *b, const uint8_t *bytes, uint32_t captured, bool returned)
{
	struct rx_frame rx;

	if (headers_parse(bytes, captured, &rx))
		abort();
	rx.trimmed = !returned;
	rx.returned = returned;
	rx.transport_length = captured - rx.transport_offset;
	b->now += returned;
	hand_in(b, returned, &rx);
}

static void forged(struct bout *b, struct script *s)
{
	uint8_t head[4], *copy;
	struct rx_frame rx = {.transport_length = 12 + 16 + MTU + 4};

	take(s, head, sizeof(head));
	rx.captured = head[0] % 70;
	rx.transport_offset = head[1] > 250 ? head[1] : 0;
	rx.ecn = head[2] & 3;
	if (head[2] & 4)
		rx.transport_length = head[3];
	rx.trimmed = (head[2] & 0x18) == 8;
	rx.returned = (head[2] & 0x18) == 16;
	copy = malloc(rx.captured); /* of its exact size, for the sanitizer to watch */
	take(s, copy, rx.captured);
	rx.bytes = copy;
	hand_in(b, head[2] >> 7, &rx);
	free(copy);
}

static void step(struct bout *b, struct script *s)
{
	uint8_t op, bytes[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes};
	struct endpoint *sender = b->ends[1];

	take(s, &op, 1);
	b->now += 1 + (uint64_t)(op / ACTIONS) * 1000000;
	switch (op % ACTIONS) {
	case FORGED:
		forged(b, s);
		break;
	case SEND:
	case SEND_LOST:
		if (sender->ops->next_packet(sender, &tx, b->now) && op % ACTIONS == SEND)
			hand_in_whole(b, 0, bytes, tx.captured);
		break;
	case SEND_TRIMMED:
	case SEND_RETURNED:
		if (sender->ops->next_packet(sender, &tx, b->now))
			hand_in_cut(b, bytes, tx.captured, op % ACTIONS == SEND_RETURNED);
		break;
	case REPLY:
		if (b->answered)
			hand_in_whole(b, 1, b->answer, b->answered);
		break;
	case TIMER:
		if (sender->deadline_ps && sender->deadline_ps > b->now)
			b->now = sender->deadline_ps;
		if (sender->deadline_ps &&
			sender->ops->on_timer(sender, &tx, b->now) & TRANSPORT_REPLY)
			hand_in_whole(b, 0, bytes, tx.captured);
		break;
	}
	check(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct script s = {input, size};
	struct strack_options options = STRACK_OPTIONS_DEFAULT;
	struct transport_env env = {.mtu = MTU,
		.host_rate_bps = 40000000000,
		.base_rtt_ps = 8000000,
		.qps = 1,
		.options = &options};
	struct flow_spec flow = {.id = 1, .dst_host = 1, .bytes = MESSAGE, .seed = 1};
	struct bout b = {.now = 1};
	uint8_t first;

	take(&s, &first, 1);
	options.sack_packets = 1 + (first & 7);
	options.spray = (enum strack_spray)((first >> 3) % 3);
	options.fixed = first >> 6 & 1;
	env.ip6 = first >> 7;
	for (int end = 0; end < 2; end++) {
		b.ends[end] = calloc(1, strack_transport.size(&env, &flow, end));
		if (!b.ends[end])
			abort();
		strack_transport.open(b.ends[end], &env, &flow, end, b.now);
	}
	for (int i = 0; s.left && i < STEPS; i++)
		step(&b, &s);
	free(b.ends[0]);
	free(b.ends[1]);
	return 0;
}
