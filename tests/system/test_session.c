/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session on the kernel dataplane, its time cut at random, and the same on the inline one in one
 * go: one trace, the same counts, the same tables at the end and the same bytes in every file, the
 * capture too, whatever the switches were asked to do.
 */
#include "lib/kernel_case.h"

#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"
#include "base/units.h"
#include "lib/session_files.h"

/* What is left of a session. */
struct outcome {
	struct engine_stats stats;
	struct sw_tables tables; /* copies */
	char directory[SMALL_PATH];
};

static void *copy(const void *from, size_t count, size_t bytes)
{
	void *to = calloc(count + 1, bytes);

	assert_non_null(to);
	memcpy(to, from, count * bytes);
	return to;
}

static void run(struct outcome *ret, const struct kernel_case *c, const char *text, bool kernel)
{
	char set[64];
	const char *sets[] = {set, "telemetry.ports=3us", "telemetry.flows=2us",
		"telemetry.queues=5us", "telemetry.imbalance=4us"};
	const struct sw_tables *t;
	struct small_session s;

	snprintf(set, sizeof(set), "name=%s", c->name);
	small_directory(ret->directory);
	files_record(&s, text, sets, COUNT(sets), ret->directory, kernel,
		kernel ? SLICE_RANDOM : SLICE_WHOLE);
	assert_int_equal(engine_check_balance(session_engine(s.session)), 0);
	engine_stats(session_engine(s.session), &ret->stats);
	t = engine_tables(session_engine(s.session));
	ret->tables = *t;
#define X(name, element, bytes, elements) ret->tables.name = copy(t->name, t->count.name, bytes);
	SW_TABLES(X)
#undef X
	small_session_close(&s);
}

static void outcome_release(struct outcome *o)
{
#define X(name, element, bytes, elements) free(o->tables.name);
	SW_TABLES(X)
#undef X
	small_directory_remove(o->directory);
}

/* Both ways; the inline one's numbers in *ret. */
static void compare(struct engine_stats *ret, const struct kernel_case *c, const char *text)
{
	struct outcome in = {0}, kernel = {0};
	const struct sw_tables *a = &in.tables, *b = &kernel.tables;

	run(&in, c, text, false);
	run(&kernel, c, text, true);
	assert_int_equal(in.stats.trace_hash, kernel.stats.trace_hash);
	assert_memory_equal(&in.stats, &kernel.stats, sizeof(in.stats));
	assert_memory_equal(&a->count, &b->count, sizeof(a->count));
#define X(name, element, bytes, elements)                                                          \
	assert_memory_equal(a->name, b->name, a->count.name *(bytes));
	SW_TABLES(X)
#undef X
	files_assert_same(in.directory, kernel.directory);
	assert_nothing_left(c);
	*ret = in.stats;
	outcome_release(&in);
	outcome_release(&kernel);
}

#define LOSSLESS                                                                                              \
	"host: {transport: {roce: {congestion: off}}, dscp: {data: 26, control: 0, notify: 0}}\n"             \
	"switch:\n"                                                                                           \
	"  ecn: off\n"                                                                                        \
	"  classes: [{class: 0}, {class: 3, dscp: 26, lossless: yes}, {class: 4, dscp: 28, lossless: yes}]\n" \
	"  pfc: {watchdog: 200us}\n"

/* LLDP while links are cut and a switch dies. */
static void agents(void **state)
{
	static const char *const topologies[] = {
		"fat_tree: {k: 4}", "leaf_spine: {leaves: 4, spines: 2, hosts_per_leaf: 4}"};
	static const char *const dying[] = {"core1", "spine1"};

	for (int i = 0; i < 2; i++) {
		struct engine_stats stats;
		char text[1024];

		snprintf(text, sizeof(text),
			"name: t\n"
			"topology: {%s}\n"
			"switch: {lldp: {every: 10us}, reroute: 5us}\n"
			"workload: [{permutation: {message: 200KB}}]\n"
			"faults: [{at: 15us, until: 40us, switch: %s, do: down}]\n",
			topologies[i], dying[i]);
		compare(&stats, *state, text);
		assert_int_not_equal(stats.consumed, 0);
		assert_int_not_equal(stats.dropped[DROP_LINK_DOWN], 0);
		assert_int_equal(stats.flows_done, 16);
	}
}

