/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Assembled transports in a scenario: what they need of the fabric, and what is said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/json.h"
#include "engine/internal.h"
#include "lib/small_session.h"
#include "scenario_fixture.h"
#include "topology/make_fabric.h"

#define LEAVES "topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}, mtu: 1024}\n"

/* ---- frames ---- */

/* Their headers are longer than strack's; of the entries' transports the longest counts. */
static void frames_have_room(void **state)
{
	static const char text[] = NAMED LEAVES
		"workload:\n"
		"  - {permutation: {message: 20KB}}\n"
		"  - {permutation: {message: 20KB}, transport: {assembled: {recovery: dupack}}}\n";
	static const char *const sets[] = {"host.ip=6", "host.payload=full"};

	(void)state;
	for (size_t count = 0; count <= COUNT(sets); count++) {
		struct small_session s;
		struct engine_stats stats;

		small_session_open(&s, text, sets, count, NULL);
		assert_int_equal(s.fabric->packet_bytes,
			14 + (count ? 40 : 20) + 8 + 12 + sizeof(struct assembled_data) + 1024 + 4);
		small_session_run(&s);
		engine_stats(session_engine(s.session), &stats);
		assert_int_equal(stats.corrupt, 0);
		small_session_close(&s);
	}
}

/* ---- times ---- */

/*
 * A code's symbols are all as long, and so are the first and the last packet: two of half the
 * message are sooner through two switches than a full one and one byte.
 */
static void no_message_beats_its_ideal_time(void **state)
{
	static const char text[] = NAMED LEAVES
		"host: {transport: {assembled: {control: {window: 1GB}, recovery: coding}}}\n"
		"workload: [{pairs: {from: [h0], to: [h3], message: 1025B}}]\n";
	struct engine_flow_result is;
	struct small_session s;

	(void)state;
	small_session_open(&s, text, NULL, 0, NULL);
	small_session_run(&s);
	engine_flow_result(session_engine(s.session), 0, &is);
	assert_true(is.finish_ps);
	assert_int_equal(is.finish_ps - is.flow.start_ps, is.flow.ideal_ps);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_have_room),
		cmocka_unit_test(no_message_beats_its_ideal_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
