/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs' packets: TCP's path, what a host's stack receives, where outside packets go. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define FLOWS         10000u
#define ICMP          1
#define TCP           6
#define UDP           17
#define FRAGMENT      44 /* IPv6's header of one */
#define MORE          0x2000
#define OUTSIDE_PORT  3u /* where these cases put the way to the gateway */
#define IP4_OF_A_TEST 0xc0a80001u

static uint32_t header_bytes(bool ip6)
{
	return ip6 ? 40 : 20;
}

/* ---- paths ---------------------------------------------------------------------------------- */

static void init_tcp(struct trial *t, bool ip6, uint32_t host)
{
	struct packet_spec spec = packet_spec_default;

	spec.ip6 = ip6;
	spec.protocol = TCP;
	spec.dst_host = host;
	trial_init(t, &spec);
}

/* Source and destination port of TCP. */
static void set_ports(struct trial *t, uint16_t src, uint16_t dst)
{
	uint8_t *tcp = t->in.bytes + PACKET_IP + header_bytes(t->spec.ip6);

	packet_put16(tcp, src);
	packet_put16(tcp + 2, dst);
}

/* Either port alone chooses, evenly; a packet turned around is another flow. */
void switch_tcp_ports_choose(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 0; i < 4; i++) {
		unsigned counts[7] = {0}, turned = 0;

		init_tcp(&t, i & 1, TO_7);
		for (unsigned flow = 0; flow < FLOWS; flow++) {
			uint16_t port = (uint16_t)(0x8000 + flow);
			uint32_t out;

			set_ports(&t, i & 2 ? 5201 : port, i & 2 ? port : 5201);
			out = trial_port(b, &t);
			assert_in_range(out, BENCH_LOCAL(1), BENCH_LOCAL(7));
			counts[out - BENCH_LOCAL(1)]++;
			set_ports(&t, i & 2 ? port : 5201, i & 2 ? 5201 : port);
			turned += trial_port(b, &t) != out;
		}
		assert_even(counts, 7, FLOWS);
		assert_in_range(turned, FLOWS * 8 / 10, FLOWS * 9 / 10); /* 6/7 */
	}
}

/* Whatever follows the ports, and however much of it is there. */
void switch_tcp_keeps_its_port(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned flow = 0; flow < 200; flow++) {
		uint32_t ports, out;

		init_tcp(&t, flow & 1, TO_64);
		set_ports(&t, (uint16_t)(0xc000 + flow), 443);
		ports = PACKET_IP + header_bytes(t.spec.ip6) + 4;
		out = trial_port(b, &t);
		for (uint32_t at = ports; at < t.in.captured; at++)
			t.in.bytes[at] ^= (uint8_t)(flow + at);
		packet_set_tos(&t.in, (uint8_t)(8 * flow));
		assert_int_equal(trial_port(b, &t), out);
		t.in.captured = ports;
		assert_int_equal(trial_port(b, &t), out);
	}
}

/* Fragments, the first one too, and headers behind options or extensions. */
void switch_tcp_without_ports_is_one_flow(void **state)
{
	static const struct {
		bool ip6;
		uint8_t protocol, options;
		uint16_t fragment;
	} kinds[] = {{false, TCP, 0, MORE}, {false, TCP, 0, MORE | 99}, {false, TCP, 0, 99},
		{false, TCP, 1, 0}, {true, FRAGMENT, 0, 0}};
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.dst_host = TO_64;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint32_t out;

		spec.ip6 = kinds[i].ip6;
		spec.protocol = kinds[i].protocol;
		spec.options = kinds[i].options;
		spec.fragment = kinds[i].fragment;
		trial_init(&t, &spec);
		out = trial_port(b, &t);
		for (unsigned port = 0; port < 100; port++) {
			spec.src_port = (uint16_t)(1000 + port);
			trial_init(&t, &spec);
			assert_int_equal(trial_port(b, &t), out);
		}
	}
}

/* A fragment or a header with options needs none of them. */
void switch_tcp_needs_no_more_than_its_ports(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (unsigned kind = 0; kind < 4; kind++) {
		uint32_t above = PACKET_IP + header_bytes(kind == 1);

		spec.protocol = TCP;
		spec.ip6 = kind == 1;
		spec.fragment = kind == 2 ? MORE : 0;
		spec.options = kind == 3;
		trial_init(&t, &spec);
		for (uint32_t there = above; there <= above + 5; there++) {
			t.in.captured = there;
			if (kind < 2 && there < above + 4)
				trial_drops(*state, &t, DROP_MALFORMED, BENCH_IN);
			else
				trial_forwards(*state, &t, BENCH_LOCAL(1));
		}
	}
}

