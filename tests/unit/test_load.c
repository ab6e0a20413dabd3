/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "workload/sizes.h"
#include "workload_fixture.h"

#define SIZES "sizes.cdf"

static void put(const char *text)
{
	FILE *out = fopen(SIZES, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static struct sizes shipped(const char *name)
{
	const char *text = sizes_shipped(name);
	char why[SIZES_REFUSAL];
	struct sizes s;

	assert_non_null(text);
	assert_int_equal(sizes_parse(&s, text, strlen(text), why), 0);
	return s;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * The largest distance between the shares below each of n samples, which it sorts, and those that
 * the law gives, times sqrt(n): below 1.95 in 999 of 1000 cases (A. N. Kolmogorov, N. V. Smirnov).
 */
static double distance(
	double *samples, size_t n, double (*law)(const void *arg, double x), const void *arg)
{
	double most = 0;

	qsort(samples, n, sizeof(*samples), compare_doubles);
	for (size_t i = 0; i < n; i++) {
		double is = law(arg, samples[i]);

		most = fmax(
			most, fmax(is - (double)i / (double)n, (double)(i + 1) / (double)n - is));
	}
	return most * sqrt((double)n);
}

#define DISTANCE_MAX 1.95

/* The published law itself: straight between its points. */
static double share_below(const void *arg, double x)
{
	const struct sizes *s = arg;

	for (size_t i = 1; i < s->count; i++) {
		const struct size_point *p = &s->points[i];

		if (x < (double)p->bytes)
			return ((double)p[-1].share + (double)(p->share - p[-1].share) *
							      (x - (double)p[-1].bytes) /
							      (double)(p->bytes - p[-1].bytes)) /
			       (double)SIZES_ONE;
	}
	return 1;
}

static double exponential(const void *arg, double x)
{
	return 1 - exp(-x / *(const double *)arg);
}

/* By hand: the sum of each line's share times the middle of its sizes. */
static void means_are_those_of_the_points(void **state)
{
	const struct {
		const char *name;
		double mean;
	} of[] = {
		{"websearch", .15 * 5e3 + .05 * 15e3 + .1 * 25e3 + .1 * 40e3 + .13 * 65e3 +
				      .07 * 140e3 + .1 * 600e3 + .1 * 1500e3 + .1 * 3500e3 +
				      .07 * 7500e3 + .03 * 20e6},
		{"alistorage", .2293 * 2e3 + .4628 * 6e3 + .114 * 12e3 + .0986 * 24e3 +
				       .0306 * 48e3 + .0324 * 96e3 + .0076 * 192e3 +
				       .0247 * 1128e3},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(of); i++) {
		struct sizes s = shipped(of[i].name);

		assert_true(fabs(sizes_mean(&s) / of[i].mean - 1) < 1e-8);
		sizes_release(&s);
	}
}

static void draws_follow_the_law(void **state)
{
	static const char *const names[] = {"websearch", "alistorage", "hadoop"};
	enum { DRAWS = 100000 };
	double *drawn = calloc(DRAWS, sizeof(*drawn));

	(void)state;
	assert_non_null(drawn);
	for (size_t n = 0; n < COUNT(names); n++) {
		struct sizes s = shipped(names[n]);
		uint64_t rng = rng_stream(n, "test", 0);
		double sum = 0, squares = 0, mean = sizes_mean(&s), error;

		for (size_t i = 0; i < DRAWS; i++) {
			drawn[i] = (double)sizes_draw(&s, rng_take(&rng));
			sum += drawn[i];
			squares += drawn[i] * drawn[i];
		}
		error = sqrt(squares / DRAWS - (sum / DRAWS) * (sum / DRAWS)) / sqrt(DRAWS);
		assert_true(fabs(sum / DRAWS - mean) < 3.3 * error);
		assert_true(distance(drawn, DRAWS, share_below, &s) < DISTANCE_MAX);
		assert_int_equal(sizes_draw(&s, 0), 1);
		assert_int_equal(sizes_draw(&s, UINT64_MAX), s.points[s.count - 1].bytes);
		sizes_release(&s);
	}
	free(drawn);
}

/* A tenth at the first size, then up to the second, as a fraction. */
static void first_sizes_may_have_a_share(void **state)
{
	const char *text = "100 .1\n200 1\n";
	char why[SIZES_REFUSAL];
	struct sizes s;

	(void)state;
	assert_int_equal(sizes_parse(&s, text, strlen(text), why), 0);
	assert_true(fabs(sizes_mean(&s) - 145) < 1e-6);
	assert_int_equal(sizes_draw(&s, 0), 100);
	assert_int_equal(sizes_draw(&s, UINT64_MAX / 100 * 9), 100);
	assert_int_equal(sizes_draw(&s, UINT64_MAX / 100 * 55), 150);
	sizes_release(&s);
}

#define WEBSEARCH "  - load: {sizes: websearch, load: 60%, until: 400ms}\n"

static double offered(
	const struct operations *m, uint64_t bytes_only, uint64_t from_ps, uint64_t to_ps)
{
	double bytes = 0;

	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].start_ps >= from_ps && m->items[i].start_ps < to_ps &&
			(!bytes_only || m->items[i].bytes == bytes_only))
			bytes += (double)m->items[i].bytes;
	return bytes * 8 / (16 * 100e9 * (double)(to_ps - from_ps) / (double)PS_PER_S);
}

/* Gaps at a host are exponential, all flows are in order, each other host receives as often. */
static void arrivals_are_poisson(void **state)
{
	struct operations m = operations_of(SIXTEEN WEBSEARCH, 1);
	struct sizes s = shipped("websearch");
	double mean = sizes_mean(&s) * 8 * (double)PS_PER_S / (100e9 * .6), chi = 0;
	double *gaps = calloc(m.count, sizeof(*gaps));
	uint64_t last[16] = {0};
	unsigned pairs[16][16] = {{0}};

	(void)state;
	assert_non_null(gaps);
	assert_in_range(m.count, 26000, 30000);
	for (size_t i = 0; i < m.count; i++) {
		const struct operation *o = &m.items[i];

		assert_true(!i || o->start_ps >= o[-1].start_ps);
		assert_false(o->unmeasured);
		gaps[i] = (double)(o->start_ps - last[o->src_host]);
		last[o->src_host] = o->start_ps;
		pairs[o->src_host][o->dst_host]++;
	}
	assert_true(distance(gaps, m.count, exponential, &mean) < DISTANCE_MAX);
	/* chi-squared with 239 degrees of freedom, 99.9%: 312 */
	for (int a = 0; a < 16; a++)
		for (int b = 0; b < 16; b++) {
			double off = pairs[a][b] - (double)m.count / 240;

			if (a != b)
				chi += off * off / ((double)m.count / 240);
			else
				assert_int_equal(pairs[a][b], 0);
		}
	assert_true(chi < 312);
	sizes_release(&s);
	operations_release(&m);
	free(gaps);
}

/* Equal gaps, so that it takes few flows: alistorage's sizes vary less. */
static void the_load_is_the_one_asked_for(void **state)
{
	static const char *const loads[] = {"10%", "50%", "100%"};

	(void)state;
	for (size_t i = 0; i < COUNT(loads); i++) {
		char text[200];
		struct operations m;
		double share;

		snprintf(text, sizeof(text),
			SIXTEEN
			"  - load: {sizes: alistorage, load: %s, arrivals: %s, until: %ums}\n",
			loads[i], i == 1 ? "poisson" : "uniform", (unsigned[]){1000, 200, 100}[i]);
		m = operations_of(text, 1);
		share = offered(&m, 0, 0, m.items[m.count - 1].start_ps);
		assert_true(fabs(share / (double[]){.1, .5, 1}[i] - 1) < .01);
		operations_release(&m);
	}
}

static void uniform_gaps_are_equal(void **state)
{
	struct operations m = operations_of(SIXTEEN
		"  - load: {sizes: alistorage, load: 50%, arrivals: uniform, until: 1ms}\n",
		1);
	uint64_t last[16] = {0}, gap = 0;

	(void)state;
	for (size_t i = 0; i < m.count; i++) {
		const struct operation *o = &m.items[i];

		if (last[o->src_host] && !gap)
			gap = o->start_ps - last[o->src_host];
		else if (last[o->src_host])
			assert_int_equal(o->start_ps - last[o->src_host], gap);
		last[o->src_host] = o->start_ps;
	}
	assert_true(gap > 0);
	operations_release(&m);
}

/* 12 senders at once, to one that is none of them; 2% of what the hosts' links carry. */
static void incasts_take_their_share(void **state)
{
	struct operations m = operations_of(SIXTEEN
		"  - load: {sizes: alistorage, load: 10%, arrivals: uniform, until: 200ms, incast: {senders: 12, message: 500KB}}\n",
		1);
	double share = offered(&m, 512000, 0, 200 * PS_PER_MS);
	size_t incasts = 0;

	(void)state;
	for (size_t i = 0; i < m.count; i++) {
		uint32_t senders = 0;

		if (m.items[i].bytes != 512000)
			continue;
		for (size_t k = i; k < i + 12; k++) {
			assert_int_equal(m.items[k].bytes, 512000);
			assert_int_equal(m.items[k].start_ps, m.items[i].start_ps);
			assert_int_equal(m.items[k].dst_host, m.items[i].dst_host);
			assert_int_not_equal(m.items[k].src_host, m.items[k].dst_host);
			assert_false(senders >> m.items[k].src_host & 1);
			senders |= 1u << m.items[k].src_host;
		}
		incasts++;
		i += 11;
	}
	assert_in_range(incasts, 129, 131);
	assert_true(fabs(share / .02 - 1) < .01);
	operations_release(&m);
}

/* A host draws what it draws, whoever else takes part; the incast too. */
static void streams_are_the_hosts_own(void **state)
{
	struct operations a =
		operations_of(SIXTEEN "  - load: {sizes: websearch, load: 60%, until: 5ms}\n", 7);
	struct operations b = operations_of(SIXTEEN
		"  - load: {sizes: websearch, load: 60%, until: 5ms, incast: {senders: 15, share: 20%}}\n",
		7);
	size_t k = 0;

	(void)state;
	assert_true(b.count > a.count);
	for (size_t i = 0; i < b.count; i++) {
		if (b.items[i].bytes == 512000)
			continue;
		b.items[i].group = a.items[k].group; /* the incasts' messages are counted too */
		assert_memory_equal(&a.items[k], &b.items[i], sizeof(*a.items));
		k++;
	}
	assert_int_equal(k, a.count);
	operations_release(&a);
	operations_release(&b);
}

static void the_interval_is_marked(void **state)
{
	struct operations m = operations_of(SIXTEEN
		"  - load: {sizes: alistorage, load: 50%, hosts: 'h?', start: 1ms, warmup: 2ms, until: 4ms, cooldown: 1ms}\n",
		1);
	size_t outside = 0;

	(void)state;
	for (size_t i = 0; i < m.count; i++) {
		const struct operation *o = &m.items[i];

		assert_in_range(o->start_ps, PS_PER_MS, 6 * PS_PER_MS - 1);
		assert_in_range(o->src_host, 0, 9);
		assert_in_range(o->dst_host, 0, 9);
		assert_int_equal(
			o->unmeasured, o->start_ps < 3 * PS_PER_MS || o->start_ps >= 5 * PS_PER_MS);
		outside += o->unmeasured;
	}
	assert_true(outside > m.count / 2 && outside < m.count * 7 / 10);
	operations_release(&m);
}

#define WRONG(sizes, message)                                                                      \
	(put(sizes), expect(SIXTEEN "  - load: {sizes: " SIZES ", load: 60%, until: 4ms}\n",       \
			     "4:19: workload.0.load.sizes: " SIZES " " message "\n"))

static void wrong_distributions_have_their_line(void **state)
{
	(void)state;
	WRONG("", "line 0: there is no size; expected lines such as 10000 15");
	WRONG("# no\n", "line 1: there is no size; expected lines such as 10000 15");
	WRONG("0 0\nx 5\n",
		"line 2: 'x 5'; expected a size in bytes and a share, such as 10000 15");
	WRONG("0 0\n5\n", "line 2: '5'; expected a size in bytes and a share, such as 10000 15");
	WRONG("0 5\n10 100\n",
		"line 1: a size of 0; only a first line with the share 0 may have it");
	WRONG("1 5\n1 100\n", "line 2: a size of 1 after 1; expected a larger one");
	WRONG("1.5 5\n2 100\n", "line 1: a size of 1.5; expected whole bytes, up to 2^40");
	WRONG("1 5\n8 90\n\n9 80\n", "line 4: a share of 80 after 90; it falls");
	WRONG("1 5\n8 90\n", "line 2: the last share is 90; expected 100 (percent) or 1");
}

static void wrong_loads_are_named(void **state)
{
	(void)state;
	expect(SIXTEEN "  - load: {sizes: websearch, load: 0%, until: 4ms}\n",
		"4:36: workload.0.load.load: 0% is too small; expected a percentage above 0% and up to 100%, such as 25%\n");
	expect(SIXTEEN "  - load: {sizes: websearch, load: 101%, until: 4ms}\n",
		"4:36: workload.0.load.load: 101% is too large; expected a percentage above 0% and up to 100%, such as 25%\n");
	expect(SIXTEEN "  - load: {sizes: websearch, load: 50%, warmup: 4ms, until: 4ms}\n",
		"4:61: workload.0.load.until: it is not after the warmup\n");
	expect(SIXTEEN "  - load: {sizes: web, load: 50%, until: 4ms}\n",
		"4:19: workload.0.load.sizes: cannot read 'web': No such file or directory; expected websearch, alistorage, hadoop, or a file of sizes in bytes and cumulative shares\n");
	refuses(SIXTEEN "  - load: {sizes: websearch, load: 50%, until: 4ms, hosts: h15}\n",
		"workload.0.load.hosts: 'h15' matches 1 of the 16 hosts; expected at least 2");
	refuses(SIXTEEN "  - load: {sizes: websearch, load: 50%, until: 4ms, incast: on}\n",
		"workload.0.load.incast.senders: 60; of 16 hosts one receives, so at most 15");
	refuses(SIXTEEN "  - load: {sizes: websearch, load: 0.0000001%, until: 4ms}\n",
		"workload.0.load.load: so low that a host sends less than one flow in 20 hours");
	refuses(SIXTEEN
		"  - load: {sizes: websearch, load: 50%, until: 4ms, incast: {senders: 2, share: 0.000000001%}}\n",
		"workload.0.load.incast.share: so low that there is less than one incast in 20 hours");
	refuses(SIXTEEN "  - load: {sizes: alistorage, load: 100%, until: 200s}\n",
		"workload: 978717782 operations up to here; at most 536870911 (they are numbered, and so many have a number)");
}

static int remove_sizes(void **state)
{
	(void)state;
	unlink(SIZES);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_are_those_of_the_points),
		cmocka_unit_test(draws_follow_the_law),
		cmocka_unit_test(first_sizes_may_have_a_share),
		cmocka_unit_test(arrivals_are_poisson),
		cmocka_unit_test(the_load_is_the_one_asked_for),
		cmocka_unit_test(uniform_gaps_are_equal),
		cmocka_unit_test(incasts_take_their_share),
		cmocka_unit_test(streams_are_the_hosts_own),
		cmocka_unit_test(the_interval_is_marked),
		cmocka_unit_test(wrong_distributions_have_their_line),
		cmocka_unit_test(wrong_loads_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, remove_sizes);
}
