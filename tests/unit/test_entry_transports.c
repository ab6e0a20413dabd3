/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transports that entries of the workload have of their own, beside that of hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/json.h"
#include "engine/internal.h"
#include "lib/class_net.h"
#include "lib/small_session.h"
#include "scenario_fixture.h"
#include "transport/roce.h"
#include "transport/strack.h"

#define RATE 10000000000ull

#define FABRIC                                                                                     \
	NAMED "topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}}\n"                \
	      "switch: {pfc: on, classes: [{class: 0, schedule: 50%}, {class: 3, dscp: 26, "       \
	      "lossless: yes, schedule: 50%}, {class: 6, dscp: 48}]}\n"

/* ---- in a file ---- */

static const char five[] = FABRIC
	"host: {transport: strack, dscp: {data: 0, control: 48}}\n"
	"workload:\n"
	"  - {permutation: {message: 100KB, repeat: 2}}\n"
	"  - {incast: {senders: 3, message: 200KB}, dscp: 26, transport: {roce: {qps_per_connection: 3}}}\n"
	"  - {pairs: {from: h0, to: h5, message: 20KB, repeat: 2}, transport: {strack: {spray: adaptive}}}\n"
	"  - {pairs: {from: h1, to: h6, message: 80KB, repeat: 3}, transport: roce}\n"
	"  - {incast: {senders: 2, message: 20KB}, transport: {roce: {qps_per_connection: 3}}}\n";

/* Equal ones have one number, and strack with its defaults is what hosts have. */
static void check_five(const struct scenario *s)
{
	static const uint32_t numbers[] = {0, 1, 0, 2, 1};

	assert_int_equal(s->workload_count, COUNT(numbers));
	for (size_t i = 0; i < COUNT(numbers); i++)
		assert_int_equal(s->workloads[i].transport_number, numbers[i]);
	assert_null(s->workloads[0].transport.options);
	assert_string_equal(transport_name(scenario_transport(s, 0)), "strack");
	assert_ptr_equal(scenario_transport(s, 0), &s->host.transport);
	assert_string_equal(transport_name(scenario_transport(s, 1)), "roce");
	assert_int_equal(((const struct roce_options *)scenario_transport(s, 1)->options)->qps, 3);
	assert_int_equal(transport_facts(scenario_transport(s, 2)).qps, 1);
	assert_null(scenario_transport(s, 3));
}

static void entries_name_transports(void **state)
{
	struct scenario *s = load(five), *again;
	char *text = write_text(s), *twice;

	(void)state;
	check_five(s);
	again = load(text);
	check_five(again);
	twice = write_text(again);
	assert_string_equal(text, twice);
	free(text);
	free(twice);
	scenario_free(s);
	scenario_free(again);
}

/* Of an entry that has none, and of one that has another. */
static void overrides_name_transports(void **state)
{
	static const char *const sets[] = {"workload.0.transport=roce",
		"workload.1.transport.roce.congestion=off", "workload.3.transport=strack"};
	struct scenario *s = load_sets(five, sets, COUNT(sets));

	(void)state;
	assert_int_equal(s->workloads[0].transport_number, 1);
	assert_int_equal(s->workloads[1].transport_number, 2);
	assert_false(((const struct roce_options *)scenario_transport(s, 2)->options)->dcqcn);
	assert_int_equal(s->workloads[3].transport_number, 0);
	assert_int_equal(s->workloads[4].transport_number, 3);
	scenario_free(s);
}

#define ENTRY "  - {incast: {senders: 1, message: 1}, transport: "

static void wrong_transports_are_explained(void **state)
{
	char text[4096] = SMALL "workload:\n";
	size_t length = strlen(text);

	(void)state;
	expect(SMALL "workload:\n" ENTRY "roze}\n" ENTRY "{roce: {timer: 1ns}}}\n" ENTRY
		     "{roce: {}, strack: {}}}\n" ENTRY "{strack: {path: 4}}}\n",
		"4:51: workload.0.transport: 'roze' is not known; did you mean 'roce'?\n"
		"5:66: workload.1.transport.roce.timer: 1ns is too small; expected a time from 1us to "
		"864000s, such as 1us\n"
		"6:70: workload.2.transport.strack: strack and roce exclude each other; keep one\n"
		"7:61: workload.3.transport.strack.path: no such key; did you mean 'paths'?\n");
	for (int i = 1; i <= OPERATION_TRANSPORTS; i++)
		length += (size_t)snprintf(
			text + length, sizeof(text) - length, ENTRY "{strack: {paths: %d}}}\n", i);
	expect(text,
		"19:51: workload.15.transport: one too many: a scenario has at most 16 different ones, "
		"that of hosts included; give entries the same one\n");
}

