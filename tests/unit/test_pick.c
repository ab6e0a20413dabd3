/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Faults that pick: what they pick of what matches, what is told of it, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/json.h"
#include "base/rng_stream.h"
#include "fabric_fixture.h"
#include "report/fabric_report.h"
#include "scenario_fixture.h"
#include "sweep/plan.h"
#include "topology/pick.h"
#include "topology/targets.h"
#include "words_fixture.h"

/* 128 hosts in 8 pods of 16, each with 16 links to the cores. */
#define PAPER     NAMED "topology: {fat_tree: {k: 8}}\n"
#define UPLINKS   16
#define PODS      8
#define PICK(...) "faults: [{pick: " __VA_ARGS__ "}]\n"

/* A scenario, its fabric, and what its faults befall. */
struct world {
	struct scenario *s;
	struct fabric *f;
};

static struct world world(const char *text, const char *const *sets, size_t count)
{
	struct world w = {.s = load_sets(text, sets, count)};

	w.f = fixture_fabric(w.s);
	return w;
}

static void world_free(struct world *w)
{
	fabric_free(w->f);
	scenario_free(w->s);
}

/* A list that ends behind `count`. */
struct set {
	uint32_t *items;
	size_t count;
};

static struct set targets_of(const struct world *w, uint64_t seed, size_t fault)
{
	struct set t = {0};

	assert_int_equal(fault_targets(w->f, seed, &w->s->faults[fault], &t.items, &t.count), 0);
	for (size_t i = 1; i < t.count; i++)
		assert_true(t.items[i - 1] < t.items[i]);
	return t;
}

static bool holds(const struct set *t, uint32_t target)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i] == target)
			return true;
	return false;
}

static size_t common(const struct set *a, const struct set *b)
{
	size_t count = 0;

	for (size_t i = 0; i < b->count; i++)
		count += holds(a, b->items[i]);
	return count;
}

/* How many of them end at each pod's aggregation switches, by the names. */
static void assert_each_pod(const struct world *w, const struct set *t, size_t each)
{
	for (unsigned pod = 0; pod < PODS; pod++) {
		char glob[32];
		size_t count = 0;

		snprintf(glob, sizeof(glob), "agg%u.*-core*", pod);
		for (size_t i = 0; i < t->count; i++)
			count += fabric_link_matches(w->f, t->items[i], glob);
		assert_int_equal(count, each);
	}
	assert_int_equal(t->count, PODS * each);
}

static void each_pod_has_as_many(void **state)
{
	uint64_t dice = rng_mix(7);

	(void)state;
	for (unsigned i = 0; i < 24; i++) {
		uint32_t count = rng_below(&dice, UPLINKS + 1);
		char text[256];
		struct world w;
		struct set t;

		snprintf(text, sizeof(text),
			PAPER PICK("%u per pod, links: 'agg*core*', do: {rate: 10%%}"), count);
		w = world(text, NULL, 0);
		t = targets_of(&w, rng_take(&dice), 0);
		assert_each_pod(&w, &t, count);
		free(t.items);
		world_free(&w);
	}
}

/* Of 16 links the chance of the same two twice is 1 of 120, in 8 pods at once it is none. */
static void the_seed_chooses(void **state)
{
	struct world w = world(PAPER PICK("2 per pod, links: 'agg*-core*', do: down"), NULL, 0);
	uint32_t often[UPLINKS * PODS] = {0}, first = fixture_link(w.f, "agg0.0-core0");
	struct set last = targets_of(&w, 0, 0);

	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct set t = targets_of(&w, seed, 0), again = targets_of(&w, seed, 0);

		assert_int_equal(common(&t, &again), t.count);
		assert_int_equal(t.count, last.count);
		assert_true(common(&t, &last) < t.count);
		for (size_t i = 0; i < t.count; i++)
			often[t.items[i] - first]++;
		free(again.items);
		free(last.items);
		last = t;
	}
	/* each link in an eighth of the draws: 19, and 4 standard deviations of 4.1 */
	for (size_t l = 0; l < COUNT(often); l++)
		assert_in_range(often[l], 3, 35);
	free(last.items);
	world_free(&w);
}

