/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What slowdown a box needs, out of what it can do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/wiretime.h"
#include "lib/small_session.h"
#include "session/measure.h"

#define CLOSE 1e-9

static double slowdown(const char *topology, double late_ns, double hop_ns)
{
	struct small_session s;
	char text[256];
	double found;

	snprintf(text, sizeof(text),
		"name: m\ntopology: {%s}\nworkload: [{pairs: {from: [h0], to: [h1], message: 1}}]\n",
		topology);
	small_session_load(&s, text, NULL, 0);
	found = slowdown_for(s.fabric, late_ns, hop_ns);
	small_session_close(&s);
	return found;
}

#define TWO "custom: {hosts: [h0, h1], switches: [s0], links: [h0-s0, h1-s0]}, "

/* A machine that is fast enough, and late by at most the shortest delay, needs no slowdown. */
static void none(void **state)
{
	(void)state;
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 100us", 100000, 1000), 1, CLOSE);
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 100us", 0, 0), 1, CLOSE);
}

/* Late by several delays: so many times slower, in two digits, and never less. */
static void for_lateness(void **state)
{
	(void)state;
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 100us", 200000, 0), 2, CLOSE);
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 100us", 201000, 0), 2.1, CLOSE);
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 1us", 123456, 0), 130, CLOSE);
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 1us", 101, 0), 1, CLOSE);
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 100ns", 99950, 0), 1000, CLOSE);
	/* the shortest decides */
	assert_float_equal(
		slowdown("custom: {hosts: [h0, h1], switches: [s0], links: [h0-s0, {a: h1, b: s0, "
			 "delay: 50us}]}, rate: 1Mbps, delay: 100us",
			100000, 0),
		2, CLOSE);
	/* without any delay there is nothing to be late by */
	assert_float_equal(slowdown(TWO "rate: 1Mbps, delay: 0us", 1e6, 0), 1, CLOSE);
}

/* All hosts at line rate, over two hops: the work of a second, with a fifth in reserve. */
static void for_work(void **state)
{
	double bytes, want;
	struct small_session s;

	(void)state;
	small_session_load(&s,
		"name: m\ntopology: {" TWO "rate: 100Gbps, delay: 100us}\n"
		"workload: [{pairs: {from: [h0], to: [h1], message: 1}}]\n",
		NULL, 0);
	bytes = (double)wire_bytes(s.fabric->packet_bytes);
	small_session_close(&s);
	want = 2 * 100e9 / 8 / bytes * 2 * 1000e-9 / 0.8; /* 15 */
	assert_true(want > 10 && want < 99);
	assert_true(slowdown(TWO "rate: 100Gbps, delay: 100us", 0, 1000) - want < 1);
	assert_true(slowdown(TWO "rate: 100Gbps, delay: 100us", 0, 1000) >= want);
	/* the worse of the two */
	assert_float_equal(slowdown(TWO "rate: 100Gbps, delay: 100us", 1e7, 1000), 100, CLOSE);
	/* a fat-tree's way has six hops */
	assert_true(slowdown("fat_tree: {k: 4}, rate: 100Gbps, delay: 100us", 0, 1000) >=
		    want / 2 / 2 * 16 * 6);
}

/* What is measured does not stay: a session that was measured is as one that was not. */
static void leaves_no_trace(void **state)
{
	static const char text[] = "name: m\ntopology: {" TWO "rate: 100Gbps, delay: 100us}\n"
				   "workload: [{pairs: {from: [h0], to: [h1], message: 100KB}}]\n";
	struct engine_stats plain, measured;
	struct small_session s;

	(void)state;
	small_session_open(&s, text, NULL, 0, NULL);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &plain);
	small_session_close(&s);
	small_session_open(&s, text, NULL, 0, NULL);
	assert_true(measure_slowdown(s.session, s.fabric) >= 1);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &measured);
	assert_int_equal(engine_check_balance(session_engine(s.session)), 0);
	assert_memory_equal(&plain, &measured, sizeof(plain));
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none),
		cmocka_unit_test(for_lateness),
		cmocka_unit_test(for_work),
		cmocka_unit_test(leaves_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
