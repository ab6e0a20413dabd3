/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets that find no room: trimmed, forwarded or returned, and where even headers have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT  BENCH_LOCAL(1) /* towards the receiver */
#define BACK BENCH_LOCAL(3) /* towards the sender */
#define TCP  6

static bool goes_back(const struct switch_bench *b)
{
	return b->dp->tables.config.trim_to_sender;
}

static bool may_go_back(const struct switch_bench *b)
{
	return b->dp->tables.config.trim_or_return || goes_back(b);
}

/* A packet of a class that is trimmed, from a host behind BACK to one behind OUT. */
static struct packet_spec spec_of(uint8_t dscp, bool ip6)
{
	struct packet_spec spec = packet_spec_default;

	spec.src_host = TO_LAST;
	spec.tos = (uint8_t)(dscp << 2 | 2);
	spec.ip6 = ip6;
	return spec;
}

static void fill(struct switch_bench *b, uint32_t port, uint32_t class)
{
	bench_queue(b, port, class)->limit_bytes = 0;
	bench_accept(b);
}

/* Its queue at OUT being full: where its headers go first. */
static void is_cut(struct trial *t, bool back)
{
	t->chosen = OUT;
	t->flags |= VERDICT_TRIMMED | (back ? VERDICT_RETURNED : 0);
	t->dscp = back ? DSCP_RETURNED : DSCP_TRIMMED;
}

static void expect_cut(struct switch_bench *b, struct trial *t)
{
	is_cut(t, goes_back(b));
	trial_forwards(b, t, goes_back(b) ? BACK : OUT);
}

/* The smallest payload that is trimmed: the packet is twice as long as its headers. */
static uint16_t least_payload(struct packet_spec spec)
{
	struct trial t;

	spec.payload = 0;
	trial_init(&t, &spec);
	return (uint16_t)(2 * (spec.ip6 ? 90 : 70) - t.hop.length);
}

static const uint8_t trimmed_dscps[] = {DSCP_TRIM, DSCP_TRIM_TOO, 63};

/* Of whatever length, with whatever ECN, however much of it is there. */
void switch_what_finds_no_room_is_cut(void **state)
{
	uint16_t payloads[] = {0, 0, 1024, 8192, 60000}; /* the first two: see below */
	struct switch_bench *b = *state;
	struct trial t;

	fill(b, OUT, CLASS_TRIM);
	fill(b, OUT, CLASS_TRIM_TOO);
	for (unsigned i = 0; i < sizeof(trimmed_dscps) * 8; i++) {
		struct packet_spec spec = spec_of(trimmed_dscps[i / 8], i & 4);

		spec.tos = (uint8_t)((spec.tos & ~3) | (i & 3));
		payloads[0] = least_payload(spec);
		payloads[1] = payloads[0] + 1;
		for (unsigned j = 0; j < sizeof(payloads) / sizeof(payloads[0]); j++) {
			spec.payload = payloads[j];
			trial_init(&t, &spec);
			expect_cut(b, &t);
			/* with bytes of its payload */
			memset(t.in.bytes + t.in.captured, 0x5a, 100);
			t.in.captured += 100;
			expect_cut(b, &t);
			/* without the transport's headers */
			t.in.captured = packet_bth(&t.in);
			expect_cut(b, &t);
		}
	}
}

/* What fits is not cut, to the byte; and what runs ahead of its arrival has room. */
void switch_what_finds_room_is_not_cut(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = spec_of(DSCP_TRIM, false);
	struct trial t;

	trial_init(&t, &spec);
	bench_queue(b, OUT, CLASS_TRIM)->limit_bytes = 2 * t.hop.length;
	bench_accept(b);
	trial_forwards(b, &t, OUT);
	trial_forwards(b, &t, OUT);
	t.hop.flags = HOP_ROOM;
	trial_forwards(b, &t, OUT);
	t.hop.flags = 0;
	bench_queue(b, OUT, CLASS_TRIM)->depth_bytes--;
	bench_accept(b);
	expect_cut(b, &t);
}