static const char several[] =
	PAPER "faults:\n"
	      "  - {pick: 2 per pod, link: 'agg*-core*', do: {rate: 10%}}\n"
	      "  - {pick: 2 per pod, link: 'agg*-core*', do: {loss: 1%}}\n"
	      "  - {pick: 5 per pod, link: 'agg*-core*', do: {delay: 1us}}\n"
	      "  - {pick: 3 per pod, skip: 2, link: 'agg*-core*', do: {rate: 50%}}\n"
	      "  - {pick: 5 per pod, link: 'core*-agg*', do: {errors: 1e-9}}\n";

static void faults_with_one_pattern_draw_in_one_order(void **state)
{
	struct world w = world(several, NULL, 0);
	struct set t[5];

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++)
		t[i] = targets_of(&w, w.s->seed, i);
	assert_int_equal(common(&t[0], &t[1]), 2 * PODS); /* the same */
	assert_int_equal(common(&t[2], &t[0]), 2 * PODS); /* and more */
	assert_int_equal(common(&t[3], &t[0]), 0);        /* the next */
	assert_int_equal(common(&t[2], &t[3]), 3 * PODS);
	assert_true(common(&t[4], &t[2]) < 4 * PODS); /* a draw of its own: 1.6 a pod */
	assert_each_pod(&w, &t[3], 3);
	for (size_t i = 0; i < COUNT(t); i++)
		free(t[i].items);
	world_free(&w);
}

/* How many a fault of that scenario befalls, each of which matches the pattern. */
static void assert_befalls(const char *text, const char *pattern, size_t count)
{
	struct world w = world(text, NULL, 0);
	struct set t = targets_of(&w, 1, 0);

	assert_int_equal(t.count, count);
	for (size_t i = 0; i < t.count; i++)
		assert_true(w.s->faults[0].on == TARGET_LINK
				    ? fabric_link_matches(w.f, t.items[i], pattern)
				    : fabric_node_matches(w.f, t.items[i], pattern));
	free(t.items);
	world_free(&w);
}

#define LEAVES NAMED "topology: {leaf_spine: {leaves: 4, spines: 4, hosts_per_leaf: 3}}\n"
#define LISTED                                                                                     \
	NAMED "topology: {custom: {hosts: [a, b, c, d], switches: [l, m, s, t],"                   \
	      " links: [a-l, b-l, c-m, d-m, l-s, l-t, m-s, m-t]}}\n"

static void groups_are_those_of_the_topology(void **state)
{
	(void)state;
	assert_befalls(PAPER PICK("3, links: 'agg*-core*', do: down"), "agg*-core*", 3);
	assert_befalls(PAPER PICK("1 per switch, links: 'agg*-core*', do: down"), "agg*-core*", 32);
	assert_befalls(PAPER PICK("1 per switch, links: 'h*', do: down"), "h*", 32);
	assert_befalls(PAPER PICK("2 per switch, links: 'agg[01].*-core*', do: down"),
		"agg[01].*-core*", 16);
	assert_befalls(PAPER PICK("1 per pod, switches: 'agg*', do: down"), "agg*", 8);
	assert_befalls(PAPER PICK("0 per pod, switches: 'agg*', do: down"), "", 0);
	assert_befalls(PAPER "switch: {pfc: on}\n" PICK("2 per pod, hosts: 'h*', do: {pause: 0}"),
		"h*", 16);
	assert_befalls(
		LEAVES PICK("2 per pod, links: 'leaf*-spine*', do: down"), "leaf*-spine*", 8);
	assert_befalls(LISTED PICK("1 per pod, links: '[lm]-[st]', do: down"), "[lm]-[st]", 2);
}

static void assert_refused(const char *text, const char *const *sets, size_t count,
	const char *message, unsigned line, unsigned column)
{
	struct scenario *s = load_sets(text, sets, count);
	struct diags d = DIAGS_INIT;
	struct fabric *f = NULL;

	assert_int_equal(fabric_new(&f, s, &d), -EINVAL);
	assert_int_equal(d.count, 1);
	assert_string_equal(d.items[0].text, message);
	assert_int_equal(d.items[0].pos.line, line);
	assert_int_equal(d.items[0].pos.column, column);
	diags_release(&d);
	scenario_free(s);
}