/* Pauses, a host that never lets go, and the watchdog that takes its packets. */
static void pauses(void **state)
{
	struct engine_stats stats;

	compare(&stats, *state,
		"name: t\n"
		"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}}\n"
		"workload: [{incast: {senders: 7, to: h0, message: 200KB}}, {permutation: {message: 200KB}}]\n"
		"faults: [{at: 30us, until: 600us, host: h1, do: {pause: 3}}]\n" LOSSLESS
		"  buffer: {shared: 2MB, alpha: 1}\n");
	assert_int_not_equal(stats.pauses_sent, 0);
	assert_int_not_equal(stats.dropped[DROP_WATCHDOG], 0);
	assert_int_equal(stats.flows_done, 15);
}

/* Packets that go up again, in another class. */
static void roles(void **state)
{
	struct engine_stats stats;

	compare(&stats, *state,
		"name: t\n"
		"topology: {leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 1}}\n"
		"workload: [{pairs: {from: [h0], to: [h2], message: 200KB, start: 20us, repeat: 8}}]\n"
		"faults: [{at: 10us, link: leaf2-spine0, do: down}]\n" LOSSLESS
		"  lldp: {every: 5us}\n"
		"  roles: {remap: {3: 4}}\n"
		"  reroute: {after: 1us, mode: local}\n");
	assert_int_not_equal(stats.remapped, 0);
	assert_int_equal(stats.flows_done, 8);
}

/* Headers to the receiver or back, with every fault that a cable can have. */
static void headers_and_cables(void **state)
{
	static const char *const ways[] = {"receiver", "sender"};

	for (int i = 0; i < 2; i++) {
		struct engine_stats stats;
		char text[1024];

		snprintf(text, sizeof(text),
			"name: t\n"
			"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}}\n"
			"switch: {buffer: {per_port: 40KB}, trim: %s}\n"
			"workload: [{incast: {senders: 7, to: h0, message: 200KB}}]\n"
			"faults:\n"
			"  - {at: 0us, link: leaf0-spine0, do: {loss: 1%%}}\n"
			"  - {at: 0us, link: leaf0-spine0, do: {errors: 1e-6}}\n"
			"  - {at: 0us, link: leaf1-spine1, do: {gilbert: {enter: 5%%, leave: 50%%}}}\n"
			"  - {at: 0us, link: leaf1-spine0, do: {flaky: {every: 20us, last: 2us}}}\n"
			"  - {at: 10us, until: 30us, link: leaf0-spine1, do: {delay: 2us}}\n"
			"  - {at: 10us, until: 30us, link: leaf0-spine1, do: {rate: 50%%}}\n",
			ways[i]);
		compare(&stats, *state, text);
		assert_int_not_equal(stats.trimmed, 0);
		assert_int_equal(stats.returned != 0, i);
		assert_int_not_equal(stats.dropped[DROP_LOSS], 0);
		assert_int_not_equal(stats.dropped[DROP_FCS], 0);
		assert_int_not_equal(stats.dropped[DROP_GILBERT], 0);
		assert_int_not_equal(stats.dropped[DROP_BURST], 0);
		assert_int_equal(stats.flows_done, 7);
	}
}

/* Notifications that switches make, out of frames with real bytes behind the headers. */
static void notifications(void **state)
{
	struct engine_stats stats;

	compare(&stats, *state,
		"name: t\n"
		"topology: {leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 4}, mtu: 1024}\n"
		"switch: {buffer: {per_port: 400KB}, ecn: {kmin: 5KB, kmax: 10KB, average: 3}, cnp: {every: 1us}}\n"
		"host: {transport: roce, payload: full, ip: 6}\n"
		"workload: [{incast: {senders: 7, to: h0, message: 200KB}}]\n");
	assert_int_not_equal(stats.notified, 0);
	assert_int_equal(stats.corrupt, 0);
	assert_int_equal(stats.flows_done, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		kernel_case_test(agents),
		kernel_case_test(pauses),
		kernel_case_test(roles),
		kernel_case_test(headers_and_cables),
		kernel_case_test(notifications),
	};

	return kernel_case_run(tests, sizeof(tests) / sizeof(tests[0]));
}
