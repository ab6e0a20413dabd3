/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RoCEv2 on a wire that does nothing to it: frames, how a message is split, times, rates. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../lib/roce_bench.h"
#include "lib/headers_parse.h"
#include "transport/headers.h"
#include "transport/roce_receiver.h"
#include "transport/roce_sender.h"

#define RTT    (8 * US)
#define MTU    4096u
#define BTH_AT 42 /* in an IPv4 frame */

static const struct roce_options usual = ROCE_OPTIONS_DEFAULT;
static const struct roce_options line_rate = {.qps = 1};

static const struct roce_sender *sender_of(struct roce_bench *b, uint32_t flow)
{
	return (const struct roce_sender *)roce_bench_sender(b, flow);
}

/* Store and forward over two links; the ACK of the last packet comes straight back. */
static uint64_t closed_form(const struct roce_bench *b)
{
	const struct fake_config *c = &b->config;
	uint64_t bytes = c->message_bytes, n = (bytes + MTU - 1) / MTU;
	uint32_t extra = sizeof(struct reth_hdr), plain = HEADERS + ICRC_BYTES;
	uint32_t last = (uint32_t)(bytes - (n - 1) * MTU);
	uint64_t first = fake_wire_time(plain + extra + (n > 1 ? MTU : last), c->rate_bps);
	uint64_t middle = fake_wire_time(plain + MTU, c->rate_bps);
	uint64_t tail = n > 1 ? fake_wire_time(plain + last, c->rate_bps) : first;
	uint64_t ack = fake_wire_time(plain + sizeof(struct aeth_hdr), c->rate_bps);
	/* the queue's server starts when the first packet is there and is never idle */
	uint64_t all = n > 1 ? 2 * first + (n - 2) * middle + tail : 2 * first;
	uint64_t late = n > 1 ? first + (n - 2) * middle + 2 * tail : 0;

	return (all > late ? all : late) + ack + 4 * c->delay_ps;
}

static void an_idle_wire_is_filled(void **state)
{
	static const uint64_t sizes[] = {
		1, 4095, 4096, 4097, 5000, 8192, 3 * 4096, 40000, 2 << 20, (2 << 20) - 5};
	static const uint64_t gbps[] = {10, 100, 400, 800};

	(void)state;
	for (size_t i = 0; i < sizeof(gbps) / sizeof(gbps[0]); i++) {
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			struct roce_bench b;

			roce_bench_prepare(&b, 1, sizes[j], gbps[i], 20 * US);
			roce_bench_run(&b);
			assert_int_equal(roce_bench_sender(&b, 0)->finished_ps, closed_form(&b));
			assert_int_equal(roce_bench_sender(&b, 0)->stats.retransmitted, 0);
			assert_int_equal(roce_bench_sender(&b, 0)->stats.timeouts, 0);
			fake_wire_close(&b.wire);
		}
	}
}

/* ---- the split ------------------------------------------------------------------------------- */

struct split {
	struct roce_bench *b;
	uint32_t next[64];
	uint16_t port[64];
	uint32_t acks;
};

/* Each queue pair counts from 0, has its port, and frames its part as one write. */
static void see_split(void *arg, const struct fake_packet *p)
{
	struct split *s = arg;
	const struct transport_env *env = &s->b->env;
	uint32_t packets = s->b->packets, qps = env->qps < packets ? env->qps : packets;
	struct rx_frame rx;
	struct bth bth;
	uint32_t i, part;

	assert_int_equal(headers_parse(p->bytes, p->captured, &rx), 0);
	assert_true(headers_read_bth(&rx, &bth));
	i = qp_index(env, bth.qp);
	if (!p->forward) {
		assert_int_equal(bth.opcode, RC_ACK);
		s->acks++;
		return;
	}
	part = packets / qps + (i < packets % qps);
	assert_true(i < qps);
	assert_int_equal(bth.psn, s->next[i]++);
	if (bth.psn)
		assert_int_equal(p->path, s->port[i]);
	s->port[i] = p->path;
	if (part == 1)
		assert_int_equal(bth.opcode, RC_WRITE_ONLY);
	else if (bth.psn == 0)
		assert_int_equal(bth.opcode, RC_WRITE_FIRST);
	else
		assert_int_equal(bth.opcode, bth.psn + 1 == part ? RC_WRITE_LAST : RC_WRITE_MIDDLE);
	assert_int_equal(bth.ack_request, bth.psn % 16 == 15 || bth.psn + 1 == part);
}

