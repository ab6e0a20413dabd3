/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PFC frames that come: whom they pause and for how long, and when a watchdog ignores them. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT BENCH_LOCAL(1)
#define NOW 10000u /* ps */

static const uint8_t peer_mac[] = {0x02, 0xfb, 1, 0, 0, BENCH_IN};

/* A PFC frame that comes at `now`. */
static void init_pfc(struct trial *t, uint8_t classes, const uint16_t quanta[8], uint64_t now)
{
	trial_init(t, &packet_spec_default);
	packet_build_pfc(&t->in, peer_mac, classes, quanta);
	t->hop.length = t->in.length;
	t->hop.queue = QUEUE_CONTROL;
	t->hop.now_ps = now;
	t->hop.started_ps = now;
}

/* One class alone; it takes effect at `now`. */
static void send(struct switch_bench *b, uint32_t class, uint16_t quanta, uint64_t now)
{
	uint16_t all[8] = {0};
	struct trial t;

	all[class] = quanta;
	init_pfc(&t, (uint8_t)(1 << class), all, now - BENCH_RESPONSE);
	b->want.ingresses[BENCH_IN * CLASSES + class].pauses_received++;
	trial_ends(b, &t, VERDICT_END);
}

/* In b->want: the pause of a queue. */
static void want_pause(struct switch_bench *b, uint32_t port, uint32_t class, uint64_t since,
	uint64_t until, uint64_t in_all)
{
	struct queue *q = &b->want.queues[port * CLASSES + class];

	q->paused_since_ps = since;
	q->paused_until_ps = until;
	q->paused_ps = in_all;
}

void switch_every_set_of_classes_is_paused(void **state)
{
	static const uint16_t quanta[8] = {0, 1, 2, 0x100, 0x7fff, 0x8000, 0xfffe, 0xffff};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned set = 0; set < 512; set++) {
		uint32_t port = set & 256 ? BENCH_HOST_PORT : BENCH_IN;

		bench_reset(state);
		init_pfc(&t, (uint8_t)set, quanta, NOW - BENCH_RESPONSE);
		t.at = port;
		for (unsigned class = 0; class < CLASSES; class ++) {
			uint64_t lasts = (uint64_t)quanta[class] * BENCH_QUANTUM;

			if (!(set >> class & 1))
				continue;
			want_pause(b, port, class, NOW, NOW + lasts, lasts);
			b->want.ingresses[port * CLASSES + class].pauses_received++;
		}
		trial_ends(b, &t, VERDICT_END);
	}
}

/* 512 bit times at the port's rate, to the picosecond below: 802.3, annex 31B.2 and 31D. */
void switch_pauses_to_the_picosecond(void **state)
{
	static const struct {
		uint64_t quantum; /* 256ths of a picosecond */
		uint16_t quanta;
		uint64_t lasts;
	} pauses[] = {
		{51200 * 256, 65535, 3355392000},            /* 10 Gbps: 3.36 ms */
		{20480 * 256, 65535, 1342156800},            /* 25 Gbps */
		{5120 * 256, 1, 5120},                       /* 100 Gbps */
		{5120 * 256, 65535, 335539200},              /* 335.5 us */
		{1280 * 256, 65535, 83884800},               /* 400 Gbps */
		{640 * 256, 3, 1920},                        /* 800 Gbps */
		{320 * 256, 1, 320},                         /* 1.6 Tbps */
		{43690, 1, 170},                             /* 3 Tbps: 170.66 ps */
		{43690, 3, 511},                             /* 511.99 */
		{43690, 300, 51199},                         /* 51,199.2 */
		{512000000ull * 256, 65535, 33553920000000}, /* 1 Mbps: 33.6 s */
	};
	struct switch_bench *b = *state;

	for (unsigned i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		bench_reset(state);
		b->dp->tables.ports[BENCH_IN].quantum = pauses[i].quantum;
		bench_accept(b);
		want_pause(b, BENCH_IN, 5, NOW, NOW + pauses[i].lasts, pauses[i].lasts);
		send(b, 5, pauses[i].quanta, NOW);
	}
}

