/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PFC frames that are made: what the ingress accounting calls for, byte by byte, and a storm. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

/* Nothing has arrived at `at`; a frame of so many bytes is lent to be written. */
static void init_make(
	struct trial *t, uint32_t at, uint16_t flags, uint8_t classes, uint32_t captured)
{
	trial_init(t, &packet_spec_default);
	memset(t->in.bytes, 0xee, sizeof(t->in.bytes));
	t->in.captured = captured;
	t->at = at;
	t->hop.flags = flags;
	t->hop.classes = classes;
	t->hop.length = 0;
}

/* It must be this frame, to be sent out of the port before all others. */
static void expect_frame(
	struct switch_bench *b, const struct trial *t, uint8_t classes, const uint16_t quanta[8])
{
	struct verdict want = {.action = VERDICT_FORWARD,
		.queue = QUEUE_CONTROL,
		.port = t->at,
		.length = PACKET_PFC};
	struct packet out = t->in, pfc;

	packet_build_pfc(&pfc, b->want.ports[t->at].mac, classes, quanta);
	memcpy(out.bytes, pfc.bytes, PACKET_PFC);
	trial_makes(b, t, &out, &want);
}

static void expect_nothing(struct switch_bench *b, const struct trial *t)
{
	struct sw_tables *tables = &b->dp->tables;

	assert_int_equal(trial_run(b, t, NULL).action, VERDICT_NOTHING);
	tables_assert_equal(tables, &b->want);
}

/* What an ingress may be in when it is asked. */
enum asked {
	RUNS,    /* the peer was not told to pause */
	FULL,    /* it was, and must go on pausing */
	DRAINED, /* it was, and may go on */
	IDLE,    /* it has no accounts of the class */
	ASKED
};

static void set_asked(struct ingress *in, enum asked asked)
{
	memset(in, 0, sizeof(*in));
	in->lossless = asked != IDLE;
	in->xoff_bytes = 10000;
	in->xon_bytes = 3000;
	in->bytes = asked == FULL ? 10000 : 5000;
	in->headroom_bytes = asked == FULL ? 500 : 0;
	in->paused = asked == FULL || asked == DRAINED;
}

/* Each class in each state, and asked for or not; at a switch and at a host. */
void switch_pause_frames_for_every_set_of_classes(void **state)
{
	struct switch_bench *b = *state;

	for (unsigned i = 0; i < 1024; i++) {
		uint32_t at = i & 1 ? BENCH_HOST_PORT : BENCH_IN;
		uint8_t asked = (uint8_t)(i / 4), told = 0;
		uint16_t quanta[8] = {0};
		struct trial t;

		bench_reset(state);
		for (uint32_t class = 0; class < CLASSES; class ++)
			set_asked(bench_ingress(b, at, class), (class + i / 2) % ASKED);
		bench_accept(b);
		for (uint32_t class = 0; class < CLASSES; class ++) {
			struct ingress *want = &b->want.ingresses[at * CLASSES + class];

			if (!(asked >> class & 1) || !want->paused)
				continue;
			told |= (uint8_t)(1 << class);
			quanta[class] = want->headroom_bytes ? BENCH_QUANTA : 0;
			want->pauses_sent += want->headroom_bytes > 0;
			want->resumes_sent += !want->headroom_bytes;
			want->paused = want->headroom_bytes > 0;
		}
		init_make(&t, at, HOP_MAKE_PFC, asked, PACKET_PFC + i % 3 * 20);
		if (told)
			expect_frame(b, &t, told, quanta);
		else
			expect_nothing(b, &t);
	}
}

/* One class, at its ingress. */
static void ask(struct switch_bench *b, bool resumes)
{
	struct ingress *want = &b->want.ingresses[BENCH_IN * CLASSES + CLASS_LOSSLESS];
	uint16_t quanta[8] = {0};
	struct trial t;

	quanta[CLASS_LOSSLESS] = resumes ? 0 : BENCH_QUANTA;
	want->paused = !resumes;
	want->resumes_sent += resumes;
	want->pauses_sent += !resumes;
	init_make(&t, BENCH_IN, HOP_MAKE_PFC, 1 << CLASS_LOSSLESS, PACKET_PFC);
	expect_frame(b, &t, 1 << CLASS_LOSSLESS, quanta);
}

