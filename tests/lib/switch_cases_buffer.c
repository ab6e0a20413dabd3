/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared buffers: how much a queue and a lossless ingress may hold, and what follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT BENCH_LOCAL(1)

/* An owner of memory in a pool, and the most it may hold once a frame is added, by hand. */
struct share {
	uint32_t own, alpha, pool, used;
	uint32_t most;
};

static const struct share shares[] = {
	/* what is its own, whatever the pool holds */
	{10000, 0, 0, 0, 10000},
	{10000, 256, 0, 0, 10000},
	{10000, 256, 50000, 50000, 10000},
	{10000, 256, 50000, 60000, 10000},
	/* alpha 1, 1/2, 4 times and 1/256 of what is free: 60,000 */
	{10000, 256, 100000, 40000, 70000},
	{10000, 128, 100000, 40000, 40000},
	{10000, 1024, 100000, 40000, 250000},
	{10000, 1, 100000, 40000, 10234},
	{0, 256, 100000, 40000, 60000},
	{0, 255, 100000, 40000, 59765},
	/* beyond 32 bits on the way */
	{0, 1u << 20, 1u << 30, 1u << 29, UINT32_MAX},
};

/* Queue and pool such that the next frame makes it `after`. */
static void set_queue(struct switch_bench *b, struct queue *q, const struct share *s,
	uint32_t after, uint32_t length)
{
	struct switch_state *sw = &b->dp->tables.switches[0];

	q->limit_bytes = s->own;
	q->alpha = s->alpha;
	q->depth_bytes = after - length;
	sw->pool_bytes = s->pool;
	sw->pool_used = s->used;
	sw->pool_max = 0;
	bench_accept(b);
}

void switch_queue_threshold_to_the_byte(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	trial_init(&t, &packet_spec_default);
	t.chosen = OUT;
	for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct queue *q = trial_queue(b, &t, OUT);
		uint32_t most = shares[i].most;

		set_queue(b, q, &shares[i], most, t.hop.length);
		trial_forwards(b, &t, OUT);
		if (most == UINT32_MAX)
			continue;
		set_queue(b, q, &shares[i], most + 1, t.hop.length);
		trial_drops(b, &t, DROP_BUFFER, OUT);
	}
}

/* A threshold above what is left: the pool is never overdrawn, and the reserve fills up first. */
void switch_pool_to_the_byte(void **state)
{
	static const struct share s = {5000, 2560, 100000, 99000, 0};
	struct switch_bench *b = *state;
	struct trial t;

	trial_init(&t, &packet_spec_default);
	t.chosen = OUT;
	/* 1,098 bytes: 98 of its own and 1,000 of the pool; then 99 and 999; then only 97 */
	assert_int_equal(t.hop.length, 1098);
	set_queue(b, trial_queue(b, &t, OUT), &s, 6000, t.hop.length);
	trial_forwards(b, &t, OUT);
	assert_int_equal(b->dp->tables.switches[0].pool_used, 100000);
	assert_int_equal(b->dp->tables.switches[0].pool_max, 100000);
	set_queue(b, trial_queue(b, &t, OUT), &s, 5999, t.hop.length);
	trial_forwards(b, &t, OUT);
	assert_int_equal(b->dp->tables.switches[0].pool_used, 99999);
	set_queue(b, trial_queue(b, &t, OUT), &s, 6001, t.hop.length);
	trial_drops(b, &t, DROP_BUFFER, OUT);
	/* nothing of its own left */
	set_queue(b, trial_queue(b, &t, OUT), &s, 5000 + t.hop.length, t.hop.length);
	trial_drops(b, &t, DROP_BUFFER, OUT);
}

