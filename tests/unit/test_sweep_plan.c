/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The key `sweep`, and the runs that follow from it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scenario_fixture.h"
#include "sweep/plan.h"
#include "sweep/statistics.h"

#define VARIANTS                                                                                   \
	"compare:\n"                                                                               \
	"  - {name: one, set: {host.transport: roce}}\n"                                           \
	"  - {name: two, set: {switch.reroute: 1ms}}\n"
#define SWEEP SMALL VARIANTS "sweep:\n"

static void what_is_wrong_with_a_sweep_is_named(void **state)
{
	(void)state;
	expect(SWEEP "  grid: [{key: until}]\n",
		"7:10: sweep.grid.0.values: missing; expected a list such as [64KB, 2MB]\n");
	expect(SWEEP "  grid: [{key: until, values: []}]\n",
		"7:31: sweep.grid.0.values: empty; expected at least one value\n");
	expect(SWEEP "  grid: [{key: seed, values: [1, 2]}]\n",
		"7:16: sweep.grid.0.key: seeds have a list of their own; write seeds: 1..10 beside grid\n");
	expect(SWEEP "  grid: [{key: until, as: run, values: [1ms]}]\n",
		"7:27: sweep.grid.0.as: 'run' can't be the name of a parameter, the table has a column of that name; give another by as:\n");
	expect(SWEEP "  grid: [{key: until, values: [1ms]}, {key: a.until, values: [2]}]\n",
		"7:39: sweep.grid.1: two parameters are called 'until'; give this one another name by as:\n");
	expect(SWEEP "  seeds: 5..2\n",
		"7:10: sweep.seeds: 5..2 is no range; the first is the smaller\n");
	expect(SWEEP "  seeds: [1..3, 2]\n", "7:17: sweep.seeds.1: seed 2 is there twice\n");
	expect(SWEEP "  seeds: many\n",
		"7:10: sweep.seeds: expected seeds such as 1..10 or [1, 5, 7], not 'many'\n");
	expect(SWEEP "  tables: [flow]\n",
		"7:12: sweep.tables.0: 'flow' is not known; did you mean 'flows'?\n");
}

static void what_is_wrong_with_its_expectations_is_named(void **state)
{
	(void)state;
	expect(SWEEP "  expect:\n    - {at_most: 1}\n",
		"8:7: sweep.expect.0: expected a metric, or a query\n");
	expect(SWEEP "  expect:\n    - {metric: slowdown, at_most: 1, of: ona}\n",
		"8:42: sweep.expect.0.of: 'ona' is not known; did you mean 'one'?\n");
	expect(SWEEP "  expect:\n    - {metric: slowdown, at_most: 1, over: one}\n",
		"8:44: sweep.expect.0.over: it needs of: the variant whose mean is divided by that of one\n");
	expect(SWEEP "  expect:\n    - {query: select 1, at_most: 1, of: one}\n",
		"8:41: sweep.expect.0.of: a query says itself what it is of; leave this out\n");
	expect(SWEEP "  expect:\n    - {metric: slowdown, order: [one]}\n",
		"8:33: sweep.expect.0.order: expected two variants at least\n");
	expect(SWEEP "  grid: [{key: until, values: [1ms]}]\n"
		     "  expect:\n    - {metric: slowdown, at_most: 1, where: {until: 2ms}}\n",
		"9:53: sweep.expect.0.where.until: '2ms' is none of the values of until\n");
	expect(SWEEP "  plots: [{name: a, x: size}]\n",
		"7:24: sweep.plots.0.x: the sweep has no grid, and so no parameter\n");
}

static struct sweep_plan *plan_of(const struct scenario *s)
{
	struct error why = ERROR_INIT;
	struct sweep_plan *p = NULL;

	if (sweep_plan_new(&p, s, &why) < 0)
		fail_msg("%s", why.text);
	return p;
}

static void all_combinations_are_run(void **state)
{
	static const char *const given[] = {"host.ip=6"};
	struct scenario *s = load(
		SWEEP "  grid:\n"
		      "    - {key: until, values: [1us, 2ms]}\n"
		      "    - {key: topology.rate, as: speed, values: [1Gbps, 100Mbps, 2.5Gbps]}\n"
		      "  seeds: [4..5, 9]\n");
	struct sweep_plan *p = plan_of(s);
	char text[SWEEP_RUN_TEXT], **settings;

	(void)state;
	assert_int_equal(p->count, 2 * 3 * 2 * 3);
	assert_string_equal(
		sweep_run_text(p, &p->runs[0], text), "one until=1us speed=1Gbps, seed 4");
	assert_string_equal(
		sweep_run_text(p, &p->runs[1], text), "one until=1us speed=1Gbps, seed 5");
	assert_string_equal(
		sweep_run_text(p, &p->runs[3], text), "two until=1us speed=1Gbps, seed 4");
	assert_string_equal(
		sweep_run_text(p, &p->runs[6], text), "one until=1us speed=100Mbps, seed 4");
	assert_string_equal(
		sweep_run_text(p, &p->runs[35], text), "two until=2ms speed=2.5Gbps, seed 9");
	assert_ptr_equal(sweep_plan_run(p, 5, 1, 2), &p->runs[35]);
	settings = sweep_run_settings(p, &p->runs[35], given, 1);
	assert_string_equal(settings[0], "switch.reroute=1ms");
	assert_string_equal(settings[1], "host.ip=6");
	assert_string_equal(settings[2], "until=2ms");
	assert_string_equal(settings[3], "topology.rate=2.5Gbps");
	assert_string_equal(settings[4], "seed=9");
	assert_null(settings[5]);
	sweep_settings_free(settings);
	sweep_plan_free(p);
	scenario_free(s);
}

