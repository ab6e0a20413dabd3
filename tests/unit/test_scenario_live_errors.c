/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "scenario_fixture.h"

#define CLOCK(text)    SMALL "clock: " text "\n"
#define STACK(text)    SMALL "host: {stack: {" text "}}\n"
#define EXTERNAL(text) SMALL "external: {" text "}\n"

#define SLOWDOWN "expected a number from 0.001 to 1000000, or auto"

static void wrong_clocks_are_explained(void **state)
{
	(void)state;
	expect(CLOCK("steped"), "3:8: clock: 'steped' is not known; did you mean 'stepped'?\n");
	expect(CLOCK("[wall]"),
		"3:8: clock: expected stepped, wall or {wall: {slowdown: 10}}, not a list\n");
	expect(CLOCK("{}"), "3:8: clock: expected one of these keys: wall\n");
	expect(CLOCK("{wal: {}}"), "3:9: clock.wal: no such key; did you mean 'wall'?\n");
	expect(CLOCK("{wall: {slow: 1}}"),
		"3:16: clock.wall.slow: no such key; valid here: slowdown\n");
	expect(CLOCK("{wall: 3}"),
		"3:15: clock.wall: expected a mapping of these keys: slowdown, not '3'\n");
	expect(CLOCK("{wall: {slowdown: 0.0009}}"),
		"3:26: clock.wall.slowdown: 0.0009 is too small; " SLOWDOWN "\n");
	expect(CLOCK("{wall: {slowdown: -1}}"),
		"3:26: clock.wall.slowdown: -1 is too small; " SLOWDOWN "\n");
	expect(CLOCK("{wall: {slowdown: 1000001}}"),
		"3:26: clock.wall.slowdown: 1000001 is too large; " SLOWDOWN "\n");
	expect(CLOCK("{wall: {slowdown: slow}}"),
		"3:26: clock.wall.slowdown: " SLOWDOWN ", not 'slow'\n");
}

static void wrong_rules_are_explained(void **state)
{
	(void)state;
	expect(STACK("classes: {port: 1, dscp: 1}"),
		"3:25: host.stack.classes: expected a list of {port | cgroup, dscp}, not a mapping\n");
	expect(STACK("classes: [{port: 0, dscp: 64}, {port: 65536, dscp: -1}]"),
		"3:33: host.stack.classes.0.port: 0 is too small; expected a whole number from 1 to "
		"65535\n"
		"3:42: host.stack.classes.0.dscp: 64 is too large; expected a whole number from 0 to 63\n"
		"3:54: host.stack.classes.1.port: 65536 is too large; expected a whole number from 1 to "
		"65535\n"
		"3:67: host.stack.classes.1.dscp: -1 is negative; expected a whole number from 0 to 63\n");
	expect(STACK("classes: [{port: 1}, {dscp: 1}, {port: 2, cgroup: /a, dscp: 1}, 7]"),
		"3:26: host.stack.classes.0.dscp: missing; expected a whole number from 0 to 63\n"
		"3:37: host.stack.classes.1: expected one of these keys: port, cgroup\n"
		"3:66: host.stack.classes.2.cgroup: port and cgroup exclude each other; keep one\n"
		"3:80: host.stack.classes.3: expected a mapping of these keys: port, cgroup, dscp, not "
		"'7'\n");
	expect(STACK("classes: [{port: 1, dscp: 1}, {port: 2, dscp: 1}, {port: 1, dscp: 2}]"),
		"3:73: host.stack.classes.2.port: 1 again, as in rule 0; keep one\n");
	expect(STACK("classes: [{cgroup: /a, dscp: 1}, {cgroup: /a, dscp: 2}]"),
		"3:58: host.stack.classes.1.cgroup: /a again, as in rule 0; keep one\n");
	expect(STACK("classes: [{}, {}, {}, {}, {}, {}, {}, {}, {}]"),
		"3:25: host.stack.classes: 9 rules; expected at most 8\n");
}

static void wrong_cgroups_are_explained(void **state)
{
	static const char *const wrong[] = {"bulk", "/..", "/a/../b", "/a/.."};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char text[256], message[256];

		snprintf(text, sizeof(text), STACK("classes: [{cgroup: %s, dscp: 1}]"), wrong[i]);
		snprintf(message, sizeof(message),
			"3:35: host.stack.classes.0.cgroup: expected a path below the mount of "
			"cgroup2, '/' in front, such as /bulk, not '%s'\n",
			wrong[i]);
		expect(text, message);
	}
}

static void headers_class_is_for_headers(void **state)
{
	(void)state;
	expect(SMALL
		"switch: {trim: receiver}\nhost: {stack: {classes: [{port: 1, dscp: 0}, {port: 2, dscp: 49}]}}\n",
		"4:62: host.stack.classes.1.dscp: what has it would go by class 6, that of trimmed "
		"headers; expected a DSCP of another class\n");
}

