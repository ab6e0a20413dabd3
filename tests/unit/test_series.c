/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples during a run: to the byte where they can be reckoned, and what they add up to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/digits.h"
#include "lib/session_files.h"
#include "session/cost.h"
#include "session/traffic.h"

/* Runs a scenario and leaves its files in directory. */
static void record(const char *text, char directory[SMALL_PATH])
{
	struct small_session s;

	small_directory(directory);
	files_record(&s, text, NULL, 0, directory, false, SLICE_WHOLE);
	small_session_close(&s);
}

static void assert_file(const char *directory, const char *name, const char *want)
{
	char *text = small_file(directory, name);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

/*
 * Frames of 4170 and 978 bytes from h0 to h1. The first has arrived at s0 at 1.33552 us and left at
 * 1.67104, the second at 1.41568 and 1.7512; h1 has them at 2.67104 and 2.7512. The SACK is there
 * at 4.77072 us, and the run ends 1.00672 us, the lookahead, later.
 */
#define TINY                                                                                         \
	"name: tiny\n"                                                                               \
	"topology: {custom: {hosts: [h0, h1], switches: [s0], links: [h0-s0, h1-s0]}, delay: 1us}\n" \
	"workload: [{pairs: {from: [h0], to: [h1], message: 5000}}]\n"

static void ports_to_the_byte(void **state)
{
	char directory[SMALL_PATH];

	(void)state;
	record(TINY "telemetry: {ports: {every: 500ns, match: s0->h1}}\nuntil: 2.2us\n", directory);
	assert_file(directory, "port_series.csv",
		"t_us,port,tx_gbps,arrived_gbps,marked,dropped,paused_us,depth_bytes\n"
		"0.500000,s0->h1,0.000000,0.000000,0,0,0.000000,0\n"
		"1.000000,s0->h1,0.000000,0.000000,0,0,0.000000,0\n"
		"1.500000,s0->h1,0.000000,82.368000,0,0,0.000000,5148\n"
		"2.000000,s0->h1,82.368000,0.000000,0,0,0.000000,0\n"
		"2.200000,s0->h1,0.000000,0.000000,0,0,0.000000,0\n");
	small_directory_remove(directory);
}

/* The last interval is as long as it is, and rows end with the flow. */
static void flows_to_the_byte(void **state)
{
	char directory[SMALL_PATH];

	(void)state;
	record(TINY "telemetry: {flows: 1us}\n", directory);
	assert_file(directory, "flow_series.csv",
		"t_us,flow,throughput_gbps,rate_gbps,window_bytes,rtt_us,in_flight_bytes,marks\n"
		"1.000000,0,0.000000,,86016,,5000,0\n"
		"2.000000,0,0.000000,,86016,,5000,0\n"
		"3.000000,0,40.000000,,86016,,5000,0\n"
		"4.000000,0,0.000000,,86016,,5000,0\n"
		"5.000000,0,0.000000,,,,0,0\n");
	small_directory_remove(directory);
	record(TINY "telemetry: {flows: 2.7us}\nuntil: 4us\n", directory);
	assert_file(directory, "flow_series.csv",
		"t_us,flow,throughput_gbps,rate_gbps,window_bytes,rtt_us,in_flight_bytes,marks\n"
		"2.700000,0,12.136296,,86016,,5000,0\n"
		"4.000000,0,5.563077,,86016,,5000,0\n");
	small_directory_remove(directory);
}

/* Every queue of a class that is used has its row, empty or not. */
static void queues_have_no_holes(void **state)
{
	char directory[SMALL_PATH];

	(void)state;
	record(TINY "telemetry: {queues: {every: 750ns, match: \"s0->*\"}}\nuntil: 1.6us\n",
		directory);
	assert_file(directory, "queues.csv",
		"t_us,port,class,depth_bytes,delay_us\n"
		"0.750000,s0->h0,0,0,0.000000\n"
		"0.750000,s0->h0,7,0,0.000000\n"
		"0.750000,s0->h1,0,0,0.000000\n"
		"0.750000,s0->h1,7,0,0.000000\n"
		"1.500000,s0->h0,0,0,0.000000\n"
		"1.500000,s0->h0,7,0,0.000000\n"
		"1.500000,s0->h1,0,5148,0.411840\n"
		"1.500000,s0->h1,7,0,0.000000\n"
		"1.600000,s0->h0,0,0,0.000000\n"
		"1.600000,s0->h0,7,0,0.000000\n"
		"1.600000,s0->h1,0,5148,0.411840\n"
		"1.600000,s0->h1,7,0,0.000000\n");
	small_directory_remove(directory);
}

/* Of two uplinks a single path takes one: (x - 0) / (x / 2). Where nothing is sent it is empty. */
static void imbalance_to_the_byte(void **state)
{
	char directory[SMALL_PATH];

	(void)state;
	record("name: t\n"
	       "topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}, delay: 1us}\n"
	       "host: {transport: {strack: {spray: single}}}\n"
	       "workload: [{pairs: {from: [h0], to: [h1], message: 64KB}}]\n"
	       "telemetry: {imbalance: 4us}\nuntil: 8us\n",
		directory);
	/* seven frames of 4170 bytes in 4 us, by two; leaf1 sends SACKs */
	assert_file(directory, "imbalance.csv",
		"t_us,switch,imbalance,mean_gbps\n"
		"4.000000,leaf0,2.000000,29.190000\n"
		"4.000000,leaf1,,0.000000\n"
		"8.000000,leaf0,2.000000,37.530000\n"
		"8.000000,leaf1,2.000000,0.490000\n");
	small_directory_remove(directory);
}

/* ---- sums ------------------------------------------------------------------------------------ */

#define COLUMNS 32
#define NAMES   64

/* A table as a file has it, and where its rows are read to. */
struct table {
	char *text, *at;
	char *titles[COLUMNS], *fields[COLUMNS];
};

static char **split(char **at, char **fields)
{
	size_t count = 0;

	for (char *end = *at + strcspn(*at, "\n"); *at <= end && count < COLUMNS; count++) {
		size_t length = strcspn(*at, ",\n");

		fields[count] = *at;
		*at += length + 1;
		(*at)[-1] = '\0';
	}
	return fields;
}

static void table_open(struct table *t, const char *directory, const char *name)
{
	*t = (struct table){.text = small_file(directory, name)};
	assert_non_null(t->text);
	t->at = t->text;
	split(&t->at, t->titles);
}

static bool table_next(struct table *t)
{
	if (!*t->at)
		return false;
	split(&t->at, t->fields);
	return true;
}

static const char *field(const struct table *t, const char *title)
{
	for (size_t i = 0; i < COLUMNS && t->titles[i]; i++)
		if (!strcmp(t->titles[i], title))
			return t->fields[i];
	fail_msg("no column %s", title);
	return "";
}

static double number(const struct table *t, const char *title)
{
	return atof(field(t, title));
}

/* Bits that a rate in Gbps means in the interval that ends now, of a table with one period. */
static double interval_us(const struct table *t, double period_us)
{
	double at = number(t, "t_us"), whole = (double)(long)(at / period_us + 1e-9) * period_us;

	return at - whole < 1e-6 ? period_us : at - whole;
}

/* What a column adds up to where another is that word; by time if it is a rate. */
static double sum(const char *directory, const char *file, const char *where, const char *word,
	const char *title, double period_us)
{
	struct table t;
	double all = 0;

	table_open(&t, directory, file);
	while (table_next(&t))
		if (!strcmp(field(&t, where), word))
			all += number(&t, title) *
			       (period_us > 0 ? interval_us(&t, period_us) * 1000 / 8 : 1);
	free(t.text);
	return all;
}

/* Drops, marks, pauses, a watchdog, headers and every loss on cables. */
static const char busy[] =
	"name: t\n"
	"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}}\n"
	"switch: {buffer: {per_port: 40KB}, trim: receiver, lldp: {every: 10us}}\n"
	"workload: [{incast: {senders: 7, to: h0, message: 100KB}},\n"
	"  {pairs: {from: [h1], to: [h6], message: 8KB, repeat: 5}}]\n"
	"faults: [{at: 0us, link: leaf0-spine0, do: {loss: 1%}},\n"
	"  {at: 10us, until: 30us, link: leaf0-spine1, do: {rate: 50%}}]\n"
	"telemetry: {ports: 3us, flows: 3us}\n";

static void ports_add_up(void **state)
{
	static const char *const counted[] = {"marked", "dropped", "paused_us"};
	char directory[SMALL_PATH];
	struct table t;

	(void)state;
	record(busy, directory);
	table_open(&t, directory, "ports.csv");
	while (table_next(&t)) {
		const char *port = field(&t, "port");
		double sent = sum(directory, "port_series.csv", "port", port, "tx_gbps", 3);

		for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
			assert_true(number(&t, counted[i]) ==
				    sum(directory, "port_series.csv", "port", port, counted[i], 0));
		assert_true(sent - number(&t, "tx_bytes") < 1 && number(&t, "tx_bytes") - sent < 1);
	}
	free(t.text);
	small_directory_remove(directory);
}

/* Connections of several messages, and messages that are forgotten when they are over. */
static const char streams[] =
	"name: t\n"
	"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 4}}\n"
	"workload: [{collective: {op: all_reduce, algorithm: ring, ranks: 8, size: 256KB, chunk: 8KB}},\n"
	"  {pairs: {from: [h4, h5, h6], to: [h1, h2, h3], message: 512KB}}]\n"
	"switch: {ecn: {kmin: 2KB, kmax: 20KB}}\n"
	"telemetry: {flows: 3us}\n";
static const char open_loop[] =
	"name: t\n"
	"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 4}}\n"
	"workload: [{load: {sizes: websearch, load: 60%, until: 100us}}]\n"
	"telemetry: {flows: 3us}\nuntil: 400us\n";

static void flows_add_up(void **state)
{
	static const char *const worlds[] = {busy, streams, open_loop};

	(void)state;
	for (size_t w = 0; w < sizeof(worlds) / sizeof(worlds[0]); w++) {
		char directory[SMALL_PATH];
		double marks = 0;
		struct table t;

		record(worlds[w], directory);
		table_open(&t, directory, "flows.csv");
		while (table_next(&t)) {
			const char *flow = field(&t, "flow");
			double got = sum(
				directory, "flow_series.csv", "flow", flow, "throughput_gbps", 3);

			assert_true(got - number(&t, "delivered_bytes") < 1 &&
				    number(&t, "delivered_bytes") - got < 1);
			assert_true(number(&t, "marks") ==
				    sum(directory, "flow_series.csv", "flow", flow, "marks", 0));
			marks += number(&t, "marks");
		}
		free(t.text);
		assert_true(marks > 0 || worlds[w] == open_loop);
		small_directory_remove(directory);
	}
}

/* Of a connection whose packets come out of order: what comes counts when it comes. */
static void no_flow_is_faster_than_its_link(void **state)
{
	static const char lossy[] =
		"name: t\n"
		"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}}\n"
		"workload: [{collective: {op: all_reduce, algorithm: ring, ranks: 4, size: 512KB, chunk: 16KB}}]\n"
		"faults: [{at: 0, link: leaf*-spine*, do: {loss: 5%}}]\n"
		"telemetry: {flows: 1us}\n";
	char directory[SMALL_PATH];
	struct table t;

	(void)state;
	record(lossy, directory);
	table_open(&t, directory, "flow_series.csv");
	while (table_next(&t))
		assert_true(number(&t, "throughput_gbps") <= 100);
	free(t.text);
	small_directory_remove(directory);
}

/* A frame that is on the line counts as far as it is. */
static void a_line_is_not_busy_beyond_now(void **state)
{
	char directory[SMALL_PATH];
	struct table t;

	(void)state;
	record(TINY "until: 200ns\n", directory);
	table_open(&t, directory, "ports.csv");
	assert_true(table_next(&t));
	assert_string_equal(field(&t, "port"), "h0->s0");
	assert_string_equal(field(&t, "utilisation"), "1.000000");
	free(t.text);
	small_directory_remove(directory);
}

/* Two send at line rate to a third: twice as much arrives as leaves, though half of it is lost. */
static void what_is_dropped_has_arrived(void **state)
{
	double most = 0;
	char directory[SMALL_PATH];
	struct table t;

	(void)state;
	record("name: t\n"
	       "topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 3}, delay: 1us}\n"
	       "switch: {buffer: {per_port: 50KB}}\n"
	       "host: {transport: {strack: {congestion: off, window: 16MB}}}\n"
	       "workload: [{incast: {senders: 2, to: h0, message: 1MB}}]\n"
	       "telemetry: {ports: {every: 10us, match: leaf0->h0}}\nuntil: 60us\n",
		directory);
	table_open(&t, directory, "port_series.csv");
	while (table_next(&t))
		if (number(&t, "dropped") > 20 && number(&t, "arrived_gbps") > most)
			most = number(&t, "arrived_gbps");
	assert_true(most > 195 && most < 201);
	free(t.text);
	small_directory_remove(directory);
}

/* RoCEv2 has rates, which sampling does not move. */
static void senders_with_rates_tell_them(void **state)
{
	char directory[SMALL_PATH];
	bool slower = false;
	struct table t;

	(void)state;
	record("name: t\n"
	       "topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 4}}\n"
	       "host: {transport: roce}\n"
	       "workload: [{incast: {senders: 7, to: h0, message: 300KB}}]\n"
	       "telemetry: {flows: 5us}\n",
		directory);
	table_open(&t, directory, "flow_series.csv");
	while (table_next(&t)) {
		assert_string_equal(field(&t, "window_bytes"), "");
		assert_string_equal(field(&t, "rtt_us"), "");
		if (!*field(&t, "rate_gbps"))
			continue;
		assert_true(number(&t, "rate_gbps") > 0 && number(&t, "rate_gbps") <= 100);
		slower |= number(&t, "rate_gbps") < 100;
	}
	assert_true(slower);
	free(t.text);
	small_directory_remove(directory);
}

/* What `validate` foresees is no more than half as large, or twice. */
static void sizes_are_foreseen(void **state)
{
	static const char text[] =
		"name: t\n"
		"topology: {leaf_spine: {leaves: 4, spines: 2, hosts_per_leaf: 4}}\n"
		"workload: [{permutation: {message: 300KB}}]\n"
		"telemetry: {ports: 2us, flows: 3us, queues: 5us, imbalance: 4us}\n";
	static const char *const files[] = {
#define X(symbol, key, file) #file ".csv",
		SERIES(X)
#undef X
	};
	struct operations m = OPERATIONS_INIT;
	struct ending_params p = {0};
	struct ending ending;
	struct small_session s;
	char directory[SMALL_PATH];

	(void)state;
	record(text, directory);
	small_session_load(&s, text, NULL, 0);
	p.scenario = s.scenario;
	p.fabric = s.fabric;
	assert_int_equal(traffic_list(&m, s.scenario, s.fabric, 0), 0);
	assert_int_equal(ending_foresee(&ending, &p, &m), 0);
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		struct series_cost cost =
			cost_series(s.scenario, s.fabric, (enum series_kind)i, &ending);
		char *written = small_file(directory, files[i]);

		assert_in_range(strlen(written), cost.bytes / 2, cost.bytes * 2);
		free(written);
	}
	operations_release(&m);
	small_session_close(&s);
	small_directory_remove(directory);
}

