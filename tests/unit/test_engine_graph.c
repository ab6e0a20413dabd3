/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dependences: begun, ended, delivered, computations, barriers; and memory of the active. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "engine/internal.h"
#include "lib/small_net.h"
#include "lib/transport_options.h"

#define MESSAGE 9000

static struct operation message(uint32_t src, uint32_t dst, uint64_t start_ps)
{
	return (struct operation){
		.src_host = src, .dst_host = dst, .bytes = MESSAGE, .start_ps = start_ps};
}

static struct operation computation(uint32_t host, uint64_t lasts_ps)
{
	return (struct operation){.src_host = host, .dst_host = host, .lasts_ps = lasts_ps};
}

static const struct operation barrier = {
	.src_host = OPERATION_BARRIER, .dst_host = OPERATION_BARRIER};

/* Six hosts at two switches and two above them. */
static void open_net(struct small_net *s, uint32_t max_batch)
{
	const struct small_config c = {.max_batch = max_batch, .buffer_bytes = 1000000};

	small_net_fabric(s, 2, 2, 3, 100 * GBPS, 500000);
	small_net_open(s, &c);
}

#define COUNT(a)             (sizeof(a) / sizeof((a)[0]))
#define ADD(s, flows, waits) engine_add_flows((s)->engine, flows, COUNT(flows), waits, COUNT(waits))

static struct engine_flow_result result(const struct small_net *s, uint32_t flow)
{
	struct engine_flow_result r;

	engine_flow_result(s->engine, flow, &r);
	return r;
}

static void each_event_is_waited_for(void **state)
{
	const struct operation flows[] = {message(0, 4, 1000), message(0, 5, 77), message(0, 5, 78),
		message(4, 1, 79), computation(4, 5000), message(4, 2, 80)};
	static const struct wait waits[] = {{0, 1, OPERATION_BEGUN}, {0, 2, OPERATION_ENDED},
		{0, 3, OPERATION_DELIVERED}, {0, 4, OPERATION_DELIVERED}, {4, 5, OPERATION_ENDED}};
	struct engine_flow_result first;
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	assert_int_equal(ADD(&s, flows, waits), 0);
	small_net_run(&s, PS_PER_S);
	first = result(&s, 0);
	assert_int_equal(first.start_ps, 1000);
	assert_true(first.delivered_ps && first.finish_ps > first.delivered_ps);
	assert_int_equal(result(&s, 1).start_ps, 1077);
	assert_int_equal(result(&s, 2).start_ps, first.finish_ps + 78);
	assert_int_equal(result(&s, 3).start_ps, first.delivered_ps + 79);
	assert_int_equal(result(&s, 4).start_ps, first.delivered_ps);
	assert_int_equal(result(&s, 4).finish_ps, first.delivered_ps + 5000);
	assert_int_equal(result(&s, 5).start_ps, first.delivered_ps + 5080);
	assert_int_equal(small_net_stats(&s).flows, 5);
	assert_int_equal(small_net_stats(&s).flows_done, 5);
	assert_true(engine_done(s.engine));
	small_net_close(&s);
}

/* It begins after the latest of all that it waits for. */
static void the_last_of_several_counts(void **state)
{
	const struct operation flows[] = {message(1, 0, 0), computation(0, 3 * PS_PER_US),
		computation(0, 9 * PS_PER_MS), message(0, 3, 5)};
	static const struct wait waits[] = {{0, 3, OPERATION_DELIVERED}, {1, 3, OPERATION_ENDED},
		{2, 3, OPERATION_ENDED}, {2, 3, OPERATION_BEGUN}};
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	assert_int_equal(ADD(&s, flows, waits), 0);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(result(&s, 3).start_ps, 9 * PS_PER_MS + 5);
	small_net_close(&s);
}

/* Half a round trip after the last, at all hosts at the same time. */
static void a_barrier_holds_all_hosts(void **state)
{
	const struct operation flows[] = {message(0, 5, 0), message(3, 1, 4 * PS_PER_US),
		computation(2, 100), barrier, message(5, 0, 0), message(1, 2, 10)};
	static const struct wait waits[] = {{0, 3, OPERATION_ENDED}, {1, 3, OPERATION_DELIVERED},
		{2, 3, OPERATION_ENDED}, {3, 4, OPERATION_ENDED}, {3, 5, OPERATION_ENDED}};
	uint64_t open_ps;
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	assert_int_equal(ADD(&s, flows, waits), 0);
	small_net_run(&s, PS_PER_S);
	open_ps = result(&s, 1).delivered_ps + s.engine->transports[0].env.base_rtt_ps / 2;
	assert_int_equal(result(&s, 3).finish_ps, open_ps);
	assert_int_equal(result(&s, 4).start_ps, open_ps);
	assert_int_equal(result(&s, 5).start_ps, open_ps + 10);
	small_net_close(&s);
}

