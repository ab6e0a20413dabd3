/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DSCPs of workloads and of single flows: whose data has which, and by which class it goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "lib/small_session.h"
#include "workload_fixture.h"

#define LIST "dscp_list.csv"
#define HEAD                                                                                       \
	NAMED "topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 4}}\n"                \
	      "host: {dscp: {data: 8, control: 48}}\n"                                             \
	      "switch: {classes: [{class: 0, dscp: 8}, {class: 2, dscp: 16}, {class: 3, dscp: "    \
	      "[24, 25]}, {class: 7, dscp: 48}]}\n"

static void put(const char *text)
{
	FILE *out = fopen(LIST, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* What a line says counts before what the workload says, and that before what all hosts have. */
static const char workloads[] =
	HEAD "workload:\n"
	     "  - {flows: {file: " LIST "}, dscp: 24}\n"
	     "  - flows: {file: " LIST "}\n"
	     "  - {incast: {senders: 1, to: h3, message: 40KB}, dscp: 16}\n";
static const char lines[] = "src,dst,bytes,dscp\nh0,h1,40KB,25\nh0,h2,40KB,\n";
static const uint8_t dscps[] = {25, 24, 25, 8, 16};

/* Frames that a switch has taken in for a port, by the depth that its queue of a class had. */
static bool was_used(const struct small_session *s, uint32_t host, uint32_t class)
{
	const struct net *net = &s->fabric->net;
	uint32_t port = net->ports[net->nodes[host].first_port].peer;

	return engine_tables(session_engine(s->session))
		       ->queues[port * CLASSES + class]
		       .max_depth_bytes > 0;
}

static void flows_have_the_dscp_that_is_said(void **state)
{
	static const uint8_t used[3][3] = {{0, 0, 1}, {1, 0, 1}, {0, 1, 0}};
	struct small_session s;
	char folder[SMALL_PATH], *csv, *line;
	struct error why;
	json_t *summary;
	bool met;

	(void)state;
	put(lines);
	small_directory(folder);
	small_session_open(&s, workloads, NULL, 0, folder);
	small_session_run(&s);
	for (uint32_t i = 0; i < COUNT(dscps); i++) {
		struct engine_flow_wire wire;

		engine_flow_wire(session_engine(s.session), i, &wire);
		assert_int_equal(wire.dscp, dscps[i]);
	}
	for (uint32_t host = 1; host < 4; host++) {
		assert_int_equal(was_used(&s, host, 0), used[host - 1][0]);
		assert_int_equal(was_used(&s, host, 2), used[host - 1][1]);
		assert_int_equal(was_used(&s, host, 3), used[host - 1][2]);
	}
	summary = small_session_summary(&s, &met);
	assert_int_equal(session_write(s.session, summary, NULL, &why), 0);
	json_decref(summary);
	small_session_close(&s);
	csv = small_file(folder, "flows.csv");
	line = strchr(csv, '\n');
	for (uint32_t i = 0, id; i < COUNT(dscps); i++, line = strchr(line + 1, '\n')) {
		const char *cell = line + 1;

		assert_int_equal(sscanf(cell, "%u,", &id), 1);
		for (uint32_t column = 0; column < 20; column++)
			cell = strchr(cell, ',') + 1;
		assert_int_equal(atoi(cell), dscps[id]);
	}
	free(csv);
	small_directory_remove(folder);
}

static void classes_of_other_packets_are_refused(void **state)
{
	struct operations m;

	(void)state;
	refuses(SIXTEEN "  - {permutation: {message: 1}, dscp: 48}\n",
		"workload.0.dscp: DSCP 48 goes by class 7, that of answers alone; take another, or list the classes in switch.classes");
	refuses(SIXTEEN "  - {permutation: {message: 1}, dscp: 50}\nswitch: {trim: receiver}\n",
		"workload.0.dscp: DSCP 50 goes by class 6, that of trimmed headers; take another");
	put("src,dst,bytes,dscp\n0,1,5,49\n");
	refuses(SIXTEEN "  - flows: {file: " LIST "}\nswitch: {trim: receiver}\n",
		"workload.0.flows.file: " LIST
		" line 2: dscp: DSCP 49 goes by class 6, that of trimmed headers; take another");
	/* a file that names its classes may put data among answers */
	put("src,dst,bytes,dscp\n0,1,5,48\n");
	m = operations_of(HEAD "workload: [{flows: {file: " LIST "}, dscp: 48}]\n", 1);
	operations_release(&m);
}

static int remove_list(void **state)
{
	(void)state;
	unlink(LIST);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_have_the_dscp_that_is_said),
		cmocka_unit_test(classes_of_other_packets_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, remove_list);
}
