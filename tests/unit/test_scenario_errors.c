/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "scenario_fixture.h"

static void wrong_topologies_are_explained(void **state)
{
	(void)state;
	expect(NAMED "topology:\n  fat_tree: {k: 5}\n",
		"3:17: topology.fat_tree.k: 5 is odd; a fat-tree needs an even number of ports (4, 6, 8, ...)\n");
	expect(NAMED "topology:\n  fat_tree: {k: 4000}\n",
		"3:17: topology.fat_tree.k: 4000 is too large; a fat-tree of k-port switches has 3k^3/2 "
		"ports, and the limit is 1048576 (k up to 88)\n");
	expect(NAMED "topology:\n  fat_tree: {k: -4}\n",
		"3:17: topology.fat_tree.k: -4 is negative; expected an even number of ports from 2 to 88\n");
	expect(NAMED "topology:\n  fat_tree: {k: 99999999999999999999}\n",
		"3:17: topology.fat_tree.k: 99999999999999999999 is too large; expected an even number of "
		"ports from 2 to 88\n");
	expect(NAMED "topology:\n  fat_tree: {k: }\n",
		"3:17: topology.fat_tree.k: has no value; expected an even number of ports from 2 to 88\n");
	expect(NAMED "topology:\n  fat_tree: {}\n",
		"3:13: topology.fat_tree.k: missing; expected an even number of ports from 2 to 88\n");
	expect(NAMED "topology:\n  fat_tre: {k: 4}\n",
		"3:3: topology.fat_tre: no such key; did you mean 'fat_tree'?\n");
	expect(NAMED "topology:\n  rate: 1Gbps\n",
		"3:3: topology: expected one of these keys: fat_tree, leaf_spine, three_tier, custom\n");
	expect(NAMED "topology:\n  fat_tree: {k: 4}\n  custom: {hosts: [a], links: []}\n",
		"4:11: topology.custom: fat_tree and custom exclude each other; keep one\n");
	expect(NAMED "topology: 4\n",
		"2:11: topology: expected a mapping of these keys: fat_tree, leaf_spine, three_tier, custom, rate, "
		"host_rate, delay, mtu, nics, nics_to, links, not '4'\n");
	expect(NAMED "topology:\n  leaf_spine: {leaves: 1024, spines: 512, hosts_per_leaf: 1}\n",
		"3:15: topology.leaf_spine: too large; 525312 links have 1050624 ports, and the limit is "
		"1048576\n");
}

static void wrong_links_are_explained(void **state)
{
	(void)state;
	expect(NAMED "topology:\n  fat_tree: {k: 4}\n  rate: 0\n  delay: 1\n  mtu: 63\n",
		"4:9: topology.rate: 0 is too small; expected a rate from 1Kbps to 10Tbps, such as 100Gbps\n"
		"5:10: topology.delay: expected a time up to 1s, such as 1us, not '1'\n"
		"6:8: topology.mtu: 63 is too small; expected a whole number from 64 to 65000\n");
	expect(NAMED "topology:\n  fat_tree: {k: 4}\n  links: [{match: a}, {rate: 1Gbps}]\n",
		"4:11: topology.links.0: changes nothing; expected a rate or a delay\n"
		"4:23: topology.links.1.match: missing; expected a pattern over link names such as "
		"agg*-core*\n");
	expect(NAMED
		"topology:\n  custom:\n    hosts: [h0, h0, h-1]\n    switches: [s]\n    links: [h0]\n",
		"4:21: topology.custom.hosts.2: expected the name of a node: at most 31 letters, digits, '.' "
		"and '_', a letter first, not 'h-1'\n"
		"6:13: topology.custom.links.0: expected a link: a-b, [a, b] or {a: , b: , rate: , delay: }, "
		"not 'h0'\n");
	expect(NAMED
		"topology:\n  custom:\n    hosts: [h0, h1]\n    switches: [h1, h0]\n    links: [h0-h0]\n",
		"5:16: topology.custom.switches.0: a second node 'h1'\n"
		"5:20: topology.custom.switches.1: a second node 'h0'\n"
		"6:13: topology.custom.links.0: links 'h0' to itself\n");
}