static void wrong_stacks_are_explained(void **state)
{
	(void)state;
	expect(STACK("ect: maybe, ecn: 2, clases: []"),
		"3:21: host.stack.ect: 'maybe' is not known; valid here: off, on\n"
		"3:33: host.stack.ecn: '2' is not known; valid here: off, on\n"
		"3:36: host.stack.clases: no such key; did you mean 'classes'?\n");
	expect(STACK("entropy: flowlet"),
		"3:25: host.stack.entropy: expected flow, packet or {flowlet: 50us}, not 'flowlet'\n");
	expect(STACK("entropy: paket"),
		"3:25: host.stack.entropy: 'paket' is not known; did you mean 'packet'?\n");
	expect(STACK("entropy: [flow]"),
		"3:25: host.stack.entropy: expected flow, packet or {flowlet: 50us}, not a list\n");
	expect(STACK("entropy: {flow: 1us}"),
		"3:26: host.stack.entropy.flow: no such key; valid here: flowlet\n");
	expect(STACK("entropy: {flowlet: 0}"),
		"3:35: host.stack.entropy.flowlet: 0 is too small; expected a time from 1ns to 864000s, "
		"such as 1us\n");
	expect(STACK("queue: 0"),
		"3:23: host.stack.queue: 0 is too small; expected a size from 1B to 2GB, such as 2MB\n");
	expect(STACK("queue: 4095"),
		"3:23: host.stack.queue: 4095 is too small; it holds not even one packet (mtu 4096)\n");
}

static void wrong_bridges_are_explained(void **state)
{
	static const char *const wrong[] = {
		"sixteen-bytes.xy", "a/b", "a:b", ".", "..", "'a b'", "''"};

	(void)state;
	expect(SMALL "external: on\n",
		"3:11: external: expected off, or a mapping of these keys: node, bridge, address, address6, not "
		"'on'\n");
	expect(EXTERNAL("nod: gw"),
		"3:11: external.bridge: missing; expected the name of a bridge: 1 to 15 bytes without "
		"blanks, '/' and ':'\n"
		"3:12: external.nod: no such key; did you mean 'node'?\n");
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char text[256], message[256];
		const char *quoted = wrong[i][0] == '\'' ? "" : "'";

		snprintf(text, sizeof(text), EXTERNAL("node: gw, bridge: %s"), wrong[i]);
		snprintf(message, sizeof(message),
			"3:30: external.bridge: expected the name of a bridge: 1 to 15 bytes without "
			"blanks, '/' and ':', not %s%s%s\n",
			quoted, wrong[i], quoted);
		expect(text, message);
	}
}

static void expect_address(
	const char *address, const char *message, const char *address6, const char *message6)
{
	char text[256], messages[512];

	snprintf(text, sizeof(text),
		SMALL "external:\n  node: gw\n  bridge: br0\n  address: %s\n  address6: '%s'\n",
		address, address6);
	snprintf(messages, sizeof(messages),
		"6:12: external.address: %s\n7:13: external.address6: %s\n", message, message6);
	expect(text, messages);
}

