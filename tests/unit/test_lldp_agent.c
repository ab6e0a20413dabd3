/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What agents send, byte for byte; what they know of neighbours; levels by whole frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/rng_stream.h"
#include "base/units.h"
#include "control/lldp_agent.h"
#include "lib/hand_fabric.h"
#include "lldp_fixture.h"

#define INTERVAL_PS (30 * PS_PER_S)
#define LONG_NAME   "a-name-that-is-longer-than-a-frame-here-has-room-for-and-gets-cut-at-63."

static const char *node_name(const void *arg, uint32_t node, char *buf)
{
	const struct fabric *f = arg;

	snprintf(buf, LLDP_NAME, "%s", f->nodes[node].name);
	return buf;
}

static const char *port_name(const void *arg, uint32_t port, char *buf)
{
	(void)arg;
	snprintf(buf, LLDP_NAME, "eth%u", port);
	return buf;
}

static const char *long_name(const void *arg, uint32_t index, char *buf)
{
	(void)arg;
	(void)index;
	snprintf(buf, LLDP_NAME, "%s", LONG_NAME);
	return buf;
}

/* h0 (port 2) and h1 (port 3) on s0 (ports 4, 5, 6), s1 (port 7) above it. */
static struct fabric *two_hosts(void)
{
	static const uint32_t links[][2] = {{0, 2}, {1, 2}, {2, 3}};

	return hand_fabric(2, 2, links, 3);
}

static struct lldp *agents(const struct fabric *f, uint64_t interval_ps)
{
	struct lldp_params p = {
		.interval_ps = interval_ps,
		.node_name = node_name,
		.port_name = port_name,
		.name_arg = f,
	};
	struct lldp *l = NULL;

	assert_int_equal(lldp_new(&l, &f->net, &p), 0);
	return l;
}

static unsigned receive(struct lldp *l, uint32_t port, const uint8_t *bytes, uint32_t length)
{
	uint8_t *copy = malloc(length ? length : 1);
	unsigned changed;

	assert_non_null(copy);
	memcpy(copy, bytes, length);
	changed = lldp_receive(l, port, copy, length, 0);
	free(copy);
	return changed;
}

/* What port `from` sends now reaches the other end of its cable. */
static unsigned deliver(struct lldp *l, const struct net *net, uint32_t from)
{
	uint8_t bytes[LLDP_FRAME_MAX];
	uint32_t length = lldp_make(l, from, bytes);

	return receive(l, net->ports[from].peer, bytes, length);
}

static void frames_are_the_standards(void **state)
{
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);
	uint8_t bytes[LLDP_FRAME_MAX];

	(void)state;
	memset(bytes, 0xee, sizeof(bytes));
	assert_int_equal(lldp_make(l, 2, bytes), sizeof(host_frame));
	assert_memory_equal(bytes, host_frame, sizeof(host_frame));

	assert_int_equal(receive(l, 4, host_frame, sizeof(host_frame)),
		LLDP_LEVEL_CHANGED | LLDP_ROLES_CHANGED);
	assert_int_equal(deliver(l, &f->net, 3), LLDP_ROLES_CHANGED);
	memset(bytes, 0xee, sizeof(bytes));
	assert_int_equal(lldp_make(l, 5, bytes), sizeof(switch_frame));
	assert_memory_equal(bytes, switch_frame, sizeof(switch_frame));
	lldp_free(l);
	hand_fabric_free(f);
}

/* Device type, level and orientation that a port sends. */
static void assert_topology(const struct lldp *l, uint32_t port, int device, int level, int faces)
{
	uint8_t bytes[LLDP_FRAME_MAX];

	lldp_make(l, port, bytes);
	assert_int_equal(bytes[AT_TOPOLOGY + 6], device);
	assert_int_equal(bytes[AT_TOPOLOGY + 7], level);
	assert_int_equal(bytes[AT_TOPOLOGY + 8], faces);
}

static void what_is_unknown_is_255(void **state)
{
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);

	(void)state;
	assert_topology(l, 6, 2, 255, 255);
	deliver(l, &f->net, 2);
	assert_topology(l, 4, 2, 1, 1);
	assert_topology(l, 6, 2, 1, 255);
	deliver(l, &f->net, 6);
	assert_topology(l, 7, 2, 2, 1);
	deliver(l, &f->net, 7);
	assert_topology(l, 6, 2, 1, 0);
	lldp_free(l);
	hand_fabric_free(f);
}

static void crosslinks_are_told(void **state)
{
	static const uint32_t links[][2] = {{0, 2}, {1, 3}, {2, 3}}; /* s0: 4, 5; s1: 6, 7 */
	struct fabric *f = hand_fabric(2, 2, links, 3);
	struct lldp *l = agents(f, INTERVAL_PS);

	(void)state;
	deliver(l, &f->net, 2);
	deliver(l, &f->net, 3);
	deliver(l, &f->net, 5);
	deliver(l, &f->net, 7);
	assert_topology(l, 5, 2, 1, 2);
	assert_topology(l, 7, 2, 1, 2);
	assert_int_equal(lldp_role(l, 5), ROLE_CROSS);
	lldp_free(l);
	hand_fabric_free(f);
}

