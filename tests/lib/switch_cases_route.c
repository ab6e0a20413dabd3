/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which ports lead to a host, and which of them a flow takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "base/numbers.h"
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define FLOWS 10000u
#define TCP   6
#define SCTP  132

static void init_to(struct trial *t, bool ip6, uint32_t host)
{
	struct packet_spec spec = packet_spec_default;

	spec.ip6 = ip6;
	spec.dst_host = host;
	trial_init(t, &spec);
}

void switch_routes_by_host(void **state)
{
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		for (uint32_t host = TO_AROUND + 1; host < BENCH_HOSTS; host++) {
			init_to(&t, ip6, host);
			trial_forwards(*state, &t, BENCH_LOCAL(host == TO_LAST ? 3 : 1));
		}
		init_to(&t, ip6, TO_NONE);
		trial_drops(*state, &t, DROP_NO_ROUTE, BENCH_IN);
		init_to(&t, ip6, TO_EMPTY);
		trial_drops(*state, &t, DROP_NO_ROUTE, BENCH_IN);
	}
}

/* Beyond host_count there may still be a route in the last block, of nobody. */
void switch_hosts_out_of_range(void **state)
{
	static const uint32_t hosts[] = {TO_BEYOND, 127, 128, 1000, 65535, 0xfffffd, 0xfffffe};
	struct trial t;

	for (unsigned i = 0; i < 2 * sizeof(hosts) / sizeof(hosts[0]); i++) {
		init_to(&t, i & 1, hosts[i / 2]);
		trial_drops(*state, &t, DROP_NO_ROUTE, BENCH_IN);
	}
}

void switch_foreign_addresses(void **state)
{
	static const uint32_t ip4[] = {0, 0x09ffffff, 0x0a000000, 0x0b000008, 0x7f000001,
		0xc0a80001, 0xe0000001, 0xffffffff};
	struct trial t;

	for (unsigned i = 0; i < sizeof(ip4) / sizeof(ip4[0]); i++) {
		init_to(&t, false, 0);
		packet_put16(t.in.bytes + PACKET_IP + 16, (uint16_t)(ip4[i] >> 16));
		packet_put16(t.in.bytes + PACKET_IP + 18, (uint16_t)ip4[i]);
		packet_seal(&t.in);
		trial_drops(*state, &t, DROP_NO_ROUTE, BENCH_IN);
	}
	/* any bit of the prefix, or of the upper half of the interface identifier */
	for (unsigned bit = 0; bit < 96; bit++) {
		init_to(&t, true, TO_ONE);
		t.in.bytes[PACKET_IP + 24 + bit / 8] ^= 0x80 >> bit % 8;
		trial_drops(*state, &t, DROP_NO_ROUTE, BENCH_IN);
	}
	/* the subnet's own address is no host */
	init_to(&t, true, UINT32_MAX);
	trial_drops(*state, &t, DROP_NO_ROUTE, BENCH_IN);
}

/* It means no route even where the table has a group of that number. */
void switch_route_none_is_no_group(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	b->dp->tables.switches[0].first_group -=
		ROUTE_NONE; /* the group of TO_ONE, from 0xffff back */
	bench_accept(b);
	init_to(&t, false, TO_NONE);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
}

void switch_broken_tables_drop(void **state)
{
	struct switch_bench *b = *state;
	struct sw_tables *tables = &b->dp->tables;
	struct trial t;

	init_to(&t, false, TO_NO_GROUP);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	init_to(&t, false, TO_NO_PORT);
	t.chosen = BENCH_LOCAL(BENCH_PORTS);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	/* picks of 254 and more of 65,535, which is nearly all */
	init_to(&t, false, TO_HUGE_GROUP);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	init_to(&t, false, TO_ONE);
	tables->switches[0].host_count = UINT32_MAX;
	tables->switches[0].first_route = tables->count.routes;
	bench_accept(b);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	tables->ports[BENCH_IN].switch_id = tables->count.switches;
	bench_accept(b);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
}

/* The port, from 0, of a group's first n ports. */
static unsigned pick(struct switch_bench *b, const struct trial *t)
{
	return trial_port(b, t) - BENCH_LOCAL(1);
}

static void set_src_port(struct trial *t, uint16_t port)
{
	packet_put16(t->in.bytes + PACKET_IP + (t->spec.ip6 ? 40 : 20), port);
}

static void set_label(struct trial *t, uint32_t label)
{
	t->in.bytes[PACKET_IP + 1] = (uint8_t)((t->in.bytes[PACKET_IP + 1] & 0xf0) | label >> 16);
	packet_put16(t->in.bytes + PACKET_IP + 2, (uint16_t)label);
}

void switch_ecmp_is_even(void **state)
{
	static const struct {
		uint32_t host;
		unsigned ports;
	} groups[] = {{TO_2, 2}, {TO_3, 3}, {TO_4, 4}, {TO_7, 7}, {TO_64, 64}};
	static const uint64_t seeds[] = {0, 1, 0x5eed, UINT64_MAX};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 0; i < 2 * sizeof(groups) / sizeof(groups[0]); i++) {
		init_to(&t, i & 1, groups[i / 2].host);
		for (unsigned s = 0; s < sizeof(seeds) / sizeof(seeds[0]); s++) {
			unsigned counts[64] = {0};

			b->dp->tables.switches[0].hash_seed = seeds[s];
			for (unsigned flow = 0; flow < FLOWS; flow++) {
				unsigned p;

				set_src_port(&t, (uint16_t)(0xc000 + flow));
				p = pick(b, &t);
				assert_in_range(p, 0, groups[i / 2].ports - 1);
				counts[p]++;
			}
			assert_even(counts, groups[i / 2].ports, FLOWS);
		}
	}
}

