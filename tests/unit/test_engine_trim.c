/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trimming under an incast: each lost payload leaves headers that arrive or are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "lib/class_net.h"
#include "lib/small_session.h"

/* 32 senders of one BDP each, which does not shrink, to one; the last message is alone. */
static const char incast[] = "name: trim\n"
			     "topology:\n"
			     "  leaf_spine: {leaves: 5, spines: 4, hosts_per_leaf: 8}\n"
			     "  rate: 100Gbps\n"
			     "  delay: 1us\n"
			     "  mtu: 2048\n"
			     "switch:\n"
			     "  buffer: {per_port: 100% BDP}\n"
			     "  trim: {to: receiver}\n"
			     "host:\n"
			     "  transport: {strack: {congestion: off, window: 100% BDP}}\n"
			     "workload:\n"
			     "  - incast: {senders: 32, to: h0, message: 60KB}\n"
			     "  - pairs: {from: [h1], to: [h9], message: 1KB, start: 50ms}\n";

/* What switches, hosts and endpoints say of it, each for itself. */
struct outcome {
	struct engine_stats stats;
	uint64_t by_receivers, by_senders;       /* headers that endpoints heard of */
	uint64_t retransmitted, timeouts, ports; /* the last: packets cut, by port */
};

static struct outcome run(const char *const *sets, size_t count)
{
	struct small_session s;
	const struct sw_tables *t;
	struct outcome o = {0};

	small_session_open(&s, incast, sets, count, NULL);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &o.stats);
	t = engine_tables(session_engine(s.session));
	for (uint32_t i = 0; i < o.stats.flows; i++) {
		struct engine_flow_result r;

		engine_flow_result(session_engine(s.session), i, &r);
		o.by_receivers += r.receiver.trimmed;
		o.by_senders += r.sender.returned;
		o.retransmitted += r.sender.retransmitted;
		o.timeouts += r.sender.timeouts;
	}
	for (uint32_t i = PORT_FIRST; i < t->count.ports; i++)
		o.ports += t->ports[i].trimmed_frames;
	class_net_at_rest(session_engine(s.session));
	small_session_close(&s);
	return o;
}

/* All payload came in the end, and what was cut is where it should be. */
static void assert_accounted(const struct outcome *o)
{
	const struct engine_stats *s = &o->stats;

	assert_int_equal(s->flows_done, s->flows);
	assert_int_equal(s->corrupt, 0);
	assert_int_equal(s->trimmed, o->ports);
	assert_int_equal(s->trimmed, s->headers_delivered + s->dropped[DROP_HEADERS]);
	assert_int_equal(s->headers_delivered, o->by_receivers + o->by_senders);
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		if (i != DROP_HEADERS)
			assert_int_equal(s->dropped[i], 0);
}

static const char *const versions[] = {"host.ip=4", "host.ip=6"}, *const payloads[] = {
									  "host.payload=headers",
									  "host.payload=full"};

/* Both counts are equal, and nothing is silent: no timer is needed. */
static void headers_to_the_receiver(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 25 : 1;

	(void)state;
	for (uint64_t i = 0; i < 4 * seeds; i++) {
		char seed[32];
		const char *sets[] = {versions[i & 1], payloads[i >> 1 & 1], seed};
		struct outcome o;

		snprintf(seed, sizeof(seed), "seed=%u", (unsigned)(i / 4 + 1));
		o = run(sets, 3);
		assert_accounted(&o);
		print_message("# to the receiver, %s, %s: %u cut, %u headers arrived\n",
			versions[i & 1], payloads[i >> 1 & 1], (unsigned)o.stats.trimmed,
			(unsigned)o.by_receivers);
		assert_true(o.stats.trimmed > 1000);
		assert_int_equal(o.by_receivers, o.stats.trimmed);
		assert_int_equal(o.stats.returned, 0);
		assert_int_equal(o.timeouts, 0);
		assert_int_equal(o.retransmitted, o.stats.trimmed);
	}
}

static void headers_to_the_sender(void **state)
{
	uint64_t seeds = getenv("FABRICBED_LONG") ? 25 : 1;

	(void)state;
	for (uint64_t i = 0; i < 4 * seeds; i++) {
		char seed[32];
		const char *sets[] = {
			versions[i & 1], payloads[i >> 1 & 1], seed, "switch.trim.to=sender"};
		struct outcome o;

		snprintf(seed, sizeof(seed), "seed=%u", (unsigned)(i / 4 + 1));
		o = run(sets, 4);
		assert_accounted(&o);
		print_message("# to the sender, %s, %s: %u cut, %u headers came back\n",
			versions[i & 1], payloads[i >> 1 & 1], (unsigned)o.stats.trimmed,
			(unsigned)o.by_senders);
		assert_true(o.stats.trimmed > 1000);
		assert_int_equal(o.by_senders, o.stats.trimmed);
		assert_int_equal(o.stats.returned, o.stats.trimmed);
		assert_int_equal(o.timeouts, 0);
		assert_int_equal(o.retransmitted, o.stats.trimmed);
	}
}

/* Room for four headers a port: more are dropped and counted. Timeouts recover them. */
static void headers_without_room_are_counted(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const char *sets[] = {versions[i & 1], payloads[i >> 1 & 1],
			"switch.trim.queue=400B", "switch.trim.overflow=drop"};
		struct outcome o = run(sets, 4);

		assert_accounted(&o);
		print_message("# room for 4 headers: %u cut, %u arrived, %u dropped\n",
			(unsigned)o.stats.trimmed, (unsigned)o.stats.headers_delivered,
			(unsigned)o.stats.dropped[DROP_HEADERS]);
		assert_true(o.stats.dropped[DROP_HEADERS] > 100 && o.by_receivers > 100);
		assert_int_equal(o.stats.returned, 0);
	}
}

/* Or sent back, where there is room on another line. */
static void headers_without_room_are_returned(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const char *sets[] = {versions[i & 1], payloads[i >> 1 & 1],
			"switch.trim.queue=400B", "switch.trim.overflow=return"};
		struct outcome o = run(sets, 4);

		assert_accounted(&o);
		print_message(
			"# room for 4 headers, else back: %u cut, %u arrived, %u came back, %u dropped\n",
			(unsigned)o.stats.trimmed, (unsigned)o.by_receivers, (unsigned)o.by_senders,
			(unsigned)o.stats.dropped[DROP_HEADERS]);
		assert_true(o.by_receivers > 100 && o.by_senders > 100);
		assert_true(o.stats.returned >= o.by_senders);
		assert_true(o.stats.dropped[DROP_HEADERS] < o.by_senders);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_to_the_receiver),
		cmocka_unit_test(headers_to_the_sender),
		cmocka_unit_test(headers_without_room_are_counted),
		cmocka_unit_test(headers_without_room_are_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
