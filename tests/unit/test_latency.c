/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A switch's latency: on the way of every frame into a switch, but not of those for its ports. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "base/wiretime.h"
#include "fabric_fixture.h"
#include "lib/pause_watch.h"
#include "lib/small_net.h"
#include "lib/small_session.h"

#define RATE     (100 * GBPS)
#define DELAY    1000000u
#define SWITCHES 6
#define FRAME    CLASS_NET_FRAME
#define OTHER    1

/* ---- closed forms --------------------------------------------------------------------------- */

/* Over a chain: when it arrived, and when its sender knew. */
static struct engine_flow_result send_one(uint32_t switches, uint64_t bytes, uint64_t latency_ps)
{
	static const struct small_config config = {0};
	uint64_t rates[SWITCHES + 1], delays[SWITCHES + 1];
	struct engine_flow_result r;
	struct small_net s;

	for (uint32_t i = 0; i <= switches; i++) {
		rates[i] = RATE;
		delays[i] = i * 300000;
	}
	small_net_chain(&s, switches, rates, delays);
	net_set_latency(&s.net, latency_ps);
	small_net_open(&s, &config);
	small_net_flow(&s, 0, 1, bytes, 0);
	small_net_run(&s, PS_PER_S);
	assert_int_equal(engine_check_balance(s.engine), 0);
	engine_flow_result(s.engine, 0, &r);
	small_net_close(&s);
	return r;
}

static void each_switch_adds_it_once_a_way(void **state)
{
	static const uint64_t latencies[] = {1, 500000, 2345678}, sizes[] = {1, 4096, 30000};

	(void)state;
	for (uint32_t k = 1; k <= SWITCHES; k++)
		for (uint32_t i = 0; i < 3; i++)
			for (uint32_t j = 0; j < 3; j++) {
				uint64_t latency = latencies[j];
				struct engine_flow_result without = send_one(k, sizes[i], 0);
				struct engine_flow_result with = send_one(k, sizes[i], latency);

				assert_int_equal(
					with.delivered_ps - without.delivered_ps, k * latency);
				/* and the SACK's way back */
				assert_int_equal(
					with.finish_ps - without.finish_ps, 2 * k * latency);
			}
}

/* The longest way of a fat-tree, through five switches and back. */
static void base_rtt_has_it(void **state)
{
	struct scenario s = fixture_fat_tree(4);
	struct fabric *without = fixture_fabric(&s), *with;

	(void)state;
	s.sw.latency_ps = 700000;
	with = fixture_fabric(&s);
	assert_int_equal(with->base_rtt_ps - without->base_rtt_ps, 10 * 700000);
	for (uint32_t p = PORT_FIRST; p < PORT_FIRST + with->net.port_count; p++) {
		const struct net_port *port = &with->net.ports[p];
		bool host = with->net.ports[port->peer].node < with->net.host_count;

		assert_int_equal(port->delay_ps, DELAY);
		assert_int_equal(net_port_flight(port), DELAY + (host ? 0 : 700000));
	}
	fabric_free(without);
	fabric_free(with);
}

#define LONE                                                                                        \
	"name: lone\n"                                                                              \
	"topology: {fat_tree: {k: 4}, links: [{match: 'agg*-core*', rate: 400Gbps, delay: 3us}]}\n" \
	"workload: [{pairs: {from: h0, to: h15, message: 300KB}}]\n"

/* Of a summary's microseconds. */
static int64_t in_ps(const json_t *object, const char *key)
{
	return llround(json_number_value(json_object_get(object, key)) * PS_PER_US);
}

/* Time of the only message, in picoseconds; it meets the bound, if met. */
static int64_t run_lone(const char *latency, const char *to, const char *fault, bool met)
{
	char set[3][64];
	const char *sets[] = {set[0], set[1], set[2]};
	struct small_session s;
	int64_t fct;
	bool expected;
	json_t *j;

	snprintf(set[0], sizeof(set[0]), "switch.latency=%s", latency);
	snprintf(set[1], sizeof(set[1]), "workload.0.pairs.to=%s", to);
	snprintf(set[2], sizeof(set[2]), "faults=%s", fault);
	small_session_open(&s, LONE, sets, 3, NULL);
	small_session_run(&s);
	j = small_session_summary(&s, &expected);
	fct = in_ps(json_object_get(json_object_get(j, "flows"), "fct_us"), "max");
	if (met)
		assert_int_equal(fct, in_ps(j, "ideal_us"));
	json_decref(j);
	small_session_close(&s);
	return fct;
}

static void a_lone_message_meets_its_bound(void **state)
{
	static const char *const to[] = {"h1", "h2", "h15"};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		int64_t without = run_lone("0", to[i], "[]", true);
		int64_t with = run_lone("1500ns", to[i], "[]", true);

		assert_int_equal(with - without, 2 * (1 + 2 * i) * 1500000);
	}
}

