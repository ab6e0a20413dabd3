/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of hosts' kernel stacks: across the net, in their host's queue, beside the engine's own senders. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "abi/wire.h"
#include "base/rng.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "control/faults.h"
#include "lib/stack_net.h"
#include "transport/strack.h"

#define GBPS  1000000000ull
#define RATE  (10 * GBPS)
#define DELAY 1000000u /* ps */
#define TCP   6
#define UDP   17

static const struct strack_options strack_options = STRACK_OPTIONS_DEFAULT;

/* Nobody sends again what only waits. */
static void use_strack(struct stack_net *s, uint64_t base_rtt_ps)
{
	s->net.params.transport = &strack_transport;
	s->net.params.env.options = &strack_options;
	s->net.params.env.base_rtt_ps = base_rtt_ps;
}

/* ---- across the net ------------------------------------------------------------------------- */

/* h0 - s2 - s3 - h1, each link unlike the others; the last one is slow, so that frames wait. */
static struct stack_net *new_chain(void)
{
	static const struct class_link links[] = {
		{0, 2, RATE, 700001}, {2, 3, 4 * RATE, 13}, {3, 1, RATE / 3, 5000000}};

	return stack_net_new(2, 2, links, 3);
}

static uint64_t chain_ps(const struct stack_net *s, uint32_t length)
{
	static const uint32_t nodes[] = {0, 2, 3, 1};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t port = class_net_port(&s->net, nodes[i], nodes[i + 1]);

		sum += serialise_ps(length, s->net.net.ports[port].rate_bps) +
		       s->net.net.ports[port].delay_ps;
	}
	return sum;
}