/* The checksum at all its values, through trimming, DSCP, mark and TTL; against an own sum. */
void switch_every_checksum_of_a_cut(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = spec_of(DSCP_TRIM, false);
	struct trial t;

	fill(b, OUT, CLASS_TRIM);
	bench_queue(b, BENCH_HOST_PORT, 0)->kmax_bytes = 1;
	bench_accept(b);
	for (uint32_t id = 0; id < 65536; id += 5) {
		spec.id = (uint16_t)id;
		spec.payload = (uint16_t)(100 + id * 7 % 9000);
		trial_init(&t, &spec);
		t.hop.behind_bytes = id & 1;
		t.flags = id & 1 ? VERDICT_MARKED : 0;
		expect_cut(b, &t);
	}
}

/* The header queue, where they went first, to the byte; and then. */
void switch_headers_without_room(void **state)
{
	struct switch_bench *b = *state;
	uint32_t first = goes_back(b) ? BACK : OUT;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct packet_spec spec = spec_of(DSCP_TRIM, ip6);
		uint32_t kept = ip6 ? 90 : 70;
		struct queue *headers = bench_queue(b, first, CLASS_HEADERS);
		struct trial t;

		bench_reset(state);
		fill(b, OUT, CLASS_TRIM);
		headers->limit_bytes = 3 * kept;
		bench_accept(b);
		for (int i = 0; i < 3; i++) {
			trial_init(&t, &spec);
			expect_cut(b, &t);
		}
		for (uint32_t short_of = 0; short_of < 2; short_of++) {
			headers->depth_bytes = 2 * kept + 1 + short_of * kept;
			bench_accept(b);
			is_cut(&t, may_go_back(b));
			if (may_go_back(b) && !goes_back(b))
				trial_forwards(b, &t, BACK);
			else
				trial_drops(b, &t, DROP_HEADERS, first);
		}
	}
}

/* No room at all: neither to the receiver nor back. Counted once, where it was tried last. */
void switch_headers_without_room_anywhere(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = spec_of(DSCP_TRIM, false);
	struct trial t;

	fill(b, OUT, CLASS_TRIM);
	fill(b, OUT, CLASS_HEADERS);
	fill(b, BACK, CLASS_HEADERS);
	trial_init(&t, &spec);
	is_cut(&t, may_go_back(b));
	trial_drops(b, &t, DROP_HEADERS, may_go_back(b) ? BACK : OUT);
}

/* An earlier switch has cut it. */
void switch_headers_that_find_no_room(void **state)
{
	struct switch_bench *b = *state;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct packet_spec spec = spec_of(DSCP_TRIMMED, ip6);
		struct trial t;

		bench_reset(state);
		trial_init(&t, &spec);
		packet_trim(&t.in);
		t.hop.length = t.in.length;
		trial_forwards(b, &t, OUT);
		fill(b, OUT, CLASS_HEADERS);
		t.chosen = OUT;
		if (may_go_back(b)) {
			t.flags = VERDICT_RETURNED;
			t.dscp = DSCP_RETURNED;
			trial_forwards(b, &t, BACK);
			fill(b, BACK, CLASS_HEADERS);
			trial_drops(b, &t, DROP_HEADERS, BACK);
		} else {
			trial_drops(b, &t, DROP_HEADERS, OUT);
		}
	}
}

/* What is on its way back is not turned around again. */
void switch_returned_headers_that_find_no_room(void **state)
{
	struct switch_bench *b = *state;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct packet_spec spec = spec_of(DSCP_RETURNED, ip6);
		struct trial t;

		bench_reset(state);
		trial_init(&t, &spec);
		packet_trim(&t.in);
		t.hop.length = t.in.length;
		t.chosen = OUT;
		trial_forwards(b, &t, OUT);
		fill(b, OUT, CLASS_HEADERS);
		trial_drops(b, &t, DROP_HEADERS, OUT);
	}
}

/* The way back may be the way it came, detours or not; its sender may be nobody. */
void switch_ways_back(void **state)
{
	struct switch_bench *b = *state;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct packet_spec spec = spec_of(DSCP_TRIM, ip6);
		struct trial t;

		fill(b, OUT, CLASS_TRIM);
		fill(b, OUT, CLASS_HEADERS);
		spec.src_host = TO_BACK;
		trial_init(&t, &spec);
		is_cut(&t, may_go_back(b));
		if (may_go_back(b))
			trial_forwards(b, &t, BENCH_IN);
		else
			trial_drops(b, &t, DROP_HEADERS, OUT);
		spec.src_host = TO_NONE;
		trial_init(&t, &spec);
		is_cut(&t, may_go_back(b));
		if (may_go_back(b))
			trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
		else
			trial_drops(b, &t, DROP_HEADERS, OUT);
	}
}