static void more_than_there_are_is_refused(void **state)
{
	static const char *const set = "faults.0.pick=17 per pod";

	(void)state;
	assert_refused(PAPER PICK("9 per pod, link: 'agg3.[12]-core*', do: down"), NULL, 0,
		"faults.0.pick: pod 3 has 8 links that match 'agg3.[12]-core*', fewer than 9; expected at most 8",
		3, 17);
	assert_refused(PAPER PICK("2 per pod, link: 'agg*-core*', do: down"), &set, 1,
		"faults.0.pick: pod 0 has 16 links that match 'agg*-core*', fewer than 17; expected at most 16",
		0, 0);
	assert_refused(PAPER PICK("3, skip: 14, switch: 'core*', do: down"), NULL, 0,
		"faults.0.pick: 'core*' matches 16 switches, fewer than 17 (14 skipped, 3 picked); expected at most 16",
		3, 17);
	assert_refused(LEAVES PICK("4 per switch, link: 'h*', do: down"), NULL, 0,
		"faults.0.pick: leaf0 has 3 links that match 'h*', fewer than 4; expected at most 3",
		3, 17);
	assert_refused(LEAVES PICK("1 per pod, switch: spine2, do: down"), NULL, 0,
		"faults.0.pick: 'spine2' matches spine2, which is in no pod; expected switches below the top tier",
		3, 17);
	assert_refused(NAMED
		"topology: {custom: {hosts: [a, b], switches: [s], links: [a-s, b-s]}}\n" PICK(
			"1 per pod, link: 'a*', do: down"),
		NULL, 0,
		"faults.0.pick: there are no pods, since the fabric has one tier of switches; pick so many in all, or per switch",
		3, 17);
	assert_refused(PAPER PICK("1, link: 'x*', do: down"), NULL, 0,
		"faults.0.link: 'x*' matches no link; links are called h0-tor0.0, tor0.0-agg0.0, agg0.0-core0",
		3, 10);
	assert_refused(PAPER "faults:\n"
			     "  - {pick: 16 per pod, link: 'agg*-core*', do: {rate: 10%}}\n"
			     "  - {pick: 1 per pod, link: 'agg*-core*', at: 1us, do: {rate: 50%}}\n"
			     "  - {pick: 1 per pod, link: 'agg*-core*', do: {delay: 1us}}\n",
		(const char *const[]){"faults.1.link=agg0.0-core0", "faults.1.pick=1"}, 2,
		"faults.1: this \"rate\" overlaps the one in line 4 on link agg0.0-core0 (that one: 0ps, for good); keep their times apart, or merge them",
		5, 5);
}

#define EXPECTED                                                                                   \
	"expected a number up to 1000000, in all or per pod or switch, such as 3 or 2 per pod"

static void mistakes_are_named(void **state)
{
	(void)state;
	expect(PAPER "faults:\n"
		     "  - {pick: 2 per leaf, link: a, do: down}\n"
		     "  - {pick: -1, link: a, do: down}\n"
		     "  - {pick: 1000001 per pod, link: a, do: down}\n"
		     "  - {pick: per pod, link: a, do: down}\n"
		     "  - {pick: [2], link: a, do: down}\n"
		     "  - {pick: 1 per switch, switch: a, do: down}\n"
		     "  - {skip: 1, link: a, do: down}\n"
		     "  - {pick: 1, skip: one, link: a, do: down}\n"
		     "  - {pick: 1, link: a, links: b, do: down}\n"
		     "  - {links: a, until: 0us, do: down}\n",
		"4:12: faults.0.pick: " EXPECTED ", not '2 per leaf'\n"
		"5:12: faults.1.pick: " EXPECTED ", not '-1'\n"
		"6:12: faults.2.pick: " EXPECTED ", not '1000001 per pod'\n"
		"7:12: faults.3.pick: " EXPECTED ", not 'per pod'\n"
		"8:12: faults.4.pick: " EXPECTED ", not a list\n"
		"9:12: faults.5.pick: a switch has no other switches; expected a number in all or per pod\n"
		"10:12: faults.6.skip: nothing is picked; add pick, or leave skip out\n"
		"11:21: faults.7.skip: expected a whole number from 0 to 1000000, not 'one'\n"
		"12:31: faults.8.links: link and links exclude each other; keep one\n"
		"13:23: faults.9.until: 0us is not after the start at 0us\n");
}

