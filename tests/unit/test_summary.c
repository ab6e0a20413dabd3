/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A run in numbers, and the paths to them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/drop_name.h"
#include "base/metrics.h"
#include "base/numbers.h"
#include "base/units.h"
#include "lib/small_net.h"
#include "lib/small_session.h"
#include "telemetry/fidelity.h"
#include "telemetry/flow_totals.h"
#include "telemetry/summary.h"

#define RATE (100 * GBPS)

static const struct summary_info info = {
	.scenario = "s",
	.dataplane = "inline",
	.clock = "stepped",
	.version = "1.2",
	.seed = 7,
	.ideal_ps = 5 * PS_PER_US,
	.fabric_ps = 6 * PS_PER_US,
	.payload_ps = 4 * PS_PER_US,
	.wall_s = 2,
	.setup_s = 0.5,
};

static double number(const json_t *summary, const char *path)
{
	double value = -1;

	assert_int_equal(summary_lookup(summary, path, &value), 0);
	return value;
}

/* There is such a figure, and it has no value. */
static void assert_missing(const json_t *summary, const char *path)
{
	const json_t *at = summary;
	char keys[64], *key, *rest = keys;
	double untouched = 99;

	snprintf(keys, sizeof(keys), "%s", path);
	while ((key = strsep(&rest, ".")))
		at = json_object_get(at, key);
	if (!json_is_null(at))
		fail_msg("%s is not null", path);
	assert_int_equal(summary_lookup(summary, path, &untouched), -ENOENT);
	assert_true(untouched == 99);
}

static void assert_number(const json_t *summary, const char *path, double want)
{
	double value = number(summary, path);

	if (value < want * (1 - 1e-12) || value > want * (1 + 1e-12))
		fail_msg("%s is %.17g, not %.17g", path, value, want);
}

/* n messages of one packet, each alone on its way, each longer than the one before. */
static void open_messages(struct small_net *s, uint32_t n)
{
	static const uint64_t rate[] = {RATE, RATE}, delay[] = {1000000, 1000000};
	const struct small_config c = {0};

	small_net_chain(s, 1, rate, delay);
	small_net_open(s, &c);
	/* added from the longest on, so that a rank is not a number */
	for (uint32_t i = n; i; i--)
		small_net_flow(s, 0, 1, i, i * 10 * PS_PER_US);
}

static double fct_us(const struct small_net *s, uint32_t bytes)
{
	return (double)small_net_closed_form(s, bytes, 4096, false) / PS_PER_US;
}

/* Nearest rank: the smallest value that at least p% of all do not exceed. */
static void percentiles_are_nearest_rank(void **state)
{
	static const struct {
		uint32_t count, p50, p90, p95, p99, p999;
	} cases[] = {{1, 1, 1, 1, 1, 1}, {2, 1, 2, 2, 2, 2}, {3, 2, 3, 3, 3, 3}, {4, 2, 4, 4, 4, 4},
		{5, 3, 5, 5, 5, 5}, {10, 5, 9, 10, 10, 10}, {50, 25, 45, 48, 50, 50},
		{99, 50, 90, 95, 99, 99}, {100, 50, 90, 95, 99, 100}, {101, 51, 91, 96, 100, 101},
		{150, 75, 135, 143, 149, 150}, {200, 100, 180, 190, 198, 200},
		{201, 101, 181, 191, 199, 201}, {1000, 500, 900, 950, 990, 999},
		{1001, 501, 901, 951, 991, 1000}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct small_net s;
		double sum = 0;
		json_t *j;

		open_messages(&s, cases[i].count);
		small_net_run(&s, PS_PER_S);
		j = summary_new(&info, s.engine, NULL);
		for (uint32_t k = 1; k <= cases[i].count; k++)
			sum += fct_us(&s, k);
		assert_number(j, "flows.fct_us.p50", fct_us(&s, cases[i].p50));
		assert_number(j, "flows.fct_us.p90", fct_us(&s, cases[i].p90));
		assert_number(j, "flows.fct_us.p95", fct_us(&s, cases[i].p95));
		assert_number(j, "flows.fct_us.p99", fct_us(&s, cases[i].p99));
		assert_number(j, "flows.fct_us.p999", fct_us(&s, cases[i].p999));
		assert_number(j, "flows.fct_us.max", fct_us(&s, cases[i].count));
		assert_missing(j, "flows.fct_slowdown.max"); /* nobody has said what is ideal */
		assert_number(j, "flows.fct_us.mean", sum / cases[i].count);
		assert_number(j, "slowdown", fct_us(&s, cases[i].count) / 5);
		assert_number(j, "slowdown_payload", fct_us(&s, cases[i].count) / 4);
		/* all have finished: those that have are all */
		assert_true(json_equal(json_object_get(json_object_get(j, "flows"), "fct_us"),
			json_object_get(json_object_get(json_object_get(j, "flows"), "finished"),
				"fct_us")));
		assert_number(j, "flows.finished.count", cases[i].count);
		assert_number(j, "slowdown_finished", fct_us(&s, cases[i].count) / 5);
		json_decref(j);
		small_net_close(&s);
	}
}

