/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bursts of a flaky link: that they obey the laws that were asked for, and which frames they take.
 */
#include <stdlib.h>
#include "base/rng_stream.h"
#include "faults_fixture.h"

struct burst {
	uint64_t from_ps, to_ps;
};

/* The next burst, step by step and without a skip; 0 where only dice began anew. */
static int next_burst(struct fault *f, struct burst *ret)
{
	uint64_t from = f->next_ps, sum = f->burst_ps;
	int real = !f->fresh;

	wire_step(f);
	*ret = (struct burst){from, from + f->burst_ps - sum};
	return real;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Kolmogorov and Smirnov: n samples are not exponential with this mean, at the 1% level. 1.6276 is
 * where the limit of their distribution has 1% left; Stephens' factor makes it fit finite n (JASA
 * 69, 1974, table 1A, case 0).
 */
static int ks_rejects(double *samples, unsigned n, double mean)
{
	double worst = 0, root = sqrt(n);

	qsort(samples, n, sizeof(*samples), compare);
	for (unsigned i = 0; i < n; i++) {
		double p = -expm1(-samples[i] / mean);

		worst = fmax(worst, fmax((i + 1.0) / n - p, p - (double)i / n));
	}
	return worst * (root + 0.12 + 0.11 / root) > 1.6276;
}

#define BURSTS 2000u
#define SEEDS  100u

static void arrivals_and_lengths_are_exponential(void **state)
{
	static double gaps[BURSTS], lengths[BURSTS];
	unsigned bad_gaps = 0, bad_lengths = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct cable c;
		struct burst b;
		uint64_t before = 7 * US, over = 0;

		cable_init(&c);
		faults_set_flaky(&c.t, A, EVERY, LAST, seed, before);
		for (unsigned n = 0; n < BURSTS;) {
			if (!next_burst(&c.faults[A], &b))
				continue;
			assert_true(b.from_ps > before);
			over = b.to_ps > over ? b.to_ps : over;
			assert_int_equal(c.faults[A].until_ps, over);
			gaps[n] = (double)(b.from_ps - before);
			lengths[n++] = (double)(b.to_ps - b.from_ps);
			before = b.from_ps;
		}
		assert_int_equal(c.faults[A].bursts, BURSTS);
		bad_gaps += ks_rejects(gaps, BURSTS, EVERY);
		bad_lengths += ks_rejects(lengths, BURSTS, LAST);
		/* the test itself can tell */
		assert_true(ks_rejects(gaps, BURSTS, 1.25 * EVERY));
	}
	/* 1 of 100 is due at this level; more than 5 have a chance of 0.05% */
	assert_true(bad_gaps <= 5);
	assert_true(bad_lengths <= 5);
}

/*
 * Counts in windows that cut across the cells: a Poisson process has their variance equal to their
 * mean.
 */
static void counts_are_poisson(void **state)
{
	enum { WINDOWS = 4000 };
	static const uint64_t widths[] = {EVERY / 3, EVERY, 7 * EVERY, 20 * EVERY};
	struct burst b;

	(void)state;
	for (unsigned i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		static unsigned counts[WINDOWS];
		double mean = (double)widths[i] / EVERY, chi = 0;
		struct cable c;

		cable_init(&c);
		memset(counts, 0, sizeof(counts));
		faults_set_flaky(&c.t, A, EVERY, LAST, i, 0);
		while (c.faults[A].next_ps < WINDOWS * widths[i])
			if (next_burst(&c.faults[A], &b))
				counts[b.from_ps / widths[i]]++;
		for (unsigned w = 0; w < WINDOWS; w++)
			chi += (counts[w] - mean) * (counts[w] - mean) / mean;
		/* variance of the sum: 2 + 1 / mean a window */
		assert_near("dispersion", chi, WINDOWS, sqrt(WINDOWS * (2 + 1 / mean)));
		assert_near(
			"bursts", (double)c.faults[A].bursts, WINDOWS * mean, sqrt(WINDOWS * mean));
	}
}

/* All bursts up to end_ps, drawn in order: what any frame's fate is judged by. */
static unsigned list_bursts(
	struct burst *to, unsigned room, const struct fault *fault, uint64_t end_ps)
{
	struct fault f = *fault;
	unsigned n = 0;

