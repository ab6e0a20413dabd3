/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the cable does to a frame, and what a host takes from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "lib/fault_calls.h"
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"
#include "sw/cable.h"

void switch_link_down(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	trial_init(&t, &packet_spec_default);
	b->dp->tables.ports[BENCH_IN].up = 0;
	bench_accept(b);
	trial_drops(b, &t, DROP_LINK_DOWN, BENCH_IN);
	/* what the frame holds does not matter any more */
	t.in.captured = 0;
	trial_drops(b, &t, DROP_LINK_DOWN, BENCH_IN);
	/* only the cable that it came over counts: the egress loses at its own far end */
	trial_init(&t, &packet_spec_default);
	b->dp->tables.ports[BENCH_IN].up = 1;
	b->dp->tables.ports[BENCH_LOCAL(1)].up = 0;
	bench_accept(b);
	trial_forwards(b, &t, BENCH_LOCAL(1));
}

/* Up again when the last bit would arrive. The cut took what had started before it. */
void switch_cut_while_on_the_wire(void **state)
{
	static const struct {
		uint64_t started, cut;
		bool lost;
	} cuts[] = {
		{0, 0, false},
		{0, 1, true},
		{1000, 999, false},
		{1000, 1000, false},
		{1000, 1001, true},
		{1000, 2000, true},
		{1ull << 40, (1ull << 40) - 1, false},
		{1ull << 40, (1ull << 40) + 1, true},
		{UINT64_MAX - 1, UINT64_MAX, true},
		{UINT64_MAX, UINT64_MAX, false},
	};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		trial_init(&t, &packet_spec_default);
		t.hop.started_ps = cuts[i].started;
		t.hop.now_ps = UINT64_MAX;
		b->dp->tables.ports[BENCH_IN].up_since_ps = cuts[i].cut;
		bench_accept(b);
		if (cuts[i].lost)
			trial_drops(b, &t, DROP_LINK_DOWN, BENCH_IN);
		else
			trial_forwards(b, &t, BENCH_LOCAL(1));
	}
}

/* Delivered as it is: no hop is counted, since a host forwards nothing, and no queue is entered. */
void switch_host_takes_its_own(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (int i = 0; i < 512; i++) {
		spec.ip6 = i & 256;
		spec.ttl = (uint8_t)i;
		spec.dst_host = BENCH_HOST;
		trial_init(&t, &spec);
		t.at = BENCH_HOST_PORT;
		trial_delivers(*state, &t);
	}
}

void switch_host_refuses_others(void **state)
{
	static const uint32_t others[] = {BENCH_HOST - 1, BENCH_HOST + 1, 0, BENCH_HOST + 256,
		BENCH_HOST + (1u << 16), (1u << 24) + BENCH_HOST, UINT32_MAX, UINT32_MAX - 1};
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (unsigned i = 0; i < 2 * sizeof(others) / sizeof(others[0]); i++) {
		spec.ip6 = i & 1;
		spec.dst_host = others[i / 2];
		trial_init(&t, &spec);
		t.at = BENCH_HOST_PORT;
		trial_drops(*state, &t, DROP_NOT_MINE, BENCH_HOST_PORT);
	}
	/* another network's host of the same number */
	spec.ip6 = true;
	spec.dst_host = BENCH_HOST;
	trial_init(&t, &spec);
	t.at = BENCH_HOST_PORT;
	t.in.bytes[PACKET_IP + 24 + 7] = 1;
	trial_drops(*state, &t, DROP_NOT_MINE, BENCH_HOST_PORT);
}

void switch_host_port_marks_and_loses(void **state)
{
	struct switch_bench *b = *state;
	struct port *host = &b->dp->tables.ports[BENCH_HOST_PORT];
	struct trial t;

	bench_queue(b, BENCH_IN, 0)->kmax_bytes = 1000;
	bench_accept(b);
	trial_init(&t, &packet_spec_default);
	t.at = BENCH_HOST_PORT;
	t.hop.behind_bytes = 1000;
	t.flags = VERDICT_MARKED;
	trial_delivers(b, &t);
	t.flags = 0;
	host->up_since_ps = t.hop.started_ps + 1;
	bench_accept(b);
	trial_drops(b, &t, DROP_LINK_DOWN, BENCH_HOST_PORT);
	host->up_since_ps = 0;
	bench_accept(b);
	t.in.bytes[PACKET_IP + 10] ^= 1;
	trial_drops(b, &t, DROP_CHECKSUM, BENCH_HOST_PORT);
	t.in.captured = PACKET_IP + 19;
	trial_drops(b, &t, DROP_MALFORMED, BENCH_HOST_PORT);
}

/* Of faults, in the order in which they are asked. */
static const enum drop_reason fault_reasons[] = {
	DROP_BURST, DROP_GILBERT, DROP_LOSS, DROP_FCS, DROP_NONE};