static double metric_of(const json_t *j, const char *format, const char *key)
{
	char path[METRIC_NAME];

	snprintf(path, sizeof(path), format, key);
	return number(j, path);
}

/* Sizes at the limits of the classes. What is not measured counts in none of them. */
static void flows_count_by_their_sizes(void **state)
{
	static const struct {
		const char *size, *class;
	} cases[] = {{"1", "1KB"}, {"1KB", "1KB"}, {"1025", "10KB"}, {"10KB", "10KB"},
		{"100KB", "100KB"}, {"102401", "1MB"}, {"1MB", "1MB"}, {"1048577", "10MB"}};
	static const uint64_t rate[] = {RATE, RATE}, delay[] = {1000000, 1000000};
	const struct small_config c = {0};
	struct operation f = {.dst_host = 1};
	struct small_net s;
	double value;
	json_t *j;

	(void)state;
	small_net_chain(&s, 1, rate, delay);
	small_net_open(&s, &c);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(parse_bytes(cases[i].size, &f.bytes), 0);
		f.start_ps = i * PS_PER_MS;
		f.ideal_ps = small_net_closed_form(&s, f.bytes, 4096, false) / 2;
		assert_int_equal(engine_add_flows(s.engine, &f, 1, NULL, 0), 0);
		f.unmeasured = true;
		f.start_ps += PS_PER_MS / 2;
		f.ideal_ps = 1;
		assert_int_equal(engine_add_flows(s.engine, &f, 1, NULL, 0), 0);
		f.unmeasured = false;
	}
	small_net_run(&s, PS_PER_S);
	j = summary_new(&info, s.engine, NULL);
	assert_number(j, "flows.count", 2 * COUNT(cases));
	assert_number(j, "flows.unmeasured", COUNT(cases));
	assert_number(j, "flows.finished.count", COUNT(cases));
	assert_in_range(number(j, "flows.fct_slowdown.p50") * 1e6, 1999000, 2001000);
	for (size_t i = 0; i < COUNT(cases); i++) {
		bool pair = !strcmp(cases[i].class, "1KB") || !strcmp(cases[i].class, "10KB") ||
			    !strcmp(cases[i].class, "1MB");

		assert_true(metric_of(j, "flows.by_size.%s.count", cases[i].class) == 1 + pair);
		assert_in_range(
			metric_of(j, "flows.by_size.%s.fct_slowdown.max", cases[i].class) * 1e6,
			1999000, 2001000);
		assert_true(metric_of(j, "flows.by_size.%s.fct_us.max", cases[i].class) ==
			    metric_of(j, "flows.finished.by_size.%s.fct_us.max", cases[i].class));
	}
	assert_int_equal(summary_lookup(j, "flows.by_size.100MB.count", &value), 0);
	assert_true(value == 0);
	assert_int_equal(summary_lookup(j, "flows.by_size.100MB.fct_us.max", &value), -ENOENT);
	json_decref(j);
	small_net_close(&s);
}

