/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* No run beats the bounds: random small messages over random fabrics, any order of packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "lib/small_session.h"

#define TEXT 2048

static double number(const json_t *summary, const char *key)
{
	return json_number_value(json_object_get(summary, key));
}

/* A fabric with several ways, its links alike or each with a rate and a delay of its own. */
static void put_topology(FILE *out, uint64_t *rng)
{
	static const char *const kinds[] = {"fat_tree: {k: 4}",
		"leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 2}",
		"leaf_spine: {leaves: 3, spines: 4, hosts_per_leaf: 2, links_per_pair: 2}"};
	uint32_t kind = (uint32_t)rng_below(rng, 3);

	fprintf(out, "name: t\nseed: %llu\ntopology:\n  %s\n  rate: %lluGbps\n  delay: %lluns\n",
		(unsigned long long)rng_below(rng, 1u << 30), kinds[kind],
		(unsigned long long)rng_below(rng, 400) + 1,
		(unsigned long long)rng_below(rng, 2000) + 1);
	fprintf(out, "  mtu: %llu\n", (unsigned long long)rng_below(rng, 5000) + 200);
	if (rng_below(rng, 2))
		return;
	fputs("  links:\n", out);
	for (int i = 0; i < 4; i++)
		fprintf(out, "  - {match: '%s', rate: %lluGbps, delay: %lluns}\n",
			kind ? (const char *[]){"leaf*-spine0*", "leaf1-*", "h1-*",
				       "leaf0-spine1*"}[i]
			     : (const char *[]){"agg*-core[12]", "tor*.0-agg*.1", "h15-*",
				       "agg0.1-*"}[i],
			(unsigned long long)rng_below(rng, 400) + 1,
			(unsigned long long)rng_below(rng, 2000) + 1);
}

static void put_rest(FILE *out, uint64_t *rng)
{
	static const char *const transports[] = {"{strack: {spray: oblivious}}",
		"{strack: {spray: oblivious, sack_packets: 1}}", "{strack: {spray: adaptive}}",
		"{roce: {qps_per_connection: 3, congestion: off}}", "{roce: {congestion: off}}"};
	uint64_t pairs = rng_below(rng, 4) ? 1 : 3;
	bool many = !rng_below(rng, 4);

	fprintf(out, "host: {ip: %d, transport: %s}\nworkload:\n", rng_below(rng, 2) ? 4 : 6,
		transports[rng_below(rng, 5)]);
	for (uint64_t i = 0; i < pairs; i++)
		fprintf(out, "  - pairs: {from: h%llu, to: h3, message: %llu, start: %lluns}\n",
			(unsigned long long)rng_below(rng, 3),
			(unsigned long long)rng_below(rng, 20000) + 1,
			(unsigned long long)rng_below(rng, 2000));
	if (many) /* more than the links between switches can carry as fast */
		fprintf(out, "  - permutation: {message: %llu, count: 3, start: %lluns}\n",
			(unsigned long long)rng_below(rng, 20000) + 1,
			(unsigned long long)rng_below(rng, 2000));
	fprintf(out, "switch: {ecn: off, buffer: {per_port: 10MB}, latency: %lluns}\n",
		(unsigned long long)(rng_below(rng, 2) ? rng_below(rng, 2000) : 0));
	if (rng_below(rng, 2))
		fputs("faults: [{at: 0, link: '*0-*1*', do: {rate: 20%}}]\n", out);
}

/* Prints the scenario of a run that is faster than it could be. */
static void check_run(uint64_t number_of_run)
{
	uint64_t rng = rng_stream(7, "bound", number_of_run);
	char text[TEXT];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct small_session s;
	double fct, ideal, fabric;
	bool met;
	json_t *j;

	put_topology(out, &rng);
	put_rest(out, &rng);
	assert_true(ftell(out) < TEXT - 1);
	fclose(out);
	small_session_open(&s, text, NULL, 0, NULL);
	small_session_run(&s);
	j = small_session_summary(&s, &met);
	ideal = number(j, "ideal_us");
	fct = number(json_object_get(json_object_get(j, "flows"), "fct_us"), "max");
	fabric = number(j, "ideal_fabric_us");
	/* of numbers with a fraction of 10^-6 */
	if (!(fct >= ideal - 1e-7 && fct >= fabric - 1e-7 && fabric >= ideal))
		fail_msg("%s\ntook %.6f us, less than the bounds of %.6f and %.6f us", text, fct,
			ideal, fabric);
	json_decref(j);
	small_session_close(&s);
}