/* The header queue has a share of the pool, of its own size. */
void switch_headers_take_their_share_of_the_pool(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = spec_of(DSCP_TRIM, false);
	struct queue *headers = bench_queue(b, goes_back(b) ? BACK : OUT, CLASS_HEADERS);
	struct trial t;

	fill(b, OUT, CLASS_TRIM);
	headers->limit_bytes = 100;
	headers->alpha = 256;
	bench_accept(b);
	for (unsigned i = 1; i <= 10; i++) {
		trial_init(&t, &spec);
		expect_cut(b, &t);
		assert_int_equal(headers->depth_bytes, i * 70);
		assert_int_equal(b->dp->tables.switches[0].pool_used, i < 2 ? 0 : i * 70 - 100);
	}
}

/* Runs it with its queue full: whole, and for want of room. */
static void expect_tail_drop(struct switch_bench *b, struct trial *t)
{
	t->chosen = OUT;
	trial_drops(b, t, DROP_BUFFER, OUT);
}

/* Another class; no UDP header, or none that was looked at; too little to be cut off. */
void switch_what_may_not_be_cut(void **state)
{
	struct switch_bench *b = *state;

	for (uint32_t class = 0; class < CLASSES; class ++)
		fill(b, OUT, class);
	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct packet_spec spec = spec_of(DSCP_PLAIN, ip6);
		uint32_t kept = ip6 ? 90 : 70;
		struct trial t;

		trial_init(&t, &spec);
		expect_tail_drop(b, &t);
		spec = spec_of(DSCP_TRIM, ip6);
		spec.protocol = TCP;
		trial_init(&t, &spec);
		expect_tail_drop(b, &t);
		spec = spec_of(DSCP_TRIM, ip6);
		spec.payload = (uint16_t)(least_payload(spec) - 1);
		trial_init(&t, &spec);
		expect_tail_drop(b, &t);
		spec.payload = 0;
		for (uint32_t length = kept - 20; length < 2 * kept; length++) {
			trial_init(&t, &spec);
			packet_trim(&t.in);
			packet_put16(t.in.bytes + PACKET_IP + (ip6 ? 4 : 2), ip6 ? 8 : 28);
			if (!ip6)
				packet_seal(&t.in);
			t.hop.length = length;
			expect_tail_drop(b, &t);
		}
		fill(b, OUT, CLASS_TRIM);
		spec = spec_of(DSCP_TRIM, false);
		spec.options = 1;
		trial_init(&t, &spec);
		expect_tail_drop(b, &t);
		spec.options = 0;
		spec.fragment = 0x2000;
		trial_init(&t, &spec);
		expect_tail_drop(b, &t);
	}
}

/* A lossless class has its own reason, and keeps its packets whole. */
void switch_lossless_packets_are_not_cut(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = spec_of(DSCP_LOSSLESS, false);
	struct ingress *in = bench_ingress(b, BENCH_IN, CLASS_LOSSLESS);
	struct trial t;

	in->xoff_bytes = in->headroom_limit = 0;
	bench_accept(b);
	trial_init(&t, &spec);
	t.chosen = OUT;
	t.flags = VERDICT_ASK_PFC;
	trial_drops(b, &t, DROP_HEADROOM, BENCH_IN);
}

/* A queue that the watchdog has closed has no room: headers pass it by, in their own. */
void switch_a_closed_queue_trims(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = spec_of(DSCP_TRIM, false);
	struct queue *q = bench_queue(b, OUT, CLASS_TRIM);
	struct trial t;

	trial_init(&t, &spec);
	q->stormed = 1;
	q->paused_since_ps = t.hop.now_ps;
	bench_accept(b);
	expect_cut(b, &t);
}

/* How many were cut is told where they found no room. */
void switch_cuts_are_counted(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = spec_of(DSCP_TRIM, false);
	const struct port *ports = b->dp->tables.ports;
	struct trial t;

	fill(b, OUT, CLASS_TRIM);
	for (unsigned i = 1; i < 5; i++) {
		trial_init(&t, &spec);
		expect_cut(b, &t);
		assert_int_equal(ports[OUT].trimmed_frames, i);
		assert_int_equal(ports[BACK].trimmed_frames + ports[BENCH_IN].trimmed_frames, 0);
	}
}