/* ---- at a host ------------------------------------------------------------------------------ */

static void init_at_host(struct trial *t, const struct packet_spec *like)
{
	struct packet_spec spec = *like;

	spec.dst_host = BENCH_HOST;
	trial_init(t, &spec);
	t->at = BENCH_HOST_PORT;
}

/* It must be handed over as it is, with all accounts as they must be. */
static void expect_action(struct switch_bench *b, const struct trial *t, enum verdict_action action)
{
	assert_int_equal(trial_run(b, t, NULL).action, action);
	b->want.ports[t->at].rx_frames++;
	trial_delivers(b, t);
}

void switch_every_protocol_at_a_host(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (unsigned i = 0; i < 512; i++) {
		spec.ip6 = i & 256;
		spec.protocol = (uint8_t)i;
		init_at_host(&t, &spec);
		expect_action(*state, &t, spec.protocol == UDP ? VERDICT_DELIVER : VERDICT_STACK);
	}
}

/* The destination's, not the source's. */
void switch_every_udp_port_at_a_host(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		spec.ip6 = ip6;
		for (uint32_t port = 0; port < 65536; port++) {
			uint8_t *udp = t.in.bytes + PACKET_IP + header_bytes(ip6);

			init_at_host(&t, &spec);
			packet_put16(udp, port == 4791 ? 1000 : 4791);
			packet_put16(udp + 2, (uint16_t)port);
			expect_action(*state, &t, port == 4791 ? VERDICT_DELIVER : VERDICT_STACK);
		}
	}
}

/* What only the stack can put together, or look behind. */
void switch_a_hidden_udp_port_is_a_programs(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	spec.fragment = MORE;
	init_at_host(&t, &spec);
	expect_action(*state, &t, VERDICT_STACK);
	spec.fragment = 0;
	spec.options = 2;
	init_at_host(&t, &spec);
	expect_action(*state, &t, VERDICT_STACK);
	spec.options = 0;
	spec.ip6 = true;
	spec.protocol = FRAGMENT;
	init_at_host(&t, &spec);
	expect_action(*state, &t, VERDICT_STACK);
}

void switch_a_stack_takes_only_its_own(void **state)
{
	static const uint8_t protocols[] = {ICMP, TCP, UDP};
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (unsigned i = 0; i < 6; i++) {
		spec.ip6 = i & 1;
		spec.protocol = protocols[i / 2];
		for (uint32_t host = 0; host < BENCH_HOSTS; host++) {
			spec.dst_host = host;
			trial_init(&t, &spec);
			t.at = BENCH_HOST_PORT;
			if (host == BENCH_HOST)
				trial_delivers(*state, &t);
			else
				trial_drops(*state, &t, DROP_NOT_MINE, BENCH_HOST_PORT);
		}
	}
}

/* The cable and the queue behind it act on a program's packets as on any. */
void switch_marks_and_losses_before_a_stack(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	bench_queue(b, BENCH_IN, 0)->kmax_bytes = 1000;
	bench_accept(b);
	for (int ip6 = 0; ip6 < 2; ip6++) {
		spec.ip6 = ip6;
		spec.protocol = TCP;
		init_at_host(&t, &spec);
		t.hop.behind_bytes = 1000;
		t.flags = VERDICT_MARKED;
		trial_delivers(b, &t);
		t.flags = 0;
		t.in.captured = PACKET_IP + header_bytes(ip6) + 3;
		trial_drops(b, &t, DROP_MALFORMED, BENCH_HOST_PORT);
		b->dp->tables.ports[BENCH_HOST_PORT].up = 0;
		bench_accept(b);
		trial_drops(b, &t, DROP_LINK_DOWN, BENCH_HOST_PORT);
		b->dp->tables.ports[BENCH_HOST_PORT].up = 1;
		bench_accept(b);
	}
}

/* ---- a gateway ------------------------------------------------------------------------------ */

/* The route of one host becomes another's. */
static void reroute(struct switch_bench *b, uint32_t host, uint32_t like)
{
	const struct sw_tables *t = &b->dp->tables;
	struct route_block *blocks = t->routes + t->switches[0].first_route;

	blocks[host / ROUTE_BLOCK].group[host % ROUTE_BLOCK] =
		blocks[like / ROUTE_BLOCK].group[like % ROUTE_BLOCK];
	bench_accept(b);
}

static void init_to_ip4(struct trial *t, uint8_t protocol, uint32_t address)
{
	struct packet_spec spec = packet_spec_default;

	spec.protocol = protocol;
	trial_init(t, &spec);
	packet_put16(t->in.bytes + PACKET_IP + 16, (uint16_t)(address >> 16));
	packet_put16(t->in.bytes + PACKET_IP + 18, (uint16_t)address);
	packet_seal(&t->in);
}