static void a_message_is_split(void **state)
{
	static const uint8_t qps[] = {1, 2, 3, 4, 7, 16, 64};
	static const uint32_t packets[] = {1, 2, 3, 4, 5, 16, 63, 64, 65, 100, 1000};

	(void)state;
	for (size_t i = 0; i < sizeof(qps); i++) {
		for (size_t j = 0; j < sizeof(packets) / sizeof(packets[0]); j++) {
			uint32_t used = qps[i] < packets[j] ? qps[i] : packets[j], distinct = 0;
			struct roce_bench b;
			struct split s = {.b = &b};

			/* so slow a return that no packet asks for want of an answer */
			roce_bench_prepare(&b, 1, (uint64_t)packets[j] * MTU - 77, 400, 100 * US);
			b.env.qps = qps[i];
			b.config.hooks = (struct fake_hooks){.arg = &s, .see = see_split};
			roce_bench_run(&b);
			assert_int_equal(roce_bench_sender(&b, 0)->stats.paths_used, used);
			for (uint32_t q = 0; q < used; q++) {
				bool again = false;

				assert_int_equal(
					s.next[q], packets[j] / used + (q < packets[j] % used));
				for (uint32_t r = 0; r < q; r++)
					again |= s.port[r] == s.port[q];
				distinct += !again;
			}
			assert_true(distinct + 1 >= used); /* two may happen to share one */
			assert_true(s.acks >= used);
			fake_wire_close(&b.wire);
		}
	}
}

/* Every byte of the message has one place in one packet, and the receiver finds it. */
static void every_byte_has_its_place(void **state)
{
	static const uint64_t sizes[] = {1, 999, 1000, 1001, 63999, 64000, 100001};

	(void)state;
	for (uint8_t qps = 1; qps <= 64; qps += 9) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct transport_env env = {.mtu = 1000,
				.host_rate_bps = GBPS,
				.base_rtt_ps = RTT,
				.qps = qps,
				.options = &usual};
			struct flow_spec flow = {.id = 9, .dst_host = 1, .bytes = sizes[i]};
			struct endpoint *s = calloc(1, roce_transport.size(&env, &flow, true));
			struct endpoint *r = calloc(1, roce_transport.size(&env, &flow, false));
			uint8_t bytes[HEADERS_MAX], seen[102] = {0};
			struct tx_frame tx = {.bytes = bytes};
			uint64_t sum = 0;

			assert_true(s && r);
			roce_transport.open(s, &env, &flow, true, 0);
			roce_transport.open(r, &env, &flow, false, 0);
			while (roce_transport.next_packet(s, &tx, 0)) {
				uint32_t start, length;
				struct rx_frame rx;
				uint64_t offset;

				assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
				assert_true(
					roce_transport.payload(r, &rx, &offset, &start, &length));
				assert_int_equal(offset, tx.payload_offset);
				assert_int_equal(length, tx.payload_length);
				assert_int_equal(start, tx.captured);
				assert_int_equal(start + length + ICRC_BYTES, tx.length);
				assert_int_equal(offset % 1000, 0);
				assert_int_equal(seen[offset / 1000]++, 0);
				assert_false(
					roce_transport.payload(s, &rx, &offset, &start, &length));
				sum += length;
			}
			assert_int_equal(sum, sizes[i]);
			free(s);
			free(r);
		}
	}
}

/*
 * Each message of a connection is split, and no packet leaves before its message has begun. They
 * are done in order, though queue pairs go on by themselves and some lose packets.
 */
