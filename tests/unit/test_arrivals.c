/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An open loop is handed to the engine in parts, and is forgotten flow by flow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/json.h"
#include "base/rng_stream.h"
#include "engine/internal.h"
#include "session/traffic.h"
#include "telemetry/summary.h"
#include "lib/session_files.h"
#include "workload_fixture.h"

/* Short messages, and now and then one that outlasts hundreds of others. */
#define SIZES "100 .99\n200000 1\n"
#define OPEN                                                                                       \
	SIXTEEN "  - load: {sizes: sizes.cdf, load: 10%, warmup: 200us, until: 900us, cooldown: 200us}\n"

static void put_sizes(void)
{
	FILE *out = fopen("sizes.cdf", "we");

	assert_non_null(out);
	fputs(SIZES, out);
	assert_int_equal(fclose(out), 0);
}

/* The same flows as a list. */
static void put_list(void)
{
	struct scenario *s = load(OPEN);
	struct operations m = operations_of(OPEN, rng_stream(s->seed, "workload", 0));
	FILE *out = fopen("flows.csv", "we");

	assert_non_null(out);
	assert_true(m.count > 2 * ARRIVALS_PART);
	fputs("src,dst,bytes,start_ps\n", out);
	for (size_t i = 0; i < m.count; i++)
		fprintf(out, "%u,%u,%llu,%llu\n", m.items[i].src_host, m.items[i].dst_host,
			(unsigned long long)m.items[i].bytes,
			(unsigned long long)m.items[i].start_ps);
	assert_int_equal(fclose(out), 0);
	operations_release(&m);
	scenario_free(s);
}

struct outcome {
	uint32_t records, fresh, flows; /* of the engine */
	json_t *summary;
};

static void run(struct outcome *ret, const char *text, uint64_t slice)
{
	struct small_session s;
	struct error why = ERROR_INIT;
	const struct engine *e;
	bool met;

	small_session_open(&s, text, NULL, 0, NULL);
	e = session_engine(s.session);
	while (!session_done(s.session))
		assert_int_equal(session_advance(s.session,
					 slice ? engine_now(e) + slice : UINT64_MAX, NULL, &why),
			0);
	ret->summary = small_session_summary(&s, &met);
	ret->records = e->memory.record_count;
	ret->fresh = e->memory.fresh;
	ret->flows = engine_flow_count(e);
	small_session_close(&s);
}

static double number(const struct outcome *o, const char *path)
{
	double value = -1;

	assert_int_equal(summary_lookup(o->summary, path, &value), 0);
	return value;
}

/* Only what is drawn for each flow is different. */
static void it_is_as_a_list_of_its_flows(void **state)
{
	struct outcome open, cut, list;

	(void)state;
	put_sizes();
	put_list();
	run(&open, OPEN, 0);
	run(&cut, OPEN, 1234567);
	run(&list, SIXTEEN "  - flows: {file: flows.csv}\n", 0);
	assert_string_equal(
		look_text(open.summary, "trace_hash"), look_text(cut.summary, "trace_hash"));
	assert_true(number(&open, "flows.count") == number(&list, "flows.count"));
	assert_true(number(&open, "flows.bytes") == number(&list, "flows.bytes"));
	assert_float_equal(number(&open, "flows.goodput_gbps"), number(&list, "flows.goodput_gbps"),
		number(&list, "flows.goodput_gbps") / 100);
	assert_true(number(&open, "flows.fct_us.p99") == number(&cut, "flows.fct_us.p99"));
	assert_true(number(&open, "flows.unmeasured") > 0);
	assert_int_equal(open.flows, list.flows);
	/* what is left of a flow is a tenth at the most of what a list keeps */
	assert_int_equal(list.records, list.flows);
	assert_in_range(open.records, open.fresh, list.flows / 10);
	json_decref(open.summary);
	json_decref(cut.summary);
	json_decref(list.summary);
}

