/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fabric_fixture.h"
#include "scenario_fixture.h"
#include "report/fabric_report.h"
#include "topology/targets.h"
#include "topology/make_fabric.h"
#include "words_fixture.h"

/* What was said against something that is given to a fabric later; "": nothing. To be freed. */
static char *said(struct diags *d, int r)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(r, d->count ? -EINVAL : 0);
	for (size_t i = 0; i < d->count; i++)
		fprintf(out, "%s\n", d->items[i].text);
	fclose(out);
	diags_release(d);
	return text;
}

static void check_fault(const struct fabric *f, const char *words, const char *messages)
{
	struct fault_spec fault = words_fault(words);
	struct diags d = DIAGS_INIT;
	char *text = said(&d, fabric_check_fault(f, &fault, &d));

	assert_string_equal(text, messages);
	free(text);
	fault_spec_release(&fault);
}

static void faults_name_what_is_there(void **state)
{
	struct scenario *s =
		load(SMALL "switch: {pfc: on, classes: [{class: 0}, {class: 3, lossless: yes}]}\n");
	struct fabric *f = fixture_fabric(s);

	(void)state;
	check_fault(f, "link agg0.1-core2 down", "");
	check_fault(f, "link core2-agg0.1 loss 1%", "");
	check_fault(f, "link *-core? delay 1us", "");
	check_fault(f, "switch core* down", "");
	check_fault(f, "host h15 pause 3", "");
	check_fault(f, "link agg0.1-core2x down",
		"link: there is no link 'agg0.1-core2x'; did you mean 'agg0.1-core2'?\n");
	check_fault(f, "link x*y down",
		"link: 'x*y' matches no link; links are called h0-tor0.0, tor0.0-agg0.0, "
		"agg0.0-core0\n");
	check_fault(f, "switch h3 down", "switch: 'h3' is a host; expected a switch\n");
	check_fault(f, "switch core0x down",
		"switch: there is no switch 'core0x'; did you mean 'core0'?\n");
	check_fault(
		f, "host x* pause 3", "host: 'x*' matches no host; the 16 hosts are h0 to h15\n");
	check_fault(f, "host h0 pause 0",
		"pause: class 0 is not lossless, so that nobody heeds its pauses; expected one that "
		"is\n");
	fabric_free(f);
	scenario_free(s);
}

static void check_workloads(const struct fabric *f, const char *list, const char *messages)
{
	struct diags d = DIAGS_INIT;
	struct workload_spec *w = NULL;
	size_t count = 0;
	char *text;

	assert_int_equal(scenario_workloads(&w, &count, NULL, list, strlen(list), &d), 0);
	text = said(&d, fabric_check_workloads(f, w, count, &d));
	assert_string_equal(text, messages);
	free(text);
	for (size_t i = 0; i < count; i++)
		workload_spec_release(&w[i]);
	free(w);
}

static void workloads_name_what_is_there(void **state)
{
	struct scenario *s = load(SMALL);
	struct fabric *f = fixture_fabric(s);

	(void)state;
	check_workloads(f,
		"[{permutation: {message: 64GB}}, {incast: {senders: 15, to: h15, message: 1}}]",
		"");
	check_workloads(f,
		"[{permutation: {message: 1}}, {incast: {senders: 16, to: core0, message: 1}}]",
		"workload.1.incast.to: 'core0' is a switch; only hosts send and receive\n"
		"workload.1.incast.senders: 16; of the fabric's 16 hosts one receives, so at most 15\n");
	check_workloads(f, "[{pairs: {from: h0, to: h16, message: 1}}]",
		"workload.0.pairs.to: there is no host 'h16'; did you mean 'h1'?\n");
	check_workloads(f, "[{permutation: {message: 65GB}}]",
		"workload.0: message is too large; it has at most 2^24 packets, 64GB at an mtu of "
		"4096\n");
	check_workloads(f, "[{permutation: {message: 1, count: 1000000}}]",
		"workload: 16000000 operations up to here; at most 131072 (a live fabric stands still "
		"while it takes them in: start them by parts)\n");
	fabric_free(f);
	scenario_free(s);
}

static void check_external(const char *node, const char *messages)
{
	char text[256], *found;
	struct diags d = DIAGS_INIT;
	struct scenario *s;

	snprintf(text, sizeof(text), SMALL "external: {node: %s, bridge: br0}\n", node);
	s = load(text);
	found = said(&d, fabric_inspect(s, &d));
	assert_string_equal(found, messages);
	free(found);
	scenario_free(s);
}

