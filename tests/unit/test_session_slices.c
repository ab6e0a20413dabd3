/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slices of time do not change a run's files, and its capture is in the order of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/numbers.h"
#include "lib/session_files.h"

/* Equal delays and rates everywhere: much happens at one time at several ports. */
static const char *const worlds[] = {
	/* drops at many ports at one time, in bursts that end at different times */
	"name: t\n"
	"topology: {leaf_spine: {leaves: 4, spines: 2, hosts_per_leaf: 4}}\n"
	"switch: {buffer: {per_port: 20KB}, lldp: {every: 20us}, reroute: 10us}\n"
	"host: {transport: {strack: {congestion: off}}}\n"
	"workload: [{incast: {senders: 15, to: h0, message: 40KB}}, {permutation: {message: 60KB}}]\n"
	"faults: [{at: 10us, until: 60us, link: \"leaf*-spine0\", do: down},\n"
	"  {at: 20us, link: \"leaf*-spine1\", do: {loss: 5%}}]\n"
	"telemetry: {queues: 3us, ports: 2us, flows: 1us, imbalance: 5us}\n",
	/* pauses that begin and end at one time at several ports, and a host that never lets go */
	"name: t\n"
	"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 8}}\n"
	"host: {transport: {roce: {congestion: off}}}\n"
	"switch: {ecn: off, buffer: {per_port: 150KB}, pfc: {watchdog: 200us}}\n"
	"workload: [{incast: {senders: 15, to: h0, message: 100KB}}, {permutation: {message: 100KB}}]\n"
	"faults: [{at: 30us, until: 400us, host: h1, do: {pause: 0}}]\n"
	"telemetry: {queues: {every: 20us, above: 1us}, ports: 7us, flows: 9us}\n",
};

static void all_files_are_the_same(void **state)
{
	static const uint64_t slices[] = {SLICE_RANDOM, 333333, 1000000, 20000000};

	(void)state;
	for (size_t w = 0; w < COUNT(worlds); w++) {
		struct small_session s;
		char whole[SMALL_PATH];

		small_directory(whole);
		files_record(&s, worlds[w], NULL, 0, whole, false, SLICE_WHOLE);
		small_session_close(&s);
		files_assert_in_order(whole, 1000);
		for (size_t i = 0; i < COUNT(slices); i++) {
			char cut[SMALL_PATH];

			small_directory(cut);
			files_record(&s, worlds[w], NULL, 0, cut, false, slices[i]);
			small_session_close(&s);
			files_assert_same(whole, cut);
			small_directory_remove(cut);
		}
		small_directory_remove(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_files_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
