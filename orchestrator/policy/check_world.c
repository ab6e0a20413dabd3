/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/check_world.h"

#include <stdbool.h>
#include <string.h>
#include "abi/hop.h"
#include "abi/policies.h"
#include "abi/wire.h"
#include "base/rng_stream.h"
#include "base/units.h"
#include "lib/checksum.h"
#include "lib/compiler.h"

#define GBPS      1000000000ull
#define HOSTS     64u
#define FLOWS     300u /* so many that the flow tables have no room for all */
#define FLOW_SETS 4u

#define PROTO_PORTLESS 47 /* GRE: the switch looks for no ports in it */

/* Ports of a group at most, by switch. */
static const uint32_t candidates[CHECK_SWITCHES] = {8, 16, 64, GROUP_PORTS};

/* Those at which packets arrive, and one for each candidate. */
static uint32_t port_count(uint32_t sw)
{
	return WORLD_INGRESS + candidates[sw];
}

/* A set of different ports, in random order: one port, two, all, or any number. */
static void random_group(struct group *g, uint32_t sw, uint64_t *rng)
{
	uint32_t most = candidates[sw];
	const uint32_t counts[] = {1, 2, 3, most, most, 2 + rng_below(rng, most - 1),
		2 + rng_below(rng, most - 1), 2 + rng_below(rng, most - 1)};

	memset(g, 0, sizeof(*g));
	for (uint32_t i = 0; i < most; i++) {
		uint32_t at = rng_below(rng, i + 1);

		g->port[i] = g->port[at];
		g->port[at] = (uint16_t)(1 + i);
	}
	g->count = (uint16_t)counts[rng_below(rng, 8)];
	memset(&g->port[g->count], 0, (GROUP_PORTS - g->count) * sizeof(g->port[0]));
}

void world_init(struct check_world *w, uint64_t seed)
{
	uint32_t port = PORT_FIRST;

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->rng = rng_stream(seed, "check", 0);
	w->now_ps = 1 + rng_below(&w->rng, 1000);
	for (uint32_t s = 0; s < CHECK_SWITCHES; s++) {
		w->first_port[s] = port;
		port += port_count(s);
		for (uint32_t g = 0; g < WORLD_GROUPS; g++)
			random_group(&w->groups[s][g], s, &w->rng);
	}
}

/* The first port and the last ones: the largest number exceeds any count, and 8 bits. */
uint32_t world_ingress(const struct check_world *w, uint32_t sw, uint32_t i)
{
	return w->first_port[sw] + (i ? candidates[sw] + i : 0);
}

struct sw_sizes world_sizes(const struct check_world *w)
{
	const uint32_t last = CHECK_SWITCHES - 1;
	struct sw_sizes s = {
		.ports = w->first_port[last] + port_count(last),
		.switches = CHECK_SWITCHES,
		.routes = CHECK_SWITCHES * HOSTS / ROUTE_BLOCK,
		.groups = CHECK_SWITCHES * WORLD_GROUPS,
		.config =
			{
				.features = SW_BALANCE | SW_CLASSES | SW_STACK, /* TCP too */
				.balances = 1u << BALANCE_FILE,
				.flow_sets = FLOW_SETS,
				.host_count = HOSTS,
			},
	};

	for (uint32_t dscp = 0; dscp < DSCP_COUNT; dscp++) {
		s.config.class_of[dscp] = (uint8_t)(dscp % CLASSES);
		s.config.retag[dscp] = (uint8_t)dscp;
	}
	return s;
}

