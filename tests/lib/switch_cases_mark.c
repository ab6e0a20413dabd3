/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Egress ECN: when, how often, on what, and that nothing else of the packet changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define KMIN 10000u
#define KMAX 30000u

/* Of the queue at the other end of the cable. */
static void thresholds(struct switch_bench *b, uint32_t kmin, uint32_t kmax, uint32_t pmax)
{
	struct queue *from = bench_queue(b, BENCH_HOST_PORT, 0);

	from->kmin_bytes = kmin;
	from->kmax_bytes = kmax;
	from->pmax = pmax;
	bench_accept(b);
}

/* One frame with so much behind it. */
static void expect(struct switch_bench *b, bool ip6, uint32_t behind, bool marked, unsigned dice)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.ip6 = ip6;
	trial_init(&t, &spec);
	t.hop.behind_bytes = behind;
	t.flags = marked ? VERDICT_MARKED : 0;
	t.dice = dice;
	trial_forwards(b, &t, BENCH_LOCAL(1));
}

void switch_marks_between_thresholds(void **state)
{
	for (int ip6 = 0; ip6 < 2; ip6++) {
		/* pmax 0: between the thresholds the dice fall, and always the same way */
		thresholds(*state, KMIN, KMAX, 0);
		expect(*state, ip6, 0, false, 0);
		expect(*state, ip6, KMIN - 1, false, 0);
		expect(*state, ip6, KMIN, false, 0);
		expect(*state, ip6, KMIN + 1, false, 1);
		expect(*state, ip6, KMAX - 1, false, 1);
		expect(*state, ip6, KMAX, true, 0);
		expect(*state, ip6, KMAX + 1, true, 0);
		expect(*state, ip6, UINT32_MAX, true, 0);
	}
}

void switch_no_thresholds_no_marks(void **state)
{
	thresholds(*state, 0, 0, 65536);
	expect(*state, false, 0, false, 0);
	expect(*state, false, UINT32_MAX, false, 0);
	/* kmax alone says whether it is on */
	thresholds(*state, KMIN, 0, 65536);
	expect(*state, false, UINT32_MAX, false, 0);
}

void switch_thresholds_that_meet_or_cross(void **state)
{
	thresholds(*state, KMIN, KMIN, 65536);
	expect(*state, false, KMIN, false, 0);
	expect(*state, false, KMIN + 1, true, 0);
	thresholds(*state, KMAX, KMIN, 65536);
	expect(*state, false, KMAX, false, 0);
	expect(*state, false, KMAX + 1, true, 0);
	thresholds(*state, 0, 1, 65536);
	expect(*state, false, 0, false, 0);
	expect(*state, false, 1, true, 0);
}

/* How many of n frames with so much behind them come out marked. */
static unsigned count_marks(struct switch_bench *b, uint32_t behind, unsigned n)
{
	uint8_t flags = VERDICT_MARKED | (bench_has(b, SW_CNP) ? VERDICT_ASK_CNP : 0);
	struct trial t;
	unsigned marks = 0;

	trial_init(&t, &packet_spec_default);
	t.hop.behind_bytes = behind;
	for (unsigned i = 0; i < n; i++) {
		struct packet out;
		struct verdict v = trial_run(b, &t, &out);
		bool ce = (out.bytes[PACKET_IP + 1] & 3) == 3;

		assert_int_equal(v.action, VERDICT_FORWARD);
		assert_int_equal(v.flags, ce ? flags : 0);
		assert_int_equal(packet_get16(out.bytes + PACKET_IP + 10), packet_checksum(&out));
		marks += ce;
	}
	return marks;
}

/*
 * Within 3 deviations of what the line between the thresholds says; the seeds are fixed, so it is
 * the same always.
 */
void switch_mark_probability(void **state)
{
	static const double depths[] = {0.01, 0.1, 0.25, 0.5, 0.9, 0.99995};
	static const double pmaxes[] = {0.01, 0.2, 0.5, 1};
	struct switch_bench *b = *state;
	const unsigned n = 20000;

	for (unsigned i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		for (unsigned j = 0; j < sizeof(pmaxes) / sizeof(pmaxes[0]); j++) {
			uint32_t behind = KMIN + (uint32_t)(depths[i] * (KMAX - KMIN));
			double p = pmaxes[j] * (behind - KMIN) / (KMAX - KMIN);
			uint64_t before = b->dp->tables.ports[BENCH_IN].marked_frames;
			unsigned marks;

			thresholds(b, KMIN, KMAX, (uint32_t)(pmaxes[j] * 65536));
			marks = count_marks(b, behind, n);
			assert_int_equal(
				b->dp->tables.ports[BENCH_IN].marked_frames - before, marks);
			if (fabs(marks - n * p) > 3 * sqrt(n * p * (1 - p)) + 1) {
				print_error("depth share %g, pmax %g: %u marks of %u\n", depths[i],
					pmaxes[j], marks, n);
				fail();
			}
		}
	}
}

/*
 * With these thresholds the share is the depth itself, in 1/65,536: a draw marks if it is below
 * that, and not if it is equal.
 */
void switch_mark_dice_to_the_point(void **state)
{
	struct switch_bench *b = *state;

	thresholds(b, 0, 65536, 65536);
	for (uint64_t seed = 0; seed < 100; seed++) {
		uint64_t rng = seed;
		uint32_t draw = (uint32_t)(rng_take(&rng) >> 48);

		b->dp->tables.ports[BENCH_IN].rng = seed;
		bench_accept(b);
		expect(b, false, draw, false, draw > 0);
		b->dp->tables.ports[BENCH_IN].rng = seed;
		bench_accept(b);
		expect(b, false, draw + 1, true, draw + 1 < 65536);
	}
}