static void wrong_names_and_words_are_explained(void **state)
{
	(void)state;
	expect("name: Link\ntopology: {fat_tree: {k: 4}}\n",
		"1:7: name: expected 1 to 24 of a-z, 0-9 and '-', the first no '-', not 'Link'\n");
	expect("topology: {fat_tree: {k: 4}}\n",
		"1:1: name: missing; expected 1 to 24 of a-z, 0-9 and '-', the first no '-'\n");
	expect(SMALL "about: \"\\e[31m\"\n",
		"3:8: about: holds control characters or bytes that are no UTF-8; expected text\n");
	expect(SMALL "wurkload: []\n", "3:1: wurkload: no such key; did you mean 'workload'?\n");
	expect(SMALL "switch:\n  buffer: {pool: 1MB}\n",
		"4:12: switch.buffer.pool: no such key; valid here: per_port, shared, alpha, reserve\n");
	expect(SMALL "switch:\n  buffer: {per_port: 4095}\n",
		"4:22: switch.buffer.per_port: 4095 is too small; it holds not even one packet (mtu 4096)\n");
	expect(SMALL "switch:\n  ecn: {kmin: 80%, kmax: 20% bdp}\n",
		"4:15: switch.ecn.kmin: expected a size up to 2GB, such as 400KB, a share such as 25% BDP, or a "
		"time such as 2us, not '80%'\n");
	expect(SMALL "switch:\n  ecn: {kmin: 80% BDP, kmax: 20% BDP, pmax: 1.5}\n",
		"4:45: switch.ecn.pmax: 1.5 is too large; expected a number from 0 to 1\n");
	expect(SMALL "switch:\n  ecn: {kmin: 80KB, kmax: 20KB}\n",
		"4:15: switch.ecn.kmin: kmin is above kmax; expected marking to rise from kmin to kmax\n");
	expect(SMALL "host:\n  transport: {strack: {spray: adaptiv, paths: 1025}}\n  ip: 5\n",
		"4:31: host.transport.strack.spray: 'adaptiv' is not known; did you mean 'adaptive'?\n"
		"4:47: host.transport.strack.paths: 1025 is too large; expected a whole number from 1 to 1024\n"
		"5:7: host.ip: '5' is not known; valid here: 4, 6\n");
}

static void wrong_workloads_are_explained(void **state)
{
	(void)state;
	expect(SMALL "workload:\n  - permutation: {mesage: 2MB}\n",
		"4:19: workload.0.permutation.mesage: no such key; did you mean 'message'?\n");
	expect(SMALL "workload:\n  - permutation: {message: -2MB}\n",
		"4:28: workload.0.permutation.message: -2MB is negative; expected a size from 1B to 1TB, such as "
		"2MB\n");
	expect(SMALL
		"workload:\n  - permutation: {message: 65GB}\n  - permutation: {message: 64GB}\n",
		"4:28: workload.0.permutation.message: 65GB is too large; a message has at most 2^24 packets, "
		"64GB at an mtu of 4096\n");
	expect(SMALL
		"workload:\n  - incast: {senders: 0, message: 1}\n    permutation: {message: 1}\n",
		"4:23: workload.0.incast.senders: 0 is too small; expected a whole number from 1 to 1000000\n"
		"5:18: workload.0.permutation: permutation and incast exclude each other; keep one\n");
	expect(SMALL "workload:\n  - pairs: {from: [h0, h1], to: h0, message: 1}\n",
		"4:33: workload.0.pairs.to: 1 receivers for 2 senders; expected one for each, in the same order\n");
	expect(SMALL "workload:\n  - pairs: {from: [h0, h1], to: [h1, h1], message: 1}\n",
		"4:38: workload.0.pairs.to.1: 'h1' sends to itself\n");
	expect(SMALL "workload: {permutation: {message: 1}}\n",
		"3:11: workload: expected a list of workloads such as {permutation: {message: 2MB}}, not a "
		"mapping\n");
	expect(SMALL "workload:\n  - {incast: {senders: 1, message: 1}, dscp: 64}\n",
		"4:46: workload.0.dscp: 64 is too large; expected a whole number from 0 to 63\n");
	expect(SMALL "workload:\n  - dscp: 26\n",
		"4:5: workload.0: expected one of these keys: permutation, incast, pairs, all_to_all, collective, flows, goal, load, parameter_server\n");
	expect(SMALL "workload:\n  - 5\n  -\n",
		"4:5: workload.0: expected a mapping of these keys: permutation, incast, pairs, all_to_all, collective, flows, goal, load, parameter_server, dscp, transport, not '5'\n"
		"5:4: workload.1: expected one of these keys: permutation, incast, pairs, all_to_all, collective, flows, goal, load, parameter_server\n");
}

