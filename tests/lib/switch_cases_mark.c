/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Egress ECN: when, how often, on what, and that nothing else of the packet changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng.h"
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define KMIN 10000u
#define KMAX 30000u

static void thresholds(struct switch_bench *b, uint32_t kmin, uint32_t kmax, uint32_t pmax)
{
	struct port *in = &b->dp->tables.ports[BENCH_IN];

	in->kmin_bytes = kmin;
	in->kmax_bytes = kmax;
	in->pmax = pmax;
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
	struct trial t;
	unsigned marks = 0;

	trial_init(&t, &packet_spec_default);
	t.hop.behind_bytes = behind;
	for (unsigned i = 0; i < n; i++) {
		struct packet out;
		struct verdict v = trial_run(b, &t, &out);
		bool ce = (out.bytes[PACKET_IP + 1] & 3) == 3;

		assert_int_equal(v.action, VERDICT_FORWARD);
		assert_int_equal(v.flags, ce ? VERDICT_MARKED : 0);
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