/* What has not arrived when a run is cut off is no part of it, however far ahead it was known. */
static void what_has_not_arrived_does_not_count(void **state)
{
	struct scenario *s = load(OPEN);
	struct operations m = operations_of(OPEN, rng_stream(s->seed, "workload", 0));
	char directory[SMALL_PATH], *rows;
	struct small_session cut;
	size_t arrived = 0, lines = 0;
	json_t *summary;
	bool met;

	(void)state;
	for (size_t i = 0; i < m.count; i++)
		arrived += m.items[i].start_ps < 400 * PS_PER_US;
	small_directory(directory);
	files_record(&cut, "until: 400us\n" OPEN, NULL, 0, directory, false, SLICE_WHOLE);
	summary = small_session_summary(&cut, &met);
	rows = small_file(directory, "flows.csv");
	for (const char *at = rows; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 1 + arrived);
	assert_int_equal(look_number(summary, "flows.count"), arrived);
	assert_true(look_number(summary, "flows.unfinished") > 0);
	assert_true(json_is_null(look(summary, "slowdown")));
	assert_int_equal(session_tally(cut.session)->flows_total, m.count);
	small_session_close(&cut);
	small_directory_remove(directory);
	json_decref(summary);
	free(rows);
	operations_release(&m);
	scenario_free(s);
}

/* All that has arrived may have finished, and the bound knows of more: it says nothing then. */
static void a_lull_is_not_the_end(void **state)
{
	struct outcome lull;

	(void)state;
	run(&lull,
		"until: 40us\nseed: 5\n" SIXTEEN
		"  - load: {sizes: websearch, load: 2%, until: 5ms}\n",
		0);
	assert_int_equal(number(&lull, "flows.unfinished"), 0);
	assert_true(number(&lull, "flows.count") > 0);
	assert_true(json_is_null(look(lull.summary, "slowdown")));
	assert_true(json_is_null(look(lull.summary, "flows.fct_us.max")));
	assert_true(number(&lull, "flows.finished.fct_us.max") > 0);
	json_decref(lull.summary);
}

/*
 * What a flow draws does not depend on what else was added before it, and when: a list that begins
 * between two parts of an open loop, or before it.
 */
static void what_else_there_is_does_not_matter(void **state)
{
	static const char *const orders[][2] = {
		{"  - load: {sizes: sizes.cdf, load: 10%, until: 900us}\n"
		 "  - permutation: {message: 9KB, start: 300us}\n"},
		{"  - load: {sizes: sizes.cdf, load: 10%, until: 900us}\n",
			"[{permutation: {message: 9KB, start: 100us}}]"}};
	uint64_t hashes[2];

	(void)state;
	put_sizes();
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct small_session s;
		struct error why = ERROR_INIT;
		struct engine_stats stats;
		char text[300];

		snprintf(text, sizeof(text), SIXTEEN "%s", orders[i][0]);
		small_session_open(&s, text, NULL, 0, NULL);
		if (i) {
			struct diags d = DIAGS_INIT;
			struct workload_spec *w;
			size_t count;

			assert_int_equal(
				session_advance(s.session, 200 * PS_PER_US, NULL, &why), 0);
			assert_int_equal(scenario_workloads(&w, &count, NULL, orders[i][1],
						 strlen(orders[i][1]), &d),
				0);
			json_decref(session_start(s.session, w, count, &why));
			free(w);
			diags_release(&d);
		}
		small_session_run(&s);
		engine_stats(session_engine(s.session), &stats);
		hashes[i] = stats.trace_hash;
		small_session_close(&s);
	}
	assert_true(hashes[0] != 0 && hashes[0] == hashes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_as_a_list_of_its_flows),
		cmocka_unit_test(what_has_not_arrived_does_not_count),
		cmocka_unit_test(a_lull_is_not_the_end),
		cmocka_unit_test(what_else_there_is_does_not_matter),
	};
	char path[SMALL_PATH];
	int failed;

	small_directory(path);
	if (chdir(path) != 0)
		return EXIT_FAILURE;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	small_directory_remove(path);
	return failed;
}