/* Switches ask for rates no sooner than senders raise them, whoever has such senders. */
static void cnps_follow_the_entry_that_needs_them(void **state)
{
	struct scenario *s = load(SMALL
		"switch: {cnp: on}\n"
		"workload: [{permutation: {message: 1}, transport: {roce: {timer: 77us}}}]\n");

	(void)state;
	assert_int_equal(s->sw.cnp_ps, 77 * PS_PER_US);
	scenario_free(s);
}

/* ---- started in a live fabric ---- */

static void a_live_fabric_has_those_of_its_scenario(void **state)
{
	static const char text[] = "- {permutation: {message: 1}, transport: roce}\n"
				   "- {permutation: {message: 1}}\n"
				   "- {permutation: {message: 1}, transport: {roce: {rto: 5ms}}}\n";
	struct scenario *s = load(five);
	struct diags d = DIAGS_INIT;
	struct workload_spec *w = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(scenario_workloads(&w, &count, NULL, text, strlen(text), &d), 0);
	assert_int_equal(scenario_find_transports(s, w, 2, &d), 0);
	assert_int_equal(w[0].transport_number, 2);
	assert_int_equal(w[1].transport_number, 0);
	assert_int_equal(d.count, 0);
	assert_int_equal(scenario_find_transports(s, w, count, &d), -EINVAL);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.items[0].pos.line, 3);
	assert_string_equal(d.items[0].text,
		"workload.2.transport: the fabric was started without it; name the same one, with all its options, in the workload of its scenario");
	for (size_t i = 0; i < count; i++)
		workload_spec_release(&w[i]);
	free(w);
	diags_release(&d);
	scenario_free(s);
}

/* ---- as they run ---- */

static uint64_t depth_of(const struct small_session *s, uint32_t class)
{
	const struct sw_tables *t = engine_tables(session_engine(s->session));
	uint64_t most = 0;

	for (uint32_t p = PORT_FIRST; p < t->count.ports; p++)
		most = max_u64(most, t->queues[p * CLASSES + class].max_depth_bytes);
	return most;
}

static void transports_run_side_by_side(void **state)
{
	static const char *const names[] = {"strack", "roce", "strack", "roce", "roce"};
	static const uint32_t pairs[] = {1, 3, 1, 1, 3};
	uint64_t numbers[64] = {0}; /* of queue pairs, a bit each */
	struct small_session s;
	json_t *summary;
	bool met;

	(void)state;
	small_session_open(&s, five, NULL, 0, NULL);
	small_session_run(&s);
	for (uint32_t i = 0; i < engine_flow_count(session_engine(s.session)); i++) {
		struct engine_flow_result is;
		struct engine_flow_wire wire;

		engine_flow_result(session_engine(s.session), i, &is);
		engine_flow_wire(session_engine(s.session), i, &wire);
		assert_true(is.finish_ps && is.received == is.flow.bytes);
		assert_string_equal(wire.transport, names[is.flow.entry]);
		assert_int_equal(wire.qps, pairs[is.flow.entry]);
		assert_int_equal(wire.ports, is.flow.transport ? 1 : 256);
		/* one connection has the messages of a stream; the numbers of others are others */
		for (uint32_t qp = wire.qp; qp < wire.qp + 2 * wire.qps; qp++) {
			assert_true(is.flow.stream || !(numbers[qp / 64] >> qp % 64 & 1));
			numbers[qp / 64] |= 1ull << qp % 64;
		}
	}
	assert_true(depth_of(&s, 0) && depth_of(&s, 3));
	summary = small_session_summary(&s, &met); /* checks the balance */
	assert_int_equal(look_count(summary, "flows.count"), 2 * 8 + 3 + 2 + 3 + 2);
	assert_int_equal(json_array_size(look(summary, "transports")), 3);
	assert_string_equal(
		look_text(json_array_get(look(summary, "transports"), 2), "transport"), "roce");
	assert_int_equal(
		json_array_size(look(json_array_get(look(summary, "transports"), 1), "entries")),
		2);
	json_decref(summary);
	small_session_close(&s);
}

/* What a run is like, as far as the transport decides it. */
struct outcome {
	uint64_t trace, end_ps, ideal_ps;
	json_t *summary;
};