static void waits_that_make_no_sense(void **state)
{
	const struct operation flows[] = {
		message(0, 4, 0), message(1, 4, 0), computation(0, 1), barrier};
	static const struct wait bad[] = {
		{1, 1, OPERATION_ENDED},     /* itself */
		{1, 0, OPERATION_ENDED},     /* a later one */
		{0, 4, OPERATION_ENDED},     /* who is not there waits */
		{0, 1, OPERATION_ENDED},     /* of another host */
		{0, 2, OPERATION_DELIVERED}, /* the receiver's affair */
		{0, 1, OPERATION_DELIVERED},
	};
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(
			engine_add_flows(s.engine, flows, COUNT(flows), &bad[i], 1), -EINVAL);
	assert_int_equal(engine_flow_count(s.engine), 0);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(small_net_stats(&s).sent, 0);
	small_net_close(&s);
}

/* A ring in which each host sends on what it has received, so many rounds. */
static void add_ring(struct small_net *s, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds * 6; i++) {
		const struct operation f = message(i % 6, (i + 1) % 6, 0);
		const struct wait w = {i - 1, i, OPERATION_DELIVERED};

		assert_int_equal(engine_add_flows(s->engine, &f, 1, &w, i ? 1 : 0), 0);
	}
}

static void memory_follows_what_is_under_way(void **state)
{
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	add_ring(&s, 50);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(small_net_stats(&s).flows_done, 300);
	/* one, and its predecessors whose acknowledgements are still on their way */
	assert_in_range(s.engine->memory.fresh, 1, 3);
	for (uint32_t i = 0; i < 300; i++)
		assert_true(s.engine->flows[i].over);
	assert_int_equal(result(&s, 299).sender.packets_sent, 3);
	small_net_close(&s);
}

/* Numbers of queue pairs go round: there are fewer than messages. */
static void numbers_are_used_again(void **state)
{
	struct engine_flow_wire first, later;
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	s.engine->memory.numbers = 7;
	add_ring(&s, 20);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(small_net_stats(&s).flows_done, 120);
	assert_int_equal(small_net_stats(&s).dropped[DROP_NOT_MINE], 0);
	engine_flow_wire(s.engine, 3, &first);
	engine_flow_wire(s.engine, 3 + 7, &later);
	assert_int_equal(first.qp, later.qp);
	assert_int_equal(engine_received(s.engine), 120 * MESSAGE);
	small_net_close(&s);
}

/* One that is in use when its turn comes is passed over; without any the run ends. */
static void a_number_in_use_is_passed_over(void **state)
{
	const struct operation flows[] = {{.src_host = 0, .dst_host = 4, .bytes = 1000000},
		message(1, 4, 0), message(2, 5, PS_PER_MS / 20)};
	struct engine_flow_wire first, third;
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	s.engine->memory.numbers = 2;
	assert_int_equal(engine_add_flows(s.engine, flows, COUNT(flows), NULL, 0), 0);
	small_net_run(&s, PS_PER_MS / 20 + 1000);
	assert_false(result(&s, 0).over);
	assert_true(result(&s, 1).over);
	engine_flow_wire(s.engine, 0, &first);
	engine_flow_wire(s.engine, 2, &third);
	assert_int_equal(third.qp, first.qp + 2);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(small_net_stats(&s).flows_done, 3);
	small_net_close(&s);
}

static void too_many_at_once_are_an_error(void **state)
{
	const struct operation flows[] = {message(0, 4, 0), message(1, 4, 0), message(2, 4, 0)};
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	s.engine->memory.numbers = 2;
	assert_int_equal(engine_add_flows(s.engine, flows, COUNT(flows), NULL, 0), 0);
	assert_int_equal(engine_run(s.engine, PS_PER_S, NULL), -EBUSY);
	small_net_close(&s);
}

