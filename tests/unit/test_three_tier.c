/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Three tiers of any counts: their wiring, what follows from it, and counts that make none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/json.h"
#include "base/wiretime.h"
#include "fabric_fixture.h"
#include "lib/small_session.h"
#include "report/fabric_report.h"
#include "scenario_fixture.h"
#include "workload/strain.h"

#define GBPS 1000000000ull

/*
 * Of "SeqBalance", section 5: 16 cores, 20 aggregation switches, 20 ToRs with 16 servers each;
 * 400 Gbps between ToRs and aggregation switches, all else 100 Gbps, 1 us. Wired as HPCC's (Li et
 * al., SIGCOMM 2019, section 5.1), whose counts it has.
 */
#define PAPER                                                                                      \
	"  three_tier: {pods: 5, tors_per_pod: 4, aggs_per_pod: 4, cores: 16, hosts_per_tor: 16, tor_agg_rate: 400Gbps}\n"

static uint32_t count_tier(const struct fabric *f, uint32_t tier)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < f->net.node_count; i++)
		count += f->nodes[i].tier == tier;
	return count;
}

static void assert_links(const struct fabric *f, uint32_t lower, uint32_t count, uint64_t rate_bps)
{
	uint32_t found = 0;

	for (uint32_t l = 0; l < f->net.link_count; l++) {
		const struct net_port *port = &f->net.ports[f->links[l].a];

		if (f->nodes[port->node].tier != lower)
			continue;
		assert_int_equal(f->nodes[f->net.ports[port->peer].node].tier, lower + 1);
		assert_int_equal(port->rate_bps, rate_bps);
		assert_int_equal(port->delay_ps, 1000000);
		found++;
	}
	assert_int_equal(found, count);
}

static const json_t *row(const json_t *report, const char *array, size_t i)
{
	return json_array_get(json_object_get(report, array), i);
}

static void the_papers_fabric_is_as_it_says(void **state)
{
	static const struct report_load load_of_one = {.flows = 1,
		.bytes = 1,
		.packets = 1,
		.ideal_ps = 1,
		.kernel = {2, 1},
		.in_process = {1, 1},
		.dscps = {1}};
	struct scenario *s = load(NAMED "topology:\n" PAPER);
	struct fabric *f = fixture_fabric(s);
	json_t *r = fabric_report(f, s, &load_of_one);

	(void)state;
	assert_int_equal(count_tier(f, 0), 320);
	assert_int_equal(count_tier(f, 1), 20);
	assert_int_equal(count_tier(f, 2), 20);
	assert_int_equal(count_tier(f, 3), 16);
	assert_int_equal(f->net.link_count, 480);
	assert_links(f, 0, 320, 100 * GBPS);
	assert_links(f, 1, 80, 400 * GBPS);
	assert_links(f, 2, 80, 100 * GBPS);
	/* 64 servers of a pod have 16 uplinks of it, their ToR's are as much as they */
	assert_true(look_number(row(r, "tiers", 0), "oversubscription") == 1);
	assert_true(look_number(row(r, "tiers", 1), "oversubscription") == 4);
	assert_int_equal(look_count(row(r, "paths", 1), "most"), 4);
	assert_int_equal(look_count(row(r, "paths", 2), "least"), 16);
	assert_int_equal(look_count(row(r, "paths", 2), "most"), 16);
	assert_string_equal(look_text(row(r, "paths", 2), "pairs"), "across pods");
	json_decref(r);
	fabric_free(f);
	scenario_free(s);
}