/* Alone a message takes the ideal time; with RoCEv2 a little more, for the RETH is left out. */
static void alone_nothing_is_faster(void **state)
{
	static const struct {
		const char *transport;
		double most;
	} cases[] = {{"strack", 1.001}, {"roce", 1.02}, {"{roce: {qps_per_connection: 4}}", 1.15}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned bytes = 1; bytes <= 1 << 20; bytes = bytes * 3 + 1) {
			struct small_session s;
			char text[512];
			double slowdown;
			bool met;
			json_t *j;

			snprintf(text, sizeof(text),
				"name: t\n"
				"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}}\n"
				"host: {transport: %s}\n"
				"workload:\n  - pairs: {from: [h0], to: [h3], message: %u}\n",
				cases[i].transport, bytes);
			small_session_open(&s, text, NULL, 0, NULL);
			small_session_run(&s);
			j = small_session_summary(&s, &met);
			slowdown = number(j, "flows.fct_slowdown.max");
			if (slowdown < 1 || slowdown > cases[i].most)
				fail_msg("%s, %u bytes: %.9f", cases[i].transport, bytes, slowdown);
			json_decref(j);
			small_session_close(&s);
		}
}

/* Unfinished flows are counted; completion times are those of the finished ones. */
static void half_a_run(void **state)
{
	struct engine_stats stats;
	struct small_net s;
	json_t *j;

	(void)state;
	open_messages(&s, 10);
	/* message 6 is on its way, 7 to 10 have yet to start */
	small_net_run(&s, 60 * PS_PER_US + 1);
	stats = small_net_stats(&s);
	j = summary_new(&info, s.engine, NULL);
	assert_number(j, "flows.count", 10);
	assert_number(j, "flows.unfinished", 5);
	assert_number(j, "flows.bytes", 55);
	assert_missing(j, "flows.fct_us.mean");
	assert_missing(j, "flows.fct_us.p50");
	assert_missing(j, "flows.fct_us.p99");
	assert_missing(j, "flows.fct_us.max");
	assert_missing(j, "slowdown");
	assert_number(j, "flows.finished.count", 5);
	assert_number(j, "flows.finished.fct_us.p50", fct_us(&s, 3));
	assert_number(j, "flows.finished.fct_us.max", fct_us(&s, 5));
	assert_number(j, "slowdown_finished", fct_us(&s, 5) / 5);
	/* 15 bytes, from the first start to the last finish */
	assert_number(j, "flows.goodput_gbps", 15 * 8 / (1000 * (40 + fct_us(&s, 5))));
	assert_number(j, "packets.sent", 11);
	assert_number(j, "packets.delivered", 10);
	assert_number(j, "packets.in_flight", 1);
	assert_number(j, "packets.dropped", 0);
	assert_number(j, "packets.corrupt", 0);
	assert_number(j, "model_time_us", 60.000001);
	assert_number(j, "hops", 20);
	assert_number(j, "hops_per_s", 10);
	assert_number(j, "setup_s", 0.5);
	assert_number(j, "wall_s", 2);
	assert_number(j, "ideal_us", 5);
	assert_number(j, "ideal_fabric_us", 6);
	assert_number(j, "ideal_payload_us", 4);
	assert_number(j, "seed", 7);
	assert_number(j, "queues.max_depth_bytes", (double)stats.max_queue_bytes);
	assert_number(j, "queues.max_delay_us", 0);
	assert_true(number(j, "peak_rss_mb") > 1);
	assert_string_equal(json_string_value(json_object_get(j, "scenario")), "s");
	assert_string_equal(json_string_value(json_object_get(j, "dataplane")), "inline");
	assert_string_equal(json_string_value(json_object_get(j, "clock")), "stepped");
	assert_string_equal(json_string_value(json_object_get(j, "version")), "1.2");
	assert_int_equal(strtoull(json_string_value(json_object_get(j, "trace_hash")), NULL, 16),
		stats.trace_hash);
	assert_int_equal(strlen(json_string_value(json_object_get(j, "trace_hash"))), 16);
	json_decref(j);
	small_net_close(&s);
}

