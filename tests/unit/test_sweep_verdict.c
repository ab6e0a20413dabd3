/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of a sweep, its database, and what its expectations come to: of made-up summaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/json.h"
#include "scenario_fixture.h"
#include "sweep/verdict.h"

#define TWO                                                                                        \
	SMALL "compare:\n"                                                                         \
	      "  - {name: a, set: {}}\n"                                                           \
	      "  - {name: b, set: {}}\n"                                                           \
	      "sweep:\n"                                                                           \
	      "  grid: [{key: x, values: [1, 2]}]\n"                                               \
	      "  seeds: 1..2\n"

/* slowdown of each run: point 1 has a: 1, 3 and b: 4, 4; point 2 has all 2. 0: it failed. */
static double figures[] = {1, 3, 4, 4, 2, 2, 2, 2};

struct world {
	struct scenario *s;
	struct sweep_plan *plan;
	struct sweep_table table;
	struct database *database;
	char path[64];
};

static void world_make(struct world *w, const char *expects)
{
	struct error why = ERROR_INIT;
	char text[2048];

	*w = (struct world){0};
	snprintf(text, sizeof(text), TWO "%s", expects);
	w->s = load(text);
	assert_int_equal(sweep_plan_new(&w->plan, w->s, &why), 0);
	assert_int_equal(sweep_table_init(&w->table, w->plan), 0);
	for (size_t i = 0; i < w->plan->count; i++) {
		snprintf(w->plan->runs[i].id, SWEEP_ID, "run%u", (unsigned)i % 100);
		if (figures[i] > 0)
			w->table.summaries[i] = json_pack("{s:f, s:{s:i}, s:f, s:s}", "slowdown",
				figures[i], "flows", "count", 7, "wall_s", 3.5, "trace_hash", "ab");
	}
	snprintf(w->path, sizeof(w->path), "/tmp/test_sweep_verdict.%d", (int)getpid());
	if (database_make(&w->database, w->path, &w->table, "/nowhere", &why) < 0)
		fail_msg("%s", why.text);
	unlink(w->path);
}

static void world_release(struct world *w)
{
	database_close(w->database);
	sweep_table_release(&w->table);
	sweep_plan_free(w->plan);
	scenario_free(w->s);
}

static void the_table_has_a_row_a_run(void **state)
{
	struct world w;
	char *text, *second;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	figures[7] = 0;
	world_make(&w, "");
	figures[7] = 2;
	sweep_table_write(&w.table, out);
	fclose(out);
	assert_memory_equal(text, "run,variant,x,seed,status,trace_hash,model_time_us,", 51);
	assert_null(strstr(text, "wall_s"));
	assert_non_null(strstr(text, ",flows.fct_us.p99,"));
	assert_non_null(strstr(text, ",packets.dropped.buffer"));
	second = strchr(strchr(text, '\n') + 1, '\n') + 1;
	assert_memory_equal(second, "run1,a,1,2,done,ab,,", 20);
	assert_non_null(strstr(text, "\nrun7,b,2,2,failed,,"));
	free(text);
	world_release(&w);
}

/* The only entry of the list: whether it is met, the value, where, and why not. */
static void decides(const char *expect, bool met, const char *value, const char *at)
{
	struct world w;
	char text[1024], found[64] = "-";
	const char *where;
	json_t *list, *e;
	bool all;

	snprintf(text, sizeof(text), "  expect:\n    - %s\n", expect);
	world_make(&w, text);
	list = verdict_expects(&w.table, w.database, &all);
	e = json_array_get(list, 0);
	if (json_is_number(json_object_get(e, "value")))
		snprintf(found, sizeof(found), "%g", look_number(e, "value"));
	where = look_text(e, "at") ? look_text(e, "at") : look_text(e, "reason");
	if (strcmp(found, value) || all != met || strcmp(at, where ? where : ""))
		fail_msg("%s: %s", expect, json_dumps(e, 0));
	json_decref(list);
	world_release(&w);
}