/* Queues of several ports and classes fill until none may grow: the pool holds all but reserves. */
void switch_queues_share_a_pool(void **state)
{
	static const uint32_t hosts[] = {TO_ONE, TO_LAST};
	static const uint8_t dscps[] = {DSCP_PLAIN, DSCP_CNP, DSCP_ZERO};
	struct switch_bench *b = *state;
	struct sw_tables *tables = &b->dp->tables;
	uint64_t sum = 0;

	tables->switches[0].pool_bytes = 200000;
	for (uint32_t i = 0; i < tables->count.queues; i++) {
		tables->queues[i].limit_bytes = 3000;
		tables->queues[i].alpha = 256;
	}
	bench_accept(b);
	for (unsigned i = 0; i < 600; i++) {
		struct packet_spec spec = packet_spec_default;
		struct verdict v;
		struct trial t;

		spec.dst_host = hosts[i % 2];
		spec.tos = (uint8_t)(dscps[i % 3] << 2);
		trial_init(&t, &spec);
		v = trial_run(b, &t, NULL);
		if (v.action == VERDICT_FORWARD)
			want_enter(b, v.port, v.queue, v.length);
		memcpy(b->want.ports, tables->ports, tables->count.ports * sizeof(struct port));
		memcpy(b->want.drops, tables->drops,
			tables->count.ports * sizeof(struct port_drops));
		tables_assert_equal(tables, &b->want);
	}
	for (uint32_t i = 0; i < tables->count.queues; i++)
		if (tables->queues[i].depth_bytes > 3000)
			sum += tables->queues[i].depth_bytes - 3000;
	assert_int_equal(tables->switches[0].pool_used, sum);
	/* six queues at alpha 1 leave a seventh free, within a frame */
	assert_in_range(sum, (200000 - 1098) * 6 / 7, (200000 + 1098) * 6 / 7);
}

static void init_lossless(struct trial *t, uint8_t dscp, bool ip6)
{
	struct packet_spec spec = packet_spec_default;

	spec.ip6 = ip6;
	spec.tos = (uint8_t)(dscp << 2 | 2);
	trial_init(t, &spec);
	t->chosen = OUT;
}

/* Ingress such that the next frame makes it `after`. */
static void set_ingress(struct switch_bench *b, struct ingress *in, const struct share *s,
	uint32_t after, uint32_t length)
{
	struct switch_state *sw = &b->dp->tables.switches[0];

	in->xoff_bytes = s->own;
	in->alpha = s->alpha;
	in->bytes = after - length;
	in->headroom_bytes = 0;
	in->paused = 0;
	sw->pool_bytes = s->pool;
	sw->pool_used = s->used;
	sw->pool_max = 0;
	sw->headroom_used[CLASS_LOSSLESS] = 0;
	bench_accept(b);
}

/* XOFF, static and dynamic. It is asked for once, with the first frame above. */
void switch_xoff_to_the_byte(void **state)
{
	struct switch_bench *b = *state;
	struct ingress *in = bench_ingress(b, BENCH_IN, CLASS_LOSSLESS);

	for (unsigned i = 0; i < 2 * sizeof(shares) / sizeof(shares[0]); i++) {
		const struct share *s = &shares[i / 2];
		struct trial t;

		init_lossless(&t, DSCP_LOSSLESS, i & 1);
		set_ingress(b, in, s, s->most, t.hop.length);
		trial_forwards(b, &t, OUT);
		if (s->most == UINT32_MAX)
			continue;
		set_ingress(b, in, s, s->most + 1, t.hop.length);
		t.above = true;
		t.flags = VERDICT_ASK_PFC;
		trial_forwards(b, &t, OUT);
		t.flags = 0;
		trial_forwards(b, &t, OUT);
		/* what is below is not used again before the headroom is empty */
		in->bytes = 0;
		bench_accept(b);
		trial_forwards(b, &t, OUT);
		in->headroom_bytes = 0;
		bench_accept(b);
		t.above = false;
		if (s->most >= t.hop.length)
			trial_forwards(b, &t, OUT);
	}
}

/* The port's share of the headroom, and the pool of all ports of the class, each to the byte. */
void switch_headroom_to_the_byte(void **state)
{
	struct switch_bench *b = *state;
	struct ingress *in = bench_ingress(b, BENCH_IN, CLASS_LOSSLESS);
	struct switch_state *sw = &b->dp->tables.switches[0];
	struct trial t;

	init_lossless(&t, DSCP_LOSSLESS, false);
	in->xoff_bytes = 0;
	for (uint32_t held = 0; held < 5000; held += 2499) {
		for (int of_the_pool = 0; of_the_pool < 2; of_the_pool++) {
			uint32_t *most = of_the_pool ? &sw->headroom_bytes[CLASS_LOSSLESS]
						     : &in->headroom_limit;
			uint32_t *used = of_the_pool ? &sw->headroom_used[CLASS_LOSSLESS]
						     : &in->headroom_bytes;

			bench_reset(state);
			in->xoff_bytes = 0;
			*used = held;
			*most = held + t.hop.length;
			bench_accept(b);
			t.above = true;
			t.flags = VERDICT_ASK_PFC;
			trial_forwards(b, &t, OUT);
			t.flags = 0;
			trial_drops(b, &t, DROP_HEADROOM, BENCH_IN);
			bench_reset(state);
			in->xoff_bytes = 0;
			*used = held;
			*most = held + t.hop.length - 1;
			bench_accept(b);
			t.flags = VERDICT_ASK_PFC;
			trial_drops(b, &t, DROP_HEADROOM, BENCH_IN);
			t.flags = 0;
			trial_drops(b, &t, DROP_HEADROOM, BENCH_IN);
		}
	}
}

