/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scenario_fixture.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"
#include "transport/kind.h"
#include "transport/strack.h"
#include "workload/kind.h"

#define US   1000000ull
#define GBPS 1000000000ull
#define KB   1024ull
#define MB   (1024 * KB)

static const char full[] =
	"name: link-failure\n"
	"about: \"Umlauts \xc3\xa4, \\\"quotes\\\", a \\\\ and\\na line\"\n"
	"seed: 18446744073709551615\n"
	"clock: stepped\n"
	"topology:\n"
	"  leaf_spine: {leaves: 8, spines: 4, hosts_per_leaf: 16, links_per_pair: 2}\n"
	"  rate: 400Gbps\n"
	"  host_rate: 100 Gbps\n"
	"  delay: 1.5us\n"
	"  mtu: 1024\n"
	"  nics: 4\n"
	"  nics_to: rails\n"
	"  links:\n"
	"    - {match: 'leaf*-spine0*', rate: 50Gbps}\n"
	"    - {match: h0-leaf0, delay: 0.1ns}\n"
	"switch:\n"
	"  buffer: {per_port: 32KB}\n"
	"  ecn: {kmin: 7% BDP, kmax: 30KB, pmax: 0.1}\n"
	"  balance: ecmp\n"
	"  trim: off\n"
	"  pfc: no\n"
	"  reroute: 3us\n"
	"host:\n"
	"  transport:\n"
	"    strack: {paths: 64, spray: oblivious, sack_packets: 8, rto: 200us, window: 90% BDP,\n"
	"      bitmap_rtts: 0, target_delay: 6us}\n"
	"  payload: full\n"
	"  ip: 6\n"
	"workload:\n"
	"  - permutation: {message: 2MB, count: 4, start: 1us, repeat: 3, gap: 2us, same_nic: yes}\n"
	"  - incast: {senders: 32, to: h5, message: 1}\n"
	"  - pairs: {from: [h0, h1], to: [h15, h14], message: 16MB}\n"
	"  - {pairs: {from: h0, to: h1, message: 1KB}, dscp: 0}\n"
	"faults:\n"
	"  - {at: 20us, until: 80us, link: leaf0-spine1#0, do: down}\n"
	"  - {at: 90us, link: 'leaf*', do: {rate: 12.5%}}\n"
	"telemetry: {queues: 1us}\n"
	"until: 5ms\n"
	"expect:\n"
	"  - {metric: flows.fct_us.max, at_most: 400.25}\n"
	"  - {metric: packets.dropped.buffer, at_least: -1e-3}\n"
	"  - {metric: flows.unfinished, equals: 0}\n"
	"  - {metric: slowdown, at_most: 2, of: finished}\n"
	"  - {metric: flows.fct_us.p50, at_most: 2, of: all}\n";

static const char small[] = "name: a\n"
			    "topology:\n"
			    "  fat_tree: {k: 4}\n";

static bool is_quantity(struct quantity q, double value, enum quantity_unit unit)
{
	return q.value == value && q.unit == unit;
}

static void check_full_topology(const struct scenario *s)
{
	const struct topology_spec *t = &s->topology;
	const struct leaf_spine *o = t->options;

	assert_ptr_equal(topology_kinds[t->kind], &topology_kind_leaf_spine);
	assert_int_equal(o->leaves, 8);
	assert_int_equal(o->spines, 4);
	assert_int_equal(o->hosts_per_leaf, 16);
	assert_int_equal(o->links_per_pair, 2);
	assert_int_equal(t->rate_bps, 400 * GBPS);
	assert_int_equal(t->host_rate_bps, 100 * GBPS);
	assert_int_equal(t->delay_ps, 1500000);
	assert_int_equal(t->mtu, 1024);
	assert_int_equal(t->nics, 4);
	assert_int_equal(t->nics_to, NICS_TO_RAILS);
	assert_int_equal(t->override_count, 2);
	assert_string_equal(t->overrides[0].match, "leaf*-spine0*");
	assert_int_equal(t->overrides[0].rate_bps, 50 * GBPS);
	assert_true(t->overrides[0].delay_ps == UINT64_MAX);
	assert_string_equal(t->overrides[1].match, "h0-leaf0");
	assert_int_equal(t->overrides[1].rate_bps, 0);
	assert_int_equal(t->overrides[1].delay_ps, 100);
}

