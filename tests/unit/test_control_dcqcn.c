/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DCQCN as a control: which answers are notifications. Its reaction point by itself is tested in
 * test_roce_dcqcn.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "control_fixture.h"
#include "transport/roce.h"

#define MTU  1000
#define RTT  (10 * US)
#define GBPS 1000000000ull

static void open_at(struct control_bench *b, const char *control)
{
	control_open(b, control, 100 * GBPS, RTT, MTU, PS_PER_S);
}

static uint64_t rate(const struct control_bench *b)
{
	return b->kind->rate(b->state, b->now);
}

/* It has a rate, and no window. */
static void it_paces(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "dcqcn");
	assert_null(b.kind->window);
	assert_int_equal(transport_facts(&b.scenario->host.transport).least_share, 1000);
	assert_int_equal(rate(&b), 100 * GBPS);
	assert_true(b.kind->ready(b.state, b.now) <= b.now);
	control_answer(&b, RTT, MTU, true, false); /* alpha is 1: half */
	assert_int_equal(rate(&b), 50 * GBPS);
	b.kind->on_send(b.state, 1226, b.now); /* 1250 bytes on the wire */
	assert_int_equal(b.kind->ready(b.state, b.now), b.now + 200 * NS);
	b.now += 110 * US; /* two rounds of the timer on the way back */
	assert_int_equal(rate(&b), 87500000000);
	assert_int_equal(rate(&b), 87500000000); /* a look changes nothing */
	control_close(&b);
}

/* At most one in cnp_interval, whoever tells of congestion; answers without it do nothing. */
static void notifications_come_once_an_interval(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct control_bench b;

		(void)state;
		open_at(&b, "dcqcn: {cnp_interval: 8us}");
		for (unsigned i = 0; i < 17; i++, b.now += US) {
			if (how == 2)
				control_lose(&b, MTU);
			else
				control_answer(&b, RTT, 0, how == 0, how == 1);
			control_answer(&b, RTT, MTU, false, false);
			assert_int_equal(rate(&b) / 1000, i < 8    ? 50000000
							  : i < 16 ? 25000000
								   : 12500000);
		}
		control_close(&b);
	}
}

static void a_timeout_starts_again_at_the_lowest_rate(void **state)
{
	struct control_bench b;

	(void)state;
	open_at(&b, "dcqcn: {min_rate: 1Gbps}");
	control_time_out(&b);
	assert_int_equal(rate(&b), GBPS);
	b.now += 55 * US;
	assert_int_equal(rate(&b), 50500000000);
	control_close(&b);
}

/* Its keys are RoCEv2's, with the same defaults. */
static void options_are_those_of_roce(void **state)
{
	static const char *const cases[] = {"", "dcqcn: tuned", "dcqcn: strack-paper, timer: 7us",
		"clamp_target: after_increase, gain: 0.5, additive: 1Gbps, byte_counter: 1MB"};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct assembled_options *o;
		struct control_bench b;
		struct scenario *s;
		char text[256];

		snprintf(text, sizeof(text), "dcqcn: {%s}", cases[i]);
		open_at(&b, text);
		o = b.scenario->host.transport.options;
		snprintf(text, sizeof(text), SMALL "host: {transport: {roce: {%s}}}\n", cases[i]);
		s = load(text);
		assert_memory_equal(o->control_options,
			&((const struct roce_options *)s->host.transport.options)->reaction,
			sizeof(struct dcqcn_options));
		scenario_free(s);
		control_close(&b);
	}
	/* the settings by themselves */
	for (int lone = 0; lone < 2; lone++) {
		struct control_bench b;

		open_at(&b, lone ? "dcqcn: tuned" : "dcqcn: {dcqcn: tuned}");
		control_answer(&b, RTT, MTU, true, false);
		b.now += 300 * US;
		assert_int_equal(rate(&b), 75 * GBPS);
		control_close(&b);
	}
}

static void it_survives(void **state)
{
	(void)state;
	control_survives("dcqcn", 0);
	control_survives("dcqcn: {dcqcn: tuned, cnp_interval: 1ns}", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_paces),
		cmocka_unit_test(notifications_come_once_an_interval),
		cmocka_unit_test(a_timeout_starts_again_at_the_lowest_rate),
		cmocka_unit_test(options_are_those_of_roce),
		cmocka_unit_test(it_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