/* Refreshed, shortened, ended, over, begun anew: the total pause time, known in advance. */
void switch_pauses_that_overlap(void **state)
{
	const uint64_t q = BENCH_QUANTUM;
	struct switch_bench *b = *state;

	want_pause(b, BENCH_IN, 3, NOW, NOW + 10 * q, 10 * q);
	send(b, 3, 10, NOW);
	/* longer, from half way on; shorter, from just before its end: the last frame counts */
	want_pause(b, BENCH_IN, 3, NOW, NOW + 15 * q, 15 * q);
	send(b, 3, 10, NOW + 5 * q);
	want_pause(b, BENCH_IN, 3, NOW, NOW + 7 * q, 7 * q);
	send(b, 3, 1, NOW + 6 * q);
	/* at the moment of its end */
	want_pause(b, BENCH_IN, 3, NOW, NOW + 9 * q, 9 * q);
	send(b, 3, 2, NOW + 7 * q);
	/* XON, half way and then once more */
	want_pause(b, BENCH_IN, 3, NOW, NOW + 8 * q, 8 * q);
	send(b, 3, 0, NOW + 8 * q);
	want_pause(b, BENCH_IN, 3, NOW + 30 * q, NOW + 30 * q, 8 * q);
	send(b, 3, 0, NOW + 30 * q);
	/* another, after a time of none */
	want_pause(b, BENCH_IN, 3, NOW + 50 * q, NOW + 51 * q, 9 * q);
	send(b, 3, 1, NOW + 50 * q);
	/* and another class, which has nothing to do with it */
	want_pause(b, BENCH_IN, 4, NOW + 50 * q, NOW + 52 * q, 2 * q);
	send(b, 4, 2, NOW + 50 * q);
}

/* Between a frame and its effect: the pause that it finds goes on as it was, and does not end
 * before the next is there. */
void switch_pauses_take_time_to_take_effect(void **state)
{
	const uint64_t q = BENCH_QUANTUM, gap = BENCH_RESPONSE - 1;
	struct switch_bench *b = *state;

	/* a second one comes before the first has begun */
	want_pause(b, BENCH_IN, 3, NOW, NOW + 3 * q, 3 * q);
	send(b, 3, 3, NOW);
	want_pause(b, BENCH_IN, 3, NOW, NOW + gap + 2 * q, gap + 2 * q);
	send(b, 3, 2, NOW + gap);
	/* XON before its end, to have effect after it: it ends by time */
	send(b, 3, 0, NOW + gap + 2 * q + gap);
	/* XOFF then: it does not end */
	want_pause(b, BENCH_IN, 3, NOW, NOW + 2 * gap + 3 * q, 2 * gap + 3 * q);
	send(b, 3, 1, NOW + gap + 2 * q + gap);
	/* XOFF as it ends: it has ended, and another begins in time */
	want_pause(b, BENCH_IN, 3, NOW + 2 * gap + 3 * q + BENCH_RESPONSE,
		NOW + 2 * gap + 5 * q + BENCH_RESPONSE, 2 * gap + 5 * q);
	send(b, 3, 2, NOW + 2 * gap + 3 * q + BENCH_RESPONSE);
	/* XON before the beginning, to have effect after it; and one at the same time */
	want_pause(b, BENCH_IN, 4, NOW, NOW + q, q);
	send(b, 4, 1, NOW);
	want_pause(b, BENCH_IN, 4, NOW, NOW + 7, 7);
	send(b, 4, 0, NOW + 7);
	want_pause(b, BENCH_IN, 5, NOW, NOW + q, q);
	send(b, 5, 1, NOW);
	want_pause(b, BENCH_IN, 5, NOW, NOW, 0);
	send(b, 5, 0, NOW);
}

void switch_malformed_pause_frames(void **state)
{
	static const uint16_t quanta[8] = {9, 9, 9, 9, 9, 9, 9, 9};
	struct switch_bench *b = *state;
	struct trial t;

	for (uint32_t port = BENCH_HOST_PORT; port <= BENCH_IN; port++) {
		init_pfc(&t, 0xff, quanta, 1000);
		t.at = port;
		for (t.in.captured = 0; t.in.captured < PACKET_PFC; t.in.captured++)
			trial_drops(b, &t, DROP_MALFORMED, port);
		for (uint32_t opcode = 0; opcode < 65536; opcode += opcode == 0x0100 ? 2 : 1) {
			packet_put16(t.in.bytes + 14, (uint16_t)opcode);
			trial_drops(b, &t, DROP_MALFORMED, port);
		}
	}
	/* bits of classes that there are not; another station's address: a link has but two ends */
	init_pfc(&t, 0, quanta, 1000);
	t.in.bytes[16] = 0xff;
	t.in.bytes[0] = 0x02;
	trial_ends(b, &t, VERDICT_END);
	/* a frame that has no reason to be so long is read all the same */
	init_pfc(&t, 0, quanta, 1000);
	t.in.captured = 100;
	trial_ends(b, &t, VERDICT_END);
}

