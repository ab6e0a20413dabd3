/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parameter servers: who sends what, what waits for what, and how long a round takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/json.h"
#include "base/wiretime.h"
#include "lib/small_session.h"
#include "workload_fixture.h"

#define GBPS 1000000000ull
#define PS   SIXTEEN "  - parameter_server: "

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- who ---- */

/* The hosts that the first server sends to, a bit each; they are as many as there are workers. */
static uint32_t workers_of(const struct operations *m, uint32_t server)
{
	uint32_t hosts = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct operation *o = &m->items[i];

		if (o->src_host == server && operation_is_message(o))
			hosts |= 1u << o->dst_host;
	}
	return hosts;
}

static void all_others_work_for_the_first_host(void **state)
{
	struct operations m = operations_of(PS "{download: 1MB, upload: 2KB}\n", 1);

	(void)state;
	/* 15 downloads, computations and uploads; nothing follows that waits for an update */
	assert_int_equal(m.count, 45);
	assert_int_equal(workers_of(&m, 0), 0xfffe);
	for (uint32_t i = 0; i < 15; i++) {
		const struct operation *down = &m.items[i], *up = &m.items[30 + i];

		assert_int_equal(down->src_host, 0);
		assert_int_equal(down->bytes, 1 << 20);
		assert_int_equal(up->src_host, down->dst_host);
		assert_int_equal(up->dst_host, 0);
		assert_int_equal(up->bytes, 2048);
	}
	operations_release(&m);
}

static void workers_are_drawn_from_the_glob(void **state)
{
	uint32_t drawn = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct operations m = operations_of(PS
			"{server: [h1, h12], workers: 3, hosts: \"h1*\", download: 1, upload: 1}\n",
			seed);
		uint32_t workers = workers_of(&m, 1);

		assert_int_equal(m.count, 6 + 3 + 6);
		assert_int_equal(__builtin_popcount(workers), 3);
		assert_int_equal(workers, workers_of(&m, 12));
		drawn |= workers;
		operations_release(&m);
	}
	assert_int_equal(drawn, 1 << 10 | 1 << 11 | 1 << 13 | 1 << 14 | 1 << 15);
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	refuses(PS "{workers: 16, download: 1, upload: 1}\n",
		"workload.0.parameter_server.workers: 15 of the fabric's 16 hosts match '*' and are no server; expected at least 16");
	refuses(PS "{server: [h2, h9], hosts: \"h[29]\", download: 1, upload: 1}\n",
		"workload.0.parameter_server.workers: 0 of the fabric's 16 hosts match 'h[29]' and are no server; expected at least 1");
	refuses(PS "{download: 1, upload: 65GB}\n",
		"workload.0.parameter_server.upload: too large; a message has at most 2^24 packets, 68719476736 bytes");
	refuses(PS "{download: 65GB, upload: 1}\n",
		"workload.0.parameter_server.download: too large; a message has at most 2^24 packets, 68719476736 bytes");
	refuses(PS "{server: leaf0, download: 1, upload: 1}\n",
		"workload.0.parameter_server.server: 'leaf0' is a switch; only hosts send and receive");
	expect(PS "{server: [h2, h3, h2], download: 1, upload: 1}\n",
		"4:41: workload.0.parameter_server.server.2: 'h2' again; a server stands once\n");
	expect(PS "{upload: 1}\n",
		"4:23: workload.0.parameter_server.download: missing; expected a size from 1B to 1TB, such as 2MB\n");
}

/* ---- when ---- */

#define WORKERS 7
#define DOWN    16 /* packets */
#define DELAY   (100 * PS_PER_US)
#define COMPUTE (30 * PS_PER_US)
#define GAP     (11 * PS_PER_US)
#define ROUNDS  3

static const char star[] =
	NAMED "topology: {leaf_spine: {leaves: 1, spines: 1, hosts_per_leaf: 9}, delay: 100us}\n"
	      "workload:\n"
	      "  - parameter_server: {server: h0, hosts: \"h[0-7]\", download: 64KB, upload: 4KB,\n"
	      "      compute: 30us, start: 5us, repeat: 3, gap: 11us}\n";

struct phase {
	uint64_t first_ps, last_ps;         /* starts */
	uint64_t delivered_ps, earliest_ps; /* all, and the first of them */
};

/* Messages of a round to workers, or from them, of each server. */
static struct phase phase_of(
	const struct engine *e, uint32_t round, bool up, uint32_t server, uint32_t *ret_count)
{
	struct phase p = {.first_ps = UINT64_MAX, .earliest_ps = UINT64_MAX};

	*ret_count = 0;
	for (uint32_t i = 0; i < engine_flow_count(e); i++) {
		struct engine_flow_result r;

		engine_flow_result(e, i, &r);
		if (!operation_is_message(&r.flow) || r.flow.group != round ||
			(up ? r.flow.dst_host : r.flow.src_host) != server)
			continue;
		p.first_ps = min_of(p.first_ps, r.start_ps);
		p.last_ps = max_of(p.last_ps, r.start_ps);
		p.earliest_ps = min_of(p.earliest_ps, r.delivered_ps);
		p.delivered_ps = max_of(p.delivered_ps, r.delivered_ps);
		++*ret_count;
	}
	return p;
}