static void messages_are_split_alike(void **state)
{
	struct transport_env env = {.mtu = 1000,
		.host_rate_bps = GBPS,
		.base_rtt_ps = RTT,
		.qps = 4,
		.options = &line_rate};
	struct flow_spec flow = {.id = 3, .dst_host = 1, .bytes = 7000, .more = 2};
	struct endpoint *s = calloc(1, roce_transport.size(&env, &flow, true));
	struct endpoint *r = calloc(1, roce_transport.size(&env, &flow, false));
	uint8_t bytes[HEADERS_MAX], answer[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes}, reply = {.bytes = answer};
	uint32_t sent = 0, arrived[3] = {0}, released = 1;
	uint64_t now = 1;

	(void)state;
	assert_true(s && r);
	roce_transport.open(s, &env, &flow, true, 0);
	roce_transport.open(r, &env, &flow, false, 0);
	while (!s->finished_ps) {
		uint64_t before = r->received;
		uint32_t whole = 0;
		struct rx_frame rx;

		if (!roce_transport.next_packet(s, &tx, now)) {
			if (s->done == released) {
				roce_transport.release(s, ++released, now);
			} else { /* a queue pair's last packet was lost */
				now = s->deadline_ps;
				roce_transport.on_timer(s, &reply, now);
			}
			assert_true(roce_transport.next_packet(s, &tx, now));
		}
		assert_true(tx.payload_offset < 7000ull * released);
		assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
		if (++sent % 5 == 0)
			continue;
		if (roce_transport.on_packet(r, &rx, &reply, now) == TRANSPORT_REPLY) {
			assert_int_equal(headers_parse(answer, reply.captured, &rx), 0);
			roce_transport.on_packet(s, &rx, &reply, now);
		}
		arrived[tx.payload_offset / 7000] += r->received > before;
		while (whole < 3 && arrived[whole] == 7)
			whole++;
		assert_int_equal(r->done, whole);
		assert_true(s->done <= r->done);
	}
	assert_true(released == 3 && r->done == 3 && r->delivered_ps && r->received == 21000);
	assert_int_equal(s->stats.paths_used, 4);
	free(s);
	free(r);
}

static void order_of_service(void *arg, const struct fake_packet *p)
{
	uint32_t *count = arg;
	struct rx_frame rx;
	struct bth bth;

	if (!p->forward)
		return;
	assert_int_equal(headers_parse(p->bytes, p->captured, &rx), 0);
	assert_true(headers_read_bth(&rx, &bth));
	assert_int_equal((bth.qp - QP_FIRST) / 2, (*count)++ % 4);
}

static void queue_pairs_take_turns(void **state)
{
	struct roce_bench b;
	uint32_t count = 0;

	(void)state;
	roce_bench_prepare(&b, 1, 400 * MTU, 400, RTT);
	b.env.qps = 4;
	b.config.hooks = (struct fake_hooks){.arg = &count, .see = order_of_service};
	roce_bench_run(&b);
	assert_int_equal(count, 400);
	fake_wire_close(&b.wire);
}

/*
 * 24 bits of PSN: both ends are put close to where they wrap, and to where the signs of
 * differences do.
 */
