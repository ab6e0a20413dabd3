/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scenario_fixture.h"
#include "workload/kind.h"

#define US 1000000ull
#define MB (1024 * 1024)

/* Each text, loaded, and loaded again from what it is written as, passes the check. */
static void twice(const char *text, void (*check)(const struct scenario *s))
{
	struct scenario *s = load(text), *again;
	char *written = write_text(s);

	check(s);
	again = load(written);
	check(again);
	scenario_free(s);
	scenario_free(again);
	free(written);
}

static void check_defaults(const struct scenario *s)
{
	const struct stack_spec *stack = &s->host.stack;

	assert_false(s->clock.wall);
	assert_true(s->clock.slowdown == 0);
	assert_int_equal(stack->class_count, 0);
	assert_false(stack->ect);
	assert_false(stack->ecn);
	assert_int_equal(stack->entropy, ENTROPY_FLOW);
	assert_int_equal(stack->flowlet_ps, 0);
	assert_int_equal(stack->queue_bytes, MB);
	assert_null(s->external.node);
	assert_null(s->external.bridge);
	assert_null(s->external.address);
	assert_null(s->external.address6);
}

static void what_is_not_there_has_its_default(void **state)
{
	(void)state;
	twice(SMALL, check_defaults);
	twice(SMALL "clock: stepped\nhost: {stack: {classes: []}}\nexternal: off\n",
		check_defaults);
}