static void wrong_addresses_are_explained(void **state)
{
	static const char *const wrong[][2] = {
		{"192.0.2.1", "2001:db8::1"},
		{"192.0.2.1/33", "2001:db8::1/129"},
		{"192.0.2.1/0", "2001:db8::1/0"},
		{"192.0.2.1/", "2001:db8::1/"},
		{"192.0.2.1/2x", "2001:db8::1/+4"},
		{"192.0.2/24", "2001:db8::g/64"},
		{"2001:db8::1/64", "192.0.2.1/24"},
		{"0.0.0.1/8", "::/64"},
		{"127.0.0.1/8", "::1/128"},
		{"224.0.0.1/24", "ff02::1/64"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char message[256], message6[256];

		snprintf(message, sizeof(message),
			"expected an IPv4 address of a host with a prefix length, such as 192.0.2.1/24, "
			"not '%s'",
			wrong[i][0]);
		snprintf(message6, sizeof(message6),
			"expected an IPv6 address of a host with a prefix length, such as "
			"2001:db8::1/64, not '%s'",
			wrong[i][1]);
		expect_address(wrong[i][0], message, wrong[i][1], message6);
	}
}

static void the_fabric_s_own_addresses_are_not_outside(void **state)
{
	static const char *const wrong[][2] = {
		{"10.1.2.3/24", "fd00:fab::7/64"},
		{"10.255.255.254/32", "fd00:fab::ffff:1/128"},
		{"11.0.0.1/7", "fd00:fab:0:1::1/63"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char message[256], message6[256];

		snprintf(message, sizeof(message),
			"%s overlaps 10.0.0.0/8, where the fabric's own hosts are; expected another "
			"network",
			wrong[i][0]);
		snprintf(message6, sizeof(message6),
			"%s overlaps fd00:fab::/64, where the fabric's own hosts are; expected another "
			"network",
			wrong[i][1]);
		expect_address(wrong[i][0], message, wrong[i][1], message6);
	}
}

static void neighbours_of_the_fabric_s_addresses_are_outside(void **state)
{
	struct scenario *s = load(EXTERNAL(
		"node: gw, bridge: b, address: 11.0.0.1/8, address6: 'fd00:fab:0:1::1/64'"));

	(void)state;
	scenario_free(s);
}

static void fidelity_needs_the_wall_clock(void **state)
{
	(void)state;
	expect(SMALL
		"expect: [{metric: hops, equals: 1}, {metric: fidelity.late_us.p99, at_most: 5}]\n",
		"3:46: expect.1.metric: fidelity.late_us.p99 is measured on the wall clock alone; add "
		"clock: wall, or leave it out\n");
	expect(SMALL "clock: wall\nexpect: [{metric: fidelity.late_us.p98, at_most: 5}]\n",
		"4:19: expect.0.metric: 'fidelity.late_us.p98' is no number of summary.json; did you mean "
		"'fidelity.late_us.p99'? 'fabricbed help metrics' lists them\n");
}

static void flowlets_need_a_slowdown(void **state)
{
	static const char *const fine[] = {"stepped", "wall", "{wall: {slowdown: 2}}"};
	char text[256];

	(void)state;
	expect(SMALL "clock: {wall: {slowdown: auto}}\nhost: {stack: {entropy: {flowlet: 50us}}}\n",
		"4:25: host.stack.entropy: flowlets need a slowdown that is known beforehand; give "
		"clock.wall.slowdown a number instead of auto\n");
	for (size_t i = 0; i < COUNT(fine); i++) {
		snprintf(text, sizeof(text),
			SMALL "clock: %s\nhost: {stack: {entropy: {flowlet: 50us}}}\n", fine[i]);
		scenario_free(load(text));
	}
}

/* ---- workloads of other files ---- */

static void expect_workloads(const char *text, const char *messages)
{
	struct diags d = DIAGS_INIT;
	struct workload_spec *untouched = (struct workload_spec *)&d, *w = untouched;
	size_t count = 77, length;
	char *found;
	FILE *out = open_memstream(&found, &length);

	assert_int_equal(scenario_workloads(&w, &count, NULL, text, strlen(text), &d), -EINVAL);
	assert_ptr_equal(w, untouched);
	assert_int_equal(count, 77);
	for (size_t i = 0; i < d.count; i++)
		fprintf(out, "%u:%u: %s\n", d.items[i].pos.line, d.items[i].pos.column,
			d.items[i].text);
	fclose(out);
	assert_string_equal(found, messages);
	free(found);
	diags_release(&d);
}

#define LIST "a list of workloads such as {permutation: {message: 2MB}}"

static void wrong_workload_files_are_explained(void **state)
{
	(void)state;
	expect_workloads("", "0:0: the file is empty; expected one with a workload\n");
	expect_workloads("workload: [", "2:1: not YAML: did not find expected node content while "
					"parsing a flow node\n");
	expect_workloads("name: a\n", "1:1: workload: missing; expected " LIST "\n");
	expect_workloads(
		"7\n", "1:1: expected a mapping with the key workload, or " LIST ", not '7'\n");
	expect_workloads("workload: 7\n", "1:11: workload: expected " LIST ", not '7'\n");
	expect_workloads("workload: []\n", "1:11: workload: empty; expected at least one entry\n");
	expect_workloads("[]\n", "1:1: workload: empty; expected at least one entry\n");
	expect_workloads("- pairs: {from: h0, to: h1, message: 1}\n"
			 "- permutation: {mesage: 2MB}\n",
		"2:17: workload.1.permutation.mesage: no such key; did you mean 'message'?\n");
	expect_workloads("workload: [{permutation: {message: 1}}]\nname: a\nname: b\n",
		"3:1: key 'name' again; line 2 has it already\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_clocks_are_explained),
		cmocka_unit_test(wrong_rules_are_explained),
		cmocka_unit_test(wrong_cgroups_are_explained),
		cmocka_unit_test(headers_class_is_for_headers),
		cmocka_unit_test(wrong_stacks_are_explained),
		cmocka_unit_test(wrong_bridges_are_explained),
		cmocka_unit_test(wrong_addresses_are_explained),
		cmocka_unit_test(the_fabric_s_own_addresses_are_not_outside),
		cmocka_unit_test(neighbours_of_the_fabric_s_addresses_are_outside),
		cmocka_unit_test(fidelity_needs_the_wall_clock),
		cmocka_unit_test(flowlets_need_a_slowdown),
		cmocka_unit_test(wrong_workload_files_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
