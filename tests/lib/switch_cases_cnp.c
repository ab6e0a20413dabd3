/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Supplemental CNPs: when one is made of a packet that asks for it, and what is made. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT    BENCH_LOCAL(1)
#define BACK   BENCH_LOCAL(3)
#define KMAX   10000u
#define NOW    (1ull << 40)
#define MEMORY (8ull * BENCH_INTERVAL) /* marks further apart begin anew */
#define RARE   (BENCH_INTERVAL + 1ull) /* marks so far apart call for a CNP */

/* A packet of this sender that comes in marked, with this PSN. */
static void init_from(struct trial *t, uint32_t src_host, uint32_t psn, bool ip6)
{
	struct packet_spec spec = packet_spec_default;
	uint8_t *at;

	spec.src_host = src_host;
	spec.tos |= 3;
	spec.ip6 = ip6;
	trial_init(t, &spec);
	at = t->in.bytes + packet_bth(&t->in) + 9;
	at[0] = (uint8_t)(psn >> 16);
	packet_put16(at + 1, (uint16_t)psn);
	t->hop.now_ps = NOW;
}

static void init_marked(struct trial *t, uint32_t psn, bool ip6)
{
	init_from(t, TO_LAST, psn, ip6);
}

/* The same, for a CNP to be due if it is the flow's second. */
static void init_due(struct trial *t, uint32_t psn, bool ip6)
{
	init_marked(t, psn, ip6);
	t->hop.now_ps += RARE;
}

/* Its queue at OUT holds so much. */
static void set_depth(struct switch_bench *b, const struct trial *t, uint32_t depth)
{
	struct queue *q = trial_queue(b, t, OUT);

	q->kmax_bytes = KMAX;
	q->depth_bytes = depth;
	bench_accept(b);
}

/* The only flow that is kept in mind, or NULL. */
static struct flow_mark *the_flow(struct switch_bench *b)
{
	const struct sw_tables *t = &b->dp->tables;
	struct flow_mark *found = NULL;

	for (uint32_t i = 0; i < t->count.flows; i++) {
		if (!t->flows[i].key)
			continue;
		assert_null(found);
		found = &t->flows[i];
	}
	return found;
}

/* What a CNP must be that leaves by this port: annex A17, 9.3, and this fabric's addresses. Its
 * life begins here, at 64. */
static struct packet cnp_of(const struct switch_bench *b, const struct trial *t, uint32_t port)
{
	const struct port *back = &b->want.ports[port];
	bool ip6 = t->spec.ip6;
	uint32_t bth = packet_bth(&t->in);
	struct packet p = t->in;
	uint8_t *ip = p.bytes + PACKET_IP;

	memcpy(p.bytes, back->peer_mac, 6);
	memcpy(p.bytes + 6, back->mac, 6);
	packet_turn(&p);
	packet_put16(ip + (ip6 ? 4 : 2), ip6 ? 40 : 60);
	packet_put16(p.bytes + bth - 4, 40);
	ip[ip6 ? 7 : 8] = 64 - 1;
	p.bytes[bth] = 0x81;
	p.bytes[bth + 1] = 0;
	p.bytes[bth + 4] = 0x40; /* BECN */
	p.bytes[bth + 7] ^= 1;
	memset(p.bytes + bth + 8, 0, 4 + 16);
	p.length = ip6 ? 94 : 74;
	packet_set_tos(&p, DSCP_CNP << 2);
	return p;
}

/* The flows are compared by the case. */
static void accept_flows(struct switch_bench *b)
{
	const struct sw_tables *t = &b->dp->tables;

	memcpy(b->want.flows, t->flows, t->count.flows * sizeof(*t->flows));
}

/*
 * Submits it as the engine does a copy of what asked: whether a CNP is made of it, which is one in
 * all it has, and then leaves by this port. If not, there is no trace of it but in the flow.
 */
static bool makes_at(struct switch_bench *b, struct trial *t, uint32_t port)
{
	struct packet got, want = t->in;
	struct verdict v;

	t->hop.flags = HOP_MAKE_CNP;
	t->hop.out_port = OUT;
	v = trial_run(b, t, &got);
	assert_int_equal(v.reason, DROP_NONE);
	if (v.action == VERDICT_FORWARD) {
		want = cnp_of(b, t, port);
		want_enter(b, port, CLASS_CNP, want.length);
		assert_int_equal(v.flags, 0);
		assert_int_equal(v.queue, CLASS_CNP);
		assert_int_equal(v.in_queue, CLASS_CNP);
		assert_int_equal(v.port, port);
		assert_int_equal(v.length, want.length);
	} else {
		assert_int_equal(v.action, VERDICT_NOTHING);
	}
	packet_assert_equal("the frame", got.bytes, want.bytes, want.captured);
	accept_flows(b);
	tables_assert_equal(&b->dp->tables, &b->want);
	return v.action == VERDICT_FORWARD;
}