static void check_full_nodes(const struct scenario *s)
{
	const struct ecn_spec *ecn = &s->sw.classes[0].ecn;
	const struct strack_options *o = s->host.transport.options;

	assert_true(is_quantity(s->sw.buffer.per_port, 32 * KB, QUANTITY_BYTES));
	assert_true(is_quantity(ecn->kmin, 0.07, QUANTITY_BDP));
	assert_true(is_quantity(ecn->kmax, 30 * KB, QUANTITY_BYTES));
	assert_true(ecn->pmax == 0.1);
	assert_int_equal(s->sw.reroute_ps, 3 * US);
	assert_ptr_equal(transport_kinds[s->host.transport.kind], &transport_kind_strack);
	assert_int_equal(o->paths, 64);
	assert_int_equal(o->spray, STRACK_OBLIVIOUS);
	assert_int_equal(o->sack_packets, 8);
	assert_int_equal(o->rto_ps, 200 * US);
	assert_true(is_quantity(o->window, 0.9, QUANTITY_BDP));
	assert_int_equal(o->bitmap_rtts, 0);
	assert_int_equal(o->target_delay_ps, 6 * US);
	assert_int_equal(s->host.payload, PAYLOAD_FULL);
	assert_true(s->host.ip6);
}

static void check_full_workloads(const struct scenario *s)
{
	static const char *const written[] = {
		"- {permutation: {count: 4, message: 2MB, start: 1us, repeat: 3, gap: 2us, same_nic: yes}}",
		"- {incast: {senders: 32, to: h5, message: 1B, start: 0ps, repeat: 1, gap: 0ps, same_nic: no}}",
		"- {pairs: {from: [h0, h1], to: [h15, h14], message: ",
		"- {pairs: {from: [h0], to: [h1], message: 1KB, start: 0ps, repeat: 1, gap: 0ps}, dscp: 0}",
	};
	const struct workload_spec *w = s->workloads;
	char *text = write_text(s);

	assert_int_equal(s->workload_count, COUNT(written));
	for (size_t i = 0; i < COUNT(written); i++)
		if (!strstr(text, written[i]))
			fail_msg("no %s in\n%s", written[i], text);
	free(text);
	assert_ptr_equal(workload_kinds[w[0].kind], &workload_kind_permutation);
	assert_int_equal(w[0].options->bytes, 2 * MB);
	assert_int_equal(w[0].options->start_ps, US);
	assert_int_equal(((const struct workload_rounds *)w[0].options)->repeat, 3);
	assert_int_equal(((const struct workload_rounds *)w[0].options)->gap_ps, 2 * US);
	assert_int_equal(w[0].pos.line, 30);
}

static void check_full_rest(const struct scenario *s)
{
	assert_int_equal(s->fault_count, 2);
	assert_int_equal(s->faults[0].effect.kind, FAULT_DOWN);
	assert_string_equal(s->faults[0].target, "leaf0-spine1#0");
	assert_int_equal(s->faults[0].at_ps, 20 * US);
	assert_int_equal(s->faults[0].until_ps, 80 * US);
	assert_int_equal(s->faults[1].effect.kind, FAULT_RATE);
	assert_true(s->faults[1].effect.share == 0.125);
	assert_true(s->faults[1].until_ps == UINT64_MAX);
	assert_int_equal(s->faults[1].pos.line, 36);
	assert_int_equal(s->faults[1].pos.column, 5);
	assert_int_equal(s->series[SERIES_QUEUES].every_ps, US);
	assert_int_equal(s->until_ps, 5000 * US);
	assert_int_equal(s->expect_count, 5);
	assert_string_equal(s->expects[0].metric, "flows.fct_us.max");
	assert_int_equal(s->expects[0].bound, EXPECT_AT_MOST);
	assert_true(s->expects[0].value == 400.25);
	assert_int_equal(s->expects[1].bound, EXPECT_AT_LEAST);
	assert_true(s->expects[1].value == -1e-3);
	assert_int_equal(s->expects[2].bound, EXPECT_EQUALS);
	assert_true(s->expects[2].value == 0);
	assert_int_equal(s->expects[0].of, EXPECT_OF_ALL);
	assert_int_equal(s->expects[3].of, EXPECT_OF_FINISHED);
	assert_int_equal(s->expects[4].of, EXPECT_OF_ALL);
}

