/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of hosts' kernel stacks during changes: pauses, new flows, links that fail. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/fault_calls.h"
#include "lib/stack_net.h"

#define RATE  STACK_RATE
#define DELAY 1000000u /* ps */
#define TCP   6
#define UDP   17

/* ---- pauses --------------------------------------------------------------------------------- */

#define PAUSED 3
#define OTHER  1
#define QUANTA 20000

/* The start at a port of its n-th frame of a class and protocol; UINT64_MAX: there is none. */
static uint64_t nth_start(
	const struct stack_net *s, uint32_t port, uint8_t protocol, uint8_t class, uint32_t n)
{
	for (uint32_t i = 0; i < s->start_count; i++) {
		const struct stack_start *start = &s->starts[i];

		if (start->port == port && start->protocol == protocol && start->class == class &&
			start->type == 0x0800 && !n--)
			return start->now_ps;
	}
	return UINT64_MAX;
}

/* h0 is paused by its switch at first; its stack has both classes, its sender `stream_class`. */
static void pause_stack(uint8_t stream_class)
{
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	const struct class_stream stream = {
		.dst = 1, .class = stream_class, .payload = 4096, .packets = 10};
	uint64_t paused = serialise_ps(PFC_FRAME, RATE) + DELAY;
	uint64_t over = paused + QUANTA * (pfc_quantum(RATE) >> 8);
	struct stack_segment g = {.dst = 1, .length = 1514};
	struct stack_net *s = stack_net_new(2, 1, links, 2);
	uint32_t port;

	class_net_lossless(&s->net, PAUSED, 100 * STACK_FRAME);
	class_net_open(&s->net);
	port = class_net_port(&s->net, 0, 2);
	class_net_send_pfc(&s->net, class_net_port(&s->net, 2, 0), 1 << PAUSED, QUANTA);
	class_net_run(&s->net, paused + 1);
	class_net_stream(&s->net, &stream);
	for (; g.number < 20; g.number++) {
		g.class = g.number & 1 ? PAUSED : OTHER;
		assert_int_equal(stack_net_send(s, &g), 0);
	}
	class_net_run(&s->net, over);
	assert_true(nth_start(s, port, TCP, OTHER, 9) < over / 2);
	assert_int_equal(nth_start(s, port, TCP, PAUSED, 0), UINT64_MAX);
	assert_int_equal(
		nth_start(s, port, UDP, stream_class, 9) < over / 2, stream_class != PAUSED);
	stack_net_assert_balanced(s);
	class_net_run(&s->net, PS_PER_S / 2);
	assert_true(nth_start(s, port, TCP, PAUSED, 9) < UINT64_MAX);
	assert_true(nth_start(s, port, UDP, stream_class, 9) < UINT64_MAX);
	if (stream_class != PAUSED)
		assert_int_equal(nth_start(s, port, TCP, PAUSED, 0), over);
	else
		assert_in_range(nth_start(s, port, TCP, PAUSED, 0), over,
			over + serialise_ps(CLASS_NET_FRAME, RATE));
	assert_int_equal(s->taken_count, 20);
	assert_int_equal(class_net_dropped(&s->net), 0);
	stack_net_close(s);
}

static void a_pause_holds_its_class_alone(void **state)
{
	(void)state;
	pause_stack(OTHER);
	pause_stack(5);
	pause_stack(PAUSED);
}