/* Words of several are those of one, a whole run needs no times, and all of it is written. */
static void a_pick_is_written_and_read(void **state)
{
	static const char *const text =
		PAPER "faults:\n"
		      "  - {pick: 2 per pod, skip: 1, links: 'agg*core*', do: {rate: 10%}}\n"
		      "  - {pick: 3, switches: 'agg*', do: down}\n"
		      "  - {pick: 1 per switch, links: 'h*', at: 1us, do: down}\n"
		      "  - {link: 'h0-*', do: {loss: 1%}}\n";
	static const char *const lines =
		"  - {at: 0ps, until: never, pick: 2 per pod, skip: 1, link: \"agg*core*\", do: {rate: 10%}}\n"
		"  - {at: 0ps, until: never, pick: 3, skip: 0, switch: \"agg*\", do: down}\n"
		"  - {at: 1us, until: never, pick: 1 per switch, skip: 0, link: \"h*\", do: down}\n"
		"  - {at: 0ps, until: never, link: \"h0-*\", do: {loss: 1%}}\n";
	struct scenario *s = load(text), *again;
	char *written = write_text(s), *twice;

	(void)state;
	if (!strstr(written, lines))
		fail_msg("%s", written);
	again = load(written);
	twice = write_text(again);
	assert_string_equal(written, twice);
	assert_int_equal(again->faults[1].on, TARGET_SWITCH);
	assert_int_equal(again->faults[0].pick.skip, 1);
	free(written);
	free(twice);
	scenario_free(s);
	scenario_free(again);
}

static void assert_words(const char *text, const char *same)
{
	struct fault_spec f = words_fault(text);
	char words[FAULT_WORDS];

	assert_int_equal(fault_words(&f, words, sizeof(words)), 0);
	assert_string_equal(words, same);
	fault_spec_release(&f);
}

static void words_pick_too(void **state)
{
	(void)state;
	assert_words("link agg*-core* pick 2 per pod rate 10% for 5ms",
		"link agg*-core* pick 2 per pod rate 10%");
	assert_words("link agg*-core* pick 2 per pod skip 3 flaky every 1us last 1ns",
		"link agg*-core* pick 2 per pod skip 3 flaky every 1us last 1ns");
	assert_words("switch agg* pick 3 skip 0 down", "switch agg* pick 3 down");
	words_expect("link a pick two down", "4: pick: " EXPECTED ", not 'two'\n");
	words_expect("link a pick 2 per rack down", "4: pick: " EXPECTED ", not '2 per rack'\n");
	words_expect("link a pick", "4: pick: has no value; " EXPECTED "\n");
	words_expect("link a pick 0 per pod down",
		"4: pick: nothing would happen; expected at least 1\n");
	words_expect("link a pick 1 skip x down",
		"6: skip: expected a whole number from 0 to 1000000, not 'x'\n");
	words_expect("switch a pick 1 per switch down",
		"4: pick: a switch has no other switches; expected a number in all or per pod\n");
	words_expect("link a skip 1 down",
		"3: 'skip' is not known; valid here: rate, delay, loss, gilbert, flaky, errors, down\n");
}

static void words_are_checked_against_the_fabric(void **state)
{
	struct world w = world(PAPER, NULL, 0);
	struct fault_spec fault = words_fault("link agg*-core* pick 16 per pod skip 1 down");
	struct diags d = DIAGS_INIT;

	(void)state;
	assert_int_equal(fabric_check_fault(w.f, &fault, &d), -EINVAL);
	assert_string_equal(d.items[0].text,
		"pick: pod 0 has 16 links that match 'agg*-core*', fewer than 17 (1 skipped, 16 picked); expected at most 16");
	diags_release(&d);
	fault.pick.skip = 0;
	assert_int_equal(fabric_check_fault(w.f, &fault, &d), 0);
	fault_spec_release(&fault);
	world_free(&w);
}

/* ---- what validate says */

/* An element of a list. */
static const json_t *nth(const json_t *r, const char *list, size_t i)
{
	return json_array_get(look(r, list), i);
}