static void psns_wrap(void **state)
{
	static const uint32_t starts[] = {(1 << 24) - 40, (1 << 23) - 40, (1u << 25) - 40};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint32_t packets = starts[i] + 200;
		struct transport_env env = {.mtu = 1000,
			.host_rate_bps = GBPS,
			.base_rtt_ps = RTT,
			.qps = 1,
			.options = &line_rate};
		struct flow_spec flow = {.id = 0, .dst_host = 1, .bytes = 1000ull * packets};
		struct roce_sender *s = calloc(1, roce_transport.size(&env, &flow, true));
		struct roce_receiver *r = calloc(1, roce_transport.size(&env, &flow, false));
		uint8_t bytes[HEADERS_MAX], answer[HEADERS_MAX];
		struct tx_frame tx = {.bytes = bytes}, reply = {.bytes = answer};
		uint32_t sent = 0;

		assert_true(s && r);
		roce_transport.open(&s->flow.ep, &env, &flow, true, 0);
		roce_transport.open(&r->flow.ep, &env, &flow, false, 0);
		s->qps[0].una = s->qps[0].next = s->qps[0].high = s->qps[0].asked_end = starts[i];
		r->qps[0].epsn = starts[i];
		while (!s->flow.ep.finished_ps) {
			struct rx_frame rx;

			assert_true(roce_transport.next_packet(&s->flow.ep, &tx, ++sent));
			assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
			if (sent % 7 == 0) /* lost: the next one is answered with a NAK */
				continue;
			if (roce_transport.on_packet(&r->flow.ep, &rx, &reply, sent) !=
				TRANSPORT_REPLY)
				continue;
			assert_int_equal(headers_parse(answer, reply.captured, &rx), 0);
			roce_transport.on_packet(&s->flow.ep, &rx, &reply, sent);
		}
		assert_true(r->flow.ep.delivered_ps > 0);
		assert_int_equal(s->qps[0].una, packets);
		assert_true(s->flow.ep.stats.naks > 20);
		free(s);
		free(r);
	}
}

/*
 * A queue pair stops half the PSNs ahead of what is acknowledged, having asked, and goes on
 * after.
 */
static void in_flight_has_a_limit(void **state)
{
	struct transport_env env = {
		.mtu = 256, .host_rate_bps = GBPS, .base_rtt_ps = RTT, .qps = 1, .options = &usual};
	struct flow_spec flow = {.dst_host = 1, .bytes = 256ull * (ROCE_OUTSTANDING_MAX + 9)};
	struct roce_sender *s = calloc(1, roce_transport.size(&env, &flow, true));
	uint8_t bytes[HEADERS_MAX];
	struct tx_frame tx = {.bytes = bytes};
	struct rx_frame rx;
	struct bth bth;

	(void)state;
	assert_non_null(s);
	roce_transport.open(&s->flow.ep, &env, &flow, true, 0);
	s->ack_every = 1000;
	s->qps[0].next = s->qps[0].high = ROCE_OUTSTANDING_MAX - 1;
	assert_true(roce_transport.next_packet(&s->flow.ep, &tx, 0));
	assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
	assert_true(headers_read_bth(&rx, &bth) && bth.ack_request);
	assert_false(roce_transport.next_packet(&s->flow.ep, &tx, 0));
	/* an ACK of the first 100, written over the last packet */
	bytes[BTH_AT] = RC_ACK;
	bytes[BTH_AT + 7] = (uint8_t)flow_qp(&env, 0, 0, true);
	bytes[BTH_AT + 8] = bytes[BTH_AT + 9] = bytes[BTH_AT + 10] = 0;
	bytes[BTH_AT + 11] = 99;
	bytes[BTH_AT + 12] = 0x1f;
	rx.captured = BTH_AT + 16;
	assert_int_equal(roce_transport.on_packet(&s->flow.ep, &rx, &tx, 9), TRANSPORT_WAKE);
	assert_int_equal(s->qps[0].una, 100);
	assert_true(roce_transport.next_packet(&s->flow.ep, &tx, 10));
	assert_int_equal(s->qps[0].next, ROCE_OUTSTANDING_MAX + 1);
	free(s);
}