/* At first counts are 0, and times or ratios of nothing are left out. */
static void nothing_has_happened(void **state)
{
	static const char *const zero[] = {"packets.sent", "hops", "model_time_us",
		"queues.max_delay_us", "flows.finished.count", "pfc.paused_us"};
	static const char *const null[] = {"flows.fct_us.mean", "flows.fct_us.p50",
		"flows.fct_us.p99", "flows.fct_us.max", "flows.finished.fct_us.mean",
		"flows.finished.fct_us.p50", "flows.finished.fct_us.p99",
		"flows.finished.fct_us.max", "slowdown_finished", "flows.goodput_gbps", "slowdown",
		"ideal_us", "ideal_fabric_us", "ideal_payload_us", "slowdown_payload",
		"hops_per_s"};
	struct summary_info none = info;
	struct small_net s;
	json_t *j;

	(void)state;
	none.wall_s = 0;
	none.ideal_ps = 0;
	none.fabric_ps = 0;
	none.payload_ps = 0;
	open_messages(&s, 3);
	j = summary_new(&none, s.engine, NULL);
	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++)
		assert_true(number(j, zero[i]) == 0);
	for (size_t i = 0; i < sizeof(null) / sizeof(null[0]); i++)
		assert_missing(j, null[i]);
	assert_number(j, "flows.unfinished", 3);
	assert_null(json_object_get(j, "balance")); /* switches have no flow tables */
	json_decref(j);
	small_net_close(&s);
}

static void drops_by_reason(void **state)
{
	const struct small_config c = {.buffer_bytes = 9000, .seed = 1};
	struct engine_stats stats;
	struct small_net s;
	json_t *j;

	(void)state;
	small_net_star(&s, 5, RATE, RATE, 1000000);
	small_net_open(&s, &c);
	for (uint32_t i = 1; i < 5; i++)
		small_net_flow(&s, i, 0, 100000, 0);
	small_net_run(&s, 15 * PS_PER_US);
	engine_set_link_up(s.engine, small_net_port(&s, 5, 0), false);
	small_net_run(&s, 20 * PS_PER_US);
	stats = small_net_stats(&s);
	assert_true(stats.dropped[DROP_BUFFER] && stats.dropped[DROP_LINK_DOWN]);
	j = summary_new(&info, s.engine, NULL);
	assert_number(j, "packets.dropped.buffer", (double)stats.dropped[DROP_BUFFER]);
	assert_number(j, "packets.dropped.link_down", (double)stats.dropped[DROP_LINK_DOWN]);
	assert_number(j, "packets.dropped",
		(double)(stats.dropped[DROP_BUFFER] + stats.dropped[DROP_LINK_DOWN]));
	/* only those that occurred are written; the others are 0 all the same */
	assert_int_equal(
		json_object_size(json_object_get(json_object_get(j, "packets"), "dropped")), 2);
	assert_true(number(j, "packets.dropped.ttl") == 0);
	json_decref(j);
	small_net_close(&s);
}

/* Of the measured flows, whether they have finished or not; totals are of all. */
/* A fabric that is driven has its flows in another order than the scenario that is saved of it. */
static void means_do_not_depend_on_the_order(void **state)
{
	struct flow_totals t[2] = {FLOW_TOTALS_INIT, FLOW_TOTALS_INIT};
	struct engine_flow_result f = {.flow = {.bytes = 1}, .sender = {.packets_sent = 10}};

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		f.sender.lost = i;
		assert_int_equal(flow_totals_add(&t[0], &f), 0);
		f.sender.lost = 4 - i;
		assert_int_equal(flow_totals_add(&t[1], &f), 0);
	}
	assert_true(t[0].per_flow[FLOW_LOSS_RATE] == t[1].per_flow[FLOW_LOSS_RATE]);
	flow_totals_release(&t[0]);
	flow_totals_release(&t[1]);
}