	while (f.next_ps < end_ps) {
		assert_true(n < room);
		n += (unsigned)next_burst(&f, &to[n]);
	}
	return n;
}

static enum drop_reason fate(
	const struct burst *bursts, unsigned n, uint64_t started_ps, uint64_t now_ps)
{
	for (unsigned i = 0; i < n && bursts[i].from_ps < now_ps; i++)
		if (bursts[i].to_ps > started_ps)
			return DROP_BURST;
	return DROP_NONE;
}

/*
 * Frames at one end, in order of both their ends, with silences from nothing to 1,000 gaps between;
 * how many were lost.
 */
static unsigned check_frames(struct cable *c, uint32_t port, const struct burst *bursts, unsigned n,
	uint64_t end_ps, uint64_t seed)
{
	uint64_t rng = rng_stream(seed, "frames", port), started, now, last = 0;
	unsigned lost = 0, from = 0;

	for (started = 0; started < end_ps;
		started += 1 + rng_take(&rng) % (EVERY * 1000 >> rng_below(&rng, 30))) {
		enum drop_reason want;

		now = started + rng_take(&rng) % (2 * EVERY >> rng_below(&rng, 20)) + 1;
		if (now < last)
			now = last;
		last = now;
		/* what was long over is over */
		while (from < n && bursts[from].from_ps + 100 * EVERY * 45 < started)
			from++;
		want = fate(bursts + from, n - from, started, now);
		assert_int_equal(frame(c, port, started, now, LENGTH), want);
		lost += want == DROP_BURST;
	}
	return lost;
}

/*
 * Each end judges its frames as if it had seen every burst from the first on, whatever it slept
 * through; so both see the same ones.
 */
static void both_ends_see_the_same_bursts(void **state)
{
	static const uint64_t lasts[] = {US / 10, US, LAST, EVERY, 3 * EVERY, 10 * EVERY};
	enum { ROOM = 200000 };
	struct burst *bursts = calloc(ROOM, sizeof(*bursts));
	const uint64_t end = 100000 * EVERY;

	(void)state;
	assert_non_null(bursts);
	for (unsigned i = 0; i < sizeof(lasts) / sizeof(lasts[0]); i++) {
		unsigned n, lost_a, lost_b;
		struct cable c;

		cable_init(&c);
		faults_set_flaky(&c.t, A, EVERY, lasts[i], 5, 3 * US);
		faults_set_flaky(&c.t, B, EVERY, lasts[i], 5, 3 * US);
		c.faults[B].frame_seed = c.faults[A].frame_seed; /* of other faults */
		assert_memory_equal(&c.faults[A], &c.faults[B], sizeof(c.faults[A]));
		n = list_bursts(bursts, ROOM, &c.faults[A], end + 2 * EVERY);
		lost_a = check_frames(&c, A, bursts, n, end, i);
		lost_b = check_frames(&c, B, bursts, n, end, i + 100);
		assert_true(lost_a && lost_b);
		/* the silences were really skipped */
		assert_true(lasts[i] > LAST || c.faults[A].bursts < n / 2);
	}
	free(bursts);
}

/* Of an M/G/infinity queue: nobody is there for exp(-last / every) of the time. */
static void share_of_time_in_bursts(void **state)
{
	static const double loads[] = {0.01, 0.1, 1, 4};
	enum { PROBES = 20000 };

	(void)state;
	for (unsigned i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		double p = -expm1(-loads[i]);
		unsigned lost = 0;
		struct cable c;

		cable_init(&c);
		faults_set_flaky(&c.t, A, EVERY, (uint64_t)(loads[i] * EVERY), i, 0);
		/* far enough apart for each to be a draw of its own */
		for (uint64_t n = 1; n <= PROBES; n++)
			lost += frame(&c, A, n * 200 * EVERY, n * 200 * EVERY + 1, LENGTH) ==
				DROP_BURST;
		assert_near("share", lost, PROBES * p, sqrt(PROBES * p * (1 - p)));
	}
}

static enum drop_reason alone(const struct cable *fresh, uint64_t started_ps, uint64_t now_ps)
{
	struct cable c = *fresh;