static void wrong_faults_are_explained(void **state)
{
	(void)state;
	expect(SMALL "faults:\n  - {at: 20us, until: 20us, link: a-b, do: down}\n",
		"4:23: faults.0.until: 20us is not after the start at 20us\n");
	expect(SMALL
		"faults:\n  - {at: 20us, link: a-b, do: {rate: 100%}}\n  - {at: 1us, link: a, do: up}\n",
		"4:38: faults.0.do.rate: 100% is too large; expected the share of the rate that is left, such "
		"as 25%\n"
		"5:28: faults.1.do: 'up' is not known; valid here: down\n");
}

static void wrong_expectations_are_explained(void **state)
{
	(void)state;
	expect(SMALL "expect:\n"
		     "  - {metric: flows.fct_us.maximum, at_most: 1}\n"
		     "  - {metric: packets.dropped.bufer, at_most: 1}\n"
		     "  - {metric: hops}\n"
		     "  - {metric: hops, at_most: 1, at_least: 1}\n"
		     "  - {metric: hops, equals: nan}\n"
		     "  - {metric: slowdown, at_most: 2, of: some}\n"
		     "  - {metric: flows.unfinished, at_most: 2, of: finished}\n"
		     "  - {metric: goodput, at_least: 1}\n"
		     "  - {metric: xyzzy, at_least: 1}\n"
		     "  - {metric: flows.slowdown.p99, at_most: 1}\n"
		     "  - {metric: flows.by_size.1MB.slowdown.p99, at_most: 1}\n",
		"4:14: expect.0.metric: 'flows.fct_us.maximum' is no number of summary.json; did you mean "
		"'flows.fct_us.max'? 'fabricbed help metrics' lists them\n"
		"5:14: expect.1.metric: 'packets.dropped.bufer' is no number of summary.json; did you mean "
		"'packets.dropped.buffer'? 'fabricbed help metrics' lists them\n"
		"6:5: expect.2: expected one of these keys: at_most, at_least, equals\n"
		"7:42: expect.3.at_least: at_most and at_least exclude each other; keep one\n"
		"8:28: expect.4.equals: expected a number, not 'nan'\n"
		"9:40: expect.5.of: 'some' is not known; valid here: all, finished\n"
		"10:48: expect.6.of: flows.unfinished is not of completion times; leave 'of' out\n"
		"11:14: expect.7.metric: 'goodput' is no number of summary.json; did you mean "
		"'flows.goodput_gbps'? 'fabricbed help metrics' lists them\n"
		"12:14: expect.8.metric: 'xyzzy' is no number of summary.json; 'fabricbed help metrics' "
		"lists them\n"
		"13:14: expect.9.metric: 'flows.slowdown.p99' is called flows.fct_slowdown.p99 now\n"
		"14:14: expect.10.metric: 'flows.by_size.1MB.slowdown.p99' is called "
		"flows.by_size.1MB.fct_slowdown.p99 now\n");
}

static void wrong_yaml_is_explained(void **state)
{
	(void)state;
	expect("", "0:0: the file is empty; expected a scenario\n");
	expect("\xef\xbb\xbf# only its mark\n",
		"0:0: holds no scenario, only comments or blanks\n");
	expect("\xef\xbb\xbf" SMALL "seed: -1\n",
		"3:7: seed: -1 is negative; expected a whole number from 0 to 18446744073709551615\n");
	expect("# nothing\n", "0:0: holds no scenario, only comments or blanks\n");
	expect("just text\n",
		"1:1: expected a mapping that starts with name: and topology:, not 'just text'\n");
	expect("name: [a\n",
		"2:1: not YAML: did not find expected ',' or ']' while parsing a flow sequence\n");
	expect(SMALL "---\n" SMALL, "4:1: a second document; a file holds one scenario\n");
	expect(SMALL "seed: 1\nabout: x\nseed: 2\n",
		"5:1: key 'seed' again; line 3 has it already\n");
	expect(SMALL "sead: 1\nsead: 2\n", "3:1: sead: no such key; did you mean 'seed'?\n"
					   "4:1: key 'sead' again; line 3 has it already\n");
	expect(SMALL "about: \xff\n",
		"3:8: not text that YAML allows: invalid leading UTF-8 octet\n");
	expect(SMALL "about: *none\n", "3:8: alias *none: no anchor &none before it\n");
	expect(SMALL "about: \"a\\0b\"\n", "3:8: a NUL character (\\0) inside a value\n");
	expect(SMALL "? [a]\n: 1\n", "3:3: a key must be a word\n");
	expect(SMALL "about: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n",
		"3:32: nested more than 24 deep\n");
	expect(SMALL "\"\\e[2J\": 1\n",
		"3:1: \\x1b[2J: no such key; valid here: name, about, seed, clock, "
		"topology, switch, host, external, workload, faults, telemetry, until, expect, compare, sweep\n");
}