/* A part beyond 2 GB is several writes: the longest that InfiniBand has. */
static void long_parts_are_several_writes(void **state)
{
	struct transport_env env = {
		.mtu = 4096, .host_rate_bps = GBPS, .base_rtt_ps = RTT, .qps = 1};
	struct flow_spec spec = {.dst_host = 1, .bytes = (1ull << 32) + 4097};
	struct roce_flow f = {0};
	struct roce_part part;
	struct roce_packet p;
	uint32_t n = 1u << 19;

	(void)state;
	roce_flow_open(&f, &env, &spec, true);
	part = roce_part(&f, 0);
	assert_int_equal(part.packets, 2 * n + 2);
	roce_packet(&f, &part, 0, &p);
	assert_true(p.opcode == RC_WRITE_FIRST && p.write_bytes == 1u << 31);
	roce_packet(&f, &part, n - 1, &p);
	assert_true(p.opcode == RC_WRITE_LAST && p.payload == 4096);
	roce_packet(&f, &part, n, &p);
	assert_true(p.opcode == RC_WRITE_FIRST && p.write_bytes == 1u << 31);
	roce_packet(&f, &part, 2 * n, &p);
	assert_true(p.opcode == RC_WRITE_FIRST && p.write_bytes == 4097);
	assert_int_equal(p.offset, 1ull << 32);
	roce_packet(&f, &part, 2 * n + 1, &p);
	assert_true(p.opcode == RC_WRITE_LAST && p.payload == 1);
}

/* ---- notification point ---------------------------------------------------------------------- */

struct notes {
	uint64_t last[4], least, count;
	const struct roce_bench *b;
};

static void see_cnps(void *arg, const struct fake_packet *p)
{
	struct notes *n = arg;
	struct rx_frame rx;
	struct bth bth;
	uint32_t i;

	if (p->forward || p->opcode != ROCE_CNP)
		return;
	assert_int_equal(headers_parse(p->bytes, p->captured, &rx), 0);
	assert_true(headers_read_bth(&rx, &bth));
	i = qp_index(&n->b->env, bth.qp);
	if (n->last[i] && p->sent_ps - n->last[i] < n->least)
		n->least = p->sent_ps - n->last[i];
	n->last[i] = p->sent_ps;
	n->count++;
}

/* Everything is marked: a CNP each 50 us a queue pair, and still every ACK that is due. */
static void cnps_keep_their_distance(void **state)
{
	(void)state;
	for (uint8_t qps = 1; qps <= 4; qps += 3) {
		struct roce_bench b;
		struct notes n = {.least = UINT64_MAX, .b = &b};
		const struct endpoint *s;

		roce_bench_prepare(&b, 2, 16 << 20, 400, RTT);
		b.config.senders = 1;
		b.config.queue_rate_bps = 200 * GBPS;
		b.config.kmax_bytes = 1;
		b.env.qps = qps;
		b.options.dcqcn = false;
		b.config.hooks = (struct fake_hooks){.arg = &n, .see = see_cnps};
		roce_bench_run(&b);
		s = roce_bench_sender(&b, 0);
		assert_int_equal(s->stats.marks, n.count);
		assert_int_equal(roce_bench_receiver(&b, 0)->stats.marks, n.count);
		assert_in_range(n.least, 50 * US, 51 * US);
		assert_in_range(n.count, qps * (s->finished_ps / (51 * US) - 1),
			qps * (s->finished_ps / (50 * US) + 1));
		assert_int_equal(s->stats.retransmitted, 0);
		fake_wire_close(&b.wire);
	}
}

/*
 * A packet that is marked and asks for an ACK: the CNP takes the frame, the ACK comes right
 * after.
 */