static void expect_fate(struct switch_bench *b, struct trial *t, enum drop_reason reason)
{
	if (reason != DROP_NONE && bench_has(b, SW_FAULTS))
		trial_drops(b, t, reason, t->at);
	else if (t->at == BENCH_HOST_PORT)
		trial_delivers(b, t);
	else
		trial_forwards(b, t, BENCH_LOCAL(1));
}

/* Writes what is there for a fault of the ingress, if the program looks for one at all. */
static void write_fault(struct switch_bench *b, uint32_t port, const struct fault *f, bool faulty)
{
	if (bench_has(b, SW_FAULTS))
		b->dp->tables.faults[port] = *f;
	b->dp->tables.ports[port].faulty = faulty;
	bench_accept(b);
}

/* Each takes every frame; of those that are on, the first names the reason. */
void switch_the_first_fault_names_the_reason(void **state)
{
	struct trial t;

	trial_init(&t, &packet_spec_default);
	for (unsigned i = 0; i < 2 * 16; i++) {
		unsigned set = i / 2, first = set ? (unsigned)__builtin_ctz(set) : 4;
		struct fault f = {
			.every_ps = set & 1,
			.until_ps = UINT64_MAX,
			.lost_good = set & 2 ? UINT32_MAX : 0,
			.loss = set & 4 ? UINT32_MAX : 0,
			.hazard = set & 8 ? UINT64_MAX : 0,
		};

		t.at = i & 1 ? BENCH_HOST_PORT : BENCH_IN;
		write_fault(*state, t.at, &f, true);
		expect_fate(*state, &t, fault_reasons[first]);
		/* nothing is looked at where the port says that there is nothing */
		write_fault(*state, t.at, &f, false);
		expect_fate(*state, &t, DROP_NONE);
	}
}

/* Lost from the burst's first picosecond to its last, and not one beside. */
void switch_burst_edges(void **state)
{
	struct trial t;
	const struct {
		uint64_t next, until;
		enum drop_reason reason;
	} edges[] = {
		{UINT64_MAX, 1000000, DROP_NONE}, {UINT64_MAX, 1000001, DROP_BURST},
		{2000000, 0, DROP_NONE},
		{1999999, 0, DROP_BURST}, /* begins with the last bit, and lasts long */
	};

	trial_init(&t, &packet_spec_default);
	for (unsigned i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		struct switch_bench *b = *state;
		struct fault f = {.every_ps = 1ull << 50,
			.last_ps = 1ull << 50,
			.cell_shift = 52,
			.next_ps = edges[i].next,
			.until_ps = edges[i].until};

		write_fault(b, BENCH_IN, &f, true);
		if (bench_has(b, SW_FAULTS) && edges[i].next < t.hop.now_ps) {
			wire_step(&b->want.faults[BENCH_IN]);
			assert_true(b->want.faults[BENCH_IN].bursts == 1);
		}
		expect_fate(b, &t, edges[i].reason);
	}
}

/*
 * All faults at once, over silences short and long: the program writes and decides what the same
 * code natively does. That this obeys its laws is the unit tests' matter.
 */
void switch_faults_as_natively(void **state)
{
	static const struct faults_gilbert model = {0.05, 0.1, 0.01, 0.7};
	struct switch_bench *b = *state;
	struct sw_tables *tables = &b->dp->tables;
	uint64_t rng = rng_stream(1, "silences", 0), now = 0;
	struct trial t;

	for (uint32_t at = BENCH_HOST_PORT; at <= BENCH_IN && bench_has(b, SW_FAULTS); at++) {
		faults_set_flaky(tables, at, 20000000, 4000000, 1, 0);
		faults_set_gilbert(tables, at, &model, 1);
		faults_set_loss(tables, at, 0.2, 1);
		faults_set_errors(tables, at, 3e-5, 1);
	}
	bench_accept(b);
	trial_init(&t, &packet_spec_default);
	for (unsigned i = 0; i < 4000; i++) {
		struct port in = b->want.ports[t.at = BENCH_HOST_PORT + i % 2];
		struct sw_ctx c = {.t = &b->want, .in_id = t.at, .in = &in, .hop = t.hop};
		enum drop_reason reason = DROP_NONE;

		now += rng_take(&rng) % (1ull << rng_below(&rng, 34)) + 1;
		c.hop.started_ps = t.hop.started_ps = now;
		c.hop.now_ps = t.hop.now_ps = now + 1000000;
		in.rx_frames++;
		if (bench_has(b, SW_FAULTS))
			reason = wire_fault(&c, &b->want.faults[t.at]);
		expect_fate(b, &t, reason);
	}
	for (unsigned i = 0; i < 4 && bench_has(b, SW_FAULTS); i++)
		assert_true(tables->drops[BENCH_IN].frames[fault_reasons[i]] > 10);
}