/*
 * docs/closed-forms.md, "Parameter servers". Acknowledgements of downloads go the way of uploads:
 * each round is longer by a few of them.
 */
static void check_rounds(uint32_t q)
{
	uint64_t f = serialise_ps(data_frame_bytes(4096, false), 100 * GBPS), begin = 5 * PS_PER_US;
	uint64_t more = max_of((WORKERS - 1) * q + WORKERS, WORKERS * q);
	uint64_t least = (WORKERS * (DOWN - 2) + 4 + more) * f + 4 * DELAY + COMPUTE;
	struct small_session s;
	json_t *summary, *rounds;
	char set[64];
	const char *sets[] = {set};
	bool met;

	snprintf(set, sizeof(set), "workload.0.parameter_server.upload=%uKB", 4 * q);
	small_session_open(&s, star, sets, 1, NULL);
	small_session_run(&s);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t downs, ups;
		const struct engine *e = session_engine(s.session);
		struct phase down = phase_of(e, round, false, 0, &downs);
		struct phase up = phase_of(e, round, true, 0, &ups);

		assert_int_equal(downs, WORKERS);
		assert_int_equal(ups, WORKERS);
		assert_int_equal(down.first_ps, begin);
		assert_int_equal(down.last_ps, begin);
		assert_int_equal(up.first_ps, down.earliest_ps + COMPUTE);
		assert_int_equal(up.last_ps, down.delivered_ps + COMPUTE);
		assert_in_range(up.delivered_ps - begin, least, least + 200000);
		begin = up.delivered_ps + GAP;
	}
	summary = small_session_summary(&s, &met);
	rounds = json_object_get(json_object_get(summary, "collectives"), "rounds");
	assert_int_equal(json_array_size(rounds), ROUNDS);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const json_t *one = json_array_get(rounds, round);

		assert_int_equal(json_integer_value(look(one, "round")), round);
		assert_in_range((uint64_t)(json_real_value(look(one, "time_us")) * 1e6 + 0.5),
			least, least + 200000);
		assert_string_equal(json_string_value(look(one, "last.host")), "h0");
	}
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(look(summary, "collectives.entries"), 0), "op")),
		"parameter_server");
	json_decref(summary);
	small_session_close(&s);
}

static void a_round_takes_what_it_must(void **state)
{
	(void)state;
	check_rounds(1);
	check_rounds(4);
	check_rounds(16);
}

/* Each worker has both parts before it computes; no server waits for what is for the other. */
static void several_servers_go_their_own_pace(void **state)
{
	const char *sets[] = {"workload.0.parameter_server.server=[h0, h8]",
		"workload.0.parameter_server.spread=3us",
		"topology.links=[{match: h8-*, rate: 25Gbps}]"};
	struct engine_flow_result r;
	struct small_session s;
	const struct engine *e;
	uint64_t shortest = UINT64_MAX, longest = 0, got[WORKERS + 1] = {0};
	uint32_t count;

	(void)state;
	small_session_open(&s, star, sets, COUNT(sets), NULL);
	small_session_run(&s);
	e = session_engine(s.session);
	for (uint32_t i = 0; i < engine_flow_count(e); i++) {
		engine_flow_result(e, i, &r);
		if (r.flow.group || !operation_is_message(&r.flow))
			continue;
		if (r.flow.dst_host % 8)
			got[r.flow.dst_host] = max_of(got[r.flow.dst_host], r.delivered_ps);
	}
	for (uint32_t i = 0; i < engine_flow_count(e); i++) {
		engine_flow_result(e, i, &r);
		if (r.flow.group || !operation_is_message(&r.flow) || r.flow.dst_host % 8)
			continue;
		assert_in_range(r.start_ps - got[r.flow.src_host], COMPUTE, COMPUTE + 3000000);
		shortest = min_of(shortest, r.start_ps - got[r.flow.src_host]);
		longest = max_of(longest, r.start_ps - got[r.flow.src_host]);
	}
	assert_true(longest - shortest > 1000000);
	for (uint32_t server = 0; server <= 8; server += 8)
		assert_int_equal(phase_of(e, 1, false, server, &count).first_ps,
			phase_of(e, 0, true, server, &count).delivered_ps + GAP);
	assert_true(phase_of(e, 1, false, 0, &count).first_ps <
		    phase_of(e, 1, false, 8, &count).first_ps);
	small_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_others_work_for_the_first_host),
		cmocka_unit_test(workers_are_drawn_from_the_glob),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(a_round_takes_what_it_must),
		cmocka_unit_test(several_servers_go_their_own_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