/* The same where its queue is severely congested. */
static bool makes(struct switch_bench *b, struct trial *t)
{
	set_depth(b, t, KMAX + 1);
	return makes_at(b, t, BACK);
}

/* Submits it where its queue is severely congested: it is lost, and counted once. */
static struct verdict loses(
	struct switch_bench *b, struct trial *t, enum drop_reason reason, uint32_t port)
{
	struct verdict v;

	set_depth(b, t, KMAX + 1);
	t->hop.flags = HOP_MAKE_CNP;
	t->hop.out_port = OUT;
	v = trial_run(b, t, NULL);
	assert_int_equal(v.action, VERDICT_DROP);
	assert_int_equal(v.reason, reason);
	b->want.drops[port].frames[reason]++;
	accept_flows(b);
	return v;
}

/* From the second marked packet on, and not before. */
void switch_the_second_mark_makes(void **state)
{
	struct switch_bench *b = *state;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		const struct flow_mark *f;
		struct trial t;

		bench_reset(state);
		init_marked(&t, 500, ip6);
		assert_false(makes(b, &t));
		f = the_flow(b);
		assert_non_null(f);
		assert_int_equal(f->psn, 500);
		assert_int_equal(f->marked_ps, NOW);
		init_due(&t, 501, ip6);
		assert_true(makes(b, &t));
		assert_ptr_equal(the_flow(b), f);
		assert_int_equal(f->psn, 501);
		assert_int_equal(f->marked_ps, NOW + RARE);
	}
}

/* All queues but this one are. */
static void congest_others(struct switch_bench *b, const struct queue *q)
{
	const struct sw_tables *t = &b->dp->tables;

	for (uint32_t i = 0; i < t->count.queues; i++)
		if (&t->queues[i] != q) {
			t->queues[i].kmax_bytes = KMAX;
			t->queues[i].depth_bytes = 2 * KMAX;
		}
	bench_accept(b);
}

/* The queue that it went to is above kmax, to the byte; and not where there is no kmax. */
void switch_only_severe_congestion_makes(void **state)
{
	struct switch_bench *b = *state;
	struct flow_mark *f;
	struct trial t;

	init_marked(&t, 500, false);
	congest_others(b, trial_queue(b, &t, OUT));
	assert_false(makes_at(b, &t, BACK));
	set_depth(b, &t, KMAX);
	assert_false(makes_at(b, &t, BACK));
	set_depth(b, &t, KMAX + 1);
	trial_queue(b, &t, OUT)->kmax_bytes = 0;
	bench_accept(b);
	assert_false(makes_at(b, &t, BACK));
	assert_null(the_flow(b));
	assert_false(makes(b, &t));
	f = the_flow(b);
	assert_non_null(f);
	/* nor of the second, where it has calmed down: that leaves no trace */
	init_due(&t, 501, false);
	set_depth(b, &t, KMAX);
	assert_false(makes_at(b, &t, BACK));
	assert_int_equal(f->psn, 500);
	assert_true(makes(b, &t));
}

/* In 24 bits that wrap: a PSN that is not ahead of the last was sent again. */
void switch_only_a_newer_psn_makes(void **state)
{
	static const struct {
		uint32_t first, second;
		bool newer;
	} psns[] = {
		{500, 500, false},
		{500, 501, true},
		{500, 499, false},
		{500, 0, false},
		{0, 0xffffff, false},
		{0xffffff, 0, true},
		{0xfffff0, 5, true},
		{5, 0xfffff0, false},
		{0, 0x7fffff, true},
		{0, 0x800000, false},
		{0x123456, 0x923455, true},
		{0x123456, 0x923456, false},
	};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 0; i < sizeof(psns) / sizeof(psns[0]); i++) {
		bench_reset(state);
		init_marked(&t, psns[i].first, i & 1);
		assert_false(makes(b, &t));
		init_due(&t, psns[i].second, i & 1);
		assert_int_equal(makes(b, &t), psns[i].newer);
		assert_int_equal(the_flow(b)->psn, psns[i].newer ? psns[i].second : psns[i].first);
	}
}

static bool makes_then(struct switch_bench *b, uint32_t psn, uint64_t now)
{
	struct trial t;

	init_marked(&t, psn, false);
	t.hop.now_ps = now;
	return makes(b, &t);
}

/*
 * Only if the sender would raise its rate in between, to the picosecond: a receiver that gets
 * marked packets more often notifies it in time, however long that goes on.
 */
