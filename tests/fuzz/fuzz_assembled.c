/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The input is a script for the two ends of an assembled transport, of parts that its head chooses:
 * frames of the fuzzer's making, the flow's own, delivered late, twice, cut or not at all, and time
 * passing. Whatever happens, the books must stay sane; and if no frame was forged, all arrives once
 * the network works again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/headers_parse.h"
#include "scenario/scenario.h"
#include "transport/assembled.h"
#include "transport/headers.h"

#define MESSAGE 40000
#define MTU     1000
#define STEPS   4096
#define KEPT    8
#define WORKS   100000 /* frames, of which the end of a message takes far fewer */

enum action { FORGED, SEND, SEND_LOST, SEND_TRIMMED, SEND_RETURNED, DATA, REPLY, TIMER, RELEASE };
enum { ACTIONS = RELEASE + 1 };

struct script {
	const uint8_t *at;
	size_t left;
};

struct frame {
	uint8_t bytes[HEADERS_MAX];
	uint32_t captured;
};

struct bout {
	struct endpoint *ends[2]; /* receiver, sender */
	uint64_t now, bytes;      /* of all messages */
	uint32_t messages;
	struct frame kept[2][KEPT]; /* the latest answers and data, each in turn */
	uint32_t count[2];
	bool forged;
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
	const struct endpoint *s = b->ends[1], *r = b->ends[0];
	struct sender_state state = SENDER_STATE_NONE;

	s->ops->sender_state(s, b->now, &state);
	/* symbols of a code are sent without end */
	if (state.in_flight_bytes > (uint64_t)s->stats.packets_sent * MTU || !state.window_bytes ||
		s->done > b->messages || r->done > b->messages || r->received > b->bytes ||
		(s->finished_ps && s->deadline_ps) || (s->finished_ps && s->done != b->messages) ||
		(r->delivered_ps && (r->received != b->bytes || r->done != b->messages)) ||
		(!b->forged && (s->done > r->done || (s->finished_ps && !r->delivered_ps))))
		abort();
}

static void keep(struct bout *b, bool data, const struct tx_frame *tx)
{
	struct frame *f = &b->kept[data][b->count[data]++ % KEPT];

	memcpy(f->bytes, tx->bytes, HEADERS_MAX);
	f->captured = tx->captured;
}

static void hand_in(struct bout *b, int end, const struct rx_frame *rx)
{
	uint8_t bytes[HEADERS_MAX] = {0};
	struct tx_frame reply = {.bytes = bytes};

	if (b->ends[end]->ops->on_packet(b->ends[end], rx, &reply, b->now) & TRANSPORT_REPLY)
		keep(b, false, &reply);
}

/* One that was sent, as it is or as a switch left it. */
static void hand_in_kept(
	struct bout *b, int end, const struct frame *f, enum action how, uint8_t ecn)
{
	struct rx_frame rx;

	if (headers_parse(f->bytes, f->captured, &rx))
		abort();
	rx.ecn = ecn;
	rx.trimmed = how == SEND_TRIMMED;
	rx.returned = how == SEND_RETURNED;
	if (rx.trimmed || rx.returned) {
		rx.transport_length = sizeof(struct bth_hdr) + TRIMMED_EXTENSION;
		rx.captured = rx.transport_offset + rx.transport_length;
	}
	b->now++;
	hand_in(b, end, &rx);
}

static void forged(struct bout *b, struct script *s)
{
	uint8_t head[4], *copy;
	struct rx_frame rx = {.transport_length = 12 + 16 + MTU + 4};
	uint32_t start, length;
	uint64_t offset;

	take(s, head, sizeof(head));
	rx.captured = head[0] % 70;
	rx.transport_offset = head[1] > 250 ? head[1] : 0;
	rx.ecn = head[2] & 3;
	rx.trimmed = (head[2] & 0x18) == 8;
	rx.returned = (head[2] & 0x18) == 16;
	copy = malloc(rx.captured); /* of its exact size, for the sanitizer to watch */
	take(s, copy, rx.captured);
	rx.bytes = copy;
	if (b->ends[0]->ops->payload(b->ends[0], &rx, &offset, &start, &length) && length > MTU)
		abort();
	/* hops are read from the IP header, which an engine has checked */
	if (head[2] >> 7 || rx.transport_offset) {
		b->forged = true;
		hand_in(b, head[2] >> 7, &rx);
	}
	free(copy);
}

static bool send(struct bout *b, enum action how, uint8_t ecn)
{
	uint8_t bytes[HEADERS_MAX] = {0};
	struct tx_frame tx = {.bytes = bytes};
	struct endpoint *sender = b->ends[1];

	if (!sender->ops->next_packet(sender, &tx, b->now))
		return false;
	keep(b, true, &tx);
	if (how != SEND_LOST)
		hand_in_kept(
			b, how == SEND_RETURNED, &b->kept[1][(b->count[1] - 1) % KEPT], how, ecn);
	return true;
}