/* RFC 3168, 5: only ECT(0) and ECT(1) become CE; the DSCP, the flow label and all else stay. */
void switch_every_tos_marked(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	thresholds(*state, 0, KMIN, 0);
	for (unsigned i = 0; i < 512; i++) {
		spec.ip6 = i & 256;
		spec.tos = (uint8_t)i;
		spec.flow_label = i * 2053 & 0xfffff;
		trial_init(&t, &spec);
		t.hop.behind_bytes = KMIN;
		t.flags = (i & 3) == 1 || (i & 3) == 2 ? VERDICT_MARKED : 0;
		trial_forwards(*state, &t, BENCH_LOCAL(1));
	}
}

/*
 * The mark is the far queue's and was there before this switch drops the packet; the cable's
 * losses come first.
 */
void switch_mark_before_drop(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	thresholds(b, 0, KMIN, 0);
	for (int ip6 = 0; ip6 < 2; ip6++) {
		spec.ip6 = ip6;
		spec.ttl = 1;
		trial_init(&t, &spec);
		t.hop.behind_bytes = KMIN;
		t.flags = VERDICT_MARKED;
		trial_drops(b, &t, DROP_TTL, BENCH_IN);
	}
	b->dp->tables.ports[BENCH_IN].up = 0;
	bench_accept(b);
	t.flags = 0;
	trial_drops(b, &t, DROP_LINK_DOWN, BENCH_IN);
}

/* Thresholds are those of the queue that the frame left by: the class is in the hop header. */
void switch_thresholds_are_the_queues(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	for (uint32_t class = 0; class < CLASSES; class ++) {
		struct queue *q = bench_queue(b, BENCH_HOST_PORT, class);

		q->kmin_bytes = (class + 1) * 1000;
		q->kmax_bytes = (class + 1) * 1000 + 1;
		bench_queue(b, BENCH_IN, class)->kmax_bytes = 1;
	}
	bench_accept(b);
	for (uint32_t class = 0; class < CLASSES; class ++) {
		for (uint32_t more = 0; more < 2; more++) {
			trial_init(&t, &packet_spec_default);
			t.hop.queue = (uint8_t) class;
			t.hop.behind_bytes = (class + 1) * 1000 + more;
			t.flags = more ? VERDICT_MARKED : 0;
			trial_forwards(b, &t, BENCH_LOCAL(1));
			t.in.bytes[PACKET_IP + 1] ^= 0xff & (DSCP_PLAIN ^ DSCP_CNP) << 2;
			packet_seal(&t.in);
			trial_forwards(b, &t, BENCH_LOCAL(1));
		}
	}
}

/* A depth as queues have them: it rises, falls, and is empty for a while. */
static uint32_t next_depth(uint32_t depth, uint64_t *rng)
{
	if (!rng_below(rng, 200))
		return 0;
	if (rng_below(rng, 2))
		return depth + rng_below(rng, 9000);
	return depth > 9000 ? depth - rng_below(rng, 9000) : rng_below(rng, 9000);
}

/*
 * The moving average of what was behind each frame, w = 2^-shift (Floyd and Jacobson, 1993, section
 * 4), against one in floating point: rounding up at each step, it is ahead by less than the sum of
 * w-weighted steps, 2^shift bytes. The frame is marked if the average, itself in it, is at kmax.
 */
void switch_averaged_depth(void **state)
{
	struct switch_bench *b = *state;
	struct queue *q = bench_queue(b, BENCH_HOST_PORT, 0);

	for (uint8_t shift = 1; shift < 16; shift++) {
		uint64_t rng = rng_stream(1, "depth", shift);
		uint32_t depth = 0, marks = 0;
		double average = 0;
		struct trial t;

		bench_reset(state);
		q->average_shift = shift;
		q->kmin_bytes = q->kmax_bytes = 15000;
		trial_init(&t, &packet_spec_default);
		for (unsigned i = 0; i < 2000; i++) {
			bool marked;

			depth = t.hop.behind_bytes = next_depth(depth, &rng);
			average += (depth - average) / (1 << shift);
			marked = trial_run(b, &t, NULL).flags & VERDICT_MARKED;
			assert_true(q->average_bytes >= average - 0.001);
			assert_true(q->average_bytes <= average + (1 << shift));
			assert_int_equal(marked, q->average_bytes > 15000);
			marks += marked;
		}
		assert_true(marks < 2000 && (marks > 0 || shift > 12));
	}
}

/* A queue that is empty for long forgets; one that stays as it is, is known exactly. */
void switch_the_average_settles(void **state)
{
	struct switch_bench *b = *state;
	struct queue *q = bench_queue(b, BENCH_HOST_PORT, 0);
	struct trial t;

	for (uint8_t shift = 1; shift < 10; shift++) {
		bench_reset(state);
		q->average_shift = shift;
		trial_init(&t, &packet_spec_default);
		t.hop.behind_bytes = 50000;
		for (unsigned i = 0; i < 25u << shift; i++)
			trial_run(b, &t, NULL);
		assert_int_equal(q->average_bytes, 50000);
		t.hop.behind_bytes = 0;
		for (unsigned i = 0; i < 25u << shift; i++)
			trial_run(b, &t, NULL);
		assert_in_range(q->average_bytes, 0, (1 << shift) - 1);
	}
}