static void what_befell_flows_is_told_of_the_mean_and_the_worst(void **state)
{
	const struct engine_flow_result flows[] = {
		{.flow = {.bytes = 1},
			.sender = {.packets_sent = 10, .retransmitted = 2, .lost = 1},
			.receiver = {.duplicates = 1,
				.reordered = 3,
				.reorder_sum = 6,
				.reorder_most = 4}},
		{.flow = {.bytes = 1},
			.sender = {.packets_sent = 20, .retransmitted = 7, .lost = 6},
			.receiver = {.reordered = 1, .reorder_sum = 2, .reorder_most = 2}},
		{.flow = {.bytes = 1, .unmeasured = true},
			.sender = {.packets_sent = 1, .retransmitted = 100, .lost = 50},
			.receiver = {.duplicates = 4}},
	};
	struct flow_totals t = FLOW_TOTALS_INIT;
	struct small_net s;
	json_t *j;

	(void)state;
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		assert_int_equal(flow_totals_add(&t, &flows[i]), 0);
	open_messages(&s, 0);
	j = summary_new(&info, s.engine, &t);
	assert_number(j, "packets.retransmitted", 109);
	assert_number(j, "packets.spurious", 5);
	assert_number(j, "packets.lost", 57);
	assert_number(j, "packets.reordered", 4);
	assert_number(j, "packets.reorder_mean", 2);
	assert_number(j, "packets.reorder_max", 4);
	assert_number(j, "flows.retransmitted.mean", 4.5);
	assert_number(j, "flows.retransmitted.max", 7);
	assert_number(j, "flows.spurious.mean", .5);
	assert_number(j, "flows.spurious.max", 1);
	assert_number(j, "flows.loss_rate.mean", .2);
	assert_number(j, "flows.loss_rate.max", .3);
	assert_number(j, "flows.reordered.mean", 2);
	assert_number(j, "flows.reordered.max", 3);
	json_decref(j);
	small_net_close(&s);
	flow_totals_release(&t);
}

/* ---- what switches do to packets ------------------------------------------------------------- */

/* What to find of it in the summary, and what the engine says. */
static const struct {
	const char *path;
	size_t offset; /* in struct engine_stats */
} counted[] = {
#define COUNTED(section, name, help) {#section "." #name, offsetof(struct engine_stats, name)},
	METRICS(COUNTED, METRIC_SKIP, METRIC_SKIP, METRIC_SKIP, METRIC_SKIP)
#undef COUNTED
};

#define STAR                                                                                       \
	"name: t\n"                                                                                \
	"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 4}}\n"
#define LOSSY                                                                                      \
	STAR "workload:\n"                                                                         \
	     "  - incast: {senders: 7, to: h0, message: 200KB}\n"
#define LOSSLESS                                                                                              \
	"host: {transport: {roce: {congestion: off}}, dscp: {data: 26, control: 0, notify: 0}}\n"             \
	"switch:\n"                                                                                           \
	"  buffer: {per_port: 100KB}\n"                                                                       \
	"  ecn: off\n"                                                                                        \
	"  classes: [{class: 0}, {class: 3, dscp: 26, lossless: yes}, {class: 4, dscp: 28, lossless: yes}]\n" \
	"  pfc: on\n"