void switch_only_rare_marks_make(void **state)
{
	struct switch_bench *b = *state;
	uint64_t now = NOW;
	uint32_t psn = 500;

	assert_false(makes_then(b, psn, now));
	for (uint32_t i = 0; i < 5; i++) {
		now += RARE;
		assert_true(makes_then(b, ++psn, now));
		for (uint32_t often = 0; often < 20; often++) {
			now += BENCH_INTERVAL;
			assert_false(makes_then(b, ++psn, now));
			assert_int_equal(the_flow(b)->psn, psn);
			assert_int_equal(the_flow(b)->marked_ps, now);
		}
		assert_false(makes_then(b, ++psn, ++now));
	}
}

/* Marks that are far apart are separate congestions: the later is a first one. */
void switch_a_flow_is_forgotten(void **state)
{
	struct switch_bench *b = *state;
	uint64_t now = NOW;

	assert_false(makes_then(b, 500, now));
	now += MEMORY;
	assert_true(makes_then(b, 501, now));
	now += MEMORY + 1;
	assert_false(makes_then(b, 502, now));
	assert_int_equal(the_flow(b)->psn, 502);
	assert_int_equal(the_flow(b)->marked_ps, now);
	assert_true(makes_then(b, 503, now + RARE));
	/* what is sent again does not keep it in mind */
	now += RARE + MEMORY;
	assert_false(makes_then(b, 503, now));
	assert_false(makes_then(b, 100, now + 1));
	assert_int_equal(the_flow(b)->psn, 100);
	assert_true(makes_then(b, 101, now + 1 + RARE));
}

/* Where two share a slot the younger has it, and begins anew. */
void switch_flows_that_share_a_slot(void **state)
{
	struct switch_bench *b = *state;
	struct flow_mark *f, first;
	unsigned others = 0, evicted = 0;
	struct trial t;

	init_marked(&t, 500, false);
	assert_false(makes(b, &t));
	f = the_flow(b);
	first = *f;
	for (uint16_t port = 1; port < 1000; port++) {
		packet_put16(t.in.bytes + packet_bth(&t.in) - 8, port);
		assert_false(makes(b, &t));
		evicted += f->key != first.key;
		*f = first;
	}
	for (uint32_t i = 0; i < b->dp->tables.count.flows; i++)
		others += b->dp->tables.flows[i].key != 0;
	/* 999 flows over 256 slots: each has its share */
	assert_in_range(evicted, 1, 15);
	assert_in_range(others, 240, 256);
	/* the flow of the slot's owner is still known, at the slot */
	init_due(&t, 501, false);
	assert_true(makes(b, &t));
}

/* A copy of the packet becomes a CNP to its sender: the switch's own packet, in the CNPs' class. */
void switch_a_packet_becomes_a_cnp(void **state)
{
	static const uint16_t payloads[] = {0, 12, 1024, 60000};
	struct switch_bench *b = *state;

	for (unsigned i = 0; i < 4 * sizeof(payloads) / sizeof(payloads[0]); i++) {
		struct trial t;

		bench_reset(state);
		init_marked(&t, 500, i & 1);
		t.spec.payload = payloads[i / 4];
		t.spec.tos = (uint8_t)(DSCP_LOSSLESS << 2 | 3);
		t.spec.ttl = i & 2 ? 1 : 255;
		trial_init(&t, &t.spec);
		t.hop.now_ps = NOW;
		t.in.bytes[packet_bth(&t.in) + 1] = 0xff;
		t.in.bytes[packet_bth(&t.in) + 4] = 0x80;
		assert_false(makes(b, &t));
		t.in.bytes[packet_bth(&t.in) + 11]++;
		t.hop.now_ps += RARE;
		assert_true(makes(b, &t));
	}
}

/* As its sender is where it is, there is no other way; of several, the flow chooses among all. */
void switch_a_cnp_may_go_back_where_it_came_from(void **state)
{
	struct switch_bench *b = *state;
	unsigned same = 0;
	struct trial t;

	for (uint32_t psn = 500; psn < 502; psn++) {
		init_from(&t, TO_BACK, psn, false);
		t.hop.now_ps += (psn - 500) * RARE;
		set_depth(b, &t, KMAX + 1);
		assert_int_equal(makes_at(b, &t, BENCH_IN), psn == 501);
	}
	for (uint16_t flow = 0; flow < 400; flow++) {
		struct verdict v;

		for (uint32_t psn = 500; psn < 502; psn++) {
			init_from(&t, TO_AROUND, psn, flow & 1);
			packet_put16(t.in.bytes + packet_bth(&t.in) - 8, flow);
			t.hop.now_ps += (psn - 500) * RARE;
			set_depth(b, &t, KMAX + 1);
			t.hop.flags = HOP_MAKE_CNP;
			t.hop.out_port = OUT;
			v = trial_run(b, &t, NULL);
		}
		assert_int_equal(v.action, VERDICT_FORWARD);
		same += v.port == BENCH_IN;
	}
	assert_in_range(same, 150, 250);
}