static void an_ack_follows_its_cnp(void **state)
{
	struct roce_bench b;

	(void)state;
	roce_bench_prepare(&b, 1, 100, 400, RTT);
	roce_bench_run(&b);
	fake_wire_close(&b.wire);
	for (int nak = 0; nak < 2; nak++) {
		struct transport_env env = {.mtu = 1000,
			.host_rate_bps = GBPS,
			.base_rtt_ps = RTT,
			.qps = 1,
			.options = &usual};
		struct flow_spec flow = {.id = 3, .dst_host = 1, .bytes = 2000};
		struct endpoint *s = calloc(1, roce_transport.size(&env, &flow, true));
		struct endpoint *r = calloc(1, roce_transport.size(&env, &flow, false));
		uint8_t bytes[HEADERS_MAX];
		struct tx_frame tx = {.bytes = bytes};
		struct rx_frame rx;
		struct bth bth;

		assert_true(s && r);
		roce_transport.open(s, &env, &flow, true, 0);
		roce_transport.open(r, &env, &flow, false, 0);
		for (int i = 0; i < 2; i++) {
			assert_true(roce_transport.next_packet(s, &tx, 0));
			assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
			if (!i && !nak)
				assert_int_equal(roce_transport.on_packet(r, &rx, &tx, 5), 0);
		}
		rx.ecn = ECN_CE;
		assert_int_equal(roce_transport.on_packet(r, &rx, &tx, 77), TRANSPORT_REPLY);
		assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
		assert_true(headers_read_bth(&rx, &bth));
		assert_int_equal(bth.opcode, ROCE_CNP);
		assert_int_equal(r->deadline_ps, 77);
		assert_int_equal(roce_transport.on_timer(r, &tx, 77), TRANSPORT_REPLY);
		assert_int_equal(r->deadline_ps, 0);
		assert_int_equal(headers_parse(bytes, tx.captured, &rx), 0);
		assert_true(headers_read_bth(&rx, &bth));
		assert_int_equal(bth.opcode, RC_ACK);
		assert_int_equal(bth.psn, !nak);
		assert_int_equal(roce_transport.on_timer(r, &tx, 78), 0);
		free(s);
		free(r);
	}
}

/* Incast with marks: the queue goes down, the line stays busy, everybody finishes. */
static void dcqcn_drains_the_queue(void **state)
{
	struct roce_bench b;
	uint64_t off, on, line;

	(void)state;
	for (int dcqcn = 0; dcqcn < 2; dcqcn++) {
		roce_bench_prepare(&b, 8, 16 << 20, 100, RTT);
		b.options.dcqcn = dcqcn;
		b.config.kmin_bytes = 100000; /* one BDP */
		b.config.kmax_bytes = 400000;
		b.config.measure_from_ps = 1000 * US;
		roce_bench_run(&b);
		*(dcqcn ? &on : &off) = b.wire.depth_sum / b.wire.samples;
		line = 8 * (uint64_t)b.packets *
		       fake_wire_time(HEADERS + MTU + ICRC_BYTES, 100 * GBPS);
		assert_true(b.wire.now < line * 3 / 2);
		if (dcqcn)
			for (uint32_t i = 0; i < 8; i++)
				assert_true(roce_bench_sender(&b, i)->stats.marks > 0);
		fake_wire_close(&b.wire);
	}
	print_message("8:1 incast at 100 Gbps, mean queue from 1 ms on: %llu KB with DCQCN, %llu "
		      "without\n",
		(unsigned long long)on / 1000, (unsigned long long)off / 1000);
	assert_true(on * 10 < off);
}

/* What 0 stands for, and that DCQCN's values are scaled from those for 40 Gbps. */
static void defaults(void **state)
{
	struct roce_bench b;
	const struct roce_sender *s;

	(void)state;
	roce_bench_prepare(&b, 1, 1, 400, RTT);
	roce_bench_run(&b);
	s = sender_of(&b, 0);
	assert_int_equal(s->dcqcn.line_bps, 400 * GBPS);
	assert_int_equal(s->dcqcn.min_bps, 400 * GBPS / 1000);
	assert_int_equal(s->dcqcn.additive_bps, 400000000);
	assert_int_equal(s->dcqcn.hyper_bps, 2000000000);
	assert_int_equal(s->dcqcn.increase_bytes, 100000000);
	assert_int_equal(s->dcqcn.increase_ps, 55 * US);
	assert_int_equal(s->dcqcn.alpha_ps, 55 * US);
	assert_int_equal(s->rto_ps, 1000 * US);
	assert_int_equal(s->ack_every, 16);
	fake_wire_close(&b.wire);

	roce_bench_prepare(&b, 1, 1, 400, 200 * US);
	b.options.reaction.additive_bps = 5;
	b.options.reaction.hyper_bps = 6;
	b.options.reaction.increase_bytes = 7;
	b.options.reaction.increase_ps = 8; /* the least is 1 us */
	b.options.reaction.alpha_ps = 9 * US;
	roce_bench_run(&b);
	s = sender_of(&b, 0);
	assert_int_equal(s->rto_ps, 10 * b.env.base_rtt_ps);
	assert_int_equal(s->dcqcn.additive_bps, 5);
	assert_int_equal(s->dcqcn.hyper_bps, 6);
	assert_int_equal(s->dcqcn.increase_bytes, 7);
	assert_int_equal(s->dcqcn.increase_ps, US);
	assert_int_equal(s->dcqcn.alpha_ps, 9 * US);
	fake_wire_close(&b.wire);
}

