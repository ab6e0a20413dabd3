/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All-to-all: each pair once, and no host has more messages under way than its window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/units.h"
#include "lib/small_session.h"

#define HOSTS 12
#define PAIRS (HOSTS * (HOSTS - 1))

static const char scenario[] = "name: all-to-all\n"
			       "topology:\n"
			       "  leaf_spine: {leaves: 3, spines: 2, hosts_per_leaf: 4}\n"
			       "workload:\n"
			       "  - all_to_all: {message: 20KB, start: 3us}\n";

/* Runs it and copies the messages' results. Returns when the last one was delivered. */
static uint64_t run(const char *window, struct engine_flow_result ret[PAIRS])
{
	const char *sets[] = {window};
	struct small_session s;
	const struct engine *e;
	uint64_t last = 0;
	uint32_t n = 0;

	small_session_open(&s, scenario, sets, 1, NULL);
	assert_true(session_progress(s.session) == 0);
	small_session_run(&s);
	assert_true(session_progress(s.session) == 1);
	e = session_engine(s.session);
	assert_int_equal(engine_counts(e)->flows, PAIRS);
	assert_int_equal(engine_counts(e)->flows_done, PAIRS);
	for (uint32_t i = 0; i < engine_flow_count(e); i++) {
		struct engine_flow_result r;

		engine_flow_result(e, i, &r);
		if (!operation_is_message(&r.flow))
			continue;
		assert_true(n < PAIRS);
		ret[n++] = r;
		if (r.delivered_ps > last)
			last = r.delivered_ps;
	}
	assert_int_equal(n, PAIRS);
	small_session_close(&s);
	return last;
}

/* Messages under way at a host when number i of them begins. */
static uint32_t at_once(const struct engine_flow_result *r, uint32_t i, bool sender)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < PAIRS; k++) {
		uint64_t end = sender ? r[k].finish_ps : r[k].delivered_ps;
		bool same = sender ? r[k].flow.src_host == r[i].flow.src_host
				   : r[k].flow.dst_host == r[i].flow.dst_host;

		count += same && r[k].start_ps <= r[i].start_ps && r[i].start_ps < end;
	}
	return count;
}

static void each_pair_once(void **state)
{
	static struct engine_flow_result r[PAIRS];
	bool seen[HOSTS][HOSTS] = {{false}};

	(void)state;
	run("workload.0.all_to_all.window=off", r);
	for (uint32_t i = 0; i < PAIRS; i++) {
		assert_false(seen[r[i].flow.src_host][r[i].flow.dst_host]);
		seen[r[i].flow.src_host][r[i].flow.dst_host] = true;
		/* a packet of 4,096 bytes takes 0.3 us at 100 Gbps */
		assert_in_range(r[i].start_ps, 3 * PS_PER_US, 3 * PS_PER_US + 340000);
	}
	for (uint32_t i = 0; i < HOSTS; i++)
		assert_false(seen[i][i]);
}

static void no_more_than_the_window(void **state)
{
	static struct engine_flow_result r[PAIRS];
	uint64_t last = UINT64_MAX;

	(void)state;
	for (uint32_t window = 1; window <= 5; window += 2) {
		uint32_t most[2] = {0};
		char set[48];
		uint64_t took;

		snprintf(set, sizeof(set), "workload.0.all_to_all.window=%u", window);
		took = run(set, r);
		for (uint32_t i = 0; i < PAIRS; i++)
			for (int sender = 0; sender < 2; sender++) {
				uint32_t count = at_once(r, i, sender);

				if (count > most[sender])
					most[sender] = count;
			}
		assert_int_equal(most[0], window);
		assert_int_equal(most[1], window);
		/* waiting for each other costs them time */
		assert_true(took < last);
		last = took;
	}
}

/* As many as there are others are as many as one likes. */
static void a_wide_window_holds_nobody(void **state)
{
	static struct engine_flow_result wide[PAIRS], off[PAIRS];

	(void)state;
	run("workload.0.all_to_all.window=11", wide);
	run("workload.0.all_to_all.window=off", off);
	for (uint32_t i = 0; i < PAIRS; i++)
		assert_int_equal(wide[i].finish_ps, off[i].finish_ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_once),
		cmocka_unit_test(no_more_than_the_window),
		cmocka_unit_test(a_wide_window_holds_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