static struct outcome run(const char *host, const char *entry, const char *workload)
{
	struct engine_flow_result is;
	struct engine_stats stats;
	struct small_session s;
	struct outcome o;
	char text[2048];
	bool met;

	snprintf(text, sizeof(text), "%shost: {transport: %s}\nworkload: [{%s%s%s}]\n", FABRIC,
		host, workload, *entry ? ", transport: " : "", entry);
	small_session_open(&s, text, NULL, 0, NULL);
	o.end_ps = session_end(s.session);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &stats);
	engine_flow_result(session_engine(s.session), 0, &is);
	o.trace = stats.trace_hash;
	o.ideal_ps = is.flow.ideal_ps;
	o.summary = small_session_summary(&s, &met);
	small_session_close(&s);
	return o;
}

/* Whatever hosts have: packets, ideal times and how long the run waits for a message. */
static void an_entry_runs_as_if_hosts_had_its_transport(void **state)
{
	static const char *const transports[] = {
		"{roce: {qps_per_connection: 40}}", "{strack: {rto: 3ms, paths: 7, window: 8KB}}"};
	static const char *const workloads[] = {"permutation: {message: 163840, repeat: 2}",
		"load: {sizes: hadoop, load: 20%, until: 30us}",
		"collective: {op: all_reduce, algorithm: ring, size: 100KB}"};

	(void)state;
	for (size_t i = 0; i < COUNT(transports); i++)
		for (size_t j = 0; j < COUNT(workloads); j++) {
			struct outcome own = run(transports[!i], transports[i], workloads[j]);
			struct outcome hosts = run(transports[i], "", workloads[j]);
			const json_t *round = look(hosts.summary, "collectives.entries");

			assert_int_equal(own.trace, hosts.trace);
			assert_int_equal(own.end_ps, hosts.end_ps);
			assert_int_equal(own.ideal_ps, hosts.ideal_ps);
			assert_true(json_equal(look(own.summary, "collectives.entries"), round) ||
				    (!round && j < 2));
			assert_true(json_equal(look(own.summary, "ideal_fabric_us"),
				look(hosts.summary, "ideal_fabric_us")));
			assert_null(look(hosts.summary, "transports"));
			json_decref(own.summary);
			json_decref(hosts.summary);
		}
}

#define BIG 100000

static size_t big_size(const struct transport_env *env, const struct flow_spec *flow, bool sender)
{
	(void)env;
	(void)flow;
	(void)sender;
	return BIG;
}

/* Messages of a stream have one connection, and so one transport; a block has room for any. */
static void an_operation_has_one_of_the_fabric_s(void **state)
{
	static const struct class_link links[] = {{0, 2, RATE, 1000}, {1, 2, RATE, 1000}};
	struct operation flows[] = {
		{.src_host = 0, .dst_host = 1, .bytes = CLASS_NET_MTU, .stream = 1},
		{.src_host = 0, .dst_host = 1, .bytes = CLASS_NET_MTU, .stream = 1}};
	struct transport_ops big;
	struct class_net n;

	(void)state;
	class_net_init(&n, 2, 1, links, COUNT(links));
	big = *n.params.transports[0].ops;
	big.size = big_size;
	n.params.transports[1] = n.params.transports[0];
	n.params.transports[1].ops = &big;
	class_net_open(&n);
	assert_true(n.engine->memory.block_bytes > 2 * BIG);
	for (uint8_t i = 1; i <= OPERATION_TRANSPORTS; i++) {
		flows[1].transport = i;
		assert_int_equal(engine_add_flows(n.engine, flows, 2, NULL, 0), -EINVAL);
	}
	flows[1].stream = 0;
	flows[1].transport = 2;
	assert_int_equal(engine_add_flows(n.engine, flows, 2, NULL, 0), -EINVAL);
	flows[1].transport = 1;
	assert_int_equal(engine_add_flows(n.engine, flows, 2, NULL, 0), 0);
	class_net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_name_transports),
		cmocka_unit_test(overrides_name_transports),
		cmocka_unit_test(wrong_transports_are_explained),
		cmocka_unit_test(cnps_follow_the_entry_that_needs_them),
		cmocka_unit_test(a_live_fabric_has_those_of_its_scenario),
		cmocka_unit_test(transports_run_side_by_side),
		cmocka_unit_test(an_entry_runs_as_if_hosts_had_its_transport),
		cmocka_unit_test(an_operation_has_one_of_the_fabric_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
