/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of hosts' kernel stacks: across the net, and in queues beside the engine's senders. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "abi/wire.h"
#include "base/rng_stream.h"
#include "base/units.h"
#include "base/wiretime.h"
#include "lib/stack_net.h"

#define RATE  STACK_RATE
#define DELAY 1000000u /* ps */
#define TCP   6
#define UDP   17

/* ---- across the net ------------------------------------------------------------------------- */

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
	struct stack_net *s = stack_net_chain();
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
	struct stack_net *s = stack_net_chain();
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
	struct stack_net *s = stack_net_chain();
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
	struct stack_net *s = stack_net_chain();
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

#define ANSWER 200u /* bytes; no message's packet is shorter */

/*
 * h1 sends h0 one message, and h0's stack `before` frames, then `after` more when the message has
 * come. If `busy`, h0 has a long message to send too.
 */
static struct stack_net *run_answer(uint32_t before, uint32_t after, uint64_t arrives_ps, bool busy)
{
	static const struct class_link links[] = {{0, 2, RATE, DELAY}, {1, 2, RATE, DELAY}};
	static const struct operation flows[] = {{.src_host = 1, .dst_host = 0, .bytes = 1000},
		{.src_host = 0, .dst_host = 1, .bytes = 1000000}};
	struct stack_segment g = {.dst = 1, .length = STACK_FRAME};
	struct stack_net *s = stack_net_new(2, 1, links, 2);

	stack_net_strack(s, PS_PER_MS);
	class_net_open(&s->net);
	for (; g.number < before; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	assert_int_equal(engine_add_flows(s->net.engine, flows, busy ? 2 : 1, NULL, 0), 0);
	class_net_run(&s->net, arrives_ps + 1);
	for (; g.number < before + after; g.number++)
		assert_int_equal(stack_net_send(s, &g), 0);
	class_net_run(&s->net, PS_PER_S);
	assert_int_equal(s->taken_count, before + after);
	assert_int_equal(class_net_stats(&s->net).flows_done, busy ? 2 : 1);
	class_net_at_rest(s->net.engine);
	return s;
}

/* The first answer that leaves a port; what of stack and message has left before it is counted. */
static uint64_t first_answer(
	const struct stack_net *s, uint32_t port, uint32_t *ret_frames, uint32_t *ret_packets)
{
	for (uint32_t i = 0; i < s->start_count; i++) {
		const struct stack_start *start = &s->starts[i];

		if (start->port != port)
			continue;
		if (start->protocol == UDP && start->length < ANSWER)
			return start->now_ps;
		*(start->protocol == UDP ? ret_packets : ret_frames) += 1;
	}
	return UINT64_MAX;
}

/*
 * It leaves behind the stack's frames that were there, and before those that came later; a busy
 * sender has its turns between them, and no more.
 */
static void an_answer_waits_for_what_is_before_it(void **state)
{
	uint64_t arrives = 2 * (serialise_ps(data_frame_bytes(1000, false), RATE) + DELAY);
	uint64_t frame = serialise_ps(STACK_FRAME, RATE);

	(void)state;
	assert_true(arrives < frame);
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t before = i / 2, frames = 0, packets = 0;
		struct stack_net *s = run_answer(before, 10, arrives, i & 1);
		uint64_t at = first_answer(s, class_net_port(&s->net, 0, 2), &frames, &packets);

		assert_int_equal(frames, before);
		if (i & 1)
			/* without any frame, those that had begun by then */
			assert_in_range(packets, before ? before - 1 : 2, before ? before : 2);
		else
			assert_int_equal(at, before ? before * frame : arrives);
		stack_net_close(s);
	}
}

/* A frame of the host's own processor goes ahead of both, at any point of their turns. */
static void control_goes_ahead_of_both(void **state)
{
	const struct class_stream stream = {.dst = 1, .payload = 4096, .packets = 1 << 20};
	struct stack_segment g = {.dst = 1, .length = 1514};
	uint8_t lldp[60] = {[12] = 0x88, 0xcc};
	struct stack_net *s = stack_net_chain();
	uint32_t port, last = 0;

	(void)state;
	s->net.switching.config.features |= SW_CONTROL;
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
		struct stack_net *s = stack_net_chain();

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
		struct stack_net *s = stack_net_chain();
		uint8_t bytes[14] = {0};

		packet_put16(bytes + 12, cases[i].type);
		if (cases[i].control)
			s->net.switching.config.features |= SW_CONTROL;
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
	struct stack_net *s = stack_net_chain();
	uint8_t bytes[STACK_FRAME];
	uint64_t rng = 7;

	(void)state;
	s->net.switching.config.features |= SW_CONTROL;
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
		cmocka_unit_test(what_no_endpoint_wants_is_the_stacks),
		cmocka_unit_test(an_ethernet_header_alone),
		cmocka_unit_test(garbage_ends_somewhere),
	};

	return cmocka_run_group_tests_name("engine, hosts' stacks", tests, NULL, NULL);
}