/* Each behaviour shows in its counts, and in no others'. */
static void behaviours_are_counted(void **state)
{
	static const struct {
		const char *text;
		const char *shows[6]; /* of those that a plain run leaves at 0 */
	} cases[] = {
		{LOSSY, {"packets.marked"}},
		{LOSSY "switch: {buffer: {per_port: 30KB}, ecn: off, trim: receiver}\n",
			{"packets.trimmed", "packets.headers_delivered",
				"packets.in_flight"}}, /* a probe that nobody waits for any more */
		{LOSSY "switch: {buffer: {per_port: 30KB}, ecn: off, trim: sender}\n",
			{"packets.trimmed", "packets.returned", "packets.headers_delivered",
				"packets.in_flight"}},
		{LOSSY "host: {transport: roce}\n"
		       "switch: {ecn: {kmin: 5KB, kmax: 10KB}, cnp: {every: 1us}}\n",
			{"packets.marked", "packets.notified", "packets.made"}},
		{LOSSY LOSSLESS, {"packets.made", "packets.consumed", "pfc.pauses_sent",
					 "pfc.resumes_sent"}},
		/* spine0 bounces what it can't bring to leaf2 off leaf1, from uplink to uplink */
		{"name: t\n"
		 "topology: {leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 1}}\n"
		 "workload:\n"
		 "  - pairs: {from: [h0], to: [h2], message: 200KB, start: 20us, repeat: 8}\n"
		 "faults:\n"
		 "  - {at: 10us, link: leaf2-spine0, do: down}\n" LOSSLESS "  lldp: {every: 5us}\n"
		 "  roles: {remap: {3: 4}}\n"
		 "  reroute: {after: 1us, mode: local}\n",
			{"packets.made", "packets.consumed", "packets.remapped",
				"packets.in_flight"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct engine_stats stats;
		struct small_session s;
		bool met;
		json_t *j;

		small_session_open(&s, cases[i].text, NULL, 0, NULL);
		small_session_run(&s);
		engine_stats(session_engine(s.session), &stats);
		j = small_session_summary(&s, &met);
		for (size_t c = 0; c < sizeof(counted) / sizeof(counted[0]); c++) {
			uint64_t want = *(uint64_t *)((char *)&stats + counted[c].offset);
			bool shows = c < 2; /* sent and delivered are there in any */

			for (size_t k = 0; k < 6 && cases[i].shows[k]; k++)
				shows |= !strcmp(cases[i].shows[k], counted[c].path);
			if (shows != !!want)
				fail_msg("case %zu: %s is %llu", i, counted[c].path,
					(unsigned long long)want);
			assert_true(number(j, counted[c].path) == (double)want);
		}
		assert_number(j, "pfc.paused_us", (double)stats.paused_ps / PS_PER_US);
		assert_int_equal(number(j, "pfc.paused_us") > 0, stats.pauses_sent > 0);
		assert_true(number(j, "pfc.deadlocks") == 0);
		json_decref(j);
		small_session_close(&s);
	}
}

/* IEEE 802 Nendica, Intelligent Lossless Data Center Networks, figure 21; with another class for
 * what goes up again, 27. */
static const char figure_21[] =
	"name: t\n"
	"topology: {leaf_spine: {leaves: 4, spines: 2, hosts_per_leaf: 4}}\n"
	"workload:\n"
	"  - pairs: {from: [h0, h1, h2, h3], to: [h12, h13, h14, h15], message: 500KB}\n"
	"  - pairs: {from: [h12, h13, h14, h15], to: [h0, h1, h2, h3], message: 500KB}\n"
	"  - pairs: {from: [h4, h5, h6, h7], to: [h8, h9, h10, h11], message: 2MB}\n"
	"  - pairs: {from: [h8, h9, h10, h11], to: [h4, h5, h6, h7], message: 2MB}\n"
	"faults:\n"
	"  - {at: 20us, link: leaf3-spine0, do: down}\n"
	"  - {at: 20us, link: leaf0-spine1, do: down}\n"
	"until: 5ms\n" LOSSLESS "  lldp: {every: 10us}\n"
	"  roles: {remap: {3: 4}}\n"
	"  reroute: {after: 5us, mode: local}\n";

/* "a->b" is followed by "b->c": the names of the ports of a circle. */
static void assert_circle(const json_t *circle)
{
	size_t length = json_array_size(circle);

	assert_true(length >= 2);
	for (size_t i = 0; i < length; i++) {
		const json_t *at = json_array_get(circle, i);
		const json_t *next = json_array_get(circle, (i + 1) % length);
		const char *name = json_string_value(json_object_get(at, "port"));
		const char *follows = json_string_value(json_object_get(next, "port"));
		const char *to = strstr(name, "->") + 2;

		assert_int_equal(json_integer_value(json_object_get(at, "class")), 3);
		assert_int_equal(strncmp(to, follows, strlen(to)), 0);
		assert_int_equal(strncmp(follows + strlen(to), "->", 2), 0);
	}
}

static void a_deadlock_is_named(void **state)
{
	static const char *const off[] = {"switch.roles=off"};

	(void)state;
	for (size_t sets = 0; sets < 2; sets++) {
		struct small_session s;
		const json_t *deadlock;
		double at_us;
		bool met;
		json_t *j;

		small_session_open(&s, figure_21, off, sets, NULL);
		small_session_run(&s);
		j = small_session_summary(&s, &met);
		assert_true(number(j, "pfc.deadlocks") == (double)sets);
		assert_int_equal(number(j, "flows.unfinished") > 0, sets);
		assert_true(number(j, "packets.dropped.headroom") == 0);
		deadlock = json_object_get(json_object_get(j, "pfc"), "deadlock");
		assert_int_equal(deadlock != NULL, sets);
		if (sets) {
			assert_circle(json_object_get(deadlock, "circle"));
			assert_number(j, "pfc.deadlock.queues",
				(double)json_array_size(json_object_get(deadlock, "circle")));
			at_us = number(j, "pfc.deadlock.at_us");
			assert_true(at_us > 25 && at_us < 1000);
		}
		json_decref(j);
		small_session_close(&s);
	}
}

static void paths_that_lead_nowhere(void **state)
{
	static const char *const bad[] = {"", ".", "flows", "flows.", "flows.fct_us",
		"flows.fct_us.p98", "flows.count.x", ".flows.count", "flows..count", "scenario",
		"trace_hash", "packets.dropped.", "packets.dropped.gremlins",
		"packets.dropped.none", "packets.dropped.buffer.x", "Flows.count", "list", "list.0",
		"a.very.long.path.that.is.far.longer.than.anything.in.a.summary.could.ever.be.xxxxxxx",
		"averylongkeythatisfarlongerthananythinginasummarycouldeverbeaveryverylongkeyindeed"};
	json_t *j = json_pack("{s:s, s:s, s:{s:i, s:{s:f}}, s:{s:{s:i}}, s:[i]}", "scenario", "x",
		"trace_hash", "00", "flows", "count", 3, "fct_us", "p50", 1.5, "packets", "dropped",
		"buffer", 4, "list", 1);

	(void)state;
	assert_non_null(j);
	assert_number(j, "flows.count", 3);
	assert_number(j, "flows.fct_us.p50", 1.5);
	assert_number(j, "packets.dropped.buffer", 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		double untouched = 99;

		if (summary_lookup(j, bad[i], &untouched) != -ENOENT || untouched != 99)
			fail_msg("\"%s\" is %g", bad[i], untouched);
	}
	for (unsigned i = DROP_BUFFER + 1; drop_name(i); i++) {
		char path[64];

		snprintf(path, sizeof(path), "packets.dropped.%s", drop_name(i));
		assert_true(number(j, path) == 0);
	}
	json_decref(j);
}

/* ---- the list of metrics and a run's summary ------------------------------------------------- */

/* Numbers of summary.json that can't be expected: settings, and details of fidelity. */
static const char *const no_metrics[] = {"schema", "seed", "pfc.deadlock.at_us",
	"pfc.deadlock.queues", "fidelity.degraded_s", "fidelity.passed_s",
	"fidelity.smallest_delay_us", "fidelity.clock_slowdown",
	"fidelity.sufficient_clock_slowdown", "fidelity.busy", "fidelity.others_degraded_s",
	"fidelity.others_took_s", "slowdown_finished"};

static bool is_metric(const char *path)
{
	char name[METRIC_NAME];

	for (size_t i = 0; metric_name(i, name); i++)
		if (!strcmp(path, name))
			return true;
	return false;
}

/* `of: finished` leads to those that have that in their names. */
static bool is_no_metric(const char *path)
{
	static const char finished[] = "flows.finished.";

	if (!strncmp(path, finished, strlen(finished)))
		return true;
	for (size_t i = 0; i < sizeof(no_metrics) / sizeof(no_metrics[0]); i++)
		if (!strcmp(path, no_metrics[i]))
			return true;
	return false;
}

/* Each number below `at` is either a metric or known to be none. */
static void assert_known(const json_t *at, const char *prefix)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)at, key, value)
	{
		char path[2 * METRIC_NAME];

		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", key);
		if (json_is_object(value))
			assert_known(value, path);
		else if (json_is_number(value) && is_metric(path) == is_no_metric(path))
			fail_msg("%s is not in base/metrics.h", path);
	}
}