/* All of a pod to all of the next: four messages an uplink of it. */
static void the_papers_uplinks_are_the_busiest(void **state)
{
	enum { HOSTS = 64, PACKETS = 10 };
	struct scenario *s = load(NAMED "topology:\n" PAPER);
	struct fabric *f = fixture_fabric(s);
	const struct workload_frames frames = {.mtu = f->mtu,
		.transports[0].data_extension = sizeof(struct strack_data),
		.transports[0].answer_extension = sizeof(struct strack_sack)};
	struct operation list[HOSTS] = {{0}};
	const struct operations m = {.items = list, .count = HOSTS};
	uint64_t rate[480], delay[480], wire_ps = PACKETS * 4194ull * 80;
	const struct strain_links links = {rate, delay};
	struct workload_strain found;
	struct strain *x;

	(void)state;
	for (uint32_t i = 0; i < 480; i++) {
		rate[i] = f->net.ports[f->links[i].a].rate_bps;
		delay[i] = 1000000;
	}
	for (uint32_t i = 0; i < HOSTS; i++)
		list[i] = (struct operation){
			.src_host = i, .dst_host = HOSTS + i, .bytes = PACKETS * 4096};
	assert_int_equal(strain_new(&x, &f->net, &frames, &links), 0);
	assert_int_equal(strain_take(x, &m), 0);
	found = strain_found(x);
	strain_free(x);
	assert_int_equal(found.busiest_ps, 4 * wire_ps);
	assert_int_equal(found.alone_ps, wire_ps);
	/* the hosts' links, and all that there are between four ToRs and four more, 16 cores */
	assert_int_equal(found.links, 2 * (HOSTS + 16 + 16));
	fabric_free(f);
	scenario_free(s);
}

static struct scenario fixture_three_tier(struct three_tier o)
{
	struct scenario s = fixture_scenario(&topology_kind_three_tier);

	*(struct three_tier *)s.topology.options = o;
	return s;
}

static void assert_same(const struct fabric *f, const struct fabric *g)
{
	assert_int_equal(f->net.node_count, g->net.node_count);
	assert_int_equal(f->net.host_count, g->net.host_count);
	assert_int_equal(f->net.link_count, g->net.link_count);
	assert_int_equal(f->base_rtt_ps, g->base_rtt_ps);
	assert_int_equal(f->tier_count, g->tier_count);
	assert_memory_equal(f->nodes, g->nodes, g->net.node_count * sizeof(*g->nodes));
	assert_memory_equal(f->links, g->links, g->net.link_count * sizeof(*g->links));
	assert_memory_equal(&f->net.ports[PORT_FIRST], &g->net.ports[PORT_FIRST],
		g->net.port_count * sizeof(*g->net.ports));
}

static void a_fat_tree_is_one(void **state)
{
	(void)state;
	for (uint32_t k = 2; k <= 8; k += 2) {
		uint32_t half = k / 2;
		struct scenario tree = fixture_fat_tree(k);
		struct scenario tiers = fixture_three_tier(
			(struct three_tier){k, half, half, half * half, half, half, 1, 1, 0, 0});
		struct fabric *f = fixture_fabric(&tree), *g = fixture_fabric(&tiers);

		assert_same(g, f);
		fabric_free(f);
		fabric_free(g);
	}
}

/*
 * Spelt out as a custom fabric, of which nothing is known beforehand: every way is looked at for
 * the longest, and there is one between all hosts.
 */