static void clocks_are_read_and_written(void **state)
{
	static const struct {
		const char *text;
		bool wall;
		double slowdown;
	} clocks[] = {
		{"clock: stepped", false, 0},
		{"clock: wall", true, 1},
		{"clock: {wall: }", true, 1},
		{"clock: {wall: {}}", true, 1},
		{"clock: {wall: {slowdown: 1}}", true, 1},
		{"clock: {wall: {slowdown: 0.001}}", true, 0.001},
		{"clock: {wall: {slowdown: 12.345678}}", true, 12.345678},
		{"clock: {wall: {slowdown: 1e6}}", true, 1e6},
		{"clock: {wall: {slowdown: auto}}", true, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(clocks); i++) {
		char text[256], *written;
		struct scenario *s;

		snprintf(text, sizeof(text), SMALL "%s\n", clocks[i].text);
		s = load(text);
		written = write_text(s);
		for (int n = 0; n < 2; n++) {
			assert_int_equal(s->clock.wall, clocks[i].wall);
			assert_true(s->clock.slowdown == clocks[i].slowdown);
			scenario_free(s);
			s = load(written);
		}
		scenario_free(s);
		free(written);
	}
}

static void check_stack(const struct scenario *s)
{
	const struct stack_spec *stack = &s->host.stack;

	assert_int_equal(stack->class_count, 3);
	assert_int_equal(stack->classes[0].port, 5201);
	assert_null(stack->classes[0].cgroup);
	assert_int_equal(stack->classes[0].dscp, 26);
	assert_int_equal(stack->classes[1].port, 0);
	assert_string_equal(stack->classes[1].cgroup, "/bulk/a..b/..c");
	assert_int_equal(stack->classes[1].dscp, 10);
	assert_int_equal(stack->classes[2].port, 65535);
	assert_int_equal(stack->classes[2].dscp, 63);
	assert_true(stack->ect);
	assert_true(stack->ecn);
	assert_int_equal(stack->entropy, ENTROPY_FLOWLET);
	assert_int_equal(stack->flowlet_ps, 50 * US);
	assert_int_equal(stack->queue_bytes, 2 * MB);
}

static void a_stack_is_read_and_written(void **state)
{
	(void)state;
	twice(SMALL "host:\n"
		    "  stack:\n"
		    "    classes: [{port: 5201, dscp: 26}, {cgroup: /bulk/a..b/..c, dscp: 10},\n"
		    "      {dscp: 63, port: 65535}]\n"
		    "    ect: on\n"
		    "    ecn: yes\n"
		    "    entropy: {flowlet: 50us}\n"
		    "    queue: 2MB\n",
		check_stack);
}

static void check_packet(const struct scenario *s)
{
	assert_int_equal(s->host.stack.entropy, ENTROPY_PACKET);
	assert_int_equal(s->host.stack.flowlet_ps, 0);
}

static void entropy_may_be_a_word(void **state)
{
	(void)state;
	twice(SMALL "host: {stack: {entropy: packet}}\n", check_packet);
	twice(SMALL "host: {stack: {entropy: flow}}\n", check_defaults);
}

static void check_external(const struct scenario *s)
{
	assert_string_equal(s->external.node, "h3");
	assert_string_equal(s->external.bridge, "br0.'x'");
	assert_string_equal(s->external.address, "192.0.2.1/24");
	assert_string_equal(s->external.address6, "2001:db8::1/64");
	assert_true(s->external.pos.line);
}

static void check_bare_external(const struct scenario *s)
{
	assert_string_equal(s->external.node, "gw");
	assert_string_equal(s->external.bridge, "fifteen-bytes.x");
	assert_null(s->external.address);
	assert_null(s->external.address6);
}

static void an_external_node_is_read_and_written(void **state)
{
	(void)state;
	twice(SMALL "external: {node: h3, bridge: \"br0.'x'\", address: 192.0.2.1/24,\n"
		    "  address6: '2001:db8::1/64'}\n",
		check_external);
	twice(SMALL "external: {node: gw, bridge: fifteen-bytes.x}\n", check_bare_external);
}

static void fidelity_is_expected_on_the_wall_clock(void **state)
{
	struct scenario *s = load(SMALL "clock: wall\n"
					"expect:\n"
					"  - {metric: fidelity.late_us.p50, at_most: 1}\n"
					"  - {metric: fidelity.late_us.p99, at_most: 1}\n"
					"  - {metric: fidelity.late_us.max, at_most: 1}\n"
					"  - {metric: fidelity.slipped_us, equals: 0}\n"
					"  - {metric: fidelity.lost, equals: 0}\n");

	(void)state;
	assert_int_equal(s->expect_count, 5);
	scenario_free(s);
}

/* ---- workloads of other files ---- */

static void check_two(const char *text)
{
	struct diags d = DIAGS_INIT;
	struct workload_spec *w = NULL;
	size_t count = 0;

	assert_int_equal(scenario_workloads(&w, &count, NULL, text, strlen(text), &d), 0);
	assert_int_equal(d.count, 0);
	assert_int_equal(count, 2);
	assert_ptr_equal(workload_kinds[w[0].kind], &workload_kind_permutation);
	assert_int_equal(w[0].options->bytes, 2 * MB);
	assert_ptr_equal(workload_kinds[w[1].kind], &workload_kind_pairs);
	for (size_t i = 0; i < count; i++)
		workload_spec_release(&w[i]);
	free(w);
	diags_release(&d);
}

#define TWO "[{permutation: {message: 2MB}}, {pairs: {from: h0, to: h1, message: 1KB}}]"

static void workloads_are_read_from_any_file(void **state)
{
	(void)state;
	check_two("workload: " TWO "\n");
	check_two(TWO);
	check_two("nonsense: [1, 2]\ntopology: 5\nworkload: " TWO "\nname: '-'\n");
	check_two("- permutation: {message: 2MB}\n- pairs: {from: h0, to: h1, message: 1KB}\n");
}

static void lists_grow(void **state)
{
	struct scenario *s = load(SMALL "faults: [{at: 1us, link: a, do: down}]\n");
	static const char *const words[] = {"link", "b", "delay", "3us"};
	struct diags d = DIAGS_INIT;
	struct workload_spec *w;
	struct fault_spec f;
	size_t count;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(scenario_fault_words(&f, words, COUNT(words), &d), 0);
		assert_int_equal(scenario_add_fault(s, &f), 0);
	}
	assert_int_equal(s->fault_count, 4);
	assert_string_equal(s->faults[0].target, "a");
	assert_string_equal(s->faults[3].target, "b");
	assert_int_equal(s->faults[3].effect.delay_ps, 3 * US);
	assert_int_equal(scenario_workloads(&w, &count, NULL, TWO, strlen(TWO), &d), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(scenario_add_workload(s, &w[i]), 0);
	free(w);
	assert_int_equal(s->workload_count, 2);
	assert_ptr_equal(workload_kinds[s->workloads[1].kind], &workload_kind_pairs);
	diags_release(&d);
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_there_has_its_default),
		cmocka_unit_test(clocks_are_read_and_written),
		cmocka_unit_test(a_stack_is_read_and_written),
		cmocka_unit_test(entropy_may_be_a_word),
		cmocka_unit_test(an_external_node_is_read_and_written),
		cmocka_unit_test(fidelity_is_expected_on_the_wall_clock),
		cmocka_unit_test(workloads_are_read_from_any_file),
		cmocka_unit_test(lists_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