static void write_switch(const struct check_world *w, struct sw_tables *t, uint32_t sw)
{
	uint64_t rng = rng_stream(w->seed, "switch", sw);
	uint32_t first_route = sw * HOSTS / ROUTE_BLOCK;

	t->switches[sw] = (struct switch_state){
		.first_port = w->first_port[sw],
		.port_count = port_count(sw),
		.first_route = first_route,
		.first_group = sw * WORLD_GROUPS,
		.hash_seed = rng_take(&rng),
		.host_count = HOSTS,
		.balance = BALANCE_FILE,
	};
	t->balances[sw] = (struct switch_balance){
		.gap_ps = rng_below(&rng, 200) * PS_PER_US,
		.lifetime_ps = sw % 2 ? PS_PER_MS : 0,
		.threshold_bytes = rng_below(&rng, 200000),
		.choices = 1 + rng_below(&rng, 4),
		.remembered = rng_below(&rng, 4),
		.first_set = sw * FLOW_SETS,
		.flow_sets = FLOW_SETS,
	};
	for (uint32_t h = 0; h < HOSTS; h++)
		t->routes[first_route + h / ROUTE_BLOCK].group[h % ROUTE_BLOCK] =
			(uint16_t)(h % WORLD_GROUPS);
	memcpy(&t->groups[sw * WORLD_GROUPS], w->groups[sw], sizeof(w->groups[sw]));
}

static void write_port(struct sw_tables *t, uint32_t sw, uint32_t id)
{
	t->ports[id] = (struct port){
		.switch_id = sw,
		.host = HOST_NONE,
		.peer = id,
		.kind = PORT_SWITCH,
		.up = 1,
		.chooses = 1,
		.rate_bps = 100 * GBPS,
		.mac = {2, 0xfb, 0, 0, (uint8_t)(id >> 8), (uint8_t)id},
		.peer_mac = {2, 0xfb, 1, 0, (uint8_t)(id >> 8), (uint8_t)id},
	};
	for (uint32_t c = 0; c < CLASSES; c++)
		t->queues[id * CLASSES + c].limit_bytes = 1u << 30;
}

void world_write(const struct check_world *w, struct sw_tables *t)
{
	for (uint32_t s = 0; s < CHECK_SWITCHES; s++) {
		write_switch(w, t, s);
		for (uint32_t i = 0; i < port_count(s); i++)
			write_port(t, s, w->first_port[s] + i);
	}
}

/* Often the same in several queues, often empty, seldom near the end of numbers. */
static uint32_t random_depth(uint64_t *rng)
{
	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
		return 0;
	case 2:
	case 3:
		return 1000 * rng_below(rng, 4);
	case 4:
		return rng_below(rng, 1 << 29);
	default:
		return rng_below(rng, 300000);
	}
}

static void change(const struct check_world *w, struct sw_tables *t, uint64_t rng)
{
	static const uint64_t rates[] = {GBPS, 25 * GBPS, 100 * GBPS, 400 * GBPS, 1};
	uint32_t sw = rng_below(&rng, CHECK_SWITCHES);
	bool all_down = !rng_below(&rng, 16);

	for (uint32_t i = 1; i <= candidates[sw]; i++) {
		struct port *p = &t->ports[w->first_port[sw] + i];
		struct queue *q = &t->queues[(w->first_port[sw] + i) * CLASSES];

		p->up = !all_down && rng_below(&rng, 8) > 0;
		p->rate_bps = rates[rng_below(&rng, 5)];
		for (uint32_t c = 0; c < CLASSES; c++)
			q[c].depth_bytes = random_depth(&rng);
	}
	for (uint32_t s = 0; s < CHECK_SWITCHES; s++)
		memcpy(&t->groups[s * WORLD_GROUPS], w->groups[s], sizeof(w->groups[s]));
}

void world_change(struct check_world *w, struct sw_tables *one, struct sw_tables *other)
{
	uint64_t rng;
	uint32_t sw = rng_below(&w->rng, CHECK_SWITCHES);

	/* as routes change */
	if (!rng_below(&w->rng, 8))
		random_group(&w->groups[sw][rng_below(&w->rng, WORLD_GROUPS)], sw, &w->rng);
	rng = rng_take(&w->rng);
	change(w, one, rng);
	if (other)
		change(w, other, rng);
}

/* ---- packets ---- */

/* What packets of a flow have in common. */
struct flow {
	bool ip6;
	uint8_t dscp, protocol;
	uint32_t src, dst;
	uint16_t port;
	uint32_t label;
};

static struct flow random_flow(struct check_world *w)
{
	static const uint8_t protocols[] = {
		PROTO_UDP, PROTO_UDP, PROTO_UDP, PROTO_TCP, PROTO_PORTLESS};
	uint64_t rng = rng_stream(w->seed, "flow", rng_below(&w->rng, FLOWS));