/* As printf() has them. */
static void digits_are_those_of_printf(void **state)
{
	static const uint64_t numbers[] = {
		0, 1, 9, 10, 999999, 1000000, 1000001, 12345678901, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char want[64], got[DIGITS_MAX + 1];

		*digits_put(got, numbers[i], 1) = '\0';
		snprintf(want, sizeof(want), "%llu", (unsigned long long)numbers[i]);
		assert_string_equal(got, want);
		*digits_put_millionths(got, numbers[i]) = '\0';
		snprintf(want, sizeof(want), "%llu.%06llu",
			(unsigned long long)(numbers[i] / 1000000),
			(unsigned long long)(numbers[i] % 1000000));
		assert_string_equal(got, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_to_the_byte),
		cmocka_unit_test(flows_to_the_byte),
		cmocka_unit_test(queues_have_no_holes),
		cmocka_unit_test(imbalance_to_the_byte),
		cmocka_unit_test(ports_add_up),
		cmocka_unit_test(flows_add_up),
		cmocka_unit_test(no_flow_is_faster_than_its_link),
		cmocka_unit_test(a_line_is_not_busy_beyond_now),
		cmocka_unit_test(what_is_dropped_has_arrived),
		cmocka_unit_test(senders_with_rates_tell_them),
		cmocka_unit_test(sizes_are_foreseen),
		cmocka_unit_test(digits_are_those_of_printf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