/* The cable takes them as it takes any frame. */
void switch_a_pause_frame_needs_its_link(void **state)
{
	static const uint16_t quanta[8] = {9, 9, 9, 9, 9, 9, 9, 9};
	struct switch_bench *b = *state;
	struct trial t;

	b->dp->tables.ports[BENCH_IN].up = 0;
	bench_accept(b);
	init_pfc(&t, 0xff, quanta, 1000);
	trial_drops(b, &t, DROP_LINK_DOWN, BENCH_IN);
}

/* Closed by the watchdog at `since`. */
static void storm(struct switch_bench *b, uint32_t port, uint32_t class, uint64_t since)
{
	struct queue *q = bench_queue(b, port, class);

	bench_reset((void **)&b);
	q->stormed = 1;
	q->paused_since_ps = since;
	q->paused_until_ps = since;
	bench_accept(b);
}

/* It ignores XOFF as long as they keep coming, until XON, or silence for as long as it waits. */
void switch_the_watchdog_ignores_a_storm(void **state)
{
	const uint64_t since = 1ull << 40, watchdog = BENCH_WATCHDOG, lasts = 5 * BENCH_QUANTUM;
	struct switch_bench *b = *state;
	struct queue *want = &b->want.queues[BENCH_IN * CLASSES + 3];
	uint64_t now = since;

	storm(b, BENCH_IN, 3, since);
	for (unsigned i = 0; i < 10; i++) {
		now += i & 1 ? watchdog : 1;
		want_pause(b, BENCH_IN, 3, now, since, 0);
		send(b, 3, 5, now);
	}
	want->stormed = 0;
	want_pause(b, BENCH_IN, 3, now + watchdog + 1, now + watchdog + 1 + lasts, lasts);
	send(b, 3, 5, now + watchdog + 1);

	storm(b, BENCH_IN, 3, since);
	want->stormed = 0;
	want_pause(b, BENCH_IN, 3, since + 1, since + 1, 0);
	send(b, 3, 0, since + 1);
	want_pause(b, BENCH_IN, 3, since + 2, since + 2 + lasts, lasts);
	send(b, 3, 5, since + 2);
}

/* What would join a closed queue is lost, lossless or not, without a trace in any buffer. */
void switch_a_closed_queue_takes_nothing(void **state)
{
	static const uint8_t dscps[] = {DSCP_LOSSLESS, DSCP_PLAIN};
	struct switch_bench *b = *state;
	const uint64_t since = 1ull << 40;

	for (unsigned i = 0; i < sizeof(dscps); i++) {
		struct packet_spec spec = packet_spec_default;
		uint32_t class = b->dp->tables.config.class_of[dscps[i]];
		struct trial t;

		spec.tos = (uint8_t)(dscps[i] << 2);
		trial_init(&t, &spec);
		t.chosen = OUT;
		storm(b, OUT, class, since);
		t.hop.now_ps = since;
		trial_drops(b, &t, DROP_WATCHDOG, OUT);
		/* the peer has refreshed it, which has not taken effect yet */
		t.hop.now_ps = since - BENCH_RESPONSE;
		trial_drops(b, &t, DROP_WATCHDOG, OUT);
		t.hop.now_ps = since + BENCH_WATCHDOG;
		trial_drops(b, &t, DROP_WATCHDOG, OUT);
		/* not even what there was room for when it left */
		t.hop.flags = HOP_ROOM;
		trial_drops(b, &t, DROP_WATCHDOG, OUT);
		t.hop.flags = 0;
		/* the same class elsewhere, another class here */
		t.in.bytes[PACKET_IP + 1] = DSCP_CNP << 2;
		packet_seal(&t.in);
		trial_forwards(b, &t, OUT);
		spec.dst_host = TO_LAST;
		trial_init(&t, &spec);
		t.hop.now_ps = since;
		trial_forwards(b, &t, BENCH_LOCAL(3));
		/* the storm is over */
		spec.dst_host = TO_ONE;
		trial_init(&t, &spec);
		t.hop.now_ps = since + BENCH_WATCHDOG + 1;
		b->want.queues[OUT * CLASSES + class].stormed = 0;
		trial_forwards(b, &t, OUT);
	}
}