static void time_to_live_is_four_intervals(void **state)
{
	static const struct {
		uint64_t interval_ps;
		uint32_t ttl_s;
	} cases[] = {
		{1, 1},
		{100 * PS_PER_US, 1},
		{PS_PER_S / 4 - 1, 1},
		{PS_PER_S / 4, 2},
		{PS_PER_S, 5},
		{30 * PS_PER_S, 121},
		{16383 * PS_PER_S, 65533},
		{16384 * PS_PER_S, 65535},
		{UINT64_MAX, 65535},
	};
	struct fabric *f = two_hosts();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lldp *l = agents(f, cases[i].interval_ps);
		uint8_t bytes[LLDP_FRAME_MAX];

		lldp_make(l, 2, bytes);
		assert_int_equal(bytes[AT_TTL + 2] << 8 | bytes[AT_TTL + 3], cases[i].ttl_s);
		lldp_free(l);
	}
	hand_fabric_free(f);
}

static void long_names_are_cut(void **state)
{
	struct fabric *f = two_hosts();
	struct lldp_params p = {
		.interval_ps = INTERVAL_PS, .node_name = long_name, .port_name = long_name};
	struct lldp_neighbour n;
	struct lldp_frame frame;
	struct lldp *l = NULL;
	uint8_t bytes[LLDP_FRAME_MAX + 1];

	(void)state;
	assert_int_equal(lldp_new(&l, &f->net, &p), 0);
	bytes[LLDP_FRAME_MAX] = 0xee;
	assert_int_equal(lldp_make(l, 2, bytes), LLDP_FRAME_MAX);
	assert_int_equal(bytes[LLDP_FRAME_MAX], 0xee);
	assert_int_equal(lldp_frame_read(&frame, bytes, LLDP_FRAME_MAX), 0);
	assert_int_equal(frame.port_length, 1 + 63);
	assert_memory_equal(frame.port + 1, LONG_NAME, 63);
	assert_int_equal(frame.system_length, 63);
	assert_memory_equal(frame.system, LONG_NAME, 63);
	/* and are shown as long as they came */
	receive(l, 4, bytes, LLDP_FRAME_MAX);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_int_equal(strlen(n.port), 63);
	assert_memory_equal(n.port, LONG_NAME, 63);
	assert_string_equal(n.system, n.port);
	lldp_free(l);
	hand_fabric_free(f);
}

static void a_neighbour_is_remembered(void **state)
{
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);
	struct lldp_neighbour n;

	(void)state;
	assert_false(lldp_neighbour(l, 4, &n));
	lldp_receive(l, 4, host_frame, sizeof(host_frame), 5 * PS_PER_S);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_string_equal(n.chassis, "02:fb:00:00:00:02");
	assert_string_equal(n.port, "eth2");
	assert_string_equal(n.system, "h0");
	assert_int_equal(n.level, 0);
	assert_int_equal(n.role, ROLE_DOWN);
	assert_int_equal(n.heard_ps, 5 * PS_PER_S);
	assert_int_equal(n.expires_ps, 126 * PS_PER_S);
	assert_false(lldp_neighbour(l, 5, &n));
	/* what is no frame changes nothing, and is counted at its port */
	lldp_receive(l, 4, host_frame, AT_SYSTEM - 1, 9 * PS_PER_S);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_int_equal(n.heard_ps, 5 * PS_PER_S);
	assert_int_equal(lldp_counts(l, 4).received, 2);
	assert_int_equal(lldp_counts(l, 4).malformed, 1);
	assert_int_equal(lldp_counts(l, 5).received, 0);
	lldp_free(l);
	hand_fabric_free(f);
}

/* A frame with these ids, and a topology TLV. */
static void foreign_frame(struct draft *d, const void *chassis, uint32_t chassis_length,
	const void *port, uint32_t port_length, const uint8_t ttl[2], const uint8_t *topology)
{
	draft_begin(d);
	draft_tlv(d, LLDP_TYPE_CHASSIS, chassis, chassis_length);
	draft_tlv(d, LLDP_TYPE_PORT, port, port_length);
	draft_tlv(d, LLDP_TYPE_TTL, ttl, 2);
	if (topology)
		draft_tlv(d, LLDP_TYPE_ORGANISATION, topology, sizeof(topology_tlv));
}

