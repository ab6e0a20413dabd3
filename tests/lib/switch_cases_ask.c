/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Supplemental CNPs: which packets ask for one. All tables are compared: they leave no trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT  BENCH_LOCAL(1)
#define KMAX 10000u

/* A packet that comes in marked. */
static void init_marked(struct trial *t, bool ip6)
{
	struct packet_spec spec = packet_spec_default;

	spec.tos |= 3;
	spec.ip6 = ip6;
	trial_init(t, &spec);
}

static void set_ecn(struct trial *t, unsigned ecn)
{
	packet_set_tos(&t->in, (uint8_t)((packet_tos(&t->in) & ~3u) | ecn));
}

/* Its queue at OUT holds so much. */
static void set_depth(struct switch_bench *b, const struct trial *t, uint32_t depth)
{
	struct queue *q = trial_queue(b, t, OUT);

	q->kmax_bytes = KMAX;
	q->depth_bytes = depth;
	bench_accept(b);
}

/* Runs it as it comes in: it is forwarded like any packet, and asks for a CNP or does not. */
static void expect_ask(struct switch_bench *b, const struct trial *t, bool asks)
{
	struct verdict v;

	trial_forwards(b, t, OUT);
	v = trial_run(b, t, NULL);
	assert_int_equal(v.action, VERDICT_FORWARD);
	assert_int_equal(v.flags & VERDICT_ASK_CNP, asks ? VERDICT_ASK_CNP : 0);
	bench_accept(b);
}

/* Marked before or on this cable, remapped, ahead of its arrival; whatever its queue holds. */
void switch_what_leaves_marked_asks(void **state)
{
	static const uint32_t depths[] = {0, KMAX, KMAX + 1, 1u << 20};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 0; i < 16; i++) {
		bench_reset(state);
		init_marked(&t, i & 1);
		set_depth(b, &t, depths[i / 4]);
		t.hop.flags = i & 2 ? HOP_ROOM : 0;
		expect_ask(b, &t, true);
		trial_queue(b, &t, OUT)->kmax_bytes = 0;
		bench_accept(b);
		expect_ask(b, &t, true);
		/* by the queue behind its cable */
		bench_queue(b, BENCH_HOST_PORT, 0)->kmax_bytes = 1;
		bench_accept(b);
		set_ecn(&t, 2);
		expect_ask(b, &t, false);
		t.hop.behind_bytes = 1;
		t.flags = VERDICT_MARKED;
		expect_ask(b, &t, true);
		t.in.bytes[packet_bth(&t.in) + 11] ^= 1; /* an older one, or the next */
		expect_ask(b, &t, true);
		b->dp->tables.ports[BENCH_IN].role = b->dp->tables.ports[OUT].role = ROLE_UP;
		bench_accept(b);
		packet_set_tos(&t.in, DSCP_TRIM << 2 | 1);
		t.flags = VERDICT_MARKED | VERDICT_REMAPPED;
		t.dscp = DSCP_TRIM_TOO;
		expect_ask(b, &t, true);
	}
}

/* Not what is not marked or not RoCE, as far as can be told. */
void switch_only_marked_roce_asks(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec;
	struct trial t;

	for (unsigned i = 0; i < 8; i++) {
		init_marked(&t, i & 1);
		set_ecn(&t, i / 2);
		set_depth(b, &t, KMAX + 1);
		expect_ask(b, &t, i / 2 == 3);
	}
	for (int ip6 = 0; ip6 < 2; ip6++) {
		init_marked(&t, ip6);
		spec = t.spec;
		set_depth(b, &t, KMAX + 1);
		for (uint16_t bit = 0; bit < 16; bit++) {
			packet_put16(t.in.bytes + packet_bth(&t.in) - 6, 4791 ^ 1u << bit);
			expect_ask(b, &t, false);
		}
		spec.protocol = 6;
		trial_init(&t, &spec);
		expect_ask(b, &t, false);
		spec.protocol = 17;
		spec.options = 1;
		trial_init(&t, &spec);
		expect_ask(b, &t, ip6);
		spec.options = 0;
		spec.fragment = 0x2000;
		trial_init(&t, &spec);
		expect_ask(b, &t, ip6);
	}
}

/* Neither what is dropped nor what has arrived. */
void switch_only_what_goes_on_asks(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec;
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		bench_reset(state);
		init_marked(&t, ip6);
		t.at = BENCH_HOST_PORT;
		trial_delivers(b, &t);
		t.at = BENCH_IN;
		set_depth(b, &t, KMAX + 1);
		spec = t.spec;
		spec.ttl = 1;
		trial_init(&t, &spec);
		trial_drops(b, &t, DROP_TTL, BENCH_IN);
		spec.ttl = 64;
		trial_init(&t, &spec);
		trial_queue(b, &t, OUT)->limit_bytes = 0;
		bench_accept(b);
		t.chosen = OUT;
		trial_drops(b, &t, DROP_BUFFER, OUT);
	}
}