static void wrong_series_are_explained(void **state)
{
	(void)state;
	expect(SMALL "telemetry: {ports: {match: \"tor*\"}}\n",
		"3:20: telemetry.ports.every: missing; expected a time from 1ns to 864000s, such as 1us\n");
	expect(SMALL "telemetry: {flows: 0.5ns}\n",
		"3:20: telemetry.flows: 0.5ns is too small; expected a time from 1ns to 864000s, such as 1us\n");
	expect(SMALL "telemetry: {flows: {every: 1us, match: h0}}\n",
		"3:33: telemetry.flows.match: no such key; valid here: every\n");
}

static void aliases_do_not_explode(void **state)
{
	char text[4096];
	size_t used = (size_t)sprintf(text, SMALL "faults:\n  - &a0 [x, x, x, x, x, x, x, x]\n");
	struct diags d = DIAGS_INIT;
	struct scenario *none = NULL;

	(void)state;
	for (unsigned i = 1; i < 12; i++)
		used += (size_t)sprintf(text + used,
			"  - &a%u [*a%u, *a%u, *a%u, *a%u, *a%u, *a%u, *a%u, *a%u]\n", i, i - 1,
			i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	assert_int_equal(scenario_load_text(&none, "t", text, used, NULL, 0, &d), -EINVAL);
	assert_int_equal(d.count, 1);
	assert_string_equal(d.items[0].text, "more than 524288 values, aliases counted");
	diags_release(&d);
}

static void ten_mistakes_are_ten_messages(void **state)
{
	(void)state;
	expect("nam: ten\n"
	       "seed: -1\n"
	       "topology:\n"
	       "  fat_tree: {k: 7}\n"
	       "  rate: 0Gbps\n"
	       "switch:\n"
	       "  ecn: {kmin: 2 BDP}\n"
	       "host: {transport: tcp}\n"
	       "workload:\n"
	       "  - incast: {sender: 8, message: 2MB}\n"
	       "faults:\n"
	       "  - {at: soon, link: a-b, do: down}\n"
	       "telemetry: on\n"
	       "expect:\n"
	       "  - {metric: flows.unfinished, equal: 0}\n",
		"1:1: nam: no such key; did you mean 'name'?\n"
		"2:7: seed: -1 is negative; expected a whole number from 0 to 18446744073709551615\n"
		"4:17: topology.fat_tree.k: 7 is odd; a fat-tree needs an even number of ports (4, 6, 8, "
		"...)\n"
		"5:9: topology.rate: 0Gbps is too small; expected a rate from 1Kbps to 10Tbps, such as 100Gbps\n"
		"7:15: switch.ecn.kmin: expected a size up to 2GB, such as 400KB, a share such as 25% BDP, or a "
		"time such as 2us, not '2 BDP'\n"
		"8:19: host.transport: 'tcp' is not known; valid here: strack, roce, assembled\n"
		"10:14: workload.0.incast.sender: no such key; did you mean 'senders'?\n"
		"12:10: faults.0.at: expected a time up to 2246400s, such as 1us, not 'soon'\n"
		"13:12: telemetry: expected a mapping of these keys: ports, flows, queues, imbalance, not 'on'\n"
		"15:32: expect.0.equal: no such key; did you mean 'equals'?\n");
}

static void wrong_overrides_are_named(void **state)
{
	static const char *const sets[] = {
		"nothing",
		"=1",
		"switch..ecn=off",
		"topology.fat_tree.k=6.5",
		"topology.mtu",
		"faults.1.at=1us",
		"workload.first.permutation.message=1",
		"host.payloads=full",
		"seed=[1",
		"topology.leaf_spine={leaves: 2, spines: 2, hosts_per_leaf: 2}",
		"about=\xc0\xaf",
		"name=a\xc3",
	};

	(void)state;
	expect_sets(SMALL "workload:\n  - permutation: {message: 0}\n", sets, COUNT(sets),
		"0:0: --set nothing: expected key.path=value, such as switch.buffer.per_port=400KB\n"
		"0:0: --set =1: expected key.path=value, such as switch.buffer.per_port=400KB\n"
		"0:0: --set switch..ecn=off: expected key.path=value, such as switch.buffer.per_port=400KB\n"
		"0:0: --set topology.mtu: expected key.path=value, such as switch.buffer.per_port=400KB\n"
		"0:0: --set faults.1.at=1us: '1' in a list of 0; expected a number from 0 to 0 (0 appends)\n"
		"0:0: --set workload.first.permutation.message=1: 'first' in a list of 1; expected a number "
		"from 0 to 1 (1 appends)\n"
		"0:0: --set seed=[1: the value is not YAML: did not find expected ',' or ']' while parsing a "
		"flow sequence\n"
		"0:0: name: expected 1 to 24 of a-z, 0-9 and '-', the first no '-', not 'a\\xc3' (--set "
		"name=a\\xc3)\n"
		"0:0: about: holds control characters or bytes that are no UTF-8; expected text (--set "
		"about=\\xc0\\xaf)\n"
		"0:0: topology.fat_tree.k: expected an even number of ports from 2 to 88, not '6.5' (--set "
		"topology.fat_tree.k=6.5)\n"
		"0:0: topology.leaf_spine: fat_tree and leaf_spine exclude each other; keep one (--set "
		"topology.leaf_spine={leaves: 2, spines: 2, hosts_per_leaf: 2...)\n"
		"0:0: host.payloads: no such key; did you mean 'payload'? (--set host.payloads=full)\n"
		"4:28: workload.0.permutation.message: 0 is too small; expected a size from 1B to 1TB, such as "
		"2MB\n");
}

static void expect_file(const char *path, const char *message)
{
	struct diags d = DIAGS_INIT;
	struct scenario *s = NULL;

	assert_int_equal(scenario_load(&s, path, NULL, 0, &d), -EINVAL);
	assert_null(s);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.items[0].pos.line, 0);
	assert_string_equal(d.items[0].text, message);
	diags_release(&d);
}