static void an_external_node_is_a_host(void **state)
{
	(void)state;
	check_external("h15", "");
	check_external("h16", "external.node: there is no host 'h16'; did you mean 'h1'?\n");
	check_external("gw", "external.node: there is no host 'gw'; the 16 hosts are h0 to h15\n");
	check_external("core1", "external.node: 'core1' is a switch; only hosts join a bridge\n");
}

/* What `validate` tells of a scenario, as text for people or as JSON. */
static char *told(const char *text, bool json)
{
	static const struct report_load load_of_one = {.flows = 1,
		.bytes = 1,
		.packets = 1,
		.ideal_ps = 1,
		.kernel = {1, 1},
		.in_process = {1, 1}};
	struct scenario *s = load(text);
	struct fabric *f = fixture_fabric(s);
	json_t *report = fabric_report(f, s, &load_of_one);
	size_t length;
	char *ret;
	FILE *out;

	assert_non_null(report);
	if (json) {
		ret = json_dumps(report, JSON_COMPACT);
	} else {
		out = open_memstream(&ret, &length);
		fabric_report_print(report, out);
		fclose(out);
	}
	json_decref(report);
	fabric_free(f);
	scenario_free(s);
	return ret;
}

static void assert_told(const char *scenario, bool json, const char *const *parts, size_t count)
{
	char *text = told(scenario, json);

	for (size_t i = 0; i < count; i++)
		if (!strstr(text, parts[i]))
			fail_msg("no '%s' in:\n%s", parts[i], text);
	free(text);
}

static const char live[] =
	SMALL "clock: {wall: {slowdown: 2.5}}\n"
	      "switch: {classes: [{class: 0}, {class: 3, dscp: 26}]}\n"
	      "host: {stack: {classes: [{port: 5201, dscp: 26}, {cgroup: /bulk, dscp: 10}],\n"
	      "  ecn: on, ect: on, entropy: {flowlet: 50us}, queue: 64KB}}\n"
	      "external: {node: h3, bridge: br0, address: 192.0.2.1/24}\n";

static void what_is_set_is_told(void **state)
{
	static const char *const text[] = {
		"  clock             the wall's, slowdown 2.5\n",
		"  host stack        port 5201: DSCP 26, class 3\n",
		"  host stack        cgroup /bulk: DSCP 10, class 0\n",
		"TCP asks for ECN\n",
		"becomes ECT(0)\n",
		"a path a flowlet, which a gap of 50us begins; of IPv6 alone",
		"up to 64KB wait for the line\n",
		"  external          h3, on bridge br0, 192.0.2.1/24\n",
	};
	static const char *const json[] = {
		"\"clock\":{\"follows\":\"wall\",\"slowdown\":2.5}",
		"{\"port\":5201,\"cgroup\":null,\"dscp\":26,\"class\":3}",
		"{\"port\":null,\"cgroup\":\"/bulk\",\"dscp\":10,\"class\":0}",
		"\"ect\":true,\"ecn\":true,\"entropy\":\"flowlet\",\"flowlet_us\":50.0,\"queue_bytes\":65536}",
		"\"external\":{\"node\":\"h3\",\"bridge\":\"br0\",\"address\":\"192.0.2.1/24\",\"address6\":null}",
	};
	static const char *const packet[] = {
		"a path a packet; of IPv6 alone", "slowdown as this box"};
	static const char *const usual[] = {"\"clock\":{\"follows\":\"stepped\"}",
		"\"classes\":[],\"ect\":false,\"ecn\":false,\"entropy\":\"flow\",\"flowlet_us\":null",
		"\"external\":null"};

	(void)state;
	assert_told(live, false, text, COUNT(text));
	assert_told(live, true, json, COUNT(json));
	assert_told(SMALL "host: {stack: {entropy: packet}}\nclock: {wall: {slowdown: auto}}\n",
		false, packet, COUNT(packet));
	assert_told(SMALL, true, usual, COUNT(usual));
}

static void what_is_usual_is_not_told(void **state)
{
	char *text = told(SMALL, false);

	(void)state;
	assert_null(strstr(text, "clock"));
	assert_null(strstr(text, "stack"));
	assert_null(strstr(text, "external"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_name_what_is_there),
		cmocka_unit_test(workloads_name_what_is_there),
		cmocka_unit_test(an_external_node_is_a_host),
		cmocka_unit_test(what_is_set_is_told),
		cmocka_unit_test(what_is_usual_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