static void expectations_are_decided_by_the_worst_point_or_the_best(void **state)
{
	(void)state;
	decides("{metric: slowdown, of: a, at_most: 2}", true, "2", "a x=1");
	decides("{metric: slowdown, at_most: 3.9}", false, "4", "b x=1");
	decides("{metric: slowdown, at_most: 3.9, where: {x: 2}}", true, "2", "a x=2");
	decides("{metric: slowdown, of: b, over: a, at_least: 2}", false, "1", "x=2");
	decides("{metric: slowdown, of: b, over: a, at_least: 2, at: any}", true, "2", "x=1");
	decides("{metric: slowdown, of: b, over: a, at_least: 2, not_reached: so}", true, "1",
		"x=2");
	decides("{metric: slowdown, order: [a, b]}", true, "1", "x=2");
	decides("{metric: slowdown, order: [b, a]}", false, "2", "x=1");
	decides("{metric: flows.count, equals: 7}", true, "7", "a x=1");
	decides("{metric: flows.fct_us.max, at_most: 1}", false, "-",
		"2 of 2 runs have no such figure at a x=1");
}

/* A mean over the runs that are left would speak of something else. */
static void a_run_without_the_figure_is_a_miss(void **state)
{
	(void)state;
	figures[7] = 0;
	decides("{metric: slowdown, of: b, at_most: 100, where: {x: 2}}", false, "-",
		"1 of 2 runs has no such figure at b x=2");
	decides("{metric: slowdown, of: b, over: a, at_most: 100}", false, "2", "x=1");
	decides("{metric: slowdown, of: b, over: a, at: any, at_least: 2}", true, "2", "x=1");
	figures[7] = 2;
}

static void equal_means_are_in_order(void **state)
{
	(void)state;
	decides("{metric: packets.dropped.buffer, order: [a, b]}", true, "1", "x=1");
	decides("{metric: packets.dropped.buffer, of: a, over: b, at_most: 1}", false, "-",
		"the divisor is 0 at x=1");
	decides("{query: SELECT 9e999, at_least: 1}", false, "-", "it is not finite");
}

static void queries_are_expectations(void **state)
{
	(void)state;
	decides("{query: 'SELECT avg(slowdown), variant FROM runs GROUP BY variant', at_most: 2.5}",
		false, "3", "variant=b");
	decides("{query: 'SELECT count(*) FROM runs', equals: 8}", true, "8", "");
	decides("{query: 'SELECT \"flows.count\", x FROM runs WHERE x = 2 AND seed = 1', equals: 7}",
		true, "7", "x=2");
	decides("{query: 'SELECT 1 FROM runs WHERE x = 3', at_most: 1}", false, "-",
		"the query gives no row");
	decides("{query: 'SELECT status FROM runs', at_most: 1}", false, "-",
		"the query gives no number");
	decides("{query: 'SELEC 1', at_most: 1}", false, "-",
		"SQLite: near \"SELEC\": syntax error");
	decides("{query: 'BEGIN', at_most: 1}", false, "-",
		"a query may only read; expected a SELECT");
	decides("{query: 'DELETE FROM runs RETURNING 1', at_most: 1}", false, "-",
		"a query may only read; expected a SELECT");
	decides("{query: 'PRAGMA query_only = OFF', at_most: 1}", false, "-",
		"a query may only read; expected a SELECT");
	decides("{query: '-- nothing', at_most: 1}", false, "-",
		"the query gives no columns; expected a SELECT");
	decides("{query: 'SELECT 1; -- one', at_most: 1}", true, "1", "");
	decides("{query: 'SELECT 1; SELECT 2', at_most: 1}", false, "-",
		"the query is more than one statement");
}

static void points_and_the_best_of_them(void **state)
{
	struct world w;
	json_t *points, *best;

	(void)state;
	world_make(&w, "");
	points = verdict_points(&w.table, "slowdown");
	best = verdict_best(&w.table, "slowdown", false);
	assert_int_equal(json_array_size(points), 4);
	assert_string_equal(look_text(json_array_get(points, 1), "variant"), "b");
	assert_true(look_number(json_array_get(points, 0), "ci95") > 12.7);
	assert_int_equal(look_count(json_array_get(points, 3), "runs"), 2);
	assert_int_equal(json_array_size(best), 2);
	assert_string_equal(look_text(json_array_get(best, 0), "x"), "1");
	assert_string_equal(look_text(json_array_get(best, 1), "x"), "2");
	json_decref(points);
	json_decref(best);
	points = verdict_points(&w.table, "flows.fct_us.max");
	assert_true(json_is_null(json_object_get(json_array_get(points, 0), "mean_us")));
	json_decref(points);
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_has_a_row_a_run),
		cmocka_unit_test(expectations_are_decided_by_the_worst_point_or_the_best),
		cmocka_unit_test(a_run_without_the_figure_is_a_miss),
		cmocka_unit_test(equal_means_are_in_order),
		cmocka_unit_test(queries_are_expectations),
		cmocka_unit_test(points_and_the_best_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