static void a_summary_tells_where_it_comes_from(void **state)
{
	static char *const words[] = {"./fb", "run", "caf\xe9.yaml", NULL};
	const struct provenance known = {.command = words,
					.commit = "0123456789ab",
					.date = "2000-01-01T00:00:00Z",
					.host = "h",
					.kernel = "6.1",
					.scenario_hash = 0xab,
					.policy = "my.c",
					.policy_hash = 0xcd},
				unknown = {.command = words};
	struct summary_info from = info;
	struct small_net s;
	json_t *j,
		*want = json_pack("{s:i, s:s, s:[s, s, s], s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s}}",
			"schema", SUMMARY_SCHEMA, "version", "1.2", "command", "fabricbed", "run",
			"caf?.yaml", "commit", "0123456789ab", "date", "2000-01-01T00:00:00Z",
			"host", "h", "kernel", "6.1", "scenario_hash", "00000000000000ab", "policy",
			"file", "my.c", "hash", "00000000000000cd");
	const char *key;
	json_t *value;

	(void)state;
	open_messages(&s, 1);
	from.provenance = &known;
	j = summary_new(&from, s.engine, NULL);
	json_object_foreach(want, key, value) if (!json_equal(json_object_get(j, key), value))
		fail_msg("%s", key);
	json_decref(want);
	json_decref(j);
	from.provenance = &unknown;
	j = summary_new(&from, s.engine, NULL);
	assert_true(json_is_null(json_object_get(j, "commit")));
	assert_null(json_object_get(j, "policy"));
	json_decref(j);
	small_net_close(&s);
}

