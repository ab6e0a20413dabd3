/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "cli/top_header.h"
#include "cli/top_model.h"
#include "cli/top_table.h"
#include "report/layout.h"
#include "report/table.h"

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

	for (size_t i = 0; c[i].shown.key; i++)
		if (!strcmp(c[i].shown.key, name))
			return i;
	fail_msg("no column %s", name);
	return 0;
}

static const json_t *cell(const json_t *rows, size_t row, const char *name)
{
	const json_t *value = json_object_get(json_array_get(rows, row), name);

	if (!value)
		fail_msg("no %s in row %zu", name, row);
	return value;
}

/* NAN: unknown. */
static double number(const json_t *rows, size_t row, const char *name)
{
	const json_t *value = cell(rows, row, name);

	return json_is_null(value) ? NAN : json_number_value(value);
}

static void check_number(const json_t *rows, size_t row, const char *name, double expected)
{
	double seen = number(rows, row, name);

	if (isnan(expected) ? !isnan(seen) : !(fabs(seen - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%s of row %zu is %g, not %g", name, row, seen, expected);
}

static void check_text(const json_t *rows, size_t row, const char *name, const char *expected)
{
	assert_string_equal(json_string_value(cell(rows, row, name)), expected);
}

static json_t *make(enum top_view view, const struct top_pair *p)
{
	json_t *rows = top_rows(view, p);

	assert_non_null(rows);
	return rows;
}

/* "a b c": the names of the rows in their order, by their first column. */
static void check_order(const json_t *rows, enum top_view view, const char *expected)
{
	const struct layout_column *first = &top_view_spec(view)->columns->shown;
	char seen[256], buf[LAYOUT_CELL];
	struct strbuf b = STRBUF(seen);
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) strbuf_add(&b, "%s%s", i ? " " : "",
		layout_cell(buf, first, json_object_get(row, first->key), 0));
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
	json_t *rows;

	(void)state;
	push(&p, "{'model_time_us':1000000,'rows':[" PORT "," PORT "]}", "a", 10, 1000, 5, 1, 2, 0,
		0, "b", 0, 0, 0, 0, 0, 0, 0);
	push(&p, "{'model_time_us':3000000,'rows':[" PORT "," PORT "," PORT "]}", "b", 0, 0, 0, 0,
		0, 0, 0, "new", 7, 7, 7, 7, 7, 7, 7, "a", 20010, 20001000, 105, 4, 5, 77, 500000);
	rows = make(TOP_LINKS, &p);
	check_order(rows, TOP_LINKS, "b new a");
	check_number(rows, 0, "utilisation_percent", 0);
	check_number(rows, 1, "tx_frames_per_s", NAN);
	check_number(rows, 1, "dropped", 14);
	check_number(rows, 2, "tx_frames_per_s", 10000);
	/* 10,000 frames of 1,000 bytes and 24 more on the wire a second */
	check_number(rows, 2, "load_gbps", 8e-9 * 10000 * 1024);
	check_number(rows, 2, "utilisation_percent", 100 * 8.0 * 10000 * 1024 / 2e8);
	check_number(rows, 2, "rate_gbps", 0.2);
	check_number(rows, 2, "marked_per_s", 50);
	check_number(rows, 2, "dropped_per_s", 3);
	check_number(rows, 2, "paused_percent", 25);
	check_number(rows, 2, "depth_bytes", 77);
	check_text(rows, 2, "state", "up");
	json_decref(rows);
	top_pair_release(&p);
}

static double drops_per_s(const struct top_pair *p)
{
	json_t *rows;
	double rate;

	rows = make(TOP_NODES, p);
	rate = number(rows, 0, "dropped_per_s");
	json_decref(rows);
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
	json_t *rows;
	char text[2][256];

	(void)state;
	snprintf(text[0], sizeof(text[0]), row, 0, 50, "true", 0);
	snprintf(text[1], sizeof(text[1]), row, 3, 0, "false", 1000);
	push(&p, "{'model_time_us':0,'rows':[%s,%s]}", text[0], text[1]);
	snprintf(text[0], sizeof(text[0]), row, 0, 50, "true", 500000);
	snprintf(text[1], sizeof(text[1]), row, 3, 0, "false", 1000);
	push(&p, "{'model_time_us':1000000,'rows':[%s,%s]}", text[0], text[1]);
	rows = make(TOP_QUEUES, &p);
	check_number(rows, 0, "paused_percent", 50);
	check_number(rows, 1, "paused_percent", 0);
	check_number(rows, 0, "full_percent", 25);
	check_text(rows, 0, "state", "paused");
	check_text(rows, 1, "state", "");
	json_decref(rows);
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
	json_t *rows;

	(void)state;
	make_flows(&p);
	rows = make(TOP_FLOWS, &p);
	check_number(rows, 1, "goodput_gbps", 1);
	check_number(rows, 0, "goodput_gbps", NAN);
	check_text(rows, 0, "state", "active");
	top_sort(rows, TOP_FLOWS, column(TOP_FLOWS, "retransmitted"), false);
	check_order(rows, TOP_FLOWS, "1 0 2");
	top_sort(rows, TOP_FLOWS, column(TOP_FLOWS, "retransmitted"), true);
	check_order(rows, TOP_FLOWS, "0 2 1");
	/* names as people count: h0, h2, h10 */
	top_sort(rows, TOP_FLOWS, column(TOP_FLOWS, "src"), false);
	check_order(rows, TOP_FLOWS, "0 2 1");
	top_sort(rows, TOP_FLOWS, column(TOP_FLOWS, "flow"), true);
	check_order(rows, TOP_FLOWS, "2 1 0");
	/* what is unknown is last, either way */
	top_sort(rows, TOP_FLOWS, column(TOP_FLOWS, "fct_us"), false);
	check_order(rows, TOP_FLOWS, "2 1 0");
	top_sort(rows, TOP_FLOWS, column(TOP_FLOWS, "fct_us"), true);
	check_order(rows, TOP_FLOWS, "1 2 0");
	json_decref(rows);
	top_pair_release(&p);
}

static void check_filter(const struct top_pair *p, const char *pattern, const char *expected)
{
	json_t *rows;

	rows = make(TOP_FLOWS, p);
	top_filter(rows, TOP_FLOWS, pattern);
	check_order(rows, TOP_FLOWS, expected);
	json_decref(rows);
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

static void check_cell(enum number_format format, json_t *value, int width, const char *expected)
{
	const struct layout_column c = {.format = format};
	char buf[LAYOUT_CELL];

	assert_string_equal(layout_cell(buf, &c, value, width), expected);
	json_decref(value);
}

static void cells(void **state)
{
	(void)state;
	check_cell(NUMBER_NONE, json_string("agg0.1->core2"), 15, "agg0.1->core2  ");
	check_cell(NUMBER_NONE, json_string("agg0.1->core2"), 8, "agg0.1-~");
	check_cell(NUMBER_NONE, json_string("agg0.1->core2"), 1, "a");
	check_cell(NUMBER_WHOLE, json_real(42), 6, "    42");
	check_cell(NUMBER_WHOLE, json_null(), 3, "  -");
	check_cell(NUMBER_NONE, json_string("\033[2Jx\303\244"), 0, "?[2Jx??");
	check_cell(NUMBER_NONE, json_pack("{s:i, s:i, s:i}", "full", 5, "ttl", 0, "loss", 2), 0,
		"7: full 5, loss 2");
	check_cell(NUMBER_NONE, json_pack("{s:i, s:i}", "full", 5, "ttl", 0), 0, "full 5");
	check_cell(NUMBER_NONE, json_pack("[s, f]", "a", 1.5), 0, "a 1.5");
	check_cell(NUMBER_NONE, json_true(), 0, "yes");
}

/* At any width the name and the sorted column are there; all columns come in the end. */
static void layouts(void **state)
{
	size_t paused = column(TOP_LINKS, "paused_percent"), before = 0;
	size_t count = top_column_count(TOP_LINKS);
	struct layout_column columns[LAYOUT_COLUMNS_MAX];
	struct top_pair p = {0};
	struct layout l;
	json_t *rows;

	(void)state;
	push(&p, "{'model_time_us':1,'rows':[" PORT "]}", "agg0.1->core2", 1, 1, 1, 1, 1, 1, 1);
	rows = make(TOP_LINKS, &p);
	for (size_t i = 0; i < count; i++)
		columns[i] = top_view_spec(TOP_LINKS)->columns[i].shown;
	for (int width = 2; width < 300; width++) {
		int used = 0;

		layout_make(&l, columns, count, rows, width, paused, true);
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
	assert_int_equal(before, count);
	json_decref(rows);
	top_pair_release(&p);
}

static void check_table(const json_t *rows, int width, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(table_print(rows, out, width), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* What `show`, `list`, `top --once` and comparisons print. */
static void tables(void **state)
{
	json_t *rows = json_pack("[{s:s, s:f, s:i, s:f, s:f, s:n}, {s:s, s:f, s:i, s:f, s:f, s:n}]",
		"port", "a->b", "rate_gbps", 100.0, "depth_bytes", 0, "utilisation_percent", 99.04,
		"paused_us", 12345.678, "since", "port", "core0->agg0", "rate_gbps", 25.0,
		"depth_bytes", 0, "utilisation_percent", 5.0, "paused_us", 0.0, "since");

	(void)state;
	/* a file has all columns */
	check_table(rows, 0,
		"port         rate [Gbps]  depth [bytes]  utilisation [%]  paused [ms]  since\n"
		"a->b                 100              0             99.0    12.345678  -\n"
		"core0->agg0           25              0              5.0     0.000000  -\n");
	/* a terminal those that say something */
	check_table(rows, 60,
		"port         rate [Gbps]  utilisation [%]  paused [ms]\n"
		"a->b                 100             99.0    12.345678\n"
		"core0->agg0           25              5.0     0.000000\n"
		"not shown, all 0 or empty: depth bytes, since\n");
	/* and a small one what there is room for */
	check_table(rows, 40,
		"port          rate  utilisation  paused\n"
		"a->b          100G         99.0  12.3ms\n"
		"core0->agg0  25.0G          5.0       0\n"
		"not shown, all 0 or empty: depth bytes,\n"
		"  since\n");
	json_decref(rows);
	/* no line ends in blanks */
	rows = json_pack("[{s:s, s:i, s:s}, {s:s, s:i, s:s}]", "node", "a", "sent_bytes", 1234567,
		"faults", "", "node", "b", "sent_bytes", 1, "faults", "down");
	check_table(rows, 22,
		"node   sent  faults\n"
		"a     1.18M\n"
		"b         1  down\n");
	json_decref(rows);
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
		 "'sufficient_clock_slowdown':4}}");
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
	json_t *rows;

	(void)state;
	assert_null(top_rows(TOP_LINKS, &p));
	push(&p, "{'model_time_us':1,'rows':7}");
	assert_null(top_rows(TOP_LINKS, &p));
	/* rows that are no objects have nothing in them */
	push(&p, "{'model_time_us':2,'rows':[1,null,'x']}");
	rows = make(TOP_LINKS, &p);
	check_number(rows, 2, "utilisation_percent", NAN);
	json_decref(rows);
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
		cmocka_unit_test(tables),
		cmocka_unit_test(headers),
		cmocka_unit_test(no_table),
	};

	return cmocka_run_group_tests_name("top_model", tests, NULL, NULL);
}
