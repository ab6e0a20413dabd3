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
#include "session/timeline.h"

/* Two leaves and two spines; links: h0-leaf0, h1-leaf1, leaf0-spine0, leaf0-spine1, leaf1-... */
#define FABRIC                                                                                     \
	"name: t\n"                                                                                \
	"topology:\n"                                                                              \
	"  leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}\n"                                \
	"workload:\n"                                                                              \
	"  - pairs: {from: [h0], to: [h1], message: 100KB}\n"

struct wanted {
	uint64_t at_us;
	enum action_kind kind;
	uint32_t fault;     /* its place in the file */
	const char *target; /* NULL: none */
};

/* The number of the link or of the node of that name, whichever faults of the kind befall. */
static uint32_t target_named(const struct fabric *f, enum fault_target on, const char *name)
{
	uint32_t node = 0;

	for (uint32_t l = 0; on == TARGET_LINK && l < f->net.link_count; l++)
		if (fabric_link_matches(f, l, name))
			return l;
	if (on == TARGET_LINK || !fabric_find_node(f, name, &node))
		fail_msg("no target %s", name);
	return node;
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
		assert_int_equal(want[i].kind == ACTION_REROUTE, !want[i].target);
		if (want[i].target) {
			assert_int_equal(t.items[i].fault, want[i].fault);
			assert_int_equal(t.items[i].target,
				target_named(s.fabric, s.scenario->faults[want[i].fault].on,
					want[i].target));
		}
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
		{10, ACTION_BEGIN, 0, "leaf0-spine1"},
		{20, ACTION_REROUTE, 0, NULL},
		{50, ACTION_END, 0, "leaf0-spine1"},
		{60, ACTION_REROUTE, 0, NULL},
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
		{0, ACTION_BEGIN, 0, "leaf0-spine1"},
		{100, ACTION_REROUTE, 0, NULL},
	};

	(void)state;
	ASSERT_TIMELINE("faults:\n"
			"  - {at: 0us, link: spine1-leaf0, do: down}\n",
		want);
}