	c.t.ports = c.ports;
	c.t.drops = c.drops;
	c.t.faults = c.faults;
	return frame(&c, A, started_ps, now_ps, LENGTH);
}

/* From its first picosecond to its last, propagation included, and not one beside. */
static void edges_of_a_burst(void **state)
{
	struct burst all[64], b;
	unsigned n, tried = 0;
	struct cable c;

	(void)state;
	cable_init(&c);
	faults_set_flaky(&c.t, A, EVERY, LAST, 3, 0);
	n = list_bursts(all, 64, &c.faults[A], 50 * EVERY);
	for (unsigned i = 1; i < n - 1; i++) {
		b = all[i];
		/* one that stands alone */
		if (all[i - 1].to_ps + US > b.from_ps || b.to_ps + US > all[i + 1].from_ps ||
			(i > 1 && all[i - 2].to_ps + US > b.from_ps) || b.to_ps - b.from_ps < 2)
			continue;
		tried++;
		assert_int_equal(alone(&c, b.from_ps - US / 2, b.from_ps), DROP_NONE);
		assert_int_equal(alone(&c, b.from_ps - US / 2, b.from_ps + 1), DROP_BURST);
		assert_int_equal(alone(&c, b.from_ps, b.from_ps + 1), DROP_BURST);
		assert_int_equal(alone(&c, b.from_ps + 1, b.to_ps - 1), DROP_BURST);
		assert_int_equal(alone(&c, b.to_ps - 1, b.to_ps + US / 2), DROP_BURST);
		assert_int_equal(alone(&c, b.to_ps, b.to_ps + US / 2), DROP_NONE);
		assert_int_equal(alone(&c, b.from_ps - US / 2, b.to_ps + US / 2), DROP_BURST);
	}
	assert_true(tried > 20);
}

static void no_burst_before_it_is_switched_on(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		const uint64_t on = 123456 * EVERY + 789;
		struct fault first;
		struct cable c;

		cable_init(&c);
		faults_set_flaky(&c.t, A, EVERY, 10 * EVERY, seed, on);
		first = c.faults[A];
		assert_int_equal(frame(&c, A, 0, on, LENGTH), DROP_NONE);
		assert_memory_equal(&c.faults[A], &first, sizeof(first));
		assert_int_equal(frame(&c, A, 0, on + 60 * EVERY, LENGTH), DROP_BURST);
		faults_clear(&c.t, A, FAULT_FLAKY);
		assert_int_equal(frame(&c, A, 0, on + 61 * EVERY, LENGTH), DROP_NONE);
		/* on again at the same time: the same, but for what was counted */
		faults_set_flaky(&c.t, A, EVERY, 10 * EVERY, seed, on);
		first.bursts = c.faults[A].bursts;
		first.burst_ps = c.faults[A].burst_ps;
		first.rng = c.faults[A].rng;
		assert_memory_equal(&c.faults[A], &first, sizeof(first));
	}
}

/* The longest means and the shortest: no shift and no product goes over, and the step goes on. */
static void extreme_means(void **state)
{
	static const uint64_t means[] = {1, 2, 3, 1ull << 55, (1ull << 56) - 1, UINT64_MAX};
	enum { N = sizeof(means) / sizeof(means[0]) };

	(void)state;
	for (unsigned i = 0; i < N * N; i++) {
		struct cable c;

		cable_init(&c);
		faults_set_flaky(&c.t, A, means[i / N], means[i % N], 1, (1ull << 62) - 1);
		for (uint64_t n = 0; n < 1000; n++) {
			uint64_t next = c.faults[A].next_ps;

			frame(&c, A, (1ull << 62) + n * 1000, (1ull << 62) + n * 1001, LENGTH);
			assert_true(c.faults[A].next_ps >= next);
			assert_true(c.faults[A].cell_shift < 60);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrivals_and_lengths_are_exponential),
		cmocka_unit_test(counts_are_poisson),
		cmocka_unit_test(both_ends_see_the_same_bursts),
		cmocka_unit_test(share_of_time_in_bursts),
		cmocka_unit_test(edges_of_a_burst),
		cmocka_unit_test(no_burst_before_it_is_switched_on),
		cmocka_unit_test(extreme_means),
	};

	return cmocka_run_group_tests_name("flaky", tests, NULL, NULL);
}