/* Steps and the lowest rate that follow the line, and what is given instead. */
static void values_follow_the_line(void **state)
{
	static const struct {
		enum dcqcn_scale scale;
		uint64_t gbps, additive_mbps, hyper_mbps, bytes, min_mbps;
	} cases[] = {
		{DCQCN_PAPER, 40, 40, 200, 10000000, 40},
		{DCQCN_PAPER, 800, 800, 4000, 200000000, 800},
		{DCQCN_TUNED, 25, 5, 50, 0, 250},
		{DCQCN_TUNED, 100, 20, 200, 0, 1000},
		{DCQCN_TUNED, 400, 80, 800, 0, 1000},
		{DCQCN_TUNED, 2000, 400, 4000, 0, 2000},
		{DCQCN_STRACK_PAPER, 400, 2000, 10000, 100000000, 400},
	};
	struct roce_bench b;
	const struct dcqcn_params *p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		roce_bench_prepare(&b, 1, 1, cases[i].gbps, RTT);
		b.options.reaction.scale = cases[i].scale;
		roce_bench_run(&b);
		p = &sender_of(&b, 0)->dcqcn;
		assert_int_equal(p->additive_bps, cases[i].additive_mbps * 1000000);
		assert_int_equal(p->hyper_bps, cases[i].hyper_mbps * 1000000);
		assert_int_equal(p->increase_bytes, cases[i].bytes);
		assert_int_equal(p->min_bps, cases[i].min_mbps * 1000000);
		assert_int_equal(p->rounds, 5);
		assert_int_equal(p->alpha_start, 1u << 30);
		assert_int_equal(p->gain, 1u << 22);
		assert_false(p->keep_target);
		fake_wire_close(&b.wire);
	}
	/* a lowest rate above the line is the line */
	roce_bench_prepare(&b, 1, 1, 400, RTT);
	b.options = (struct roce_options){.dcqcn = true,
		.reaction = {.clamp = DCQCN_CLAMP_AFTER_INCREASE,
			.min_bps = 500 * GBPS,
			.rounds = 2,
			.alpha_start = 0.75,
			.gain = 1e-12}};
	roce_bench_run(&b);
	p = &sender_of(&b, 0)->dcqcn;
	assert_int_equal(p->min_bps, 400 * GBPS);
	assert_int_equal(p->rounds, 2);
	assert_int_equal(p->alpha_start, 3u << 28);
	assert_int_equal(p->gain, 1); /* the smallest that there is */
	assert_true(p->keep_target);
	fake_wire_close(&b.wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_wire_is_filled),
		cmocka_unit_test(a_message_is_split),
		cmocka_unit_test(every_byte_has_its_place),
		cmocka_unit_test(messages_are_split_alike),
		cmocka_unit_test(queue_pairs_take_turns),
		cmocka_unit_test(psns_wrap),
		cmocka_unit_test(in_flight_has_a_limit),
		cmocka_unit_test(long_parts_are_several_writes),
		cmocka_unit_test(cnps_keep_their_distance),
		cmocka_unit_test(an_ack_follows_its_cnp),
		cmocka_unit_test(dcqcn_drains_the_queue),
		cmocka_unit_test(defaults),
		cmocka_unit_test(values_follow_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