/* All links of a glob at once, and one reroute for all of them. */
static void one_reroute_for_one_moment(void **state)
{
	static const struct wanted want[] = {
		{10, ACTION_BEGIN, 0, "leaf1-spine0"},
		{10, ACTION_BEGIN, 1, "leaf0-spine0"},
		{10, ACTION_BEGIN, 1, "leaf0-spine1"},
		{15, ACTION_REROUTE, 0, NULL},
		{20, ACTION_END, 1, "leaf0-spine0"},
		{20, ACTION_END, 1, "leaf0-spine1"},
		{25, ACTION_REROUTE, 0, NULL},
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
		{10, ACTION_BEGIN, 2, "leaf0-spine0"},
		{10, ACTION_REROUTE, 0, NULL},
		{20, ACTION_END, 2, "leaf0-spine0"},
		{20, ACTION_BEGIN, 0, "leaf1-spine0"},
		{20, ACTION_BEGIN, 1, "leaf0-spine1"},
		{20, ACTION_REROUTE, 0, NULL},
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
		{10, ACTION_BEGIN, 1, "leaf0-spine0"},
		{10, ACTION_BEGIN, 3, "leaf0-spine1"},
		{15, ACTION_REROUTE, 0, NULL},
		{20, ACTION_END, 1, "leaf0-spine0"},
		{20, ACTION_END, 3, "leaf0-spine1"},
		{20, ACTION_BEGIN, 0, "leaf0-spine0"},
		{20, ACTION_BEGIN, 2, "leaf0-spine1"},
		{25, ACTION_REROUTE, 0, NULL},
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

#define LOSSLESS                                                                                   \
	"switch: {reroute: 5us, pfc: on, classes: [{class: 0}, {class: 3, lossless: yes}]}\n"

/* Each kind begins and ends; none but those that cut a link has routes follow. */
static void every_kind(void **state)
{
	static const struct {
		const char *target, *name, *deed;
		enum fault_kind kind;
		bool reroutes;
	} cases[] = {
		{"link", "leaf0-spine1", "down", FAULT_DOWN, true},
		{"link", "leaf0-spine1", "{rate: 25%}", FAULT_RATE, false},
		{"link", "leaf0-spine1", "{delay: 5us}", FAULT_DELAY, false},
		{"link", "leaf0-spine1", "{loss: 1%}", FAULT_LOSS, false},
		{"link", "leaf0-spine1", "{gilbert: {enter: 1%, leave: 9%}}", FAULT_GILBERT, false},
		{"link", "leaf0-spine1", "{flaky: {every: 9us, last: 1us}}", FAULT_FLAKY, false},
		{"link", "leaf0-spine1", "{errors: 1e-9}", FAULT_ERRORS, false},
		{"switch", "spine1", "down", FAULT_DOWN, true},
		{"host", "h1", "{pause: 3}", FAULT_PAUSE, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wanted cut[] = {
			{10, ACTION_BEGIN, 0, cases[i].name},
			{15, ACTION_REROUTE, 0, NULL},
			{30, ACTION_END, 0, cases[i].name},
			{35, ACTION_REROUTE, 0, NULL},
		};
		const struct wanted plain[] = {cut[0], cut[2]};
		struct small_session s;
		char text[1024];

		snprintf(text, sizeof(text),
			FABRIC LOSSLESS "faults:\n  - {at: 10us, until: 30us, %s: %s, do: %s}\n",
			cases[i].target, cases[i].name, cases[i].deed);
		small_session_load(&s, text, NULL, 0);
		assert_int_equal(s.scenario->faults[0].effect.kind, cases[i].kind);
		small_session_close(&s);
		assert_timeline(text, cases[i].reroutes ? cut : plain, cases[i].reroutes ? 4 : 2);
	}
}

/* A pattern that fits names of links, of switches and of hosts means those that the key says. */
static void patterns_keep_to_their_kind(void **state)
{
	struct small_session s;
	struct timeline t;
	size_t of[3] = {0};

	(void)state;
	small_session_load(&s,
		FABRIC LOSSLESS "faults:\n"
				"  - {at: 10us, link: \"*\", do: {loss: 1%}}\n"
				"  - {at: 10us, switch: \"*\", do: down}\n"
				"  - {at: 10us, host: \"*\", do: {pause: 3}}\n",
		NULL, 0);
	assert_int_equal(timeline_init(&t, s.scenario, s.fabric), 0);
	assert_int_equal(t.count, 6 + 4 + 2 + 1);
	assert_int_equal(t.items[t.count - 1].kind, ACTION_REROUTE);
	for (size_t i = 0; i + 1 < t.count; i++) {
		assert_int_equal(t.items[i].kind, ACTION_BEGIN);
		of[t.items[i].fault]++;
		assert_true(t.items[i].fault == 0 ||
			    (s.fabric->net.nodes[t.items[i].target].kind == NODE_SWITCH) ==
				    (t.items[i].fault == 1));
	}
	assert_int_equal(of[0], 6);
	assert_int_equal(of[1], 4);
	assert_int_equal(of[2], 2);
	timeline_release(&t);
	small_session_close(&s);
}

/* ---- what a session makes of it -------------------------------------------------------------- */

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

/* In its place among those that are still to come; none where it is already past. */
static void inserts_in_order(void **state)
{
	static const struct action later[] = {
		{40, ACTION_BEGIN, 0, 1},
		{10, ACTION_BEGIN, 0, 2}, /* due before what has been done: at once */
		{40, ACTION_END, 1, 3},   /* ends go first */
		{30, ACTION_REROUTE, 0, 0}, {30, ACTION_REROUTE, 0, 0}, /* once is enough */
		{30, ACTION_BEGIN, 2, 4}, {30, ACTION_BEGIN, 1, 5}, /* in the order of the faults */
		{UINT64_MAX, ACTION_END, 0, 6},                     /* never */
	};
	static const struct action want[] = {
		{20, ACTION_BEGIN, 7, 7},
		{10, ACTION_BEGIN, 0, 2},
		{30, ACTION_BEGIN, 1, 5},
		{30, ACTION_BEGIN, 2, 4},
		{30, ACTION_REROUTE, 0, 0},
		{40, ACTION_END, 1, 3},
		{40, ACTION_BEGIN, 0, 1},
	};
	struct small_session s;
	struct timeline t;

	(void)state;
	small_session_load(&s, FABRIC, NULL, 0);
	assert_int_equal(timeline_init(&t, s.scenario, s.fabric), 0);
	assert_int_equal(timeline_insert(&t, &want[0]), 0);
	assert_int_equal(timeline_next(&t), 20);
	t.next++;
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		assert_int_equal(timeline_insert(&t, &later[i]), 0);
	assert_int_equal(t.count, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < t.count; i++) {
		assert_int_equal(t.items[i].at_ps, want[i].at_ps);
		assert_int_equal(t.items[i].kind, want[i].kind);
		assert_int_equal(t.items[i].fault, want[i].fault);
		assert_int_equal(t.items[i].target, want[i].target);
	}
	timeline_release(&t);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_faults),
		cmocka_unit_test(down_and_up_with_their_reroutes),
		cmocka_unit_test(down_for_good),
		cmocka_unit_test(one_reroute_for_one_moment),
		cmocka_unit_test(reroute_comes_last),
		cmocka_unit_test(faults_that_meet),
		cmocka_unit_test(every_kind),
		cmocka_unit_test(patterns_keep_to_their_kind),
		cmocka_unit_test(reroute_at_once_loses_nothing),
		cmocka_unit_test(until_ends_the_run),
		cmocka_unit_test(default_end_waits_for_all),
		cmocka_unit_test(default_end_does_not_wrap),
		cmocka_unit_test(inserts_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
