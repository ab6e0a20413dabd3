/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Port roles: what bounces from an uplink to another changes its class; LLDP; no way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "lib/switch_bench.h"
#include "lib/switch_cases.h"

#define OUT BENCH_LOCAL(1)

static void set_roles(struct switch_bench *b, unsigned in, unsigned out)
{
	b->dp->tables.ports[BENCH_IN].role = (uint8_t)in;
	b->dp->tables.ports[OUT].role = (uint8_t)out;
	bench_accept(b);
}

static void init_of(struct trial *t, uint8_t tos, bool ip6)
{
	struct packet_spec spec = packet_spec_default;

	spec.src_host = TO_LAST;
	spec.tos = tos;
	spec.ip6 = ip6;
	trial_init(t, &spec);
}

/*
 * Only from uplink to uplink; every DSCP by its own entry; ECN's bits stay. It leaves by its new
 * class and is counted at its ingress in the old one.
 */
void switch_uplink_to_uplink_is_remapped(void **state)
{
	struct switch_bench *b = *state;
	const uint8_t *retag = b->dp->tables.config.retag;
	struct trial t;

	for (unsigned roles = 0; roles < 16; roles++) {
		bool bounced = roles / 4 == ROLE_UP && roles % 4 == ROLE_UP;

		set_roles(b, roles / 4, roles % 4);
		for (unsigned i = 0; i < 512; i++) {
			uint8_t dscp = (uint8_t)(i % 256 / 4);

			init_of(&t, (uint8_t)i, i & 256);
			t.dscp = retag[dscp];
			if (bounced && t.dscp != dscp)
				t.flags = VERDICT_REMAPPED;
			trial_forwards(b, &t, OUT);
		}
	}
}

/* At its ingress, headroom and all, it is still what it was. */
void switch_the_ingress_class_stays(void **state)
{
	struct switch_bench *b = *state;
	struct trial t;

	bench_ingress(b, BENCH_IN, CLASS_LOSSLESS)->xoff_bytes = 0;
	set_roles(b, ROLE_UP, ROLE_UP);
	init_of(&t, DSCP_LOSSLESS << 2, false);
	t.dscp = DSCP_BOUNCED;
	t.flags = VERDICT_REMAPPED | VERDICT_ASK_PFC;
	t.above = true;
	trial_forwards(b, &t, OUT);
	assert_int_equal(bench_ingress(b, BENCH_IN, CLASS_BOUNCED)->bytes, 0);
	assert_int_equal(bench_queue(b, OUT, CLASS_LOSSLESS)->depth_bytes, 0);
	/* tagged, it is of the other class everywhere after this */
	init_of(&t, DSCP_BOUNCED << 2, false);
	trial_forwards(b, &t, OUT);
	assert_int_equal(bench_ingress(b, BENCH_IN, CLASS_BOUNCED)->bytes, t.hop.length);
}

/* Room is looked for in the new class, and what was marked on the cable stays marked. */
void switch_a_bounced_packet_finds_no_room(void **state)
{
	struct switch_bench *b = *state;
	bool back = b->dp->tables.config.trim_to_sender;
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		bench_queue(b, OUT, CLASS_TRIM)->limit_bytes = 0;
		bench_queue(b, BENCH_HOST_PORT, CLASS_TRIM)->kmax_bytes = 1;
		set_roles(b, ROLE_UP, ROLE_UP);
		init_of(&t, DSCP_TRIM << 2 | 2, ip6);
		t.hop.queue = CLASS_TRIM;
		t.hop.behind_bytes = 1;
		t.dscp = DSCP_TRIM_TOO;
		t.flags = VERDICT_REMAPPED | VERDICT_MARKED;
		trial_forwards(b, &t, OUT);
		bench_queue(b, OUT, CLASS_TRIM_TOO)->limit_bytes = 0;
		bench_accept(b);
		t.chosen = OUT;
		t.dscp = back ? DSCP_RETURNED : DSCP_TRIMMED;
		t.flags |= VERDICT_TRIMMED | (back ? VERDICT_RETURNED : 0);
		trial_forwards(b, &t, back ? BENCH_LOCAL(3) : OUT);
		bench_reset(state);
	}
}