static void ids_of_all_kinds_can_be_shown(void **state)
{
	static const uint8_t ttl[2] = {0, 9};
	uint8_t longest[256] = {0};
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);
	struct lldp_neighbour n;
	struct draft d;

	(void)state;
	/* a MAC that happens to be letters; a network address */
	foreign_frame(&d, "\4abcdef", 7, "\4\1\12\0\0\1", 6, ttl, NULL);
	receive(l, 4, d.bytes, d.length);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_string_equal(n.chassis, "61:62:63:64:65:66");
	assert_string_equal(n.port, "01:0a:00:00:01");
	assert_string_equal(n.system, "");
	assert_int_equal(n.level, LLDP_LEVEL_UNKNOWN);
	foreign_frame(&d, "\7sw \"1\"", 7, "\3\1\2\3\4\5\6", 7, ttl, NULL);
	receive(l, 4, d.bytes, d.length);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_string_equal(n.chassis, "sw \"1\"");
	assert_string_equal(n.port, "01:02:03:04:05:06");
	memset(longest + 1, 'z', 255);
	foreign_frame(&d, longest, 256, "\7\x1b[2J", 5, ttl, NULL);
	receive(l, 4, d.bytes, d.length);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_int_equal(strspn(n.chassis, "z"), LLDP_TEXT - 1);
	assert_int_equal(strlen(n.chassis), LLDP_TEXT - 1);
	assert_string_equal(n.port, "1b:5b:32:4a");
	memset(longest + 1, 0xff, 255);
	foreign_frame(&d, longest, 256, "\7x", 2, ttl, NULL);
	receive(l, 4, d.bytes, d.length);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_int_equal(strlen(n.chassis), 62); /* 21 whole bytes */
	lldp_free(l);
	hand_fabric_free(f);
}

static void a_farewell_ends_a_neighbour_and_no_role(void **state)
{
	static const uint8_t zero[2] = {0, 0};
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);
	struct lldp_neighbour n;
	struct draft d;

	(void)state;
	/* from someone who was never heard */
	foreign_frame(&d, "\7x", 2, "\7x", 2, zero, topology_tlv);
	assert_int_equal(lldp_receive(l, 4, d.bytes, d.length, 1), 0);
	assert_false(lldp_neighbour(l, 4, &n));
	lldp_receive(l, 4, host_frame, sizeof(host_frame), 2);
	/* from someone else */
	assert_int_equal(lldp_receive(l, 4, d.bytes, d.length, 3), 0);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_int_equal(n.expires_ps, 121 * PS_PER_S + 2);
	foreign_frame(&d, host_frame + 16, 7, "\5eth2", 5, zero, NULL);
	assert_int_equal(lldp_receive(l, 4, d.bytes, d.length, 4), 0);
	assert_true(lldp_neighbour(l, 4, &n));
	assert_string_equal(n.chassis, "02:fb:00:00:00:02");
	assert_int_equal(n.heard_ps, 2);
	assert_int_equal(n.expires_ps, 4);
	assert_int_equal(lldp_role(l, 4), ROLE_DOWN);
	assert_int_equal(lldp_level(l, 2), 1);
	lldp_free(l);
	hand_fabric_free(f);
}

/*
 * The same chassis may not rise, another may; ids that differ only in what is not shown do differ.
 */
static void another_chassis_is_told(void **state)
{
	static const uint8_t ttl[2] = {0, 9};
	uint8_t level3[7], level6[7], silent[7], longest[256];
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);
	struct draft d;

	(void)state;
	memcpy(level3, topology_tlv, 7);
	memcpy(level6, topology_tlv, 7);
	memcpy(silent, topology_tlv, 7);
	level6[5] = 6;
	silent[5] = 255;
	memset(longest, 'x', sizeof(longest));
	foreign_frame(&d, longest, 256, "\7p", 2, ttl, level3);
	assert_int_equal(receive(l, 6, d.bytes, d.length), LLDP_LEVEL_CHANGED | LLDP_ROLES_CHANGED);
	assert_int_equal(lldp_level(l, 2), 4);
	foreign_frame(&d, longest, 256, "\7q", 2, ttl, level6);
	assert_int_equal(receive(l, 6, d.bytes, d.length), 0);
	foreign_frame(&d, longest, 256, "\7q", 2, ttl, silent);
	assert_int_equal(receive(l, 6, d.bytes, d.length), 0);
	foreign_frame(&d, longest, 256, "\7q", 2, ttl, NULL);
	assert_int_equal(receive(l, 6, d.bytes, d.length), 0);
	assert_int_equal(lldp_level(l, 2), 4);
	longest[255] = 'y';
	foreign_frame(&d, longest, 256, "\7q", 2, ttl, level6);
	assert_int_equal(receive(l, 6, d.bytes, d.length), LLDP_LEVEL_CHANGED);
	assert_int_equal(lldp_level(l, 2), 7);
	foreign_frame(&d, longest, 255, "\7q", 2, ttl, silent);
	assert_int_equal(receive(l, 6, d.bytes, d.length), LLDP_LEVEL_CHANGED | LLDP_ROLES_CHANGED);
	assert_int_equal(lldp_level(l, 2), LLDP_LEVEL_UNKNOWN);
	lldp_free(l);
	hand_fabric_free(f);
}

