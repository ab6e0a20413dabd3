/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A scenario's faults as a list of actions; and what a session makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/units.h"
#include "lib/small_session.h"
#include "live/timeline.h"

#define NO_LINK UINT32_MAX

/* Two leaves and two spines; links: h0-leaf0, h1-leaf1, leaf0-spine0, leaf0-spine1, leaf1-... */
#define FABRIC                                                                                     \
	"name: t\n"                                                                                \
	"topology:\n"                                                                              \
	"  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}\n"                                \
	"  links:\n"                                                                               \
	"    - {match: \"leaf1-*\", rate: 40Gbps}\n"                                               \
	"workload:\n"                                                                              \
	"  - pairs: {from: [h0], to: [h1], message: 100KB}\n"

struct wanted {
	uint64_t at_us;
	enum action_kind kind;
	const char *link; /* NULL: none */
	uint64_t rate_bps;
};

static uint32_t link_named(const struct fabric *f, const char *name)
{
	for (uint32_t l = 0; l < f->net.link_count; l++)
		if (fabric_link_matches(f, l, name))
			return l;
	fail_msg("no link %s", name);
	return NO_LINK;
}

static void assert_timeline(const char *text, const struct wanted *want, size_t count)
{
	struct small_session s;
	struct timeline t;

	small_session_load(&s, text, NULL, 0);
	assert_int_equal(timeline_init(&t, s.scenario, s.fabric), 0);
	assert_int_equal(t.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(timeline_next(&t), want[i].at_us * PS_PER_US);
		assert_int_equal(t.items[i].at_ps, want[i].at_us * PS_PER_US);
		assert_int_equal(t.items[i].kind, want[i].kind);
		if (want[i].link)
			assert_int_equal(t.items[i].link, link_named(s.fabric, want[i].link));
		if (want[i].kind == ACTION_LINK_RATE)
			assert_int_equal(t.items[i].rate_bps, want[i].rate_bps);
		t.next++;
	}
	assert_int_equal(timeline_next(&t), UINT64_MAX);
	timeline_release(&t);
	assert_int_equal(timeline_next(&t), UINT64_MAX);
	timeline_release(&t);
	small_session_close(&s);
}

#define ASSERT_TIMELINE(text, want)                                                                \
	assert_timeline(FABRIC text, want, sizeof(want) / sizeof((want)[0]))

static void no_faults(void **state)
{
	(void)state;
	assert_timeline(FABRIC, NULL, 0);
}

static void down_and_up_with_their_reroutes(void **state)
{
	static const struct wanted want[] = {
		{10, ACTION_LINK_DOWN, "leaf0-spine1", 0},
		{20, ACTION_REROUTE, NULL, 0},
		{50, ACTION_LINK_UP, "leaf0-spine1", 0},
		{60, ACTION_REROUTE, NULL, 0},
	};

	(void)state;
	ASSERT_TIMELINE("switch: {reroute: 10us}\n"
			"faults:\n"
			"  - {at: 10us, until: 50us, link: leaf0-spine1, do: down}\n",
		want);
}

/* A link's name holds from either end, and what never ends has no end. */
static void down_for_good(void **state)
{
	static const struct wanted want[] = {
		{0, ACTION_LINK_DOWN, "leaf0-spine1", 0},
		{100, ACTION_REROUTE, NULL, 0},
	};

	(void)state;
	ASSERT_TIMELINE("faults:\n"
			"  - {at: 0us, link: spine1-leaf0, do: down}\n",
		want);
}

/* A share of each link's own rate, and back; routes do not care. */
static void rate_of_each_link(void **state)
{
	static const struct wanted want[] = {
		{5, ACTION_LINK_RATE, "leaf0-spine0", 25 * 1000000000ull},
		{5, ACTION_LINK_RATE, "leaf1-spine0", 10 * 1000000000ull},
		{9, ACTION_LINK_RATE, "leaf0-spine0", 100 * 1000000000ull},
		{9, ACTION_LINK_RATE, "leaf1-spine0", 40 * 1000000000ull},
	};

	(void)state;
	ASSERT_TIMELINE("faults:\n"
			"  - {at: 5us, until: 9us, link: \"leaf*-spine0\", do: {rate: 25%}}\n",
		want);
}

/* All links of a glob at once, and one reroute for all of them. */
static void one_reroute_for_one_moment(void **state)
{
	static const struct wanted want[] = {
		{10, ACTION_LINK_DOWN, "leaf0-spine0", 0},
		{10, ACTION_LINK_DOWN, "leaf0-spine1", 0},
		{10, ACTION_LINK_DOWN, "leaf1-spine0", 0},
		{15, ACTION_REROUTE, NULL, 0},
		{20, ACTION_LINK_UP, "leaf0-spine0", 0},
		{20, ACTION_LINK_UP, "leaf0-spine1", 0},
		{25, ACTION_REROUTE, NULL, 0},
	};

	(void)state;
	ASSERT_TIMELINE("switch: {reroute: 5us}\n"
			"faults:\n"
			"  - {at: 10us, link: leaf1-spine0, do: down}\n"
			"  - {at: 10us, until: 20us, link: \"leaf0-s*\", do: down}\n",
		want);
}