/* IEEE 802.1AB: for the node's own processor, as they are, whatever their address and length. */
void switch_lldp_ends_at_the_port(void **state)
{
	static const uint8_t nearest[][6] = {{0x01, 0x80, 0xc2, 0, 0, 0x0e},
		{0x01, 0x80, 0xc2, 0, 0, 0x03}, {0x02, 0, 0, 0, 0, 1}};
	struct switch_bench *b = *state;
	struct trial t;

	for (unsigned i = 0; i < 6; i++) {
		init_of(&t, 0, false);
		memcpy(t.in.bytes, nearest[i / 2], 6);
		packet_put16(t.in.bytes + 12, 0x88cc);
		t.at = i & 1 ? BENCH_HOST_PORT : BENCH_IN;
		for (t.in.captured = 0; t.in.captured < 14; t.in.captured++)
			trial_drops(b, &t, DROP_MALFORMED, t.at);
		for (; t.in.captured < PACKET_MAX; t.in.captured += 11)
			trial_ends(b, &t, VERDICT_CONTROL);
		b->dp->tables.ports[t.at].up = 0;
		bench_accept(b);
		trial_drops(b, &t, DROP_LINK_DOWN, t.at);
		bench_reset(state);
	}
}

/* No switch forwards frames for the nearest bridge, and none is known here. */
void switch_other_multicast_is_dropped(void **state)
{
	static const uint16_t types[] = {0x8809, 0x888e, 0x88f7, 0x8902, 0x0027, 0x88cb, 0x88cd};
	struct trial t;

	for (unsigned i = 0; i < 2 * sizeof(types) / sizeof(types[0]); i++) {
		init_of(&t, 0, false);
		memcpy(t.in.bytes, (uint8_t[]){0x01, 0x80, 0xc2, 0, 0, 0x0e}, 6);
		packet_put16(t.in.bytes + 12, types[i / 2]);
		t.at = i & 1 ? BENCH_HOST_PORT : BENCH_IN;
		trial_drops(*state, &t, DROP_MALFORMED, t.at);
	}
}

/* Local reroute or not: the group's only port is the way, and be it the way back. */
void switch_the_only_way_is_back(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	for (int ip6 = 0; ip6 < 2; ip6++) {
		spec.ip6 = ip6;
		spec.dst_host = TO_BACK;
		trial_init(&t, &spec);
		trial_forwards(*state, &t, BENCH_IN);
	}
}

/* The group of TO_AROUND: the ports 1, 0, 2 and 0. */
static struct group *around(struct switch_bench *b)
{
	const struct sw_tables *t = &b->dp->tables;
	const struct switch_state *sw = &t->switches[0];

	return &t->groups[sw->first_group + t->routes[sw->first_route + TO_AROUND / ROUTE_BLOCK]
						    .group[TO_AROUND % ROUTE_BLOCK]];
}

/* Flows that enter by port 0 move to the group's next port, the last one's to the first. */
void switch_the_next_port_takes_what_would_go_back(void **state)
{
	static const uint16_t apart[] = {1, 60, 2, 61}, as_is[] = {1, 0, 2, 0};
	static const uint32_t detours[] = {1, 2, 2, 1};
	struct switch_bench *b = *state;
	unsigned seen = 0;
	struct trial t;

	for (unsigned flow = 0; flow < 400; flow++) {
		struct packet_spec spec = packet_spec_default;
		unsigned pick = 0;
		uint32_t port;

		spec.ip6 = flow & 1;
		spec.dst_host = TO_AROUND;
		spec.src_port = (uint16_t)(0xc000 + flow);
		trial_init(&t, &spec);
		memcpy(around(b)->port, apart, sizeof(apart));
		port = trial_port(b, &t);
		while (BENCH_LOCAL(apart[pick]) != port)
			pick++;
		memcpy(around(b)->port, as_is, sizeof(as_is));
		bench_accept(b);
		trial_forwards(
			b, &t, BENCH_LOCAL(bench_has(b, SW_DETOUR) ? detours[pick] : as_is[pick]));
		seen |= 1u << pick;
	}
	assert_int_equal(seen, 0xf);
}