static void check_full(const struct scenario *s)
{
	assert_string_equal(s->path, "t.yaml");
	assert_string_equal(s->name, "link-failure");
	assert_string_equal(s->about, "Umlauts \xc3\xa4, \"quotes\", a \\ and\na line");
	assert_true(s->seed == UINT64_MAX);
	check_full_topology(s);
	check_full_nodes(s);
	check_full_workloads(s);
	check_full_rest(s);
}

static void every_field_is_read(void **state)
{
	struct scenario *s = load(full);

	(void)state;
	check_full(s);
	scenario_free(s);
}

static void marks_and_leading_zeros_mean_nothing(void **state)
{
	struct scenario *s = load("\xef\xbb\xbf" SMALL "seed: 010\n");

	(void)state;
	assert_string_equal(s->name, "a");
	assert_int_equal(s->seed, 10);
	scenario_free(s);
}

static void defaults_are_as_documented(void **state)
{
	struct scenario *s = load(small);
	const struct strack_options *o = s->host.transport.options;

	(void)state;
	assert_string_equal(s->about, "");
	assert_int_equal(s->seed, 1);
	assert_ptr_equal(topology_kinds[s->topology.kind], &topology_kind_fat_tree);
	assert_int_equal(((struct fat_tree *)s->topology.options)->k, 4);
	assert_int_equal(s->topology.rate_bps, 100 * GBPS);
	assert_int_equal(s->topology.host_rate_bps, 100 * GBPS);
	assert_int_equal(s->topology.delay_ps, US);
	assert_int_equal(s->topology.mtu, 4096);
	assert_int_equal(s->topology.nics, 1);
	assert_int_equal(s->topology.nics_to, NICS_TO_LEAF);
	assert_true(is_quantity(s->sw.buffer.per_port, 5, QUANTITY_BDP));
	assert_true(is_quantity(s->sw.classes[0].ecn.kmin, 0.25, QUANTITY_BDP));
	assert_true(is_quantity(s->sw.classes[0].ecn.kmax, 0.75, QUANTITY_BDP));
	assert_true(s->sw.classes[0].ecn.pmax == 1);
	assert_int_equal(s->sw.reroute_ps, 100 * US);
	assert_int_equal(o->paths, 256);
	assert_int_equal(o->spray, STRACK_ADAPTIVE);
	assert_int_equal(o->sack_packets, 1);
	assert_int_equal(o->rto_ps, 0);
	assert_int_equal(o->bitmap_rtts, 8);
	assert_int_equal(o->target_delay_ps, 0);
	assert_int_equal(s->host.payload, PAYLOAD_AUTO);
	assert_false(s->host.ip6);
	assert_int_equal(s->workload_count, 0);
	assert_int_equal(s->fault_count, 0);
	assert_int_equal(s->expect_count, 0);
	assert_int_equal(s->series[SERIES_QUEUES].every_ps, 0);
	assert_int_equal(s->until_ps, 0);
	scenario_free(s);
}

