/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/top_header.h"
#include "cli/top_model.h"
#include "cli/top_table.h"
#include "report/number.h"

/* Samples are written with ' in the place of ". */
static void push(struct top_pair *p, const char *format, ...)
{
	char text[4096];
	json_t *sample;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	sample = json_loads(text, 0, NULL);
	assert_non_null(sample);
	top_pair_push(p, sample);
	json_decref(sample);
}

static size_t column(enum top_view view, const char *name)
{
	const struct top_column *c = top_view_spec(view)->columns;

	for (size_t i = 0; c[i].title; i++)
		if (!strcmp(c[i].name, name))
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static const struct top_cell *cell(const struct top_table *t, size_t row, const char *name)
{
	assert_true(row < t->count);
	return &t->rows[row].cells[column(t->view, name)];
}

static void check_number(const struct top_table *t, size_t row, const char *name, double expected)
{
	double seen = cell(t, row, name)->number;

	if (isnan(expected) ? !isnan(seen) : !(fabs(seen - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%s of row %zu is %g, not %g", name, row, seen, expected);
}

/* "a b c": the names of the rows in their order. */
static void check_order(const struct top_table *t, const char *expected)
{
	char seen[256] = "", buf[TOP_CELL_MAX];

	for (size_t i = 0; i < t->count; i++) {
		size_t n = strlen(seen);

		snprintf(seen + n, sizeof(seen) - n, "%s%s", i ? " " : "",
			top_cell_text(
				buf, top_view_spec(t->view)->columns, &t->rows[i].cells[0], 0));
	}
	assert_string_equal(seen, expected);
}

#define PORT                                                                                       \
	"{'port':'%s','link':'l','up':true,'rate_gbps':0.2,'tx_frames':%d,'tx_bytes':%d,"          \
	"'marked':%d,'trimmed':0,'dropped':{'full':%d,'down':%d},'depth_bytes':%d,"                \
	"'max_depth_bytes':9,'paused_us':%d,'faults':''}"

/* Two seconds; a row appears, and those that stay change their places. */
static void rates_of_ports(void **state)
{
	struct top_pair p = {0};
	struct top_table t;

	(void)state;
	push(&p, "{'model_time_us':1000000,'rows':[" PORT "," PORT "]}", "a", 10, 1000, 5, 1, 2, 0,
		0, "b", 0, 0, 0, 0, 0, 0, 0);
	push(&p, "{'model_time_us':3000000,'rows':[" PORT "," PORT "," PORT "]}", "b", 0, 0, 0, 0,
		0, 0, 0, "new", 7, 7, 7, 7, 7, 7, 7, "a", 20010, 20001000, 105, 4, 5, 77, 500000);
	assert_int_equal(top_table_make(&t, TOP_LINKS, &p), 0);
	check_order(&t, "b new a");
	check_number(&t, 0, "utilisation_percent", 0);
	check_number(&t, 1, "packets_per_s", NAN);
	check_number(&t, 1, "drops", 14);
	check_number(&t, 2, "packets_per_s", 10000);
	/* 10,000 frames of 1,000 bytes and 24 more on the wire a second */
	check_number(&t, 2, "load_bps", 8.0 * 10000 * 1024);
	check_number(&t, 2, "utilisation_percent", 100 * 8.0 * 10000 * 1024 / 2e8);
	check_number(&t, 2, "rate_bps", 2e8);
	check_number(&t, 2, "marks_per_s", 50);
	check_number(&t, 2, "drops_per_s", 3);
	check_number(&t, 2, "paused_percent", 25);
	check_number(&t, 2, "depth_bytes", 77);
	assert_string_equal(cell(&t, 2, "state")->text, "up");
	top_table_release(&t);
	top_pair_release(&p);
}

static double drops_per_s(const struct top_pair *p)
{
	struct top_table t;
	double rate;

	assert_int_equal(top_table_make(&t, TOP_NODES, p), 0);
	rate = cell(&t, 0, "drops_per_s")->number;
	top_table_release(&t);
	return rate;
}

/* cmocka's own takes NaN for equal to anything */
static void check_rate(const struct top_pair *p, double expected)
{
	double seen = drops_per_s(p);

	if (!(fabs(seen - expected) <= 1e-6 * expected))
		fail_msg("%g drops a second, not %g", seen, expected);
}

#define NODE "{'model_time_us':%d,'rows':[{'node':'h0','dropped':{'full':%d}}]}"

static void time_stands_still_and_goes_back(void **state)
{
	struct top_pair p = {0};

	(void)state;
	push(&p, NODE, 1000000, 10);
	assert_true(isnan(drops_per_s(&p)));
	push(&p, NODE, 1000010, 30);
	check_rate(&p, 2e6);
	/* paused: what the last step did stays */
	push(&p, NODE, 1000010, 30);
	push(&p, NODE, 1000010, 30);
	check_rate(&p, 2e6);
	assert_int_equal(p.taken, 4);
	push(&p, NODE, 2000010, 35);
	check_rate(&p, 5);
	/* a counter that goes back has no rate, and another fabric has no past */
	push(&p, NODE, 3000010, 3);
	assert_true(isnan(drops_per_s(&p)));
	push(&p, NODE, 500000, 4);
	assert_true(isnan(drops_per_s(&p)));
	assert_float_equal(top_pair_seconds(&p), 0, 0);
	top_pair_release(&p);
}

/* Rows of one port are told apart by their class. */
static void queues_of_one_port(void **state)
{
	static const char *const row =
		"{'port':'a','class':%d,'depth_bytes':%d,'limit_bytes':200,'paused':%s,'paused_us':%d}";
	struct top_pair p = {0};
	struct top_table t;
	char rows[2][256];

	(void)state;
	snprintf(rows[0], sizeof(rows[0]), row, 0, 50, "true", 0);
	snprintf(rows[1], sizeof(rows[1]), row, 3, 0, "false", 1000);
	push(&p, "{'model_time_us':0,'rows':[%s,%s]}", rows[0], rows[1]);
	snprintf(rows[0], sizeof(rows[0]), row, 0, 50, "true", 500000);
	snprintf(rows[1], sizeof(rows[1]), row, 3, 0, "false", 1000);
	push(&p, "{'model_time_us':1000000,'rows':[%s,%s]}", rows[0], rows[1]);
	assert_int_equal(top_table_make(&t, TOP_QUEUES, &p), 0);
	check_number(&t, 0, "paused_percent", 50);
	check_number(&t, 1, "paused_percent", 0);
	check_number(&t, 0, "full_percent", 25);
	assert_string_equal(cell(&t, 0, "state")->text, "paused");
	assert_string_equal(cell(&t, 1, "state")->text, "");
	top_table_release(&t);
	top_pair_release(&p);
}

static void make_flows(struct top_pair *p)
{
	push(p, "{'model_time_us':1,'rows':["
		"{'flow':0,'src':'h0','dst':'h10','bytes':1000,'fct_us':null,'retransmitted':2},"
		"{'flow':1,'src':'h10','dst':'h2','bytes':1000,'fct_us':8,'retransmitted':9},"
		"{'flow':2,'src':'h2','dst':'h1','bytes':3000,'fct_us':16,'retransmitted':2}]}");
}

static void sorting(void **state)
{
	struct top_pair p = {0};
	struct top_table t;

	(void)state;
	make_flows(&p);
	assert_int_equal(top_table_make(&t, TOP_FLOWS, &p), 0);
	check_number(&t, 1, "goodput_bps", 1e9);
	check_number(&t, 0, "goodput_bps", NAN);
	assert_string_equal(cell(&t, 0, "state")->text, "active");
	top_table_sort(&t, column(TOP_FLOWS, "retransmitted"), false);
	check_order(&t, "1 0 2");
	top_table_sort(&t, column(TOP_FLOWS, "retransmitted"), true);
	check_order(&t, "0 2 1");
	/* names as people count: h0, h2, h10 */
	top_table_sort(&t, column(TOP_FLOWS, "src"), false);
	check_order(&t, "0 2 1");
	top_table_sort(&t, column(TOP_FLOWS, "flow"), true);
	check_order(&t, "2 1 0");
	/* what is unknown is last, either way */
	top_table_sort(&t, column(TOP_FLOWS, "fct_us"), false);
	check_order(&t, "2 1 0");
	top_table_sort(&t, column(TOP_FLOWS, "fct_us"), true);
	check_order(&t, "1 2 0");
	top_table_release(&t);
	top_pair_release(&p);
}

static void check_filter(const struct top_pair *p, const char *pattern, const char *expected)
{
	struct top_table t;

	assert_int_equal(top_table_make(&t, TOP_FLOWS, p), 0);
	top_table_filter(&t, pattern);
	check_order(&t, expected);
	assert_int_equal(t.total, 3);
	top_table_release(&t);
}

static void filtering(void **state)
{
	struct top_pair p = {0};

	(void)state;
	make_flows(&p);
	check_filter(&p, "", "0 1 2");
	check_filter(&p, "h10", "0 1");
	check_filter(&p, "h1", "0 1 2");
	check_filter(&p, "h1?", "0 1");
	check_filter(&p, "*2", "1 2");
	check_filter(&p, "h?0", "0 1");
	check_filter(&p, "[12]", "1 2");
	check_filter(&p, "done", "1 2");
	check_filter(&p, "nothing", "");
	top_pair_release(&p);
}

static void numbers(void **state)
{
	static const struct {
		enum number_format format;
		double number;
		const char *text;
	} cases[] = {
		{NUMBER_SCALED, 0, "0"},
		{NUMBER_SCALED, 0.3, "0.30"},
		{NUMBER_SCALED, 7, "7"},
		{NUMBER_SCALED, 9.996, "10.0"},
		{NUMBER_SCALED, 99.96, "100"},
		{NUMBER_SCALED, 999.4, "999"},
		{NUMBER_SCALED, 999.6, "1.00k"},
		{NUMBER_SCALED, 98.76e9, "98.8G"},
		{NUMBER_WHOLE, 999999, "999999"},
		{NUMBER_WHOLE, 1234567, "1.23M"},
		{NUMBER_BYTES, 1023, "1.00K"},
		{NUMBER_BYTES, 1536, "1.50K"},
		{NUMBER_BYTES, 64 << 20, "64.0M"},
		{NUMBER_PERCENT, 0, "0"},
		{NUMBER_PERCENT, 99.96, "100.0"},
		{NUMBER_TIME, 0, "0"},
		{NUMBER_TIME, 20, "20us"},
		{NUMBER_TIME, 999.9, "1.00ms"},
		{NUMBER_TIME, 5000080, "5.00s"},
		{NUMBER_TIME, 0.25, "0.25us"},
		{NUMBER_SCALED, NAN, "-"},
		{NUMBER_TIME, NAN, "-"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[NUMBER_TEXT];

		number_short(buf, cases[i].format, cases[i].number);
		if (strcmp(buf, cases[i].text))
			fail_msg("%g in format %d: '%s', not '%s'", cases[i].number,
				(int)cases[i].format, buf, cases[i].text);
	}
}

static void cells(void **state)
{
	const struct top_column text = {.format = NUMBER_NONE}, number = {.format = NUMBER_WHOLE};
	struct top_cell name = {"agg0.1->core2", NAN}, count = {NULL, 42};
	char buf[TOP_CELL_MAX];

	(void)state;
	assert_string_equal(top_cell_text(buf, &text, &name, 15), "agg0.1->core2  ");
	assert_string_equal(top_cell_text(buf, &text, &name, 8), "agg0.1-~");
	assert_string_equal(top_cell_text(buf, &text, &name, 1), "a");
	assert_string_equal(top_cell_text(buf, &number, &count, 6), "    42");
	name.text = "\033[2Jx\303\244";
	assert_string_equal(top_cell_text(buf, &text, &name, 0), "?[2Jx??");
}

/* At any width the name and the sorted column are there, nothing is wider, and all columns come in the end. */
static void layouts(void **state)
{
	size_t paused = column(TOP_LINKS, "paused_percent"), before = 0;
	struct top_pair p = {0};
	struct top_layout l;
	struct top_table t;

	(void)state;
	push(&p, "{'model_time_us':1,'rows':[" PORT "]}", "agg0.1->core2", 1, 1, 1, 1, 1, 1, 1);
	assert_int_equal(top_table_make(&t, TOP_LINKS, &p), 0);
	for (int width = 2; width < 300; width++) {
		int used = 0;

		top_layout_make(&l, &t, width, paused);
		for (size_t i = 0; i < l.count; i++)
			used += l.fields[i].width + (i ? l.gap : 0);
		if (used > width)
			fail_msg("%d letters of %d", used, width);
		assert_true(l.count >= before);
		before = l.count;
		assert_int_equal(l.fields[0].column, 0);
		if (width < 20)
			continue;
		assert_int_equal(l.fields[0].width, strlen("agg0.1->core2"));
		for (size_t i = 0; l.fields[i].column != paused; i++)
			assert_true(i < l.count);
	}
	assert_int_equal(before, top_column_count(TOP_LINKS));
	top_table_release(&t);
	top_pair_release(&p);
}

static void check_line(const struct top_line *line, const char *part)
{
	if (!strstr(line->text, part))
		fail_msg("'%s' is not in '%s'", part, line->text);
}

static void headers(void **state)
{
	struct top_line lines[TOP_HEADER_LINES];
	struct top_pair p = {0};

	(void)state;
	top_header_make(lines, &p);
	assert_string_equal(lines[0].text, "");
	push(&p, "{'name':'x','state':'paused','clock':'stepped','model_time_us':20.5,"
		 "'packets':{'sent':5,'dropped':{}},'flows':{'count':3,'done':1},'faults':0}");
	top_header_make(lines, &p);
	check_line(&lines[0], "x  paused  stepped clock  model time 20.500 us");
	check_line(&lines[1], "exact");
	check_line(&lines[4], "2 active, 1 done");
	top_pair_release(&p);
	push(&p, "{'name':'x','state':'failed','reason':'no\\u001bmemory','clock':'wall',"
		 "'model_time_us':1000000,'packets':{'dropped':{'full':5}},'fidelity':"
		 "{'verdict':'faithful'}}");
	push(&p, "{'name':'x','state':'failed','reason':'no\\u001bmemory','clock':'wall',"
		 "'model_time_us':3000000,'packets':{'dropped':{'full':15,'down':0,'loss':2}},"
		 "'fidelity':{'verdict':'degraded','now':'degraded','degraded_s':1,'passed_s':2,"
		 "'sufficient_slowdown':4}}");
	top_header_make(lines, &p);
	check_line(&lines[0], "failed: no?memory");
	assert_int_equal(lines[0].tone, TOP_BAD);
	check_line(&lines[1], "DEGRADED now, for 1.0 s of 2.0: slowdown 4 would do");
	assert_int_equal(lines[1].tone, TOP_BAD);
	assert_string_equal(lines[3].text, "dropped   17 (6/s): full 15, loss 2");
	top_pair_release(&p);
}

static void no_table(void **state)
{
	struct top_pair p = {0};
	struct top_table t;

	(void)state;
	assert_int_equal(top_table_make(&t, TOP_LINKS, &p), -EPROTO);
	push(&p, "{'model_time_us':1,'rows':7}");
	assert_int_equal(top_table_make(&t, TOP_LINKS, &p), -EPROTO);
	/* rows that are no objects have nothing in them */
	push(&p, "{'model_time_us':2,'rows':[1,null,'x']}");
	assert_int_equal(top_table_make(&t, TOP_LINKS, &p), 0);
	check_number(&t, 2, "utilisation_percent", NAN);
	top_table_release(&t);
	top_pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_of_ports),
		cmocka_unit_test(time_stands_still_and_goes_back),
		cmocka_unit_test(queues_of_one_port),
		cmocka_unit_test(sorting),
		cmocka_unit_test(filtering),
		cmocka_unit_test(numbers),
		cmocka_unit_test(cells),
		cmocka_unit_test(layouts),
		cmocka_unit_test(headers),
		cmocka_unit_test(no_table),
	};

	return cmocka_run_group_tests_name("top_model", tests, NULL, NULL);
}