/* It needs room like any other, and is lost where there is none. */
void switch_a_cnp_without_room(void **state)
{
	struct switch_bench *b = *state;
	struct queue *q = bench_queue(b, BACK, CLASS_CNP);
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		struct verdict v;

		bench_reset(state);
		q->limit_bytes = ip6 ? 93 : 73;
		init_marked(&t, 500, ip6);
		assert_false(makes(b, &t));
		init_due(&t, 501, ip6);
		v = loses(b, &t, DROP_BUFFER, BACK);
		assert_int_equal(v.port, BACK);
		assert_int_equal(v.queue, CLASS_CNP);
		tables_assert_equal(&b->dp->tables, &b->want);
		q->limit_bytes++;
		init_due(&t, 502, ip6);
		t.hop.now_ps += RARE;
		assert_true(makes(b, &t));
	}
}

/* In a lossless class it takes space of the ingress that asked: the peer is to pause. */
void switch_a_lossless_cnp(void **state)
{
	struct switch_bench *b = *state;
	struct ingress *in = bench_ingress(b, BENCH_IN, CLASS_CNP);
	struct ingress *want = &b->want.ingresses[BENCH_IN * CLASSES + CLASS_CNP];
	struct verdict v;
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		uint32_t length = ip6 ? 94 : 74;

		bench_reset(state);
		in->lossless = 1;
		in->headroom_limit = length - 1;
		b->dp->tables.switches[0].headroom_bytes[CLASS_CNP] = BENCH_HEADROOM;
		init_marked(&t, 500, ip6);
		assert_false(makes(b, &t));
		init_due(&t, 501, ip6);
		v = loses(b, &t, DROP_HEADROOM, BENCH_IN);
		assert_int_equal(v.flags, VERDICT_LOSSLESS | VERDICT_ASK_PFC);
		want->paused = 1;
		tables_assert_equal(&b->dp->tables, &b->want);
		in->paused = 0;
		in->headroom_limit++;
		init_due(&t, 502, ip6);
		t.hop.now_ps += RARE;
		t.hop.flags = HOP_MAKE_CNP;
		t.hop.out_port = OUT;
		bench_accept(b);
		v = trial_run(b, &t, NULL);
		assert_int_equal(v.action, VERDICT_FORWARD);
		assert_int_equal(v.flags, VERDICT_LOSSLESS | VERDICT_ASK_PFC);
		want->paused = 1;
		want->headroom_bytes = want->max_bytes = length;
		b->want.switches[0].headroom_used[CLASS_CNP] = length;
		want_enter(b, BACK, CLASS_CNP, length);
		accept_flows(b);
		tables_assert_equal(&b->dp->tables, &b->want);
	}
}

/* Marked again, and due: the next of its flow. */
static void next_due(struct trial *t)
{
	t->in.bytes[packet_bth(&t->in) + 11]++;
	t->hop.now_ps += RARE;
}

/* Too little of the packet, or of another kind: nothing is made. What cannot be routed is lost. */
void switch_a_cnp_of_nothing(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		uint32_t bth;

		bench_reset(state);
		init_marked(&t, 0, ip6);
		bth = packet_bth(&t.in);
		assert_false(makes(b, &t));
		for (t.in.captured = bth; t.in.captured < bth + 28; t.in.captured++) {
			next_due(&t);
			assert_false(makes(b, &t));
		}
		next_due(&t);
		assert_true(makes(b, &t));
		t.in.captured = bth - 1;
		loses(b, &t, DROP_MALFORMED, BENCH_IN);
		tables_assert_equal(&b->dp->tables, &b->want);

		bench_reset(state);
		t.spec.protocol = 6;
		trial_init(&t, &t.spec);
		t.in.captured += 40;
		for (unsigned i = 0; i < 3; i++) {
			t.in.bytes[PACKET_IP + (ip6 ? 40 : 20) + 11]++;
			t.hop.now_ps += RARE;
			assert_false(makes(b, &t));
		}

		bench_reset(state);
		init_from(&t, TO_NONE, 500, ip6);
		assert_false(makes(b, &t));
		init_from(&t, TO_NONE, 501, ip6);
		t.hop.now_ps += RARE;
		loses(b, &t, DROP_NO_ROUTE, BENCH_IN);
		tables_assert_equal(&b->dp->tables, &b->want);
		/* where its packet was going does not matter any more */
		t.spec.dst_host = TO_NONE;
		trial_init(&t, &t.spec);
		assert_false(makes(b, &t));
	}
}