static void nothing_beats_the_bound(void **state)
{
	uint64_t runs = getenv("FABRICBED_LONG") ? 20000 : 600;

	(void)state;
	for (uint64_t i = 0; i < runs; i++)
		check_run(i);
}

/* The short second packet overtakes the first by another spine: 0.99916 of a simpler bound. */
static void a_short_packet_overtakes(void **state)
{
	static const char text[] =
		"name: t\nseed: 2\ntopology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 1}}\n"
		"host: {transport: {strack: {spray: oblivious}}}\n"
		"workload: [{pairs: {from: h0, to: h1, message: 4097B}}]\n";

	(void)state;
	for (int seed = 1; seed <= 20; seed++) {
		char set[32];
		const char *sets[] = {set};
		struct small_session s;
		bool met;
		json_t *j;

		snprintf(set, sizeof(set), "seed=%d", seed);
		small_session_open(&s, text, sets, 1, NULL);
		small_session_run(&s);
		j = small_session_summary(&s, &met);
		assert_true(number(j, "slowdown") >= 1);
		assert_true(number(j, "slowdown") < 1.01);
		json_decref(j);
		small_session_close(&s);
	}
}

/* Links between switches that are the bottleneck: as built, by an early fault, by a late one. */
static void links_between_switches(void **state)
{
	static const char leaves[] =
		"name: t\n"
		"topology: {leaf_spine: {leaves: 2, spines: 2, hosts_per_leaf: 4}, rate: 10Gbps, host_rate: 400Gbps}\n"
		"workload: [{pairs: {from: [h0, h1, h2, h3], to: [h4, h5, h6, h7], message: 400KB}}]\n";
	static const char pods[] =
		"name: t\n"
		"topology: {fat_tree: {k: 4}, links: [{match: 'agg*-core*', rate: 10Gbps}]}\n"
		"workload: [{pairs: {from: [h0, h1, h2, h3], to: [h4, h5, h6, h7], message: 400KB}}]\n";
	/* 100 full packets of 4,194 bytes on the wire, four times; and two links, or four, or one
	 * and a half, or one, of 10 Gbps */
	const double all = 4 * 100 * 4194 * 8 / 10000.0;
	static const struct {
		const char *text, *fault;
		double links;
	} cases[] = {
		{leaves, "", 2},
		{leaves, "faults: [{at: 0, link: leaf0-spine1, do: {rate: 50%}}]\n", 1.5},
		{leaves, "faults: [{at: 0, switch: spine0, do: down}]\n", 1},
		{leaves, "faults: [{at: 1us, link: leaf0-spine1, do: {rate: 50%}}]\n", 2},
		{leaves, "faults: [{at: 0, until: 1s, link: leaf0-spine1, do: {rate: 50%}}]\n", 2},
		{pods, "", 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double fabric, want = all / cases[i].links;
		struct small_session s;
		char text[TEXT];
		bool met;
		json_t *j;

		snprintf(text, sizeof(text), "%s%s", cases[i].text, cases[i].fault);
		small_session_open(&s, text, NULL, 0, NULL);
		small_session_run(&s);
		j = small_session_summary(&s, &met);
		fabric = number(j, "ideal_fabric_us");
		/* and the end-to-end time of links of 1 us, with one message's long frames */
		if (fabric < want + 4 || fabric > want + 9)
			fail_msg("case %zu: %.3f us instead of %.3f and a little", i, fabric, want);
		assert_true(fabric > 1.5 * number(j, "ideal_us"));
		assert_true(number(json_object_get(json_object_get(j, "flows"), "fct_us"), "max") >
			    fabric);
		json_decref(j);
		small_session_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_beats_the_bound),
		cmocka_unit_test(a_short_packet_overtakes),
		cmocka_unit_test(links_between_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
