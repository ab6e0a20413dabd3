/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the cable does to a frame, and what a host takes from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

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

	host->kmax_bytes = 1000;
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
