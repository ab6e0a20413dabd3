/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "workload_fixture.h"

#define LIST "flow_list.csv"
#define ALL  SIXTEEN "  - flows: {file: " LIST "}\n"

static void put(const char *text)
{
	FILE *out = fopen(LIST, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static struct operations read_list(const char *text)
{
	put(text);
	return operations_of(ALL, 1);
}

static void assert_message(const struct operation *o, uint32_t src, uint32_t dst, uint64_t bytes,
	uint64_t start_ps, bool waits)
{
	assert_int_equal(o->src_host, src);
	assert_int_equal(o->dst_host, dst);
	assert_int_equal(o->bytes, bytes);
	assert_int_equal(o->start_ps, start_ps);
	assert_int_equal(o->waits, waits);
}

static void assert_wait(
	const struct wait *w, uint32_t from, uint32_t to, enum operation_event event)
{
	assert_int_equal(w->from, from);
	assert_int_equal(w->to, to);
	assert_int_equal(w->event, event);
}

static void lines_are_messages(void **state)
{
	struct operations m = read_list("# of a trace\n\nsrc, dst,bytes,start_us\r\n"
					"h0,h1,1000,0\n 3 , h15 ,2MB,1.5\nh2,h0,1,2ns\n");

	(void)state;
	assert_int_equal(m.count, 3);
	assert_int_equal(m.wait_count, 0);
	assert_message(&m.items[0], 0, 1, 1000, 0, false);
	assert_message(&m.items[1], 3, 15, 2 << 20, 1500000, false);
	assert_message(&m.items[2], 2, 0, 1, 2000, false);
	operations_release(&m);
}

static void columns_come_in_any_order(void **state)
{
	struct operations m = read_list("dscp,bytes,tag,dst,src\n,7,x,1,0");

	(void)state;
	assert_int_equal(m.count, 1);
	assert_message(&m.items[0], 0, 1, 7, 0, false);
	operations_release(&m);
}

/* Kept plus 1: 0 is a flow that has none. */
static void lines_have_dscps(void **state)
{
	struct operations m = read_list("src,dst,bytes,dscp\n0,1,7,\n0,1,7,0\n0,1,7,63\n");

	(void)state;
	assert_int_equal(m.items[0].dscp, 0);
	assert_int_equal(m.items[1].dscp, 1);
	assert_int_equal(m.items[2].dscp, 64);
	operations_release(&m);
}

static void starts_are_from_the_workloads(void **state)
{
	struct operations m;

	(void)state;
	put("src,dst,bytes,start,after\n0,1,7,1ms,\n0,1,7,2ms,0\n");
	m = operations_of(SIXTEEN "  - flows: {file: " LIST ", start: 5us}\n", 1);
	assert_int_equal(m.items[0].start_ps, 1005000000);
	assert_int_equal(m.items[1].start_ps, 2000000000);
	operations_release(&m);
}

/* At the sender's end, at the receiver's when it has all, else by a barrier. */
static void flows_wait_where_it_is_known(void **state)
{
	struct operations m =
		read_list("src,dst,bytes,tag,after\n"
			  "0,1,10,a,\n0,2,11,,a\n1,3,12,,0\n5,6,13,,a 1;2\n0,7,14,,3 0\n");

	(void)state;
	assert_int_equal(m.count, 7);
	assert_int_equal(m.wait_count, 9);
	assert_wait(&m.waits[0], 0, 1, OPERATION_ENDED);
	assert_wait(&m.waits[1], 0, 2, OPERATION_DELIVERED);
	assert_true(operation_is_barrier(&m.items[3]));
	for (uint32_t i = 0; i < 3; i++)
		assert_wait(&m.waits[2 + i], i, 3, OPERATION_DELIVERED);
	assert_message(&m.items[4], 5, 6, 13, 0, true);
	assert_wait(&m.waits[5], 3, 4, OPERATION_ENDED);
	assert_true(operation_is_barrier(&m.items[5]));
	assert_wait(&m.waits[6], 4, 5, OPERATION_DELIVERED);
	assert_message(&m.items[6], 0, 7, 14, 0, true);
	assert_wait(&m.waits[7], 0, 6, OPERATION_ENDED);
	assert_wait(&m.waits[8], 5, 6, OPERATION_ENDED);
	operations_release(&m);
}

static void what_is_waited_for_comes_first(void **state)
{
	struct operations m = read_list(
		"src,dst,bytes,tag,after\n0,1,1,,late\n2,3,2,,\n0,3,3,later,\n0,2,4,late,later\n");
	static const uint64_t order[] = {3, 4, 1, 2};

	(void)state;
	assert_int_equal(m.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(m.items[i].bytes, order[i]);
	assert_wait(&m.waits[0], 0, 1, OPERATION_ENDED);
	assert_wait(&m.waits[1], 1, 2, OPERATION_ENDED);
	operations_release(&m);
}

static void refuses_list(const char *text, const char *message)
{
	char all[300];

	put(text);
	snprintf(all, sizeof(all), "workload.0.flows.file: " LIST " line %s", message);
	refuses(ALL, all);
}

static void mistakes_have_their_line(void **state)
{
	(void)state;
	refuses_list("",
		"1: no flow; expected a line for each, below one such as src,dst,bytes,start_us");
	refuses_list("src,dst,bytes\n\n",
		"2: no flow; expected a line for each, below one such as src,dst,bytes,start_us");
	refuses_list("src,dst,byte\n0,1,5\n",
		"1: no column is called 'byte'; expected src, dst, bytes, start (or start_us, ...), dscp, tag, after");
	refuses_list("src,dst,src\n", "1: two columns are called src");
	refuses_list("src,bytes\n0,5\n",
		"1: there is no column dst; the first line names the columns, such as src,dst,bytes,start_us");
	refuses_list("src,dst,bytes\n0,1,5\n0,1\n", "3: 2 values; the first line names 3 columns");
	refuses_list(
		"src,dst,bytes\n0,16,5\n", "2: dst: there is no host '16' among the fabric's 16");
	refuses_list("src,dst,bytes\nleaf0,1,5\n",
		"2: src: there is no host 'leaf0' among the fabric's 16");
	refuses_list("src,dst,bytes\n\033[0m,1,5\n",
		"2: src: there is no host '?[0m' among the fabric's 16");
	refuses_list("src,dst,bytes\n0,h0,5\n", "2: host 0 sends to itself");
	refuses_list("src,dst,bytes\n0,1,0\n", "2: bytes: a size of 0; expected at least 1");
	refuses_list("src,dst,bytes\n0,1,-5\n",
		"2: bytes: '-5'; expected a size such as 2000000 or 2MB");
	refuses_list("src,dst,bytes\n0,1,1TB\n",
		"2: bytes: '1TB' is too large; a flow has at most 2^24 packets, 68719476736 bytes");
	refuses_list("src,dst,bytes,start\n0,1,5,7\n",
		"2: start: '7'; expected a time up to ten days with its unit, such as 1.5us");
	refuses_list("src,dst,bytes,start_ms\n0,1,5,x\n",
		"2: start: 'x'; expected a time up to ten days, in ms");
	refuses_list("src,dst,bytes,dscp\n0,1,5,\n0,1,5,64\n",
		"3: dscp: '64'; expected a number from 0 to 63");
	refuses_list(
		"src,dst,bytes,dscp\n0,1,5,ef\n", "2: dscp: 'ef'; expected a number from 0 to 63");
	refuses_list("src,dst,bytes,dscp\n0,1,5,48\n",
		"2: dscp: DSCP 48 goes by class 7, that of answers alone; take another, or list the classes in switch.classes");
	refuses_list("src,dst,bytes,tag\n0,1,5,a\n0,1,5,a\n", "3: tag: 'a' again; line 2 has it");
	refuses_list("src,dst,bytes,tag\n0,1,5,12\n",
		"2: tag: '12'; expected a word that is no number, without blanks and ';'");
	refuses_list("src,dst,bytes,after\n0,1,5,7\n",
		"2: after: there is no flow 7; they count from 0 to 0");
	refuses_list("src,dst,bytes,after\n0,1,5,x\n", "2: after: no flow has the tag 'x'");
	refuses_list("src,dst,bytes,after\n0,1,5,0\n", "2: after: a cycle: line 2 before 2");
	refuses_list("src,dst,bytes,after\n0,1,5,2\n1,2,5,0\n2,3,5,1\n",
		"3: after: a cycle: line 2 before 3 before 4 before 2");
}

static void files_are_named_by_the_scenario(void **state)
{
	char expected[300];

	(void)state;
	expect(SIXTEEN "  - flows: {file: none.csv}\n",
		"4:19: workload.0.flows.file: cannot read 'none.csv': No such file or directory; expected the name of a file of comma-separated values\n");
	expect(SIXTEEN "  - flows: {file: /tmp}\n",
		"4:19: workload.0.flows.file: '/tmp' is no regular file\n");
	snprintf(expected, sizeof(expected), "4:12: workload.0.flows.file: missing; expected %s\n",
		"the name of a file of comma-separated values");
	expect(SIXTEEN "  - flows: {}\n", expected);
}

/* Wherever it is written to. */
static void written_scenarios_find_the_file(void **state)
{
	struct scenario *s, *again;
	char *text, *here = getcwd(NULL, 0), path[600];

	(void)state;
	put("src,dst,bytes\n0,1,5\n");
	s = load(ALL);
	text = write_text(s);
	snprintf(path, sizeof(path), "{file: \"%s/" LIST "\", start: 0ps}", here);
	assert_non_null(strstr(text, path));
	assert_int_equal(chdir("/"), 0);
	again = load(text);
	assert_int_equal(chdir(here), 0);
	free(here);
	free(text);
	scenario_free(s);
	scenario_free(again);
}

static double seconds_of(uint32_t lines)
{
	FILE *out = fopen(LIST, "we");
	struct timespec from, to;
	struct operations m;

	assert_non_null(out);
	fputs("src,dst,bytes,start_us,tag,after\n", out);
	for (uint32_t i = 0; i < lines; i++)
		fprintf(out, "h%u,h%u,%u,%u.25,t%u,t%u\n", i % 16, (i + 1) % 16, 1 + i % 5000, i, i,
			i ? i - 1 : lines);
	fprintf(out, "h0,h1,1,0,t%u,\n", lines);
	assert_int_equal(fclose(out), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	m = operations_of(ALL, 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	assert_true(m.count >= lines);
	operations_release(&m);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
}

/* 16 times the lines take 16 times as long, not 256; a million lines also take them one by one. */
static void time_follows_the_lines(void **state)
{
	double few, many;

	(void)state;
	few = seconds_of(20000);
	many = seconds_of(16 * 20000);
	assert_true(many < 48 * few);
}

static int remove_list(void **state)
{
	(void)state;
	unlink(LIST);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_messages),
		cmocka_unit_test(columns_come_in_any_order),
		cmocka_unit_test(lines_have_dscps),
		cmocka_unit_test(starts_are_from_the_workloads),
		cmocka_unit_test(flows_wait_where_it_is_known),
		cmocka_unit_test(what_is_waited_for_comes_first),
		cmocka_unit_test(mistakes_have_their_line),
		cmocka_unit_test(files_are_named_by_the_scenario),
		cmocka_unit_test(written_scenarios_find_the_file),
		cmocka_unit_test(time_follows_the_lines),
	};

	return cmocka_run_group_tests(tests, NULL, remove_list);
}