static void metrics_are_the_numbers_of_a_summary(void **state)
{
	struct session_times times = {.setup = 0.5, .run = 2};
	struct error why = ERROR_INIT;
	struct fidelity *fidelity;
	struct small_session s;
	char name[METRIC_NAME];
	FILE *graph = fopen("summary.goal", "we");
	const char *balance = "switch.balance=flowlet";
	const struct sw_tables *t;
	json_t *j;
	bool met;

	(void)state;
	assert_non_null(graph);
	fputs("num_ranks 1\nrank 0 {\ncalc 1\n}\n", graph);
	assert_int_equal(fclose(graph), 0);
	assert_int_equal(fidelity_new(&fidelity, PS_PER_US, 1), 0);
	times.fidelity = fidelity;
	small_session_open(&s,
		LOSSY "  - collective: {op: all_gather, size: 64KB}\n"
		      "  - goal: {file: summary.goal}\n",
		&balance, 1, NULL);
	unlink("summary.goal");
	small_session_run(&s);
	t = engine_tables(session_engine(s.session));
	for (uint32_t i = 0; i < t->count.balances; i++) {
		t->balances[i].flows = 7;
		t->balances[i].forgotten = 5;
	}
	j = session_summary(s.session, &times, &met, &why);
	assert_non_null(j);
	assert_number(j, "balance.flows", 7.0 * t->count.balances);
	assert_number(j, "balance.forgotten", 5.0 * t->count.balances);
	for (size_t i = 0; metric_name(i, name); i++) {
		/* by size they are of this workload's alone */
		if (metric_help(i) || strstr(name, ".1MB."))
			number(j, name);
		assert_true(metric_help(i) ? strlen(metric_help(i)) > 5
					   : !strncmp(name, "flows.by_size.", 14));
	}
	assert_known(j, "");
	json_decref(j);
	fidelity_free(fidelity);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_nearest_rank),
		cmocka_unit_test(flows_count_by_their_sizes),
		cmocka_unit_test(alone_nothing_is_faster),
		cmocka_unit_test(half_a_run),
		cmocka_unit_test(nothing_has_happened),
		cmocka_unit_test(drops_by_reason),
		cmocka_unit_test(what_befell_flows_is_told_of_the_mean_and_the_worst),
		cmocka_unit_test(means_do_not_depend_on_the_order),
		cmocka_unit_test(behaviours_are_counted),
		cmocka_unit_test(a_deadlock_is_named),
		cmocka_unit_test(paths_that_lead_nowhere),
		cmocka_unit_test(a_summary_tells_where_it_comes_from),
		cmocka_unit_test(metrics_are_the_numbers_of_a_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