/* Whenever it is sent, and however much longer it is than what the dataplane's programs look at. */
static void a_frame_crosses_in_the_closed_form(void **state)
{
	static const uint32_t lengths[] = {80, 118, 512, 1514, 9000, STACK_FRAME};
	struct stack_net *s = new_chain();
	uint64_t at = 0;

	(void)state;
	class_net_open(&s->net);
	assert_in_range(s->net.dp->frame_capacity, 1, 511);
	assert_int_equal(engine_stack_capacity(s->net.engine), STACK_FRAME);
	for (uint32_t i = 0; i < 12; i++) {
		const struct stack_segment g = {
			.dst = 1, .length = lengths[i / 2], .number = i, .ip6 = i & 1};

		assert_int_equal(stack_net_send(s, &g), 0);
		class_net_run(&s->net, at + chain_ps(s, g.length));
		assert_int_equal(s->taken_count, i);
		stack_net_assert_balanced(s);
		class_net_run(&s->net, at + chain_ps(s, g.length) + 1);
		assert_int_equal(s->taken[i].now_ps, at + chain_ps(s, g.length));
		stack_net_assert_taken(s, i, &g, 2, class_net_port(&s->net, 3, 1));
		at += 234567891;
		class_net_run(&s->net, at);
	}
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

/* Each in a place of its own, in the order in which they were sent. */
static void many_frames_at_once_stay_whole(void **state)
{
	struct stack_net *s = new_chain();
	struct stack_segment g[200];

	(void)state;
	class_net_open(&s->net);
	for (uint32_t i = 0; i < 200; i++) {
		g[i] = (struct stack_segment){.src = i & 1, .dst = !(i & 1), .number = i};
		g[i].length = 80 + i * 37;
		assert_int_equal(stack_net_send(s, &g[i]), 0);
		stack_net_assert_balanced(s);
	}
	assert_int_equal(class_net_stats(&s->net).in_flight, 200);
	class_net_run(&s->net, PS_PER_S);
	assert_int_equal(s->taken_count, 200);
	for (uint32_t host = 0; host < 2; host++) {
		uint32_t next = !host;
		uint32_t last = class_net_port(&s->net, host ? 3 : 2, host);

		for (uint32_t i = 0; i < 200; i++)
			if (s->taken[i].host == host) {
				stack_net_assert_taken(s, i, &g[next], 2, last);
				next += 2;
			}
		assert_int_equal(next, 200 + !host);
	}
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

/* A place that was asked for and not used is there the next time, and is no frame in flight. */
static void a_buffer_waits_for_its_frame(void **state)
{
	struct stack_net *s = new_chain();
	uint8_t *first;

	(void)state;
	class_net_open(&s->net);
	first = engine_stack_buffer(s->net.engine);
	assert_ptr_equal(engine_stack_buffer(s->net.engine), first);
	assert_int_equal(class_net_stats(&s->net).in_flight, 0);
	stack_net_assert_balanced(s);
	stack_net_close(s);
}

/* ---- the host's queue ----------------------------------------------------------------------- */

/* What is on the line does not wait: one more than the queue holds. */
static void limit(uint64_t queue, uint32_t holds)
{
	struct stack_segment g = {.dst = 1, .length = 1000};
	struct stack_net *s = new_chain();
	uint32_t port;

	s->net.params.stack_queue = queue;
	class_net_open(&s->net);
	port = class_net_port(&s->net, 0, 2);
	for (uint32_t i = 0; i < holds + 6; i++, g.number++) {
		assert_int_equal(stack_net_send(s, &g), i <= holds ? 0 : -ENOBUFS);
		assert_int_equal(class_net_stats(&s->net).dropped[DROP_HOST_QUEUE],
			i <= holds ? 0 : i - holds);
		stack_net_assert_balanced(s);
	}
	assert_int_equal(s->net.dp->tables.drops[port].frames[DROP_HOST_QUEUE], 5);
	/* the other host's queue is its own */
	g.src = 1;
	g.dst = 0;
	assert_int_equal(stack_net_send(s, &g), 0);
	g.src = 0;
	g.dst = 1;
	for (uint32_t i = 1; i <= 20; i++) {
		uint64_t done = i * serialise_ps(1000, RATE);

		class_net_run(&s->net, done);
		assert_int_equal(stack_net_send(s, &g), -ENOBUFS);
		class_net_run(&s->net, done + 1);
		assert_int_equal(stack_net_send(s, &g), 0);
		assert_int_equal(stack_net_send(s, &g), -ENOBUFS);
		stack_net_assert_balanced(s);
	}
	class_net_run(&s->net, PS_PER_S);
	assert_int_equal(class_net_dropped(&s->net), 5 + 40);
	assert_int_equal(s->taken_count, holds + 1 + 20 + 1);
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

static void the_queue_limit_to_the_byte(void **state)
{
	(void)state;
	limit(10000, 10);
	limit(9999, 9);
	limit(10999, 10);
	limit(11000, 11);
	limit(1000, 1);
}

/* ---- turns ---------------------------------------------------------------------------------- */

#define SLICE 100000u /* ps */

/* h0's stack and a stream of h0's, both to h1 and both always busy, up to `until_ps`. */
static struct stack_net *run_busy(
	uint8_t stack_class, uint8_t stream_class, uint32_t length, uint64_t until_ps)
{
	struct stack_segment g = {.dst = 1, .length = length, .class = stack_class};
	const struct class_stream stream = {
		.dst = 1, .class = stream_class, .payload = 4096, .packets = 1 << 20};
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	struct stack_net *s = stack_net_new(2, 1, links, 2);

	s->net.params.stack_queue = 4 * length;
	class_net_open(&s->net);
	class_net_stream(&s->net, &stream);
	for (uint64_t now = 0; now < until_ps; now += SLICE) {
		while (stack_net_send(s, &g) == 0)
			g.number++;
		class_net_run(&s->net, now + SLICE);
		stack_net_assert_balanced(s);
	}
	return s;
}

/* A packet each, whatever their lengths and classes. */
static void the_stack_and_a_sender_alternate(void **state)
{
	static const struct {
		uint8_t stack_class, stream_class;
		uint32_t length;
	} cases[] = {{0, 0, STACK_FRAME}, {0, 0, 80}, {7, 0, 1514}, {0, 7, 1514}, {3, 3, 4170}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t length = cases[i].length, frames = 0;
		uint64_t turn = serialise_ps(length, RATE) + serialise_ps(CLASS_NET_FRAME, RATE);
		struct stack_net *s =
			run_busy(cases[i].stack_class, cases[i].stream_class, length, 200 * turn);
		uint32_t port = class_net_port(&s->net, 0, 2);
		uint8_t protocol = TCP;

		for (uint32_t j = 0; j < s->start_count; j++) {
			if (s->starts[j].port != port)
				continue;
			assert_int_equal(s->starts[j].protocol, protocol);
			/* and the line is never idle */
			assert_int_equal(s->starts[j].now_ps,
				frames / 2 * turn + (frames & 1 ? serialise_ps(length, RATE) : 0));
			protocol ^= TCP ^ UDP;
			frames++;
		}
		assert_in_range(frames, 400, 402);
		stack_net_close(s);
	}
}

/* h1 sends h0 one message, and h0's stack `before` frames, then `after` when the message has come; and streams, if `busy`. */
static struct stack_net *run_answer(uint32_t before, uint32_t after, uint64_t arrives_ps)
{
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	const struct engine_flow flow = {1, 0, 1000, 0, ENGINE_NO_FLOW};
	struct stack_segment g = {.dst = 1, .length = STACK_FRAME};
	struct stack_net *s = stack_net_new(2, 1, links, 2);

	use_strack(s, PS_PER_MS);
	class_net_open(&s->net);
	assert_int_equal(engine_add_flows(s->net.engine, &flow, 1), 0);
	for (; g.number < before; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	class_net_run(&s->net, arrives_ps + 1);
	for (; g.number < before + after; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	class_net_run(&s->net, PS_PER_S);
	return s;
}

/* It leaves behind those that were there, and before those that came later. */
static void an_answer_waits_for_what_is_before_it(void **state)
{
	uint64_t arrives = 2 * (serialise_ps(data_frame_bytes(1000, false), RATE) + DELAY);
	uint64_t frame = serialise_ps(STACK_FRAME, RATE);

	(void)state;
	assert_true(arrives < frame);
	for (uint32_t before = 0; before < 20; before++) {
		struct stack_net *s = run_answer(before, 10, arrives);
		uint32_t port = class_net_port(&s->net, 0, 2), answers = 0, at = 0;

		for (uint32_t i = 0; i < s->start_count; i++) {
			const struct stack_start *start = &s->starts[i];

			if (start->port != port)
				continue;
			if (start->protocol == UDP) {
				answers++;
				assert_int_equal(at, before);
				assert_int_equal(start->now_ps, before ? before * frame : arrives);
			}
			at++;
		}
		assert_int_equal(answers, 1);
		assert_int_equal(class_net_stats(&s->net).flows_done, 1);
		assert_int_equal(s->taken_count, before + 10);
		class_net_at_rest(s->net.engine);
		stack_net_close(s);
	}
}

/* A frame of the host's own processor goes ahead of both, at any point of their turns. */
static void control_goes_ahead_of_both(void **state)
{
	const struct class_stream stream = {.dst = 1, .payload = 4096, .packets = 1 << 20};
	struct stack_segment g = {.dst = 1, .length = 1514};
	uint8_t lldp[60] = {[12] = 0x88, 0xcc};
	struct stack_net *s = new_chain();
	uint32_t port, last = 0;

	(void)state;
	s->net.ports.features |= SW_CONTROL;
	class_net_open(&s->net);
	port = class_net_port(&s->net, 0, 2);
	class_net_stream(&s->net, &stream);
	for (; g.number < 50; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t began;

		do {
			last = s->start_count;
			class_net_run(&s->net, engine_now(s->net.engine) + SLICE);
		} while (s->start_count == last);
		began = s->start_count;
		assert_int_equal(engine_send_control(s->net.engine, port, lldp, sizeof(lldp),
					 engine_now(s->net.engine)),
			0);
		do
			class_net_run(&s->net, engine_now(s->net.engine) + SLICE);
		while (s->start_count == began || s->starts[began++].port != port);
		assert_int_equal(s->starts[began - 1].type, 0x88cc);
	}
	class_net_run(&s->net, engine_now(s->net.engine) + PS_PER_MS);
	assert_int_equal(s->control, 40);
	stack_net_assert_balanced(s);
	stack_net_close(s);
}

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

/* h0 is paused by its switch from the beginning; its stack has frames of both classes, `stream` of its sender's. */
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
	s->net.params.env.data_dscp = (uint8_t)(8 * stream_class);
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

/* What waits in a paused class fills the queue; what does not fit is dropped, and nothing of it twice. */
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

/* A host that pauses its switch: frames for its stack wait there, of that class alone, until it relents. */
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

/* The last four are to be there from LATER on: two that start by the clock, and two after one of them and an old one. */
static const struct engine_flow flows[] = {
	{0, 1, 10000, 0, ENGINE_NO_FLOW},
	{2, 1, 1000000, 1000, ENGINE_NO_FLOW},
	{0, 2, 5000, 3 * PS_PER_US, 0},
	{1, 0, 70000, LATER, ENGINE_NO_FLOW},
	{2, 0, 30000, LATER + 777, ENGINE_NO_FLOW},
	{1, 2, 20000, 5 * PS_PER_US, 3},
	{2, 1, 9000, PS_PER_US, 1},
};

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

	use_strack(s, 20 * PS_PER_US);
	s->net.params.lasting = lasting;
	class_net_open(&s->net);
	assert_int_equal(engine_add_flows(s->net.engine, flows, at_once ? FLOWS : EARLY), 0);
	for (; g.number < 10; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	class_net_run(&s->net, LATER);
	assert_int_equal(engine_now(s->net.engine), LATER);
	if (!at_once)
		assert_int_equal(engine_add_flows(s->net.engine, flows + EARLY, FLOWS - EARLY), 0);
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
	const struct engine_flow flow = {0, 1, 1000, 5, ENGINE_NO_FLOW};
	struct stack_net *s = new_chain();
	struct engine_flow_result result;

	(void)state;
	use_strack(s, 20 * PS_PER_US);
	class_net_open(&s->net);
	class_net_run(&s->net, LATER);
	assert_int_equal(engine_add_flows(s->net.engine, &flow, 1), 0);
	class_net_run(&s->net, PS_PER_S);
	engine_flow_result(s->net.engine, 0, &result);
	assert_int_equal(result.start_ps, LATER);
	assert_true(result.finish_ps > LATER);
	stack_net_close(s);
}

/* Without it a run ends one lookahead after its last flow, and without flows at once. */
static void a_lasting_run_goes_on(void **state)
{
	const struct engine_flow flow = {0, 1, 1000, 0, ENGINE_NO_FLOW};
	const struct stack_segment g = {.dst = 1, .length = 1514};

	(void)state;
	for (int lasting = 0; lasting < 2; lasting++) {
		struct stack_net *s = new_chain();
		struct engine_flow_result result;

		use_strack(s, 20 * PS_PER_US);
		s->net.params.lasting = lasting;
		class_net_open(&s->net);
		class_net_run(&s->net, PS_PER_US);
		assert_int_equal(engine_now(s->net.engine), lasting ? PS_PER_US : 0);
		assert_int_equal(engine_add_flows(s->net.engine, &flow, 1), 0);
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

/* Down while the fifth of ten is on the line between the switches: it and what comes later is lost until the link is back. */
static void a_link_that_goes_takes_stack_frames(void **state)
{
	struct stack_segment g = {.dst = 1, .length = 9000};
	struct stack_net *s = new_chain();
	uint64_t first, each;
	uint32_t port;

	(void)state;
	class_net_open(&s->net);
	port = class_net_port(&s->net, 2, 3);
	for (; g.number < 10; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	each = serialise_ps(9000, RATE);
	first = each + 700001; /* at s2 */
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
	struct stack_net *s = new_chain();

	(void)state;
	s->net.ports.features |= SW_FAULTS;
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
	use_strack(s, 20 * PS_PER_US);
	s->net.params.stack_queue = 40000;
	class_net_open(&s->net);
	for (uint32_t i = 0; i < 2000; i++) {
		struct stack_segment g = {.number = i, .length = 80 + rng_below(&rng, 8900)};
		struct engine_flow f = {
			rng_below(&rng, 4), 0, 1 + rng_below(&rng, 50000), 0, ENGINE_NO_FLOW};

		g.src = rng_below(&rng, 4);
		g.dst = rng_below(&rng, 4);
		g.class = (uint8_t)rng_below(&rng, CLASSES);
		f.dst_host = (f.src_host + 1 + rng_below(&rng, 3)) % 4;
		stack_net_send(s, &g);
		if (i % 20 == 0)
			assert_int_equal(engine_add_flows(s->net.engine, &f, 1), 0);
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

/* ---- whose frame it is ---------------------------------------------------------------------- */

/* RoCE for a queue pair that nobody has. */
static uint32_t write_roce(uint8_t bytes[PACKET_MAX])
{
	struct packet_spec spec = packet_spec_default;
	struct packet p;

	spec.src_host = 0;
	spec.dst_host = 1;
	spec.payload = 0;
	packet_build(&p, &spec);
	memcpy(bytes, p.bytes, p.length);
	return p.length;
}

/* The stack may know more; where there is none, it is nobody's, and is counted as such. */
static void what_no_endpoint_wants_is_the_stacks(void **state)
{
	const struct stack_segment g = {.dst = 1, .length = 600};
	uint8_t roce[PACKET_MAX];
	uint32_t length = write_roce(roce);

	(void)state;
	for (int stack = 0; stack < 2; stack++) {
		struct stack_net *s = new_chain();

		if (!stack)
			s->net.params.observer.stack = NULL;
		class_net_open(&s->net);
		assert_int_equal(stack_net_send_bytes(s, 0, roce, length), 0);
		assert_int_equal(stack_net_send(s, &g), 0);
		class_net_run(&s->net, PS_PER_S);
		assert_int_equal(s->taken_count, stack ? 2 : 0);
		assert_int_equal(s->dropped[DROP_NOT_MINE], stack ? 0 : 2);
		if (stack) {
			assert_int_equal(s->taken[0].length, length);
			assert_memory_equal(s->taken[0].bytes + PACKET_IP + 20,
				roce + PACKET_IP + 20, length - PACKET_IP - 20);
		}
		class_net_at_rest(s->net.engine);
		stack_net_close(s);
	}
}

/* A frame with nothing behind its Ethernet header. */
static void an_ethernet_header_alone(void **state)
{
	static const struct {
		uint16_t type;
		bool control;
		enum drop_reason reason;
	} cases[] = {{0x88cc, true, DROP_NONE}, {0x88cc, false, DROP_MALFORMED},
		{0x0800, true, DROP_MALFORMED}, {0x86dd, true, DROP_MALFORMED},
		{0x8808, true, DROP_MALFORMED}, {0x0806, true, DROP_MALFORMED},
		{0x0000, false, DROP_MALFORMED}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stack_net *s = new_chain();
		uint8_t bytes[14] = {0};

		packet_put16(bytes + 12, cases[i].type);
		if (cases[i].control)
			s->net.ports.features |= SW_CONTROL;
		class_net_open(&s->net);
		assert_int_equal(stack_net_send_bytes(s, 0, bytes, sizeof(bytes)), 0);
		class_net_run(&s->net, PS_PER_S);
		assert_int_equal(s->control, cases[i].reason == DROP_NONE);
		assert_int_equal(s->dropped[DROP_MALFORMED], cases[i].reason == DROP_MALFORMED);
		class_net_at_rest(s->net.engine);
		stack_net_close(s);
	}
}

/* Bytes of any kind and number, and segments with some of their bytes changed. */
static void garbage_ends_somewhere(void **state)
{
	struct stack_net *s = new_chain();
	uint8_t bytes[STACK_FRAME];
	uint64_t rng = 7;

	(void)state;
	s->net.ports.features |= SW_CONTROL;
	class_net_open(&s->net);
	for (uint32_t i = 0; i < 3000; i++) {
		struct stack_segment g = {.dst = 1, .number = i, .ip6 = i & 1};
		uint32_t from = i & 2 ? 0 : 12, changes = rng_below(&rng, 4);

		g.length = rng_below(&rng, 2) ? 80 + rng_below(&rng, 100) : STACK_FRAME;
		stack_segment_write(bytes, &g);
		if (i % 3 == 0)
			for (uint32_t j = from; j < g.length; j++)
				bytes[j] = (uint8_t)rng_take(&rng);
		while (changes--)
			bytes[rng_below(&rng, 80)] = (uint8_t)rng_take(&rng);
		if (i % 5 == 0)
			g.length = 14 + rng_below(&rng, 60);
		assert_int_equal(stack_net_send_bytes(s, i % 2, bytes, g.length), 0);
		class_net_run(&s->net, engine_now(s->net.engine) + 100 * PS_PER_US);
		stack_net_assert_balanced(s);
	}
	class_net_run(&s->net, engine_now(s->net.engine) + PS_PER_S);
	assert_true(s->taken_count > 300);
	assert_true(s->dropped[DROP_MALFORMED] > 300 && s->dropped[DROP_CHECKSUM] > 30);
	class_net_at_rest(s->net.engine);
	stack_net_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_crosses_in_the_closed_form),
		cmocka_unit_test(many_frames_at_once_stay_whole),
		cmocka_unit_test(a_buffer_waits_for_its_frame),
		cmocka_unit_test(the_queue_limit_to_the_byte),
		cmocka_unit_test(the_stack_and_a_sender_alternate),
		cmocka_unit_test(an_answer_waits_for_what_is_before_it),
		cmocka_unit_test(control_goes_ahead_of_both),
		cmocka_unit_test(a_pause_holds_its_class_alone),
		cmocka_unit_test(a_paused_class_fills_the_queue),
		cmocka_unit_test(a_storm_holds_what_is_for_a_stack),
		cmocka_unit_test(flows_added_later_are_as_if_they_had_been_there),
		cmocka_unit_test(a_flow_of_the_past_starts_now),
		cmocka_unit_test(a_lasting_run_goes_on),
		cmocka_unit_test(a_link_that_goes_takes_stack_frames),
		cmocka_unit_test(what_a_wire_loses_is_a_stacks_too),
		cmocka_unit_test(everything_at_once_balances),
		cmocka_unit_test(what_no_endpoint_wants_is_the_stacks),
		cmocka_unit_test(an_ethernet_header_alone),
		cmocka_unit_test(garbage_ends_somewhere),
	};

	return cmocka_run_group_tests_name("engine, hosts' stacks", tests, NULL, NULL);
}