static void it_is_the_custom_fabric_that_it_spells_out(void **state)
{
	static const struct three_tier cases[] = {
		{3, 2, 4, 4, 2, 4, 1, 1, 0, 0},
		{2, 3, 4, 6, 1, 2, 1, 1, 400 * GBPS, 0},
		{2, 1, 2, 3, 3, 1, 2, 1, 0, 10 * GBPS},
		{4, 2, 1, 2, 2, 1, 1, 3, 25 * GBPS, 40 * GBPS},
		{1, 3, 2, 2, 2, 2, 1, 1, 0, 0},
		{1, 1, 1, 1, 2, 1, 1, 1, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		static struct fixture_custom c;
		struct scenario tiers = fixture_three_tier(cases[i]), custom;
		char hosts[512] = "", switches[512] = "", links[3072] = "", name[LINK_NAME];
		struct fabric *f, *g;

		tiers.topology.host_rate_bps = 50 * GBPS;
		f = fixture_fabric(&tiers);
		for (uint32_t n = 0; n < f->net.node_count; n++)
			sprintf(strchr(n < f->net.host_count ? hosts : switches, 0), "%s ",
				f->nodes[n].name);
		for (uint32_t l = 0; l < f->net.link_count; l++) {
			fabric_link_name(f, l, name);
			*strchrnul(name, '#') = 0;
			sprintf(strchr(links, 0), "%s ", name);
		}
		memset(&c, 0, sizeof(c));
		custom = fixture_custom(&c, hosts, switches, links);
		for (uint32_t l = 0; l < f->net.link_count; l++)
			c.links[l].rate_bps = f->net.ports[f->links[l].a].rate_bps;
		g = fixture_fabric(&custom);
		assert_same(f, g);
		fabric_free(f);
		fabric_free(g);
	}
}

/* Aggregation switch and core share a plane, or have no link. */
static void planes_divide_the_cores(void **state)
{
	static const uint32_t planes[] = {1, 2, 4};

	(void)state;
	for (size_t i = 0; i < COUNT(planes); i++) {
		struct scenario s = fixture_three_tier(
			(struct three_tier){2, 2, 4, 8, 2, planes[i], 1, 2, 0, 0});
		struct fabric *f = fixture_fabric(&s);
		char name[LINK_NAME];

		for (uint32_t agg = 0; agg < 8; agg++)
			for (uint32_t core = 0; core < 8; core++)
				for (uint32_t n = 0; n < 3; n++) {
					bool there = agg % 4 % planes[i] == core * planes[i] / 8;

					snprintf(name, sizeof(name), "agg%u.%u-core%u#%u", agg / 4,
						agg % 4, core, n);
					assert_int_equal(fixture_link(f, name) != UINT32_MAX,
						there && n < 2);
				}
		fabric_free(f);
	}
}

#define UNEQUAL                                                                                    \
	"  three_tier: {pods: 3, tors_per_pod: 2, aggs_per_pod: 4, cores: 6, hosts_per_tor: 3, planes: 2, agg_core_links: 2, tor_agg_rate: 400Gbps, agg_core_rate: 40Gbps}\n"

static void every_host_reaches_every_other(void **state)
{
	struct engine_stats stats;
	struct small_session s;

	(void)state;
	small_session_open(&s,
		NAMED "topology:\n" UNEQUAL "workload: [{all_to_all: {message: 5000B}}]\n", NULL, 0,
		NULL);
	small_session_run(&s);
	engine_stats(session_engine(s.session), &stats);
	assert_int_equal(stats.flows, 18 * 17);
	assert_int_equal(stats.flows_done, stats.flows);
	small_session_close(&s);
}

/* One packet, link by link; and a permutation is no faster than its bound. */
static void ideal_times_have_each_tiers_rate(void **state)
{
	static const uint64_t gbps[] = {100, 400, 40, 40, 400, 100};
	uint64_t want = 0;
	struct small_session s;
	bool met;
	json_t *j;

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		want += serialise_ps(data_frame_bytes(4096, false), gbps[i] * GBPS) +
			serialise_ps(sack_frame_bytes(false), gbps[i] * GBPS) + 2000000;
	small_session_open(&s,
		NAMED "topology:\n" UNEQUAL
		      "workload: [{pairs: {from: h0, to: h17, message: 4096B}}]\n",
		NULL, 0, NULL);
	assert_int_equal(s.fabric->base_rtt_ps, want);
	small_session_run(&s);
	j = small_session_summary(&s, &met);
	assert_int_equal((uint64_t)(look_number(j, "ideal_us") * 1e6 + 0.5), want);
	assert_int_equal((uint64_t)(look_number(j, "flows.fct_us.max") * 1e6 + 0.5), want);
	json_decref(j);
	small_session_close(&s);
	small_session_open(&s,
		NAMED "topology:\n" UNEQUAL "workload: [{permutation: {message: 200KB}}]\n", NULL,
		0, NULL);
	small_session_run(&s);
	j = small_session_summary(&s, &met);
	assert_true(look_number(j, "slowdown") >= 1);
	assert_true(look_number(j, "flows.fct_us.max") >= look_number(j, "ideal_fabric_us"));
	json_decref(j);
	small_session_close(&s);
}

/* What a text has is what its scenario.yaml has. */
static void it_is_written_as_it_was_read(void **state)
{
	struct scenario *s = load(NAMED "topology:\n" UNEQUAL), *again;
	char *text = write_text(s), *twice;

	(void)state;
	again = load(text);
	twice = write_text(again);
	assert_string_equal(text, twice);
	assert_non_null(strstr(text, "planes: 2\n"));
	assert_non_null(strstr(text, "agg_core_rate: 40Gbps\n"));
	assert_memory_equal(
		s->topology.options, again->topology.options, sizeof(struct three_tier));
	free(text);
	free(twice);
	scenario_free(s);
	scenario_free(again);
}

static void counts_that_make_none_are_refused(void **state)
{
	static const struct {
		const char *counts, *message;
	} cases[] = {
		{"pods: 5, tors_per_pod: 4, aggs_per_pod: 4, cores: 14, hosts_per_tor: 16",
			"2:75: topology.three_tier.cores: 14 cores do not divide into 4 planes; the nearest numbers that do are 12 and 16\n"},
		{"pods: 5, tors_per_pod: 4, aggs_per_pod: 4, cores: 3, hosts_per_tor: 16",
			"2:75: topology.three_tier.cores: 3 cores do not divide into 4 planes; take 4, or fewer planes\n"},
		{"pods: 2, tors_per_pod: 1, aggs_per_pod: 6, cores: 4, hosts_per_tor: 1, planes: 4",
			"2:104: topology.three_tier.planes: the 6 aggregation switches of a pod do not divide into 4 planes; the nearest numbers that fit are 3 and 6\n"},
		{"pods: 2, tors_per_pod: 1, aggs_per_pod: 2, cores: 4, hosts_per_tor: 1, planes: 4",
			"2:104: topology.three_tier.planes: 4 planes for 2 aggregation switches in a pod; expected at most 2, one for each\n"},
		{"pods: 2, tors_per_pod: 1, aggs_per_pod: 2, cores: 4, hosts_per_tor: 4096",
			"2:24: topology.three_tier: 4098 ports of a ToR, 3 of an aggregation switch and 2 of a core; a switch has at most 4096\n"},
		{"pods: 4000, tors_per_pod: 100, aggs_per_pod: 1, cores: 1, hosts_per_tor: 2",
			"2:24: topology.three_tier: too large; 1204000 links have 2408000 ports, and the limit is 1048576\n"},
		{"pods: 1, tors_per_pod: 1, aggs_per_pod: 1, cores: 1, hosts_per_tor: 1",
			"2:24: topology.three_tier: one host has nobody to send to; at least two are needed\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[512];

		snprintf(text, sizeof(text), NAMED "topology: {three_tier: {%s}}\n",
			cases[i].counts);
		expect(text, cases[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_papers_fabric_is_as_it_says),
		cmocka_unit_test(the_papers_uplinks_are_the_busiest),
		cmocka_unit_test(a_fat_tree_is_one),
		cmocka_unit_test(it_is_the_custom_fabric_that_it_spells_out),
		cmocka_unit_test(planes_divide_the_cores),
		cmocka_unit_test(every_host_reaches_every_other),
		cmocka_unit_test(ideal_times_have_each_tiers_rate),
		cmocka_unit_test(it_is_written_as_it_was_read),
		cmocka_unit_test(counts_that_make_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