/* Without a delay the routes follow at once, but after all that changed at that time. */
static void reroute_comes_last(void **state)
{
	static const struct wanted want[] = {
		{10, ACTION_LINK_DOWN, "leaf0-spine0", 0},
		{10, ACTION_REROUTE, NULL, 0},
		{20, ACTION_LINK_UP, "leaf0-spine0", 0},
		{20, ACTION_LINK_DOWN, "leaf0-spine1", 0},
		{20, ACTION_LINK_RATE, "leaf1-spine0", 20 * 1000000000ull},
		{20, ACTION_REROUTE, NULL, 0},
	};

	(void)state;
	ASSERT_TIMELINE("switch: {reroute: 0us}\n"
			"faults:\n"
			"  - {at: 20us, link: leaf1-spine0, do: {rate: 50%}}\n"
			"  - {at: 20us, link: leaf0-spine1, do: down}\n"
			"  - {at: 10us, until: 20us, link: leaf0-spine0, do: down}\n",
		want);
}

/* One fault ends as the next begins: the link ends up as the later one has it. */
static void faults_that_meet(void **state)
{
	static const struct wanted want[] = {
		{10, ACTION_LINK_DOWN, "leaf0-spine0", 0},
		{10, ACTION_LINK_RATE, "leaf0-spine1", 50 * 1000000000ull},
		{15, ACTION_REROUTE, NULL, 0},
		{20, ACTION_LINK_UP, "leaf0-spine0", 0},
		{20, ACTION_LINK_DOWN, "leaf0-spine0", 0},
		{20, ACTION_LINK_RATE, "leaf0-spine1", 100 * 1000000000ull},
		{20, ACTION_LINK_RATE, "leaf0-spine1", 10 * 1000000000ull},
		{25, ACTION_REROUTE, NULL, 0},
	};

	(void)state;
	ASSERT_TIMELINE("switch: {reroute: 5us}\n"
			"faults:\n"
			"  - {at: 20us, link: leaf0-spine0, do: down}\n"
			"  - {at: 10us, until: 20us, link: leaf0-spine0, do: down}\n"
			"  - {at: 20us, link: leaf0-spine1, do: {rate: 10%}}\n"
			"  - {at: 10us, until: 20us, link: leaf0-spine1, do: {rate: 50%}}\n",
		want);
}

/* ---- what a session makes of it --------------------------------------------------------------- */

static struct engine_stats session_stats(const struct small_session *s)
{
	struct engine_stats stats;

	engine_stats(session_engine(s->session), &stats);
	return stats;
}

/* A link that is dead at 0 and rerouted at 0 carries nothing and loses nothing. */
static void reroute_at_once_loses_nothing(void **state)
{
	struct small_session s;
	struct engine_stats stats;

	(void)state;
	small_session_open(&s,
		FABRIC "switch: {reroute: 0us}\n"
		       "faults:\n"
		       "  - {at: 0us, link: leaf0-spine0, do: down}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	stats = session_stats(&s);
	assert_int_equal(stats.flows_done, 1);
	assert_int_equal(stats.dropped[DROP_LINK_DOWN], 0);
	assert_int_equal(stats.dropped[DROP_NO_ROUTE], 0);
	small_session_close(&s);
}

/* Cut off for good, a message never finishes; the run ends when the scenario says. */
static void until_ends_the_run(void **state)
{
	struct small_session s;

	(void)state;
	small_session_open(&s,
		FABRIC "until: 300us\n"
		       "faults:\n"
		       "  - {at: 1us, link: h1-leaf1, do: down}\n",
		NULL, 0, NULL);
	assert_int_equal(session_end(s.session), 300 * PS_PER_US);
	small_session_run(&s);
	assert_int_equal(engine_now(session_engine(s.session)), 300 * PS_PER_US);
	assert_int_equal(session_stats(&s).flows_done, 0);
	assert_int_not_equal(session_stats(&s).dropped[DROP_LINK_DOWN], 0);
	small_session_close(&s);
}

/* By itself a run waits for messages that wait for others, and for the timetable. */
static void default_end_waits_for_all(void **state)
{
	struct small_session s;

	(void)state;
	small_session_open(&s,
		"name: t\n"
		"topology:\n"
		"  leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
		"workload:\n"
		"  - pairs: {from: [h0], to: [h1], message: 1KB, repeat: 2000, gap: 50us}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	assert_int_equal(session_stats(&s).flows, 2000);
	assert_int_equal(session_stats(&s).flows_done, 2000);
	small_session_close(&s);
	small_session_open(&s,
		FABRIC "faults:\n"
		       "  - {at: 0us, until: 500ms, link: h1-leaf1, do: down}\n",
		NULL, 0, NULL);
	small_session_run(&s);
	assert_int_equal(session_stats(&s).flows_done, 1);
	small_session_close(&s);
}

/* Slow links and late ends: the sum of times does not wrap. */
static void default_end_does_not_wrap(void **state)
{
	struct small_session s;

	(void)state;
	small_session_open(&s,
		"name: t\n"
		"topology:\n"
		"  leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
		"  rate: 1Kbps\n"
		"switch: {buffer: {per_port: 100KB}, ecn: {kmin: 10KB, kmax: 20KB}}\n"
		"workload:\n"
		"  - pairs: {from: [h0], to: [h1], message: 100MB, repeat: 100, gap: 3600s}\n",
		NULL, 0, NULL);
	assert_true(session_end(s.session) > 1000000 * PS_PER_S);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_faults),
		cmocka_unit_test(down_and_up_with_their_reroutes),
		cmocka_unit_test(down_for_good),
		cmocka_unit_test(rate_of_each_link),
		cmocka_unit_test(one_reroute_for_one_moment),
		cmocka_unit_test(reroute_comes_last),
		cmocka_unit_test(faults_that_meet),
		cmocka_unit_test(reroute_at_once_loses_nothing),
		cmocka_unit_test(until_ends_the_run),
		cmocka_unit_test(default_end_waits_for_all),
		cmocka_unit_test(default_end_does_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