static json_t *report(const struct world *w)
{
	struct report_load load_of_one = {.flows = 1,
		.bytes = 1,
		.packets = 1,
		.ideal_ps = 1,
		.kernel = {2, 1},
		.in_process = {1, 1}};
	json_t *r;

	load_of_one.dscps[0] = 1ull << w->s->host.data_dscp;
	r = fabric_report(w->f, w->s, &load_of_one);
	assert_non_null(r);
	return r;
}

#define ALL_TO_ALL "workload: [{collective: {op: all_to_all, algorithm: pairwise, size: 1MB}}]\n"

/* Equation 2 of "Load Balancing for AI Training Workloads", and the sets of its figures 4 and 5. */
static void the_paper_s_sets_are_feasible_or_not(void **state)
{
	static const struct {
		const char *pick, *rate; /* what is left */
		double left;
		bool bottleneck;
		const char *says;
	} sets[] = {
		{"2 per pod", "10%", 14.2, false,
			">= 16 x 112 / 14.2 = 126.197 on an uplink: no bottleneck; the same in 7 more pods\n"},
		{"3 per pod", "40%", 14.2, false, NULL},
		{"4 per pod", "55%", 14.2, false, NULL},
		{"6 per pod", "70%", 14.2, false, NULL},
		{"9 per pod", "80%", 14.2, false,
			">= 16 x 112 / 14.2 = 126.197 on an uplink: no bottleneck; the same in 7 more pods\n"},
		{"3 per pod", "10%", 13.3, true,
			"127 flows on a host's link < 16 x 112 / 13.3 = 134.737 on an uplink: a bottleneck; the same in 7 more pods\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(sets); i++) {
		char pick[64], rate[64], *text;
		const char *const set[] = {pick, rate};
		const json_t *failure, *pods;
		struct world w;
		size_t length;
		json_t *r;
		FILE *out;

		snprintf(pick, sizeof(pick), "faults.0.pick=%s", sets[i].pick);
		snprintf(rate, sizeof(rate), "faults.0.do.rate=%s", sets[i].rate);
		w = world(PAPER ALL_TO_ALL PICK("1, links: 'agg*-core*', do: {rate: 50%}"), set,
			COUNT(set));
		r = report(&w);
		failure = nth(r, "failures", 0);
		pods = look(failure, "pods");
		assert_int_equal(json_array_size(pods), PODS);
		for (size_t pod = 0; pod < PODS; pod++) {
			const json_t *p = json_array_get(pods, pod);

			assert_true(fabs(look_number(p, "uplinks_left") - sets[i].left) < 1e-9);
			assert_true(fabs(look_number(p, "flows_per_uplink") -
					    16 * 112 / sets[i].left) < 1e-6);
			assert_int_equal(json_is_true(look(p, "bottleneck")), sets[i].bottleneck);
		}
		assert_int_equal(json_is_true(look(failure, "bottleneck")), sets[i].bottleneck);
		out = open_memstream(&text, &length);
		fabric_report_print(r, out);
		fclose(out);
		if (sets[i].says && !strstr(text, sets[i].says))
			fail_msg("no '%s' in:\n%s", sets[i].says, text);
		free(text);
		json_decref(r);
		world_free(&w);
	}
}

/* What is told of a pick is what the fault befalls. */
static void what_is_picked_is_told(void **state)
{
	struct world w = world(several, NULL, 0);
	json_t *r = report(&w);
	char *text, line[256], name[LINK_NAME];
	const json_t *group, *picked, *failure;
	size_t i, n, length, next = 0;
	struct set t = targets_of(&w, w.s->seed, 3);
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(json_array_size(look(r, "picked")), 5);
	assert_int_equal(look_count(nth(r, "picked", 3), "fault"), 3);
	assert_int_equal(look_count(nth(r, "picked", 3), "skip"), 2);
	assert_string_equal(look_text(nth(r, "picked", 3), "pick"), "3 per pod");
	assert_string_equal(look_text(nth(r, "picked", 3), "pattern"), "agg*-core*");
	json_array_foreach(look(nth(r, "picked", 3), "groups"), i, group)
	{
		snprintf(line, sizeof(line), "pod %zu", i);
		assert_string_equal(look_text(group, "of"), line);
		assert_int_equal(look_count(group, "matching"), UPLINKS);
		json_array_foreach(look(group, "picked"), n, picked) assert_string_equal(
			json_string_value(picked), fabric_link_name(w.f, t.items[next++], name));
	}
	assert_int_equal(next, t.count);
	fabric_report_print(r, out);
	fclose(out);
	snprintf(line, sizeof(line), "  picked            fault 3, pod 7: 3 of 16 links: %s, ",
		fabric_link_name(w.f, t.items[t.count - 3], name));
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
	/* 0 and 3 at once, on different links: 16 - 2 x 0.9 - 3 x 0.5 */
	failure = nth(r, "failures", 0);
	assert_true(fabs(look_number(failure, "uplinks_left") - 12.7) < 1e-9);
	free(text);
	free(t.items);
	json_decref(r);
	world_free(&w);
}

/* A grid may have it, which is how a figure goes over the number of links that fail. */
static void sweeps_set_it(void **state)
{
	static const char text[] = PAPER PICK(
		"1, links: 'agg*-core*', do: down") "sweep:\n"
						    "  grid: [{key: faults.0.pick, values: [0 per pod, 3, 5 per pod]}]\n"
						    "  seeds: 1..2\n";
	static const size_t counts[] = {0, 0, 3, 3, 5 * PODS, 5 * PODS};
	struct scenario *s = load(text);
	struct error why = ERROR_INIT;
	struct set last = {0};
	struct sweep_plan *p;

	(void)state;
	assert_int_equal(sweep_plan_new(&p, s, &why), 0);
	assert_int_equal(p->count, COUNT(counts));
	for (size_t i = 0; i < p->count; i++) {
		char **settings = sweep_run_settings(p, &p->runs[i], NULL, 0);
		struct world w = world(text, (const char *const *)settings, 2);
		struct set t = targets_of(&w, w.s->seed, 0);

		assert_int_equal(t.count, counts[i]);
		if (i % 2 && t.count)
			assert_true(common(&t, &last) < t.count); /* another seed */
		free(last.items);
		last = t;
		world_free(&w);
		sweep_settings_free(settings);
	}
	free(last.items);
	sweep_plan_free(p);
	scenario_free(s);
}

/* Of all links some are in the same pod. */
static void pods_need_not_lose_the_same(void **state)
{
	struct world w = world(LEAVES PICK("3, links: 'leaf*-spine*', do: down"), NULL, 0);
	json_t *r = report(&w);
	const json_t *group = nth(nth(r, "picked", 0), "groups", 0), *pod;
	double lost = 0;
	size_t i;

	(void)state;
	assert_true(json_is_null(look(group, "of")));
	assert_int_equal(json_array_size(look(group, "picked")), 3);
	json_array_foreach(look(nth(r, "failures", 0), "pods"), i, pod) lost +=
		4 - look_number(pod, "uplinks_left");
	assert_true(fabs(lost - 3) < 1e-9);
	json_decref(r);
	world_free(&w);
}

static void who_picks_nothing_reads_as_before(void **state)
{
	struct world w =
		world(PAPER "faults: [{at: 0us, link: agg0.0-core0, do: down}]\n", NULL, 0);
	json_t *r = report(&w);

	(void)state;
	assert_null(look(r, "picked"));
	assert_null(look(nth(r, "failures", 0), "pods"));
	json_decref(r);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pod_has_as_many),
		cmocka_unit_test(the_seed_chooses),
		cmocka_unit_test(faults_with_one_pattern_draw_in_one_order),
		cmocka_unit_test(groups_are_those_of_the_topology),
		cmocka_unit_test(more_than_there_are_is_refused),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(a_pick_is_written_and_read),
		cmocka_unit_test(words_pick_too),
		cmocka_unit_test(words_are_checked_against_the_fabric),
		cmocka_unit_test(the_paper_s_sets_are_feasible_or_not),
		cmocka_unit_test(what_is_picked_is_told),
		cmocka_unit_test(sweeps_set_it),
		cmocka_unit_test(pods_need_not_lose_the_same),
		cmocka_unit_test(who_picks_nothing_reads_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