static void custom_links_have_three_spellings(void **state)
{
	static const char text[] = "name: c\n"
				   "topology:\n"
				   "  custom:\n"
				   "    hosts: [h0, \"null\"]\n"
				   "    switches: [s0.1]\n"
				   "    links:\n"
				   "      - h0-s0.1\n"
				   "      - [\"null\", s0.1]\n"
				   "      - {a: h0, b: s0.1, rate: 50Gbps, delay: 2us}\n";
	struct scenario *s = load(text), *again;
	char *written = write_text(s);
	const struct custom *t;

	(void)state;
	again = load(written);
	t = again->topology.options;
	assert_ptr_equal(topology_kinds[again->topology.kind], &topology_kind_custom);
	assert_int_equal(t->host_count, 2);
	assert_string_equal(t->hosts[1].name, "null");
	assert_string_equal(t->switches[0].name, "s0.1");
	assert_int_equal(t->link_count, 3);
	assert_string_equal(t->links[0].a, "h0");
	assert_string_equal(t->links[0].b, "s0.1");
	assert_int_equal(t->links[0].rate_bps, 0);
	assert_true(t->links[0].delay_ps == UINT64_MAX);
	assert_string_equal(t->links[1].a, "null");
	assert_int_equal(t->links[2].rate_bps, 50 * GBPS);
	assert_int_equal(t->links[2].delay_ps, 2 * US);
	t = s->topology.options;
	assert_int_equal(t->hosts[0].pos.line, 4);
	assert_int_equal(t->hosts[0].pos.column, 13);
	assert_int_equal(t->links[2].pos.line, 9);
	scenario_free(s);
	scenario_free(again);
	free(written);
}

static void ecn_off_stays_off(void **state)
{
	struct scenario *s = load("name: a\ntopology: {fat_tree: {k: 2}}\nswitch: {ecn: off}\n"),
			*again;
	char *written = write_text(s);

	(void)state;
	again = load(written);
	assert_true(again->sw.classes[0].ecn.kmin.value == 0 &&
		    again->sw.classes[0].ecn.kmax.value == 0);
	scenario_free(s);
	scenario_free(again);
	free(written);
}

static void what_is_written_reads_the_same(void **state)
{
	static const char *const texts[] = {full, small};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct scenario *s = load(texts[i]), *again;
		char *one = write_text(s), *two;

		again = load(one);
		two = write_text(again);
		assert_string_equal(one, two);
		if (!i) {
			/* places differ, of course */
			again->workloads[0].pos = s->workloads[0].pos;
			again->faults[1].pos = s->faults[1].pos;
			check_full(again);
		}
		scenario_free(s);
		scenario_free(again);
		free(one);
		free(two);
	}
}

/* The shares and numbers that binary floating point cannot hold come back as they were. */
static void fractions_survive_writing(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 1000; i += 7) {
		struct scenario *s, *again;
		char kmin[64], share[64], value[64], *written;
		const char *const sets[] = {kmin, share, value, "faults.0.link=a", "faults.0.at=0",
			"expect.0.metric=hops"};

		snprintf(kmin, sizeof(kmin), "switch.ecn.kmin=0.%03u0%u%% BDP", i, i);
		snprintf(share, sizeof(share), "faults.0.do.rate=%u.00%u%%", i % 99, i);
		snprintf(value, sizeof(value), "expect.0.equals=%u.%ue-7", i, i);
		s = load_sets(small, sets, COUNT(sets));
		written = write_text(s);
		again = load(written);
		assert_true(again->sw.classes[0].ecn.kmin.value == s->sw.classes[0].ecn.kmin.value);
		assert_true(again->faults[0].effect.share == s->faults[0].effect.share);
		assert_true(again->expects[0].value == s->expects[0].value);
		scenario_free(s);
		scenario_free(again);
		free(written);
	}
}