/* A paused class fills the queue; what does not fit is dropped once. */
static void a_paused_class_fills_the_queue(void **state)
{
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	struct stack_segment g = {.dst = 1, .length = 1000, .class = PAUSED};
	struct stack_net *s = stack_net_new(2, 1, links, 2);

	(void)state;
	class_net_lossless(&s->net, PAUSED, 100 * STACK_FRAME);
	s->net.params.stack_queue = 5000;
	class_net_open(&s->net);
	class_net_send_pfc(&s->net, class_net_port(&s->net, 2, 0), 1 << PAUSED, QUANTA);
	class_net_run(&s->net, 10 * PS_PER_US);
	for (; g.number < 9; g.number++)
		assert_int_equal(stack_net_send(s, &g), g.number < 5 ? 0 : -ENOBUFS);
	class_net_run(&s->net, PS_PER_S);
	assert_int_equal(s->taken_count, 5);
	assert_int_equal(s->dropped[DROP_HOST_QUEUE], 4);
	/* all of the queue is free again */
	g.class = OTHER;
	for (; g.number < 15; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	assert_int_equal(stack_net_send(s, &g), -ENOBUFS);
	class_net_run(&s->net, 2 * PS_PER_S);
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

/* A host pauses its switch: its stack's frames of that class alone wait there. */
static void a_storm_holds_what_is_for_a_stack(void **state)
{
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	struct stack_segment g = {.dst = 1, .length = 1514};
	struct stack_net *s = stack_net_new(2, 1, links, 2);

	(void)state;
	class_net_lossless(&s->net, PAUSED, 100 * STACK_FRAME);
	class_net_open(&s->net);
	engine_set_storm(s->net.engine, 1, 1 << PAUSED);
	class_net_run(&s->net, 10 * PS_PER_US);
	for (; g.number < 20; g.number++) {
		g.class = g.number & 1 ? PAUSED : OTHER;
		assert_int_equal(stack_net_send(s, &g), 0);
	}
	class_net_run(&s->net, 20 * PS_PER_MS);
	assert_int_equal(s->taken_count, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(class_net_frame_class(s->taken[i].bytes), OTHER);
	stack_net_assert_balanced(s);
	engine_set_storm(s->net.engine, 1, 0);
	class_net_run(&s->net, PS_PER_S);
	assert_int_equal(s->taken_count, 20);
	assert_int_equal(class_net_dropped(&s->net), 0);
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

/* ---- flows beside them ---------------------------------------------------------------------- */

#define LATER (40 * PS_PER_US)

/* The last four come at LATER: two start by time, two after one of them and an old one. */
static const struct operation flows[] = {
	{.src_host = 0, .dst_host = 1, .bytes = 10000},
	{.src_host = 2, .dst_host = 1, .bytes = 1000000, .start_ps = 1000},
	{.src_host = 0, .dst_host = 2, .bytes = 5000, .start_ps = 3 * PS_PER_US},
	{.src_host = 1, .dst_host = 0, .bytes = 70000, .start_ps = LATER},
	{.src_host = 2, .dst_host = 0, .bytes = 30000, .start_ps = LATER + 777},
	{.src_host = 1, .dst_host = 2, .bytes = 20000, .start_ps = 5 * PS_PER_US},
	{.src_host = 2, .dst_host = 1, .bytes = 9000, .start_ps = PS_PER_US},
};

/* Of the first of these both are there from the beginning. */
static const struct wait waits[] = {
	{0, 2, OPERATION_ENDED}, {3, 5, OPERATION_ENDED}, {1, 6, OPERATION_ENDED}};

#define WAITS       (sizeof(waits) / sizeof(waits[0]))
#define EARLY_WAITS 1

#define FLOWS (sizeof(flows) / sizeof(flows[0]))
#define EARLY 3

static struct engine_stats run_flows(
	bool at_once, bool lasting, struct engine_flow_result results[FLOWS])
{
	static const struct class_link links[] = {
		{0, 3, RATE, DELAY}, {1, 3, RATE, DELAY}, {2, 3, RATE, DELAY}};
	struct stack_net *s = stack_net_new(3, 1, links, 3);
	struct stack_segment g = {.src = 1, .dst = 2, .length = 4000};
	struct engine_stats stats;

	stack_net_strack(s, 20 * PS_PER_US);
	s->net.params.lasting = lasting;
	class_net_open(&s->net);
	assert_int_equal(engine_add_flows(s->net.engine, flows, at_once ? FLOWS : EARLY, waits,
				 at_once ? WAITS : EARLY_WAITS),
		0);
	for (; g.number < 10; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	class_net_run(&s->net, LATER);
	assert_int_equal(engine_now(s->net.engine), LATER);
	if (!at_once)
		assert_int_equal(engine_add_flows(s->net.engine, flows + EARLY, FLOWS - EARLY,
					 waits + EARLY_WAITS, WAITS - EARLY_WAITS),
			0);
	class_net_run(&s->net, PS_PER_S);
	stats = class_net_stats(&s->net);
	assert_int_equal(stats.flows_done, FLOWS);
	assert_int_equal(s->taken_count, 10);
	assert_true(engine_done(s->net.engine));
	stack_net_assert_balanced(s);
	if (lasting)
		class_net_at_rest(s->net.engine);
	for (uint32_t i = 0; i < FLOWS; i++)
		engine_flow_result(s->net.engine, i, &results[i]);
	stack_net_close(s);
	return stats;
}

static void flows_added_later_are_as_if_they_had_been_there(void **state)
{
	struct engine_flow_result once[FLOWS], later[FLOWS];

	(void)state;
	for (int lasting = 0; lasting < 2; lasting++) {
		struct engine_stats a = run_flows(true, lasting, once);
		struct engine_stats b = run_flows(false, lasting, later);

		/* flow 1 is not done by then, flow 0 is */
		assert_true(once[0].finish_ps && once[0].finish_ps < LATER);
		assert_true(once[1].finish_ps > LATER);
		assert_int_equal(a.trace_hash, b.trace_hash);
		assert_int_equal(a.hops, b.hops);
		for (uint32_t i = 0; i < FLOWS; i++) {
			assert_int_equal(once[i].start_ps, later[i].start_ps);
			assert_int_equal(once[i].finish_ps, later[i].finish_ps);
			assert_int_equal(once[i].delivered_ps, later[i].delivered_ps);
		}
		assert_int_equal(once[5].start_ps, once[3].finish_ps + 5 * PS_PER_US);
	}
}

/* What should have started before it was added starts now. */
static void a_flow_of_the_past_starts_now(void **state)
{
	const struct operation flow = {.src_host = 0, .dst_host = 1, .bytes = 1000, .start_ps = 5};
	struct stack_net *s = stack_net_chain();
	struct engine_flow_result result;

	(void)state;
	stack_net_strack(s, 20 * PS_PER_US);
	class_net_open(&s->net);
	class_net_run(&s->net, LATER);
	assert_int_equal(engine_add_flows(s->net.engine, &flow, 1, NULL, 0), 0);
	class_net_run(&s->net, PS_PER_S);
	engine_flow_result(s->net.engine, 0, &result);
	assert_int_equal(result.start_ps, LATER);
	assert_true(result.finish_ps > LATER);
	stack_net_close(s);
}

/* Without it a run ends one lookahead after its last flow, and without flows at once. */
static void a_lasting_run_goes_on(void **state)
{
	const struct operation flow = {.src_host = 0, .dst_host = 1, .bytes = 1000};
	const struct stack_segment g = {.dst = 1, .length = 1514};

	(void)state;
	for (int lasting = 0; lasting < 2; lasting++) {
		struct stack_net *s = stack_net_chain();
		struct engine_flow_result result;

		stack_net_strack(s, 20 * PS_PER_US);
		s->net.params.lasting = lasting;
		class_net_open(&s->net);
		class_net_run(&s->net, PS_PER_US);
		assert_int_equal(engine_now(s->net.engine), lasting ? PS_PER_US : 0);
		assert_int_equal(engine_add_flows(s->net.engine, &flow, 1, NULL, 0), 0);
		class_net_run(&s->net, PS_PER_S);
		engine_flow_result(s->net.engine, 0, &result);
		assert_true(result.finish_ps > 0 && engine_done(s->net.engine));
		assert_int_equal(engine_now(s->net.engine),
			lasting ? PS_PER_S : result.finish_ps + engine_lookahead(s->net.engine));
		assert_int_equal(stack_net_send(s, &g), 0);
		class_net_run(&s->net, 2 * PS_PER_S);
		assert_int_equal(s->taken_count, lasting);
		stack_net_close(s);
	}
}

/* ---- faults --------------------------------------------------------------------------------- */

/* Down while the fifth of ten is on the line between the switches: it and what comes later is lost
 * until the link is back. */
static void a_link_that_goes_takes_stack_frames(void **state)
{
	struct stack_segment g = {.dst = 1, .length = 9000};
	struct stack_net *s = stack_net_chain();
	uint64_t first, each;
	uint32_t port;

	(void)state;
	class_net_open(&s->net);
	port = class_net_port(&s->net, 2, 3);
	for (; g.number < 10; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	each = serialise_ps(9000, RATE);
	first = each + STACK_CHAIN_DELAY; /* at s2 */
	class_net_run(&s->net, first + 4 * each + 100);
	engine_set_link_up(s->net.engine, port, false);
	class_net_run(&s->net, first + 7 * each - 100);
	engine_set_link_up(s->net.engine, port, true);
	stack_net_assert_balanced(s);
	class_net_run(&s->net, PS_PER_S);
	assert_int_equal(s->dropped[DROP_LINK_DOWN], 3);
	assert_int_equal(s->taken_count, 7);
	for (uint32_t i = 0; i < 7; i++) {
		g.number = i < 4 ? i : i + 3;
		stack_net_assert_taken(s, i, &g, 2, class_net_port(&s->net, 3, 1));
	}
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

static void what_a_wire_loses_is_a_stacks_too(void **state)
{
	struct stack_segment g = {.dst = 1, .length = 1514};
	struct stack_net *s = stack_net_chain();

	(void)state;
	s->net.switching.config.features |= SW_FAULTS;
	class_net_open(&s->net);
	faults_set_loss(&s->net.dp->tables, class_net_port(&s->net, 3, 2), 0.5, 1);
	for (; g.number < 400; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	class_net_run(&s->net, PS_PER_S);
	assert_int_equal(s->taken_count + s->dropped[DROP_LOSS], 400);
	assert_in_range(s->taken_count, 150, 250);
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

/* A message to the end, frames of stacks everywhere, and links that come and go. */
static void everything_at_once_balances(void **state)
{
	static const struct class_link links[] = {{0, 4, RATE, DELAY}, {1, 4, RATE, DELAY},
		{2, 5, RATE, DELAY}, {3, 5, RATE / 2, DELAY}, {4, 5, RATE, DELAY}};
	struct stack_net *s = stack_net_new(4, 2, links, 5);
	uint64_t rng = 1;

	(void)state;
	class_net_lossless(&s->net, PAUSED, 30 * STACK_FRAME);
	stack_net_strack(s, 20 * PS_PER_US);
	s->net.params.stack_queue = 40000;
	class_net_open(&s->net);
	for (uint32_t i = 0; i < 2000; i++) {
		struct stack_segment g = {.number = i, .length = 80 + rng_below(&rng, 8900)};
		struct operation f = {
			.src_host = rng_below(&rng, 4), .bytes = 1 + rng_below(&rng, 50000)};

		g.src = rng_below(&rng, 4);
		g.dst = rng_below(&rng, 4);
		g.class = (uint8_t)rng_below(&rng, CLASSES);
		f.dst_host = (f.src_host + 1 + rng_below(&rng, 3)) % 4;
		stack_net_send(s, &g);
		if (i % 20 == 0)
			assert_int_equal(engine_add_flows(s->net.engine, &f, 1, NULL, 0), 0);
		if (i % 50 == 0)
			engine_set_link_up(s->net.engine,
				PORT_FIRST + rng_below(&rng, s->net.net.port_count), i % 100 == 0);
		if (i % 70 == 0)
			engine_set_storm(
				s->net.engine, rng_below(&rng, 4), i % 140 ? 1 << PAUSED : 0);
		class_net_run(&s->net, engine_now(s->net.engine) + rng_below(&rng, 3000000));
		stack_net_assert_balanced(s);
	}
	for (uint32_t i = 0; i < 4; i++)
		engine_set_storm(s->net.engine, i, 0);
	for (uint32_t id = PORT_FIRST; id < PORT_FIRST + s->net.net.port_count; id++)
		engine_set_link_up(s->net.engine, id, true);
	class_net_run(&s->net, 10 * PS_PER_S);
	assert_int_equal(class_net_stats(&s->net).flows_done, 100);
	assert_true(s->dropped[DROP_HOST_QUEUE] > 0 && s->dropped[DROP_LINK_DOWN] > 0);
	assert_true(s->taken_count > 100);
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

/* What is to start a while after one that is through already starts when it would have, or now. */
static void a_flow_after_one_that_is_done_starts(void **state)
{
	static const struct operation first = {.src_host = 0, .dst_host = 1, .bytes = 1000};
	static const struct operation more[] = {
		{.src_host = 0, .dst_host = 1, .bytes = 1000, .start_ps = 2 * LATER},
		{.src_host = 0, .dst_host = 1, .bytes = 1000, .start_ps = PS_PER_US}};
	static const struct wait after[] = {{0, 1, OPERATION_ENDED}, {0, 2, OPERATION_ENDED}};
	struct stack_net *s = stack_net_chain();
	struct engine_flow_result done, late, now;

	(void)state;
	stack_net_strack(s, 20 * PS_PER_US);
	class_net_open(&s->net);
	assert_int_equal(engine_add_flows(s->net.engine, &first, 1, NULL, 0), 0);
	class_net_run(&s->net, LATER);
	engine_flow_result(s->net.engine, 0, &done);
	assert_in_range(done.finish_ps, 1, LATER - 2 * PS_PER_US);
	assert_int_equal(engine_add_flows(s->net.engine, more, 2, after, 2), 0);
	class_net_run(&s->net, PS_PER_S);
	engine_flow_result(s->net.engine, 1, &late);
	engine_flow_result(s->net.engine, 2, &now);
	assert_int_equal(late.start_ps, done.finish_ps + 2 * LATER);
	assert_int_equal(now.start_ps, LATER);
	assert_true(late.finish_ps && now.finish_ps);
	stack_net_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_holds_its_class_alone),
		cmocka_unit_test(a_paused_class_fills_the_queue),
		cmocka_unit_test(a_storm_holds_what_is_for_a_stack),
		cmocka_unit_test(flows_added_later_are_as_if_they_had_been_there),
		cmocka_unit_test(a_flow_of_the_past_starts_now),
		cmocka_unit_test(a_flow_after_one_that_is_done_starts),
		cmocka_unit_test(a_lasting_run_goes_on),
		cmocka_unit_test(a_link_that_goes_takes_stack_frames),
		cmocka_unit_test(what_a_wire_loses_is_a_stacks_too),
		cmocka_unit_test(everything_at_once_balances),
	};

	return cmocka_run_group_tests_name("engine, hosts' stacks and changes", tests, NULL, NULL);
}