/* As in a queue, a length near 2^32 does not wrap round and fit. */
void switch_headroom_does_not_wrap(void **state)
{
	struct switch_bench *b = *state;
	struct ingress *in = bench_ingress(b, BENCH_IN, CLASS_LOSSLESS);
	struct switch_state *sw = &b->dp->tables.switches[0];
	struct trial t;

	for (int of_the_pool = 0; of_the_pool < 2; of_the_pool++) {
		bench_reset(state);
		in->xoff_bytes = 0;
		if (of_the_pool) {
			in->headroom_limit = UINT32_MAX;
			sw->headroom_used[CLASS_LOSSLESS] = 5000;
		} else {
			sw->headroom_bytes[CLASS_LOSSLESS] = UINT32_MAX;
			in->headroom_bytes = 5000;
		}
		bench_accept(b);
		init_lossless(&t, DSCP_LOSSLESS, false);
		t.hop.length = UINT32_MAX - 1000;
		t.flags = VERDICT_ASK_PFC;
		trial_drops(b, &t, DROP_HEADROOM, BENCH_IN);
	}
}

/* Ports and classes do not pay for each other's headroom. */
void switch_headroom_is_of_a_port_and_a_class(void **state)
{
	struct switch_bench *b = *state;
	struct switch_state *sw = &b->dp->tables.switches[0];
	struct trial t;

	bench_ingress(b, BENCH_IN, CLASS_LOSSLESS)->xoff_bytes = 0;
	bench_ingress(b, BENCH_IN, CLASS_BOUNCED)->xoff_bytes = 0;
	sw->headroom_bytes[CLASS_LOSSLESS] = 0;
	bench_accept(b);
	init_lossless(&t, DSCP_LOSSLESS, false);
	t.flags = VERDICT_ASK_PFC;
	trial_drops(b, &t, DROP_HEADROOM, BENCH_IN);
	init_lossless(&t, DSCP_BOUNCED, false);
	t.flags = VERDICT_ASK_PFC;
	t.above = true;
	trial_forwards(b, &t, OUT);
	init_lossless(&t, DSCP_PLAIN, false);
	trial_forwards(b, &t, OUT);
}

/* It is counted at its ingress, and in the depth of a queue that is never full. */
void switch_lossless_queues_are_never_full(void **state)
{
	struct switch_bench *b = *state;
	struct queue *q = bench_queue(b, OUT, CLASS_LOSSLESS);
	struct trial t;

	q->limit_bytes = 0;
	bench_accept(b);
	for (unsigned i = 1; i < 100; i++) {
		init_lossless(&t, DSCP_LOSSLESS, i & 1);
		trial_forwards(b, &t, OUT);
		assert_int_equal(q->depth_frames, i);
	}
	assert_int_equal(q->depth_bytes, bench_ingress(b, BENCH_IN, CLASS_LOSSLESS)->bytes);
	assert_int_equal(b->dp->tables.switches[0].pool_used, 0);
}

/* Ahead of its arrival a lossless frame takes no space either, however full it is; the verdict
 * tells what it will take. */
void switch_a_lossless_frame_ahead_of_time(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	init_lossless(&t, DSCP_LOSSLESS, false);
	t.hop.flags = HOP_ROOM;
	trial_forwards(b, &t, OUT);
	bench_ingress(b, BENCH_IN, CLASS_LOSSLESS)->xoff_bytes = 0;
	bench_ingress(b, BENCH_IN, CLASS_LOSSLESS)->headroom_limit = 0;
	bench_accept(b);
	trial_forwards(b, &t, OUT);
}

/* What ends before it is admitted holds nothing at its ingress. */
void switch_a_lossless_frame_that_ends_takes_nothing(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.tos = DSCP_LOSSLESS << 2;
	spec.ttl = 1;
	trial_init(&t, &spec);
	trial_drops(b, &t, DROP_TTL, BENCH_IN);
	spec.ttl = 64;
	spec.dst_host = TO_NONE;
	trial_init(&t, &spec);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	trial_init(&t, &spec);
	t.in.bytes[PACKET_IP + 10] ^= 1;
	trial_drops(b, &t, DROP_CHECKSUM, BENCH_IN);
}