static void aliases_are_copies(void **state)
{
	struct scenario *s = load("name: a\n"
				  "topology: {fat_tree: {k: 4}}\n"
				  "workload:\n"
				  "  - &w {permutation: {message: &m 2MB}}\n"
				  "  - *w\n"
				  "  - incast: {senders: 3, message: *m}\n");

	(void)state;
	assert_int_equal(s->workload_count, 3);
	assert_int_equal(s->workloads[1].options->bytes, 2 * MB);
	assert_int_equal(s->workloads[2].options->bytes, 2 * MB);
	scenario_free(s);
}

static void overrides_reach_everything(void **state)
{
	static const char *const sets[] = {
		"name=other",
		"topology.rate=400Gbps",
		"switch.buffer.per_port=400KB",
		"switch.ecn.kmin=0",
		"host.transport.strack.paths=8",
		"workload.0.permutation.message=16MB",
		"workload.1={incast: {senders: 3, message: 1KB}}",
		"faults.0.at=1us",
		"faults.0.link=*-core*",
		"faults.0.do=down",
		"telemetry.queues=off",
		"about=\"a: b\"",
	};
	struct scenario *s = load_sets("name: a\n"
				       "topology: {fat_tree: {k: 4}, rate: 1Gbps}\n"
				       "switch: {ecn: off}\n"
				       "host: {transport: strack}\n"
				       "workload:\n"
				       "  - permutation: {message: 2MB}\n"
				       "faults:\n"
				       "telemetry: {queues: 1us}\n",
		sets, COUNT(sets));

	(void)state;
	assert_string_equal(s->name, "other");
	assert_string_equal(s->about, "a: b");
	assert_int_equal(s->topology.rate_bps, 400 * GBPS);
	assert_true(s->sw.buffer.per_port.value == 400 * KB);
	assert_true(
		s->sw.classes[0].ecn.kmin.value == 0 && s->sw.classes[0].ecn.kmax.value == 0.75);
	assert_int_equal(((const struct strack_options *)s->host.transport.options)->paths, 8);
	assert_int_equal(s->workload_count, 2);
	assert_int_equal(s->workloads[0].options->bytes, 16 * MB);
	assert_string_equal(s->faults[0].target, "*-core*");
	assert_int_equal(s->faults[0].pos.line, 0);
	assert_int_equal(s->series[SERIES_QUEUES].every_ps, 0);
	scenario_free(s);
}

/* A period stands for itself with defaults, and what more is given survives being written. */
static void series_are_a_period_and_more(void **state)
{
	struct scenario *s = load(SMALL
		"telemetry: {ports: 3us, queues: {every: 2us, match: \"tor*\", above: 1us}}\n");
	char *text = write_text(s);
	struct scenario *again = load(text);

	(void)state;
	assert_int_equal(s->series[SERIES_PORTS].every_ps, 3 * US);
	assert_string_equal(s->series[SERIES_PORTS].match, "*");
	assert_int_equal(s->series[SERIES_FLOWS].every_ps, 0);
	assert_int_equal(s->series[SERIES_IMBALANCE].every_ps, 0);
	assert_string_equal(again->series[SERIES_QUEUES].match, "tor*");
	assert_int_equal(again->series[SERIES_QUEUES].above.unit, QUANTITY_TIME);
	assert_true(again->series[SERIES_QUEUES].above.value == US);
	assert_int_equal(again->series[SERIES_PORTS].every_ps, 3 * US);
	free(text);
	scenario_free(s);
	scenario_free(again);
}

static void freeing_nothing_is_fine(void **state)
{
	(void)state;
	scenario_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_read),
		cmocka_unit_test(marks_and_leading_zeros_mean_nothing),
		cmocka_unit_test(defaults_are_as_documented),
		cmocka_unit_test(custom_links_have_three_spellings),
		cmocka_unit_test(ecn_off_stays_off),
		cmocka_unit_test(what_is_written_reads_the_same),
		cmocka_unit_test(fractions_survive_writing),
		cmocka_unit_test(aliases_are_copies),
		cmocka_unit_test(overrides_reach_everything),
		cmocka_unit_test(series_are_a_period_and_more),
		cmocka_unit_test(freeing_nothing_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