static void fire(struct bout *b)
{
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes};
	struct endpoint *sender = b->ends[1];

	if (sender->deadline_ps > b->now)
		b->now = sender->deadline_ps;
	if (sender->deadline_ps)
		sender->ops->on_timer(sender, &tx, b->now);
}

static void step(struct bout *b, struct script *s)
{
	struct endpoint *sender = b->ends[1];
	uint32_t more;
	uint8_t op;

	take(s, &op, 1);
	more = op / ACTIONS;
	b->now += 1 + (uint64_t)more * 1000000;
	switch (op % ACTIONS) {
	case FORGED:
		forged(b, s);
		break;
	case DATA:
	case REPLY:
		if (more % KEPT < b->count[op % ACTIONS == DATA])
			hand_in_kept(b, op % ACTIONS == REPLY,
				&b->kept[op % ACTIONS == DATA][more % KEPT], SEND, ECN_ECT0);
		break;
	case TIMER:
		fire(b);
		break;
	case RELEASE:
		sender->ops->release(sender, b->messages, b->now);
		break;
	default:
		send(b, op % ACTIONS, more & 1 ? ECN_CE : ECN_ECT0);
	}
	check(b);
}

/* The network works: all arrives. */
static void finish(struct bout *b)
{
	struct endpoint *sender = b->ends[1];

	sender->ops->release(sender, b->messages, b->now);
	for (uint32_t i = 0; !sender->finished_ps; i++) {
		uint32_t answers = b->count[0];

		b->now += 100000;
		if (!send(b, SEND, ECN_ECT0)) {
			if (!sender->deadline_ps)
				abort();
			fire(b);
		}
		if (b->count[0] != answers)
			hand_in_kept(b, 1, &b->kept[0][answers % KEPT], SEND, ECN_ECT0);
		check(b);
		if (i == WORKS)
			abort();
	}
}

/* ---- the parts ---- */

static const char *const needs[] = {
	[TRANSPORT_ANY] = "",
	[TRANSPORT_TRIMMED] = "switch: {trim: receiver}\n",
	[TRANSPORT_RETURNED] = "switch: {trim: sender}\n",
};

/* Scenarios with each part, under the defaults of its keys, until the process ends. */
static struct scenario *with_paths[PATHS_KINDS], *with_control[CONTROL_KINDS],
	*with_recovery[RECOVERY_KINDS];

static struct scenario *with(const char *which, const char *name, enum transport_trims trims)
{
	struct diags d = DIAGS_INIT;
	struct scenario *s = NULL;
	char text[256];

	snprintf(text, sizeof(text),
		"name: a\ntopology: {fat_tree: {k: 4}}\n%shost: {transport: {assembled: {%s: %s}}}\n",
		needs[trims], which, name);
	if (scenario_load_text(&s, "t.yaml", text, strlen(text), NULL, 0, &d))
		abort();
	diags_release(&d);
	return s;
}

static const struct assembled_options *options_of(const struct scenario *s)
{
	return s->host.transport.options;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < PATHS_KINDS; i++)
		with_paths[i] = with("paths", paths_kinds[i]->name, TRANSPORT_ANY);
	for (int i = 0; i < CONTROL_KINDS; i++)
		with_control[i] = with("control", control_kinds[i]->name, TRANSPORT_ANY);
	for (int i = 0; i < RECOVERY_KINDS; i++)
		with_recovery[i] =
			with("recovery", recovery_kinds[i]->name, recovery_kinds[i]->needs);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct script s = {input, size};
	struct assembled_options options;
	struct transport_env env = {.mtu = MTU,
		.host_rate_bps = 40000000000,
		.base_rtt_ps = 8000000,
		.queue_bytes = 100000,
		.qps = 1,
		.options = &options};
	struct flow_spec flow = {
		.id = 1, .dst_host = 1, .bytes = MESSAGE, .fair_bps = 10000000000, .seed = 1};
	struct bout b = {.now = 1};
	uint8_t head[4];

	take(&s, head, sizeof(head));
	options = *options_of(with_recovery[head[0] % RECOVERY_KINDS]);
	options.control = head[1] % CONTROL_KINDS;
	options.control_options = options_of(with_control[options.control])->control_options;
	options.paths = head[2] % PATHS_KINDS;
	options.paths_options = options_of(with_paths[options.paths])->paths_options;
	env.ip6 = head[3] & 1;
	flow.more = head[3] & 2;
	flow.bytes -= flow.more ? 0 : head[3];
	b.messages = 1 + flow.more;
	b.bytes = b.messages * flow.bytes;
	for (int end = 0; end < 2; end++) {
		b.ends[end] = calloc(1, assembled_transport.size(&env, &flow, end));
		if (!b.ends[end])
			abort();
		assembled_transport.open(b.ends[end], &env, &flow, end, b.now);
	}
	for (int i = 0; s.left && i < STEPS; i++)
		step(&b, &s);
	if (!b.forged)
		finish(&b);
	free(b.ends[0]);
	free(b.ends[1]);
	return 0;
}
