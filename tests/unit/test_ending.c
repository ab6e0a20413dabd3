/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a run ends that has no time of its own, and how that is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "lib/small_session.h"

#define TWO_LEAVES(keys)                                                                           \
	"name: t\ntopology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}" keys "}\n"
#define PAIRS(keys) "workload: [{pairs: {from: [h0, h1], to: [h2, h3]" keys "}}]\n"
#define LOSSLESS    "switch: {pfc: on}\n"

static const char *ended_by(const json_t *summary)
{
	return json_string_value(json_object_get(summary, "ended_by"));
}

static int64_t unfinished(const json_t *summary)
{
	return json_integer_value(json_object_get(json_object_get(summary, "flows"), "unfinished"));
}

static double fct_max_us(const json_t *summary)
{
	return json_number_value(json_object_get(
		json_object_get(json_object_get(summary, "flows"), "fct_us"), "max"));
}

/* Slow, each for another reason, but nothing is wrong: all of it comes through. */
static void slow_runs_are_not_cut_off(void **state)
{
	static const struct {
		const char *text;
		double least_us; /* lower bound: over 100 times the need of links and timers */
	} cases[] = {
		/* oversubscribed 400 to 1 */
		{"name: t\ntopology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}, rate: 1Gbps, host_rate: 400Gbps}\n" PAIRS(
			 ", message: 2MB"),
			30000},
		/* the only way is slow from the start, and for good */
		{"name: t\ntopology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}}\n" PAIRS(
			 ", message: 1MB") "faults: [{at: 0, link: leaf0-spine0, do: {rate: 0.1%}}]\n",
			160000},
		/* inside a line of switches */
		{"name: t\ntopology: {custom: {hosts: [a, b], switches: [q, r, s, t], links: [a-q, q-r, {a: r, b: s, rate: "
		 "20Mbps}, s-t, t-b]}}\nworkload: [{pairs: {from: a, to: b, message: 1MB, repeat: 2, gap: 30ms}}]\n",
			400000},
		/* the only way is down for long, and many messages come after */
		{"name: t\ntopology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}}\n" PAIRS(
			 ", message: 10KB, repeat: 3, gap: 200ms") "faults: [{at: 0, until: 300ms, link: leaf0-spine0, do: down}]\n",
			300000},
		/* each round trip is long, and the window short of it */
		{TWO_LEAVES() PAIRS(
			 ", message: 4MB") "faults: [{at: 0, link: 'leaf0-*', do: {delay: 10ms}}]\n",
			200000},
		/* a timeout that is long, and often needed */
		{TWO_LEAVES() PAIRS(
			 ", message: 1B") "host: {transport: {roce: {rto: 100ms}}}\nfaults: [{at: 0, link: h0-leaf0, do: {loss: 70%}}]\n",
			100000},
		/* the line is dead for long again and again */
		{TWO_LEAVES() PAIRS(
			 ", message: 20KB, repeat: 10, gap: 20ms") "faults: [{at: 0, link: h0-leaf0, do: {flaky: {every: 40ms, last: 40ms}}}]\n",
			10000},
		/* senders leave nearly all of their links idle */
		{TWO_LEAVES() PAIRS(
			 ", message: 500KB") "host: {transport: {assembled: {control: {rate: 0.001}, recovery: dupack}}}\n",
			40000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_session s;
		bool met;
		json_t *j;

		small_session_open(&s, cases[i].text, NULL, 0, NULL);
		small_session_run(&s);
		j = small_session_summary(&s, &met);
		if (unfinished(j) || strcmp(ended_by(j), "workload"))
			fail_msg("case %zu: by %s at %.0f us, %lld unfinished", i, ended_by(j),
				json_number_value(json_object_get(j, "model_time_us")),
				(long long)unfinished(j));
		if (fct_max_us(j) < cases[i].least_us)
			fail_msg("case %zu took %.0f us only", i, fct_max_us(j));
		json_decref(j);
		small_session_close(&s);
	}
}

/* What will never finish is given up, with the reason in the summary and the last event. */
static void what_hangs_is_cut_off(void **state)
{
	static const struct {
		const char *text, *by;
		unsigned unfinished;
	} cases[] = {
		{"name: t\ntopology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}}\n" PAIRS(
			 ", message: 1MB") "faults: [{at: 0, link: leaf0-spine0, do: down}]\n",
			"auto", 2},
		{TWO_LEAVES() PAIRS(
			 ", message: 1MB") "faults: [{at: 10us, link: h1-leaf0, do: {loss: 100%}}]\n",
			"auto", 1},
		{TWO_LEAVES() PAIRS(", message: 1MB") LOSSLESS
			"faults: [{at: 0, host: h2, do: {pause: 0}}]\n",
			"auto", 1},
		{TWO_LEAVES() PAIRS(", message: 1MB") "until: 20us\n", "until", 2},
		{TWO_LEAVES() PAIRS(", message: 1KB, repeat: 12, gap: 864000s"), "limit", 18},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char directory[SMALL_PATH], *events, *last, want[128];
		struct error why = ERROR_INIT;
		struct small_session s;
		bool met;
		json_t *j;

		small_directory(directory);
		small_session_open(&s, cases[i].text, NULL, 0, directory);
		small_session_run(&s);
		j = small_session_summary(&s, &met);
		if (unfinished(j) != cases[i].unfinished || strcmp(ended_by(j), cases[i].by))
			fail_msg("case %zu: by %s at %.0f us, %lld unfinished", i, ended_by(j),
				json_number_value(json_object_get(j, "model_time_us")),
				(long long)unfinished(j));
		assert_int_equal(session_write(s.session, j, NULL, &why), 0);
		events = small_file(directory, "events.jsonl");
		snprintf(want, sizeof(want),
			",\"event\":\"cut_off\",\"by\":\"%s\",\"unfinished\":%u}\n", cases[i].by,
			cases[i].unfinished);
		last = strstr(events, want);
		if (!last || strlen(last) != strlen(want))
			fail_msg("case %zu: %s", i, events);
		free(events);
		json_decref(j);
		small_session_close(&s);
		small_directory_remove(directory);
	}
}

/* Seen before its end it has not ended by itself; what did its work says so, whatever its time. */
static void other_ends(void **state)
{
	struct error why = ERROR_INIT;
	struct small_session s;
	bool met;
	json_t *j;

	(void)state;
	small_session_open(&s, TWO_LEAVES() PAIRS(", message: 1MB") "until: 10ms\n", NULL, 0, NULL);
	assert_int_equal(session_advance(s.session, 10 * PS_PER_US, NULL, &why), 0);
	j = small_session_summary(&s, &met);
	assert_string_equal(ended_by(j), "stop");
	json_decref(j);
	small_session_run(&s);
	j = small_session_summary(&s, &met);
	assert_string_equal(ended_by(j), "workload");
	json_decref(j);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_runs_are_not_cut_off),
		cmocka_unit_test(what_hangs_is_cut_off),
		cmocka_unit_test(other_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