/* A file of `size` bytes of comments, which are valid YAML, behind `head`. */
static void make_file(char path[32], const char *head, size_t size)
{
	static const char line[] = "# 3456789 123456\n";
	FILE *out;
	int fd;

	strcpy(path, "/tmp/scenario-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_non_null(out);
	fputs(head, out);
	for (size_t n = strlen(head); n < size; n += sizeof(line) - 1)
		fputs(line, out);
	assert_int_equal(fclose(out), 0);
}

static void files_are_read(void **state)
{
	struct diags d = DIAGS_INIT;
	struct scenario *s;
	char path[32];

	(void)state;
	make_file(path, SMALL, 0);
	assert_int_equal(scenario_load(&s, path, NULL, 0, &d), 0);
	assert_string_equal(s->path, path);
	assert_string_equal(s->name, "a");
	scenario_free(s);
	unlink(path);
	expect_file(path, "cannot open it: No such file or directory");
	expect_file("/tmp", "it is a directory; expected a scenario file");
	make_file(path, "", 0);
	expect_file(path, "the file is empty; expected a scenario");
	unlink(path);
	make_file(path, SMALL, 10 << 20);
	expect_file(path, "the file is larger than 1 MB; expected a scenario");
	unlink(path);
	diags_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_topologies_are_explained),
		cmocka_unit_test(wrong_links_are_explained),
		cmocka_unit_test(wrong_names_and_words_are_explained),
		cmocka_unit_test(wrong_workloads_are_explained),
		cmocka_unit_test(wrong_faults_are_explained),
		cmocka_unit_test(wrong_expectations_are_explained),
		cmocka_unit_test(wrong_yaml_is_explained),
		cmocka_unit_test(wrong_series_are_explained),
		cmocka_unit_test(aliases_do_not_explode),
		cmocka_unit_test(ten_mistakes_are_ten_messages),
		cmocka_unit_test(wrong_overrides_are_named),
		cmocka_unit_test(files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