/* XON so far below the threshold, which moves if it is dynamic; or when the ingress is empty. */
void switch_xon_to_the_byte(void **state)
{
	static const struct {
		uint32_t alpha, xon, pool_used, most;
	} waits[] = {
		{0, 3000, 0, 7000},
		{0, 0, 0, 10000},
		{0, 10000, 0, 0},
		{0, 20000, 0, 0}, /* never so far below */
		{256, 3000, 40000, 67000},
		{64, 3000, 40000, 22000},
		{64, 3000, 200000, 7000}, /* an overdrawn pool */
		{64, 1u << 31, 40000, 0},
	};
	struct switch_bench *b = *state;
	struct ingress *in = bench_ingress(b, BENCH_IN, CLASS_LOSSLESS);

	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		for (uint32_t more = 0; more < 2; more++) {
			bench_reset(state);
			b->dp->tables.switches[0].pool_bytes = 100000;
			b->dp->tables.switches[0].pool_used = waits[i].pool_used;
			in->xoff_bytes = 10000;
			in->xon_bytes = waits[i].xon;
			in->alpha = waits[i].alpha;
			in->bytes = waits[i].most + more;
			in->paused = 1;
			bench_accept(b);
			ask(b, !more);
		}
		/* not while any of the headroom is in use */
		in->paused = 1;
		in->bytes = 0;
		in->headroom_bytes = 1;
		bench_accept(b);
		ask(b, false);
	}
}

/* A frame comes, XOFF is asked for; refreshed as often as asked; XON; then nothing more. */
void switch_xoff_refresh_xon(void **state)
{
	struct switch_bench *b = *state;
	struct ingress *in = bench_ingress(b, BENCH_IN, CLASS_LOSSLESS);
	struct packet_spec spec = packet_spec_default;
	struct trial t, none;

	spec.tos = DSCP_LOSSLESS << 2;
	in->xoff_bytes = 0;
	bench_accept(b);
	init_make(&none, BENCH_IN, HOP_MAKE_PFC, 1 << CLASS_LOSSLESS, PACKET_PFC);
	for (unsigned i = 0; i < 3; i++) {
		expect_nothing(b, &none);
		trial_init(&t, &spec);
		t.above = true;
		t.flags = VERDICT_ASK_PFC;
		trial_forwards(b, &t, BENCH_LOCAL(1));
		ask(b, false);
		t.flags = 0;
		trial_forwards(b, &t, BENCH_LOCAL(1));
		ask(b, false);
		/* the engine gives back */
		in->headroom_bytes = 0;
		b->dp->tables.switches[0].headroom_used[CLASS_LOSSLESS] = 0;
		bench_accept(b);
		ask(b, true);
		expect_nothing(b, &none);
	}
}

/* As long as a frame can, whatever the accounts say, which it leaves as they are. */
void switch_a_storm_of_pauses(void **state)
{
	static const uint16_t quanta[8] = {
		0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 2; i < 512; i++) {
		uint32_t at = i & 1 ? BENCH_HOST_PORT : BENCH_IN;
		uint8_t classes = (uint8_t)(i / 2);

		for (uint32_t class = 0; class < CLASSES; class ++)
			b->want.ingresses[at * CLASSES + class].pauses_sent += classes >> class & 1;
		init_make(&t, at, HOP_MAKE_STORM, classes, PACKET_PFC);
		expect_frame(b, &t, classes, quanta);
	}
	init_make(&t, BENCH_HOST_PORT, HOP_MAKE_STORM, 0, PACKET_PFC);
	expect_nothing(b, &t);
}

/* A fabric without switches makes storms too; no accounts call for more. */
void switch_a_host_without_switches(void **state)
{
	struct switch_bench *b = *state;
	uint16_t quanta[8] = {0};
	struct trial t;

	b->dp->tables.ports[BENCH_HOST_PORT].switch_id = b->dp->tables.count.switches;
	set_asked(bench_ingress(b, BENCH_HOST_PORT, CLASS_LOSSLESS), FULL);
	bench_accept(b);
	quanta[CLASS_LOSSLESS] = 0xffff;
	b->want.ingresses[BENCH_HOST_PORT * CLASSES + CLASS_LOSSLESS].pauses_sent++;
	init_make(&t, BENCH_HOST_PORT, HOP_MAKE_STORM, 1 << CLASS_LOSSLESS, PACKET_PFC);
	expect_frame(b, &t, 1 << CLASS_LOSSLESS, quanta);
	t.hop.flags = HOP_MAKE_PFC;
	expect_nothing(b, &t);
}

/* Nothing is made, and nothing counted, where there is no room to write it. */
void switch_no_room_for_a_pause_frame(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	for (uint32_t class = 0; class < CLASSES; class ++)
		set_asked(bench_ingress(b, BENCH_IN, class), FULL);
	bench_accept(b);
	for (uint32_t captured = 0; captured < PACKET_PFC; captured++) {
		init_make(&t, BENCH_IN, HOP_MAKE_PFC, 0xff, captured);
		expect_nothing(b, &t);
		init_make(&t, BENCH_IN, HOP_MAKE_STORM, 0xff, captured);
		expect_nothing(b, &t);
	}
}