/* Whatever else differs from packet to packet, the flow's order is kept. */
void switch_a_flow_keeps_its_port(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (unsigned flow = 0; flow < 200; flow++) {
		unsigned first;

		spec.ip6 = flow & 1;
		spec.dst_host = TO_64;
		spec.src_port = (uint16_t)(0xc000 + flow);
		trial_init(&t, &spec);
		first = pick(b, &t);
		for (unsigned i = 1; i < 10; i++) {
			struct packet_spec other = spec;

			other.ttl = (uint8_t)(64 - i);
			other.tos = (uint8_t)(i * 4 + 2);
			other.id = (uint16_t)(i * 777);
			other.payload = (uint16_t)(i * 100);
			other.dst_mac[5] = other.src_mac[5] = (uint8_t)i;
			trial_init(&t, &other);
			t.in.bytes[t.in.captured - 1] ^= (uint8_t)i;
			t.hop.now_ps += i;
			t.hop.behind_bytes = i;
			assert_int_equal(pick(b, &t), first);
		}
	}
}

/* Two tiers with different seeds: what the first chose says nothing of what the second will. */
void switch_switch_seeds_do_not_correlate(void **state)
{
	static const uint64_t seeds[][2] = {
		{1, 2}, {0, 1ull << 63}, {0x5eed, 0x5eee}, {7, 7ull << 32}};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned s = 0; s < 2 * sizeof(seeds) / sizeof(seeds[0]); s++) {
		unsigned counts[16] = {0};

		init_to(&t, s & 1, TO_4);
		for (unsigned flow = 0; flow < FLOWS; flow++) {
			unsigned a;

			set_src_port(&t, (uint16_t)(0xc000 + flow));
			b->dp->tables.switches[0].hash_seed = seeds[s / 2][0];
			a = pick(b, &t);
			b->dp->tables.switches[0].hash_seed = seeds[s / 2][1];
			counts[a * 4 + pick(b, &t)]++;
		}
		assert_even(counts, 16, FLOWS);
	}
}

/* RFC 6437, 3 and RFC 6438: the label alone, for UDP and for what has no ports that we know. */
void switch_flow_label_chooses(void **state)
{
	static const uint8_t protocols[] = {17, TCP};
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.ip6 = true;
	spec.dst_host = TO_7;
	for (unsigned i = 0; i < 2; i++) {
		unsigned counts[7] = {0};

		spec.protocol = protocols[i];
		trial_init(&t, &spec);
		for (unsigned label = 0; label < FLOWS; label++) {
			set_label(&t, label * 101);
			counts[pick(b, &t)]++;
		}
		assert_even(counts, 7, FLOWS);
	}
}

/*
 * Where one follows from the other, as Linux' RDMA stack makes the port of RoCE from the label
 * (rdma_flow_label_to_udp_sport: its low 14 bits), 4,096 labels are still 4,096 flows.
 */
void switch_flow_label_and_port_do_not_cancel(void **state)
{
	struct switch_bench *b = *state;
	unsigned counts[64] = {0};
	struct trial t;

	init_to(&t, true, TO_64);
	for (unsigned label = 0; label < 4096; label++) {
		set_label(&t, label);
		set_src_port(&t, (uint16_t)(0xc000 | label));
		counts[pick(b, &t)]++;
	}
	assert_even(counts, 64, 4096);
}

/* Fragments, all of them, and what is not UDP, nor TCP where hosts have stacks: addresses and
 * protocol are the flow. */
void switch_what_has_no_ports_is_one_flow(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec[4];

	for (unsigned i = 0; i < 4; i++) {
		spec[i] = packet_spec_default;
		spec[i].dst_host = TO_64;
	}
	spec[0].protocol = bench_has(b, SW_STACK) ? SCTP : TCP;
	spec[1].fragment = 0x2000; /* the first one, which has the ports */
	spec[2].options = 1;
	spec[3].protocol = spec[0].protocol;
	spec[3].ip6 = true;
	for (unsigned i = 0; i < 4; i++) {
		struct trial t;
		unsigned first;

		trial_init(&t, &spec[i]);
		first = pick(b, &t);
		for (unsigned port = 0; port < 100; port++) {
			spec[i].src_port = (uint16_t)(1000 + port);
			spec[i].fragment = i == 1 ? (uint16_t)(0x2000 + port) : 0;
			trial_init(&t, &spec[i]);
			assert_int_equal(pick(b, &t), first);
		}
	}
}

/* A policy that chooses none of the ports: counted at the ingress, and nothing else. */
void switch_a_policy_that_is_not_there(void **state)
{
	static const uint32_t none[] = {BALANCE_FILE, BALANCE_COUNT, 0x10000, UINT32_MAX};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 0; i < 2 * COUNT(none); i++) {
		b->dp->tables.switches[0].balance = none[i / 2];
		bench_accept(b);
		init_to(&t, i & 1, TO_4);
		trial_drops(b, &t, DROP_POLICY, BENCH_IN);
		/* it is not asked where there is one way, or none */
		init_to(&t, i & 1, TO_LAST);
		trial_forwards(b, &t, BENCH_LOCAL(3));
		init_to(&t, i & 1, TO_EMPTY);
		trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	}
}