/* To a host, with a bit of the address' first 96 flipped: another network. */
static void init_to_ip6(struct trial *t, uint8_t protocol, uint32_t host, unsigned bit)
{
	struct packet_spec spec = packet_spec_default;

	spec.protocol = protocol;
	spec.ip6 = true;
	spec.dst_host = host;
	trial_init(t, &spec);
	t->in.bytes[PACKET_IP + 24 + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

/* Other networks, and of one's own what is no host's: below the first, beyond the last. */
void switch_outside_is_where_the_gateway_is(void **state)
{
	static const uint32_t ip4[] = {0, 0x08080808, 0x09ffffff, 0x0a000000,
		0x0a000001 + BENCH_HOSTS, 0x0affffff, 0x0b000008, IP4_OF_A_TEST, 0xffffffff};
	static const uint8_t protocols[] = {UDP, TCP, ICMP};
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	reroute(b, BENCH_HOST, TO_LAST);
	for (unsigned p = 0; p < sizeof(protocols); p++) {
		for (unsigned i = 0; i < sizeof(ip4) / sizeof(ip4[0]); i++) {
			init_to_ip4(&t, protocols[p], ip4[i]);
			trial_forwards(b, &t, BENCH_LOCAL(OUTSIDE_PORT));
		}
		for (unsigned bit = 0; bit < 96; bit++) {
			init_to_ip6(&t, protocols[p], 50, bit);
			trial_forwards(b, &t, BENCH_LOCAL(OUTSIDE_PORT));
		}
	}
	spec.ip6 = true;
	spec.dst_host = UINT32_MAX; /* the subnet's own address */
	trial_init(&t, &spec);
	trial_forwards(b, &t, BENCH_LOCAL(OUTSIDE_PORT));
	spec.dst_host = BENCH_HOSTS;
	trial_init(&t, &spec);
	trial_forwards(b, &t, BENCH_LOCAL(OUTSIDE_PORT));
	/* what is for a group stays here */
	init_to_ip4(&t, UDP, 0xe00000fbu);
	t.in.bytes[0] |= 1;
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
}

/* One without a route is not the gateway's either. */
void switch_hosts_are_not_outside(void **state)
{
	struct switch_bench *b = *state;
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	reroute(b, BENCH_HOST, TO_LAST);
	for (int ip6 = 0; ip6 < 2; ip6++) {
		spec.ip6 = ip6;
		spec.protocol = TCP;
		for (uint32_t host = TO_AROUND + 1; host < BENCH_HOSTS; host++) {
			spec.dst_host = host;
			trial_init(&t, &spec);
			trial_forwards(b, &t, BENCH_LOCAL(host == TO_LAST ? OUTSIDE_PORT : 1));
		}
		spec.dst_host = TO_NONE;
		trial_init(&t, &spec);
		trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	}
}

void switch_the_gateway_takes_what_is_outside(void **state)
{
	struct trial t;

	init_to_ip4(&t, TCP, IP4_OF_A_TEST);
	t.at = BENCH_HOST_PORT;
	expect_action(*state, &t, VERDICT_STACK);
	init_to_ip6(&t, ICMP, 50, 8);
	t.at = BENCH_HOST_PORT;
	expect_action(*state, &t, VERDICT_STACK);
	/* there may be an endpoint outside: who knows the queue pairs here will tell */
	init_to_ip4(&t, UDP, IP4_OF_A_TEST);
	t.at = BENCH_HOST_PORT;
	expect_action(*state, &t, VERDICT_DELIVER);
}

void switch_no_other_host_takes_what_is_outside(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	b->dp->tables.ports[BENCH_HOST_PORT].host = BENCH_HOST + 1;
	bench_accept(b);
	init_to_ip4(&t, TCP, IP4_OF_A_TEST);
	t.at = BENCH_HOST_PORT;
	trial_drops(b, &t, DROP_NOT_MINE, BENCH_HOST_PORT);
	init_to_ip6(&t, TCP, 50, 8);
	t.at = BENCH_HOST_PORT;
	trial_drops(b, &t, DROP_NOT_MINE, BENCH_HOST_PORT);
}

void switch_without_a_way_to_the_gateway(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	reroute(b, BENCH_HOST, TO_NONE);
	init_to_ip4(&t, TCP, IP4_OF_A_TEST);
	trial_drops(b, &t, DROP_NO_ROUTE, BENCH_IN);
	/* garbage is garbage, wherever it is meant to go */
	t.in.bytes[PACKET_IP + 10] ^= 1;
	trial_drops(b, &t, DROP_CHECKSUM, BENCH_IN);
}