/* A fault lengthens the cable; the switches' part stays. */
static void a_fault_lengthens_the_cable_alone(void **state)
{
	static const char fault[] = "[{at: 0, link: h0-*, do: {delay: 5us}}]";
	int64_t with = run_lone("1500ns", "h1", "[]", true);

	(void)state;
	assert_int_equal(run_lone("1500ns", "h1", fault, false) - with, 2 * 5 * PS_PER_US);
}

/* 25 packets that never arrive, each with twice a round trip of eight links. */
static void a_run_that_hangs_has_more_time(void **state)
{
	static const char text[] =
		"name: hangs\n"
		"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2}}\n"
		"host: {transport: {strack: {rto: 1ms}}}\n"
		"switch: {pfc: on}\n"
		"faults: [{at: 0, host: h3, do: {pause: 0}}]\n"
		"workload: [{pairs: {from: h0, to: h3, message: 100KB}}]\n";
	static const char *const latencies[] = {"switch.latency=0", "switch.latency=10us"};
	int64_t ends[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct small_session s;
		bool met;
		json_t *j;

		small_session_open(&s, text, &latencies[i], 1, NULL);
		small_session_run(&s);
		j = small_session_summary(&s, &met);
		ends[i] = in_ps(j, "model_time_us");
		json_decref(j);
		small_session_close(&s);
	}
	assert_int_equal(ends[1] - ends[0], 25 * 2 * 8 * 10 * PS_PER_US);
}

/* ---- frames for the port itself ------------------------------------------------------------- */

/*
 * h1 - s2 - s3 - h0, the last link slow: s3 stops s2, while data from h0 to h1 makes PFC frames
 * wait and is in the pipeline of s2 when they arrive. They take effect a propagation delay after
 * they have left: pause_watch knows of no latency.
 */
static void a_pause_does_not_wait_for_the_pipeline(void **state)
{
	static const struct class_link links[] = {
		{0, 3, RATE / 10, DELAY}, {1, 2, RATE, DELAY}, {2, 3, RATE / 2, DELAY}};
	static const struct class_stream streams[] = {
		{.src = 1, .dst = 0, .class = PAUSE_CLASS, .payload = 4096, .packets = 1000},
		{.src = 0, .dst = 1, .class = OTHER, .payload = 100, .packets = 3000}};
	static const uint64_t latencies[] = {1, 300000, 20000000};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct pause_watch *w;
		struct class_net n;

		class_net_init(&n, 2, 2, links, 3);
		net_set_latency(&n.net, latencies[i]);
		n.switching.latency_ps = latencies[i];
		class_net_lossless(&n, PAUSE_CLASS, 40 * FRAME);
		n.switching.classes[PAUSE_CLASS].xon_bytes = 10 * FRAME;
		n.switching.config.quanta = 200;
		w = pause_watch_new(&n, class_net_port(&n, 2, 3));
		class_net_open(&n);
		for (uint32_t s = 0; s < 2; s++)
			class_net_stream(&n, &streams[s]);
		class_net_run(&n, UINT64_MAX);
		assert_true(w->stops > 20);
		pause_watch_assert_told(w);
		assert_int_equal(class_net_dropped(&n), 0);
		class_net_at_rest(n.engine);
		class_net_close(&n);
		free(w);
	}
}

#define INCAST                                                                                      \
	"name: incast\n"                                                                            \
	"topology: {leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 8}}\n"                       \
	"switch:\n"                                                                                 \
	"  buffer: {per_port: 250KB}\n"                                                             \
	"  latency: 1us\n"                                                                          \
	"  ecn: off\n"                                                                              \
	"  classes: [{class: 3, dscp: 26, lossless: yes}, {class: 0}]\n"                            \
	"  pfc: on\n"                                                                               \
	"  lldp: {every: 5us}\n"                                                                    \
	"host: {transport: {roce: {congestion: off}}, dscp: {data: 26, control: 48, notify: 48}}\n" \
	"workload: [{incast: {senders: 20, to: h3, message: 200KB}}]\n"

/* Headroom as it is computed, with LLDP that overtakes data too. */
static void an_incast_loses_nothing(void **state)
{
	struct engine_stats stats;
	struct small_session s;

	(void)state;
	small_session_open(&s, INCAST, NULL, 0, NULL);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &stats);
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		assert_int_equal(stats.dropped[i], 0);
	assert_int_equal(stats.flows_done, 20);
	assert_true(stats.pauses_sent > 20);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_switch_adds_it_once_a_way),
		cmocka_unit_test(base_rtt_has_it),
		cmocka_unit_test(a_lone_message_meets_its_bound),
		cmocka_unit_test(a_fault_lengthens_the_cable_alone),
		cmocka_unit_test(a_run_that_hangs_has_more_time),
		cmocka_unit_test(a_pause_does_not_wait_for_the_pipeline),
		cmocka_unit_test(an_incast_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