static void parameters_are_numbers_with_units(void **state)
{
	struct scenario *s = load(SMALL "sweep:\n"
					"  grid:\n"
					"    - {key: a.size, values: [64KB, 17]}\n"
					"    - {key: a.time, values: [1us, 2.5ms]}\n"
					"    - {key: a.rate, values: [1Gbps, 10Mbps]}\n"
					"    - {key: a.share, values: [25%, 0.5%]}\n"
					"    - {key: a.count, values: [1, 2e3]}\n"
					"    - {key: a.word, values: [1, on]}\n");
	static const struct {
		const char *name;
		double second;
	} columns[] = {{"size_bytes", 17}, {"time_us", 2500}, {"rate_gbps", 0.01},
		{"share_percent", 0.5}, {"count", 2000}, {"word", NAN}};
	struct sweep_plan *p = plan_of(s);

	(void)state;
	for (size_t i = 0; i < COUNT(columns); i++) {
		assert_string_equal(p->columns[i].name, columns[i].name);
		if (isnan(columns[i].second))
			assert_null(p->columns[i].numbers);
		else
			assert_true(p->columns[i].numbers[1] == columns[i].second);
	}
	sweep_plan_free(p);
	scenario_free(s);
}

static void contradictions_are_named(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"compare: [{name: one, set: {until: 1ms}}]\nsweep: {grid: [{key: until, values: [2ms]}]}\n",
			"variant one sets until, which the sweep's grid sets too; keep one"},
		{"compare: [{name: one, set: {host.transport.strack.spray: single}}]\nsweep: {grid: [{key: host.transport, values: [roce]}]}\n",
			"variant one sets host.transport, which the sweep's grid sets too; keep one"},
		{"compare: [{name: one, set: {seed: 3}}]\nsweep: {seeds: 1..2}\n",
			"variant one has a seed of its own, which the seeds of the sweep would take the place of; keep one"},
		{"sweep: {seeds: 1..10000, grid: [{key: until, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, "
		 "{key: a, values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}]}\n",
			"the sweep has more than 100000 runs"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct error why = ERROR_INIT;
		struct sweep_plan *p = NULL;
		char text[512];
		struct scenario *s;

		snprintf(text, sizeof(text), SMALL "%s", cases[i].text);
		s = load(text);
		assert_int_equal(sweep_plan_new(&p, s, &why), -EINVAL);
		assert_string_equal(why.text, cases[i].why);
		scenario_free(s);
	}
}

/* Student's quantiles from a printed table: 12.706, 4.303, 2.228, 2.201, 2.042, 1.980. */
static void confidence_is_students(void **state)
{
	static const struct {
		size_t count;
		double quantile;
	} cases[] = {{2, 12.706}, {3, 4.303}, {11, 2.228}, {12, 2.201}, {31, 2.042}, {121, 1.980}};
	double values[121];

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++)
		values[i] = (double)(i % 7) + 5;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t n = cases[i].count;
		struct statistics s = statistics_of(values, n);
		double squares = 0;

		for (size_t k = 0; k < n; k++)
			squares += (values[k] - s.mean) * (values[k] - s.mean);
		assert_true(fabs(s.confidence / sqrt(squares / (double)(n - 1) / (double)n) -
				    cases[i].quantile) < 0.0006);
	}
	assert_true(isnan(statistics_of(values, 1).confidence));
	assert_true(isnan(statistics_of(values, 0).mean));
	assert_true(statistics_of(values, 7).mean == 8 && statistics_of(values, 7).max == 11);
	for (size_t i = 0; i < 10; i++)
		values[i] = 1.4;
	assert_true(statistics_of(values, 10).mean == 1.4 && statistics_of(values, 10).max == 1.4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_with_a_sweep_is_named),
		cmocka_unit_test(what_is_wrong_with_its_expectations_is_named),
		cmocka_unit_test(all_combinations_are_run),
		cmocka_unit_test(parameters_are_numbers_with_units),
		cmocka_unit_test(contradictions_are_named),
		cmocka_unit_test(confidence_is_students),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