static void an_end_station_is_at_level_0_whatever_it_says(void **state)
{
	static const uint8_t ttl[2] = {0, 9}, station[] = {0x00, 0x80, 0xc2, 20, 0, 255, 255};
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);
	struct draft d;

	(void)state;
	foreign_frame(&d, "\7x", 2, "\7p", 2, ttl, station);
	assert_int_equal(receive(l, 6, d.bytes, d.length), LLDP_LEVEL_CHANGED | LLDP_ROLES_CHANGED);
	assert_int_equal(lldp_level(l, 2), 1);
	assert_int_equal(lldp_role(l, 6), ROLE_DOWN);
	lldp_free(l);
	hand_fabric_free(f);
}

/*
 * Ports that are to send, each at most once, in random order; a node whose level changed sends on
 * all.
 */
static void settle(struct lldp *l, const struct net *net, uint64_t *dice)
{
	uint32_t *due = malloc(net->port_count * sizeof(*due)), count = net->port_count;
	bool *waits = malloc(PORT_FIRST + net->port_count);

	assert_true(due && waits);
	memset(waits, true, PORT_FIRST + net->port_count);
	for (uint32_t i = 0; i < count; i++)
		due[i] = PORT_FIRST + i;
	while (count) {
		uint32_t pick = rng_below(dice, count), port = due[pick];
		const struct net_node *to = &net->nodes[net->ports[net->ports[port].peer].node];

		due[pick] = due[--count];
		waits[port] = false;
		if (!(deliver(l, net, port) & LLDP_LEVEL_CHANGED))
			continue;
		for (uint32_t p = to->first_port; p < to->first_port + to->port_count; p++)
			if (!waits[p]) {
				waits[p] = true;
				due[count++] = p;
			}
	}
	free(due);
	free(waits);
}

static void frames_tell_a_fat_tree(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct fabric *f = hand_fat_tree(4); /* 16 hosts, 8 + 8 + 4 switches */
		struct lldp *l = agents(f, 100 * PS_PER_US);
		uint64_t dice = rng_stream(seed, "lldp", 0);

		settle(l, &f->net, &dice);
		for (uint32_t n = 0; n < f->net.node_count; n++)
			assert_int_equal(lldp_level(l, n), (n >= 16) + (n >= 24) + (n >= 32));
		for (uint32_t i = 0; i < f->net.link_count; i++) {
			assert_int_equal(lldp_role(l, f->links[i].a), ROLE_UP);
			assert_int_equal(lldp_role(l, f->links[i].b), ROLE_DOWN);
		}
		lldp_free(l);
		hand_fabric_free(f);
	}
}

/* Damage of any one bit ends nowhere but in the counts and in what the frame may rightly say. */
static void every_flipped_bit_is_survived(void **state)
{
	struct fabric *f = two_hosts();
	struct lldp *l = agents(f, INTERVAL_PS);

	(void)state;
	for (uint32_t bit = 0; bit < 8 * sizeof(switch_frame); bit++) {
		uint8_t bytes[sizeof(switch_frame)];

		memcpy(bytes, switch_frame, sizeof(bytes));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		receive(l, 7, bytes, sizeof(bytes));
	}
	assert_int_equal(lldp_counts(l, 7).received, 8 * sizeof(switch_frame));
	/*
	 * 64 of destination and Ethernet type, 21 of the types of the mandatory TLVs, 18 of the
	 * lengths of chassis and port; else those that make a later TLV a second chassis, port or
	 * TTL, or the TTL too short or too long. A few lines of Python that knew only the rules
	 * found as many.
	 */
	assert_int_equal(lldp_counts(l, 7).malformed, 114);
	lldp_free(l);
	hand_fabric_free(f);
}

static void freeing_nothing_is_fine(void **state)
{
	(void)state;
	lldp_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_the_standards),
		cmocka_unit_test(what_is_unknown_is_255),
		cmocka_unit_test(crosslinks_are_told),
		cmocka_unit_test(time_to_live_is_four_intervals),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(a_neighbour_is_remembered),
		cmocka_unit_test(ids_of_all_kinds_can_be_shown),
		cmocka_unit_test(a_farewell_ends_a_neighbour_and_no_role),
		cmocka_unit_test(another_chassis_is_told),
		cmocka_unit_test(an_end_station_is_at_level_0_whatever_it_says),
		cmocka_unit_test(frames_tell_a_fat_tree),
		cmocka_unit_test(every_flipped_bit_is_survived),
		cmocka_unit_test(freeing_nothing_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