/* With loss and duplicates too no packet stays in flight, and all memory is freed. */
static void all_memory_is_given_back(void **state)
{
	const struct small_config c = {.seed = 5, .max_batch = 16, .buffer_bytes = 30000};
	struct small_net s;

	(void)state;
	small_net_fabric(&s, 2, 2, 3, 100 * GBPS, 500000);
	small_net_open(&s, &c);
	for (uint32_t i = 1; i < 6; i++)
		small_net_flow(&s, i, 0, 400000, 0);
	small_net_run(&s, PS_PER_S);
	assert_true(small_net_stats(&s).dropped[DROP_BUFFER]);
	s.engine->lasting = true; /* until nothing is left to happen */
	while (engine_next(s.engine) != UINT64_MAX)
		assert_int_equal(engine_run(s.engine, engine_next(s.engine) + 1, NULL), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(s.engine->flows[i].over);
	small_net_close(&s);
}

/* ---- streams: several messages on one connection */

#define PACKETS 8u
#define PARTS   5u

static const struct strack_options strack = STRACK_OPTIONS_DEFAULT;
static const struct roce_options roce = ROCE_OPTIONS_DEFAULT;
static const struct {
	const struct transport_ops *ops;
	const void *options;
} transports[] = {{&strack_transport, &strack}, {&roce_transport, &roce}};

static void open_with(struct small_net *s, size_t transport, uint32_t buffer_bytes)
{
	const struct small_config c = {.transport = transports[transport].ops,
		.options = transports[transport].options,
		.max_batch = 16,
		.buffer_bytes = buffer_bytes};

	small_net_fabric(s, 2, 2, 3, 100 * GBPS, 500000);
	small_net_open(s, &c);
}

/* Message i of PARTS begins at i times gap_ps. */
static void add_stream(struct small_net *s, uint64_t gap_ps)
{
	struct operation flows[PARTS];

	for (uint32_t i = 0; i < PARTS; i++) {
		flows[i] = message(0, 4, i * gap_ps);
		flows[i].bytes = PACKETS * 4096;
		flows[i].stream = 1;
	}
	assert_int_equal(engine_add_flows(s->engine, flows, PARTS, NULL, 0), 0);
}

/* Handed over at once they are as one message of that length: it is sent in one go. */
static void a_stream_is_sent_in_one_go(void **state)
{
	(void)state;
	for (size_t t = 0; t < COUNT(transports); t++) {
		struct engine_flow_result one, r, before = {0};
		struct small_net whole, parts;
		uint64_t packets = 0;

		open_with(&whole, t, 1000000);
		small_net_flow(&whole, 0, 4, PARTS * PACKETS * 4096, 0);
		small_net_run(&whole, PS_PER_S);
		one = result(&whole, 0);
		open_with(&parts, t, 1000000);
		add_stream(&parts, 0);
		small_net_run(&parts, PS_PER_S);
		for (uint32_t i = 0; i < PARTS; i++) {
			r = result(&parts, i);
			assert_true(r.delivered_ps > before.delivered_ps);
			assert_true(r.finish_ps >= before.finish_ps);
			assert_true(r.finish_ps > r.delivered_ps);
			packets += r.sender.packets_sent;
			before = r;
		}
		/* RoCEv2 has a RETH with each message's first packet */
		assert_in_range(r.delivered_ps, one.delivered_ps,
			one.delivered_ps + 4 * 16 * 80 * (t == 1));
		assert_int_equal(packets, PARTS * PACKETS);
		assert_int_equal(small_net_stats(&parts).flows_done, PARTS);
		assert_int_equal(parts.engine->memory.fresh, 1);
		assert_true(engine_done(parts.engine));
		small_net_close(&whole);
		small_net_close(&parts);
	}
}

/* The connection waits between messages, and goes on as if nothing had been. */
static void a_stream_rests_between_messages(void **state)
{
	(void)state;
	for (size_t t = 0; t < COUNT(transports); t++) {
		struct engine_flow_result first;
		struct small_net s;

		open_with(&s, t, 1000000);
		add_stream(&s, 10 * PS_PER_MS);
		small_net_run(&s, PS_PER_S);
		first = result(&s, 0);
		for (uint32_t i = 0; i < PARTS; i++) {
			struct engine_flow_result r = result(&s, i);

			assert_int_equal(r.start_ps, i * 10 * PS_PER_MS);
			assert_int_equal(r.delivered_ps - r.start_ps, first.delivered_ps);
			assert_int_equal(r.finish_ps - r.start_ps, first.finish_ps);
			assert_int_equal(r.sender.packets_sent, PACKETS);
			assert_int_equal(r.sender.timeouts + r.sender.probes, 0);
		}
		small_net_close(&s);
	}
}

/*
 * With losses, from several hosts to one: each message arrives once and whole, and all memory is
 * given back.
 */
static void streams_through_losses(void **state)
{
	(void)state;
	for (size_t t = 0; t < COUNT(transports); t++) {
		struct operation flows[5 * 40];
		struct small_net s;

		open_with(&s, t, 30000);
		for (uint32_t i = 0; i < COUNT(flows); i++) {
			flows[i] = message(1 + i % 5, 0, i * 1000);
			flows[i].bytes = PACKETS * 4096;
			flows[i].stream = 1 + i % 5;
		}
		assert_int_equal(engine_add_flows(s.engine, flows, COUNT(flows), NULL, 0), 0);
		small_net_run(&s, PS_PER_S);
		assert_true(small_net_stats(&s).dropped[DROP_BUFFER]);
		assert_int_equal(small_net_stats(&s).flows_done, COUNT(flows));
		assert_int_equal(
			small_net_stats(&s).bytes_delivered, COUNT(flows) * PACKETS * 4096);
		s.engine->lasting = true;
		while (engine_next(s.engine) != UINT64_MAX)
			assert_int_equal(engine_run(s.engine, engine_next(s.engine) + 1, NULL), 0);
		for (uint32_t i = 0; i < COUNT(flows); i++)
			assert_true(s.engine->flows[i].over);
		for (uint32_t i = 0; i < 5; i++)
			assert_int_equal(s.engine->streams[i].place, FLOW_NONE);
		assert_int_equal(engine_check_balance(s.engine), 0);
		small_net_close(&s);
	}
}

#define STREAM(src, dst, size)                                                                     \
	{                                                                                          \
		.src_host = src, .dst_host = dst, .bytes = size, .stream = 1                       \
	}

static void streams_that_make_no_sense(void **state)
{
	const struct operation bad[][2] = {
		{STREAM(0, 4, 4096), STREAM(0, 5, 4096)},
		{STREAM(0, 4, 4096), STREAM(1, 4, 4096)},
		{STREAM(0, 4, 4096), STREAM(0, 4, 8192)},
		{STREAM(0, 4, 4097), STREAM(0, 4, 4097)},
		{STREAM(0, 4, 1ull << 36), STREAM(0, 4, 1ull << 36)},
		{STREAM(0, 0, 0), STREAM(1, 1, 0)},
		{STREAM(OPERATION_BARRIER, OPERATION_BARRIER, 0), STREAM(0, 0, 0)},
	};
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(engine_add_flows(s.engine, bad[i], 2, NULL, 0), -EINVAL);
	assert_int_equal(engine_flow_count(s.engine), 0);
	add_stream(&s, 0);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(small_net_stats(&s).flows_done, PARTS);
	small_net_close(&s);
}

/* ---- streams of computations: what does one thing at a time */

static struct operation turn(uint32_t host, uint32_t stream, uint64_t start_ps, uint64_t lasts_ps)
{
	struct operation o = computation(host, lasts_ps);

	o.stream = stream;
	o.start_ps = start_ps;
	o.after_ps = 70;
	return o;
}

/* First come, first served, and by number at the same time; other streams do not mind. */
static void computations_take_turns(void **state)
{
	const struct operation earlier = turn(3, 2, 0, PS_PER_MS);
	const struct operation flows[] = {turn(3, 2, 5000, 100), turn(3, 2, 4000, 900),
		turn(3, 2, 4000, 500), turn(3, 1, 4100, 10), computation(3, 20),
		turn(3, 2, 4500, 30), turn(4, 3, 4000, 7), message(3, 1, 0)};
	const uint64_t times[][2] = {{5400, 5570}, {4000, 4970}, {4900, 5470}, {4100, 4180},
		{4180, 4200}, {8600, 8700}, {4000, 4077}};
	static const uint32_t first = PARTS + 1;
	static const struct wait waits[] = {{first + 3, first + 4, OPERATION_ENDED},
		{first + 3, first + 5, OPERATION_BEGUN}, {first + 5, first + 7, OPERATION_BEGUN}};

	(void)state;
	for (size_t t = 0; t < 2; t++) {
		struct transport_ops alone = strack_transport;
		const struct small_config c = {.transport = &alone, .options = &strack};
		struct small_net s;

		if (t)
			alone.release = NULL; /* it has no streams of messages */
		small_net_fabric(&s, 2, 2, 3, 100 * GBPS, 500000);
		small_net_open(&s, &c);
		/* of other lists: they have the same numbers, and are others */
		add_stream(&s, 0);
		assert_int_equal(engine_add_flows(s.engine, &earlier, 1, NULL, 0), 0);
		assert_int_equal(ADD(&s, flows, waits), 0);
		small_net_run(&s, PS_PER_S);
		for (uint32_t i = 0; i < COUNT(times); i++) {
			assert_int_equal(result(&s, first + i).start_ps, times[i][0]);
			assert_int_equal(result(&s, first + i).finish_ps, times[i][1]);
		}
		assert_int_equal(result(&s, first + 7).start_ps, 8600);
		assert_int_equal(result(&s, PARTS).finish_ps, PS_PER_MS + 70);
		assert_int_equal(small_net_stats(&s).flows_done, PARTS + 1);
		small_net_close(&s);
	}
}

static uint64_t hash_of_ring(uint32_t max_batch, uint64_t slice)
{
	struct small_net s;
	uint64_t hash;

	open_net(&s, max_batch);
	add_ring(&s, 5);
	while (!engine_done(s.engine))
		assert_int_equal(
			engine_run(s.engine, slice ? engine_now(s.engine) + slice : PS_PER_S, NULL),
			0);
	hash = small_net_stats(&s).trace_hash;
	small_net_close(&s);
	return hash;
}

static void neither_batches_nor_slices_show(void **state)
{
	uint64_t whole = hash_of_ring(0, 0);

	(void)state;
	assert_int_equal(hash_of_ring(16, 0), whole);
	assert_int_equal(hash_of_ring(0, 77777), whole);
	assert_int_equal(hash_of_ring(16, 1234567), whole);
}

/* From when it begins it counts; forgotten, it leaves nothing, and its record goes to another. */
static void an_arrival_is_forgotten(void **state)
{
	struct operation flows[FORGET_ROWS];
	const struct operation later = message(1, 5, 0);
	static const struct wait wait = {0, FORGET_ROWS, OPERATION_ENDED};
	struct small_net s;

	(void)state;
	open_net(&s, 0);
	for (uint32_t i = 0; i < FORGET_ROWS; i++) {
		flows[i] = message(0, 4, i * 20 * PS_PER_US);
		flows[i].arrives = true;
	}
	assert_int_equal(engine_add_flows(s.engine, flows, FORGET_ROWS, NULL, 0), 0);
	assert_int_equal(small_net_stats(&s).flows, 0);
	for (uint32_t i = 0; i < FORGET_ROWS; i++) {
		small_net_run(&s, (i + 1) * 20 * PS_PER_US);
		assert_int_equal(small_net_stats(&s).flows, i + 1);
		assert_true(result(&s, i).over);
		assert_int_equal(engine_add_flows(s.engine, &later, 1, &wait, 1), -EINVAL);
		engine_forget(s.engine, i);
		assert_int_equal(result(&s, i).flow.bytes, 0);
		assert_int_equal(result(&s, i).flow.entry, UINT32_MAX);
	}
	/* others may not wait for what nobody knows of any more */
	assert_int_equal(engine_add_flows(s.engine, &later, 1, &wait, 1), -EINVAL);
	assert_int_equal(s.engine->memory.record_count, 1);
	assert_int_equal(small_net_stats(&s).flows_done, FORGET_ROWS);
	assert_int_equal(engine_add_flows(s.engine, flows, 1, NULL, 0), 0);
	small_net_run(&s, PS_PER_S);
	assert_true(engine_done(s.engine));
	assert_int_equal(s.engine->memory.record_count, 1);
	small_net_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_waited_for),
		cmocka_unit_test(the_last_of_several_counts),
		cmocka_unit_test(a_barrier_holds_all_hosts),
		cmocka_unit_test(waits_that_make_no_sense),
		cmocka_unit_test(memory_follows_what_is_under_way),
		cmocka_unit_test(numbers_are_used_again),
		cmocka_unit_test(a_number_in_use_is_passed_over),
		cmocka_unit_test(too_many_at_once_are_an_error),
		cmocka_unit_test(all_memory_is_given_back),
		cmocka_unit_test(a_stream_is_sent_in_one_go),
		cmocka_unit_test(a_stream_rests_between_messages),
		cmocka_unit_test(streams_through_losses),
		cmocka_unit_test(streams_that_make_no_sense),
		cmocka_unit_test(computations_take_turns),
		cmocka_unit_test(neither_batches_nor_slices_show),
		cmocka_unit_test(an_arrival_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