	return (struct flow){
		.ip6 = rng_below(&rng, 2),
		.dscp = (uint8_t)rng_below(&rng, DSCP_COUNT),
		.protocol = protocols[rng_below(&rng, 5)],
		.src = rng_below(&rng, HOSTS),
		.dst = rng_below(&rng, HOSTS),
		.port = (uint16_t)rng_take(&rng),
		.label = rng_below(&rng, 1 << 20),
	};
}

/* TCP has its ports in the same place; behind them nobody looks. */
static void write_udp(uint8_t *at, const struct flow *f, uint32_t length)
{
	struct udp_hdr udp = {
		.src = be16(f->port), .dst = be16(UDP_PORT_ROCE), .length = be16(length)};

	memcpy(at, &udp, sizeof(udp));
}

static void write_ip4(uint8_t *at, const struct flow *f, uint32_t length)
{
	struct ip4_hdr ip = {
		.version_ihl = 0x45,
		.tos = (uint8_t)(f->dscp << 2 | ECN_ECT0),
		.length = be16(length),
		.fragment = be16(0x4000),
		.ttl = 64,
		.protocol = f->protocol,
		.src = be32(HOST_IP4_NET + f->src + 1),
		.dst = be32(HOST_IP4_NET + f->dst + 1),
	};

	ip.checksum = (__be16)~checksum_ip4(&ip);
	memcpy(at, &ip, sizeof(ip));
	write_udp(at + sizeof(ip), f, length - (uint32_t)sizeof(ip));
}

static void write_ip6(uint8_t *at, const struct flow *f, uint32_t length)
{
	struct ip6_hdr ip = {
		.version_class_flow =
			be32(6u << 28 | (uint32_t)(f->dscp << 2 | ECN_ECT0) << 20 | f->label),
		.payload_length = be16(length - sizeof(ip)),
		.next_header = f->protocol,
		.hop_limit = 64,
		.src = HOST_IP6_NET_BYTES,
		.dst = HOST_IP6_NET_BYTES,
	};
	__be32 src = be32(f->src + 1), dst = be32(f->dst + 1);

	memcpy(ip.src + 12, &src, sizeof(src));
	memcpy(ip.dst + 12, &dst, sizeof(dst));
	memcpy(at, &ip, sizeof(ip));
	write_udp(at + sizeof(ip), f, length - (uint32_t)sizeof(ip));
}

/* At once, as a burst comes, after a gap, or after a flow has been forgotten. */
static uint64_t random_gap(uint64_t *rng)
{
	static const uint64_t longest[] = {
		1, PS_PER_NS, 100 * PS_PER_NS, PS_PER_US, 10 * PS_PER_US, 3 * PS_PER_MS};

	return rng_take(rng) % longest[rng_below(rng, 6)];
}

void world_packet(struct check_world *w, struct world_packet *ret, struct frame *frame)
{
	uint32_t payload = rng_below(&w->rng, 9000), length;
	struct flow f = random_flow(w);
	struct eth_hdr eth = {.type = be16(f.ip6 ? ETHERTYPE_IP6 : ETHERTYPE_IP4)};

	length = (uint32_t)(f.ip6 ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr)) +
		 (uint32_t)(sizeof(struct udp_hdr) + sizeof(struct bth_hdr)) + payload + ICRC_BYTES;
	ret->sw = rng_below(&w->rng, CHECK_SWITCHES);
	ret->port = world_ingress(w, ret->sw, rng_below(&w->rng, WORLD_INGRESS));
	ret->candidates = w->groups[ret->sw][f.dst % WORLD_GROUPS].count;
	w->now_ps += random_gap(&w->rng);
	memset(frame->bytes, 0, WORLD_FRAME);
	memcpy(frame->bytes, &eth, sizeof(eth));
	if (f.ip6)
		write_ip6(frame->bytes + sizeof(eth), &f, length);
	else
		write_ip4(frame->bytes + sizeof(eth), &f, length);
	frame->hop = (struct hop){
		.magic = HOP_MAGIC,
		.length = (uint32_t)sizeof(eth) + length,
		.now_ps = w->now_ps,
		.started_ps = w->now_ps - 1,
	};
}
