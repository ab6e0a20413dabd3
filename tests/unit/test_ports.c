/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/headroom.h"
#include "base/rng_stream.h"
#include "control/ports.h"

#define KB   1024u
#define GBPS 1000000000ull

/*
 * h0 - s0 - s1 - h1, the middle link four times as fast: ports 2, 3 of the hosts, 4 and 5 of s0, 6
 * and 7 of s1.
 */
enum { H0 = 2, H1, S0_DOWN, S0_UP, S1_DOWN, S1_UP, PORTS_END };

struct bench {
	struct net_node nodes[4];
	struct net_port links[PORTS_END];
	struct net net;
	struct port ports[PORTS_END];
	struct queue queues[PORTS_END * CLASSES];
	struct ingress ingresses[PORTS_END * CLASSES];
	struct switch_state switches[2];
	struct switch_balance balances[2];
	struct sw_tables t;
	struct switching p;
};

static void bench_link(struct bench *b, uint32_t link, uint32_t x, uint32_t y, uint64_t rate_bps)
{
	b->links[x] = (struct net_port){
		.peer = y, .link = link, .rate_bps = rate_bps, .delay_ps = 1000000 * (link + 1)};
	b->links[y] = b->links[x];
	b->links[y].peer = x;
}

/* One lossy class of 100 KB a queue; tables full of what must not stay. */
static struct bench *bench_new(void)
{
	struct bench *b = malloc(sizeof(*b));

	assert_non_null(b);
	memset(b, 0x5a, sizeof(*b));
	b->nodes[0] = (struct net_node){NODE_HOST, 0, H0, 1, 0};
	b->nodes[1] = (struct net_node){NODE_HOST, 1, H1, 1, 0};
	b->nodes[2] = (struct net_node){NODE_SWITCH, 0, S0_DOWN, 2, 0};
	b->nodes[3] = (struct net_node){NODE_SWITCH, 1, S1_DOWN, 2, 0};
	bench_link(b, 0, H0, S0_DOWN, 100 * GBPS);
	bench_link(b, 1, H1, S1_DOWN, 100 * GBPS);
	bench_link(b, 2, S0_UP, S1_UP, 400 * GBPS);
	for (uint32_t n = 0; n < 4; n++)
		for (uint32_t i = 0; i < b->nodes[n].port_count; i++)
			b->links[b->nodes[n].first_port + i].node = n;
	b->net = (struct net){b->nodes, 4, 2, 2, b->links, PORTS_END - PORT_FIRST, 3};
	b->t = (struct sw_tables){.ports = b->ports,
		.queues = b->queues,
		.ingresses = b->ingresses,
		.switches = b->switches,
		.balances = b->balances,
		.count = {.ports = PORTS_END,
			.queues = PORTS_END * CLASSES,
			.switches = 2,
			.balances = 2}};
	b->p = (struct switching){.alpha = 1, .frame_bytes = 4170};
	b->p.classes[0] = (struct switching_class){.used = true,
		.limit_bytes = 100 * KB,
		.xoff_bytes = SWITCHING_AUTO,
		.headroom_bytes = SWITCHING_AUTO};
	return b;
}

static struct queue *queue_of(struct bench *b, uint32_t port, uint32_t class)
{
	return &b->queues[port * CLASSES + class];
}

static struct ingress *ingress_of(struct bench *b, uint32_t port, uint32_t class)
{
	return &b->ingresses[port * CLASSES + class];
}

static void configure(struct bench *b)
{
	assert_int_equal(ports_configure(&b->t, &b->net, &b->p, 7), 0);
}

static uint64_t auto_headroom(const struct bench *b, uint32_t port)
{
	const struct headroom_params h = {.rate_bps = b->links[port].rate_bps,
		.delay_ps = b->links[port].delay_ps,
		.response_ps = b->p.config.response_ps,
		.frame_bytes = b->p.frame_bytes,
		.control_bytes = b->p.control_bytes};

	return headroom_bytes(&h);
}

static void ports_know_their_place(void **state)
{
	struct bench *b = bench_new();
	const uint8_t mac[6] = {0x02, 0xfb, 0, 0, 0, S0_UP}, peer[6] = {0x02, 0xfb, 0, 0, 0, S1_UP};

	(void)state;
	configure(b);
	assert_int_equal(b->ports[H1].kind, PORT_HOST);
	assert_int_equal(b->ports[H1].host, 1);
	assert_int_equal(b->ports[H1].peer, S1_DOWN);
	assert_int_equal(b->ports[S0_UP].kind, PORT_SWITCH);
	assert_int_equal(b->ports[S0_UP].switch_id, 0);
	assert_int_equal(b->ports[S0_UP].host, HOST_NONE);
	assert_int_equal(b->ports[S0_UP].peer, S1_UP);
	assert_memory_equal(b->ports[S0_UP].mac, mac, 6);
	assert_memory_equal(b->ports[S0_UP].peer_mac, peer, 6);
	for (uint32_t id = PORT_FIRST; id < PORTS_END; id++) {
		assert_int_equal(b->ports[id].up, 1);
		assert_int_equal(b->ports[id].up_since_ps, 0);
		assert_int_equal(b->ports[id].role, ROLE_UNKNOWN);
		assert_int_equal(b->ports[id].faulty, 0);
		assert_int_equal(b->ports[id].rx_frames, 0);
		assert_int_equal(b->ports[id].tx_bytes, 0);
		/* the dice of every trace so far */
		assert_int_equal(b->ports[id].rng, rng_stream(7, "port", id));
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(b->switches[i].hash_seed, rng_stream(7, "switch", i));
		assert_int_equal(b->switches[i].host_count, 2);
		/* routing's */
		assert_int_equal(b->switches[i].first_group, 0x5a5a5a5a);
	}
	free(b);
}

static void static_queues_have_their_limit(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->p.classes[3] = (struct switching_class){.used = true, .limit_bytes = 1ull << 40};
	configure(b);
	for (uint32_t id = S0_DOWN; id < PORTS_END; id++) {
		struct queue expected = {.limit_bytes = 100 * KB};

		assert_memory_equal(queue_of(b, id, 0), &expected, sizeof(expected));
		expected.limit_bytes = UINT32_MAX;
		assert_memory_equal(queue_of(b, id, 3), &expected, sizeof(expected));
		expected.limit_bytes = 0;
		assert_memory_equal(queue_of(b, id, 1), &expected, sizeof(expected));
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(b->switches[i].pool_bytes, 0);
		assert_int_equal(b->switches[i].pool_used, 0);
		assert_int_equal(b->switches[i].pool_max, 0);
		for (uint32_t class = 0; class < CLASSES; class ++) {
			assert_int_equal(b->switches[i].headroom_bytes[class], 0);
			assert_int_equal(b->switches[i].headroom_used[class], 0);
		}
	}
	free(b);
}

static void a_hosts_queue_refuses_nothing(void **state)
{
	struct bench *b = bench_new();
	const struct queue queue = {.limit_bytes = UINT32_MAX};
	const struct ingress ingress = {0};

	(void)state;
	b->p.classes[0].kmax.bytes = 1000;
	b->p.classes[0].lossless = true;
	b->p.shared = true;
	b->p.pool_bytes = 1024 * KB;
	configure(b);
	for (uint32_t i = H0 * CLASSES; i < (H1 + 1) * CLASSES; i++) {
		assert_memory_equal(&b->queues[i], &queue, sizeof(queue));
		assert_memory_equal(&b->ingresses[i], &ingress, sizeof(ingress));
	}
	free(b);
}

static void ecn_is_the_queues_own(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->p.classes[0].kmin = (struct switching_depth){.bytes = 5000};
	b->p.classes[0].kmax = (struct switching_depth){.bytes = 15000};
	b->p.classes[0].pmax = 0.25;
	b->p.classes[2] = (struct switching_class){.used = true,
		.limit_bytes = KB,
		.kmin = {.ps = 1000000},
		.kmax = {.ps = 3000000},
		.pmax = 1,
		.average = 7};
	/* so short that it is no byte, and so long that it is too many */
	b->p.classes[4] = (struct switching_class){
		.used = true, .limit_bytes = KB, .kmin = {.ps = 1}, .kmax = {.ps = 1}};
	b->p.classes[5] = (struct switching_class){.used = true,
		.limit_bytes = KB,
		.kmin = {.bytes = 1ull << 33},
		.kmax = {.ps = PS_PER_S}};
	configure(b);
	for (uint32_t id = S0_DOWN; id < PORTS_END; id++) {
		uint32_t byte_us = (uint32_t)(b->links[id].rate_bps / 8000000);

		assert_int_equal(queue_of(b, id, 0)->kmin_bytes, 5000);
		assert_int_equal(queue_of(b, id, 0)->kmax_bytes, 15000);
		assert_int_equal(queue_of(b, id, 0)->pmax, 16384);
		assert_int_equal(queue_of(b, id, 0)->average_shift, 0);
		assert_int_equal(queue_of(b, id, 2)->kmin_bytes, byte_us);
		assert_int_equal(queue_of(b, id, 2)->kmax_bytes, 3 * byte_us);
		assert_int_equal(queue_of(b, id, 2)->pmax, 65536);
		assert_int_equal(queue_of(b, id, 2)->average_shift, 7);
		assert_int_equal(queue_of(b, id, 4)->kmax_bytes, 1);
		assert_int_equal(queue_of(b, id, 5)->kmin_bytes, UINT32_MAX);
		assert_int_equal(queue_of(b, id, 5)->kmax_bytes, UINT32_MAX);
	}
	free(b);
}

static void a_static_ingress_ends_below_its_headroom(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->p.classes[0].lossless = true;
	b->p.classes[0].limit_bytes = 500 * KB;
	b->p.classes[0].xon_bytes = 8340;
	b->p.config.response_ps = 500000;
	b->p.control_bytes = 300;
	configure(b);
	for (uint32_t id = S0_DOWN; id < PORTS_END; id++) {
		uint32_t headroom = (uint32_t)auto_headroom(b, id);
		const struct ingress expected = {.lossless = 1,
			.xoff_bytes = 500 * KB - headroom,
			.xon_bytes = 8340,
			.headroom_limit = headroom};
		const struct queue queue = {.lossless = 1, .limit_bytes = UINT32_MAX};

		assert_memory_equal(ingress_of(b, id, 0), &expected, sizeof(expected));
		assert_memory_equal(queue_of(b, id, 0), &queue, sizeof(queue));
		assert_int_equal(ingress_of(b, id, 1)->lossless, 0);
	}
	/* a link of four times the rate, and a longer one */
	assert_true(ingress_of(b, S0_UP, 0)->headroom_limit >
		    4 * ingress_of(b, S0_DOWN, 0)->headroom_limit);
	assert_int_equal(b->switches[1].headroom_bytes[0],
		auto_headroom(b, S1_DOWN) + auto_headroom(b, S1_UP));
	assert_int_equal(b->switches[1].headroom_bytes[1], 0);
	assert_int_equal(b->switches[1].pool_bytes, 0);
	free(b);
}

static void what_is_given_is_not_computed(void **state)
{
	struct bench *b = bench_new();
	struct switching_class *c = &b->p.classes[0];

	(void)state;
	c->lossless = true;
	c->xoff_bytes = 60 * KB;
	c->headroom_bytes = 40 * KB;
	configure(b);
	assert_int_equal(ingress_of(b, S0_UP, 0)->xoff_bytes, 60 * KB);
	assert_int_equal(ingress_of(b, S0_UP, 0)->headroom_limit, 40 * KB);
	assert_int_equal(b->switches[0].headroom_bytes[0], 80 * KB);
	c->xoff_bytes++;
	assert_int_equal(ports_configure(&b->t, &b->net, &b->p, 7), -EINVAL);
	c->xoff_bytes = SWITCHING_AUTO;
	c->headroom_bytes = 100 * KB - 1;
	configure(b);
	assert_int_equal(ingress_of(b, S0_UP, 0)->xoff_bytes, 1);
	c->headroom_bytes = 100 * KB;
	assert_int_equal(ports_configure(&b->t, &b->net, &b->p, 7), -EINVAL);
	c->headroom_bytes = 1ull << 32;
	c->limit_bytes = 1ull << 33;
	assert_int_equal(ports_configure(&b->t, &b->net, &b->p, 7), -EINVAL);
	/* two of them are too much for the switch */
	c->headroom_bytes = 3ull << 30;
	c->limit_bytes = 4ull << 30;
	assert_int_equal(ports_configure(&b->t, &b->net, &b->p, 7), -EINVAL);
	free(b);
}

/* Lossy class 0, lossless class 3, headers in class 6. */
static void share(struct bench *b)
{
	b->p.shared = true;
	b->p.config.features = SW_TRIM | SW_PFC;
	b->p.pool_bytes = 1024 * KB;
	b->p.alpha = 0.5;
	b->p.classes[0].limit_bytes = 5 * KB;
	b->p.classes[3] = (struct switching_class){.used = true,
		.lossless = true,
		.limit_bytes = 6 * KB,
		.xoff_bytes = SWITCHING_AUTO,
		.xon_bytes = 2 * KB,
		.headroom_bytes = 70 * KB};
	b->p.classes[6] =
		(struct switching_class){.used = true, .headers = true, .limit_bytes = 20 * KB};
}

static void a_pool_shares_what_nobody_was_promised(void **state)
{
	struct bench *b = bench_new();
	const struct queue lossy = {.limit_bytes = 5 * KB, .alpha = 128},
			   lossless = {.limit_bytes = UINT32_MAX, .lossless = 1},
			   headers = {.limit_bytes = 20 * KB};
	const struct ingress ingress = {.lossless = 1,
		.xoff_bytes = 6 * KB,
		.alpha = 128,
		.xon_bytes = 2 * KB,
		.headroom_limit = 70 * KB};
	uint32_t own = 2 * (5 + 6 + 70 + 20) * KB;

	(void)state;
	share(b);
	configure(b);
	for (uint32_t id = S0_DOWN; id < PORTS_END; id++) {
		assert_memory_equal(queue_of(b, id, 0), &lossy, sizeof(lossy));
		assert_memory_equal(queue_of(b, id, 3), &lossless, sizeof(lossless));
		assert_memory_equal(queue_of(b, id, 6), &headers, sizeof(headers));
		assert_memory_equal(ingress_of(b, id, 3), &ingress, sizeof(ingress));
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(b->switches[i].pool_bytes, 1024 * KB - own);
		assert_int_equal(b->switches[i].headroom_bytes[3], 140 * KB);
	}
	b->p.pool_bytes = own + 1;
	configure(b);
	assert_int_equal(b->switches[0].pool_bytes, 1);
	b->p.pool_bytes = own;
	assert_int_equal(ports_configure(&b->t, &b->net, &b->p, 7), -EINVAL);
	free(b);
}

static void a_pool_is_sized_by_the_switch(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	share(b);
	b->p.pool_bytes = 0;
	configure(b);
	/* 100 and 400 Gbps, at 5 MB for 1 Tbps */
	assert_int_equal(b->switches[0].pool_bytes, (5 * 1024 * KB) / 2 - 2 * 101 * KB);
	free(b);
}

static void alpha_is_in_256ths(void **state)
{
	static const struct {
		double alpha;
		uint32_t expected;
	} cases[] = {{1, 256}, {8, 2048}, {256, 65536}, {1.0 / 256, 1}, {0.0001, 1}, {0.3, 77}};
	struct bench *b = bench_new();

	(void)state;
	share(b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		b->p.alpha = cases[i].alpha;
		configure(b);
		assert_int_equal(queue_of(b, S1_UP, 0)->alpha, cases[i].expected);
		assert_int_equal(ingress_of(b, S1_UP, 3)->alpha, cases[i].expected);
	}
	free(b);
}

static void quanta_are_512_bits(void **state)
{
	static const uint64_t odd[] = {999999999, 33333333333, 900 * GBPS, 7 * GBPS + 1};

	(void)state;
	assert_int_equal(pfc_quantum(100 * GBPS), 5120 * 256);
	assert_int_equal(pfc_quantum(400 * GBPS), 1280 * 256);
	assert_int_equal(pfc_quantum(800 * GBPS), 640 * 256);
	assert_int_equal(pfc_quantum(1000), 512 * PS_PER_S / 1000 * 256);
	/* the longest pause of the slowest link is a number */
	assert_true(pfc_quantum(1000) <= UINT64_MAX / 65535);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		unsigned __int128 bits = (unsigned __int128)pfc_quantum(odd[i]) * odd[i];
		unsigned __int128 exact = (unsigned __int128)512 * PS_PER_S * 256;

		assert_true(2 * (bits > exact ? bits - exact : exact - bits) <= odd[i]);
	}
}

static void quanta_follow_the_ports_rate(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	configure(b);
	for (uint32_t id = PORT_FIRST; id < PORTS_END; id++)
		assert_int_equal(b->ports[id].quantum, pfc_quantum(b->links[id].rate_bps));
	free(b);
}

static void what_is_off_is_no_feature(void **state)
{
	struct bench *b = bench_new();
	struct sw_config c, expected = {0};

	(void)state;
	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++)
		expected.retag[dscp] = dscp;
	/* what is not asked for does not count */
	b->p.classes[5] = (struct switching_class){.lossless = true, .average = 3};
	memset(&c, 0x5a, sizeof(c));
	ports_config(&c, &b->p);
	assert_memory_equal(&c, &expected, sizeof(c));
	free(b);
}

static uint32_t features(struct bench *b)
{
	struct sw_config c;

	ports_config(&c, &b->p);
	return c.features;
}

static void features_follow_from_the_classes(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->p.config.features = SW_FAULTS | SW_DETOUR;
	assert_int_equal(features(b), SW_FAULTS | SW_DETOUR);
	b->p.shared = true;
	assert_int_equal(features(b), SW_FAULTS | SW_DETOUR | SW_BUFFERS);
	b->p.shared = false;
	b->p.config.features = 0;
	b->p.classes[0].lossless = true;
	assert_int_equal(features(b), SW_BUFFERS);
	b->p.classes[0].lossless = false;
	b->p.classes[0].average = 4;
	assert_int_equal(features(b), SW_AVERAGE);
	b->p.classes[0].average = 0;
	b->p.classes[1].used = true;
	assert_int_equal(features(b), SW_CLASSES);
	b->p.classes[1].used = false;
	b->p.config.features = SW_TRIM;
	b->p.classes[7] = (struct switching_class){.used = true, .headers = true};
	assert_int_equal(features(b), SW_CLASSES | SW_TRIM);
	free(b);
}

static void lossy_classes_are_trimmed(void **state)
{
	struct bench *b = bench_new();
	struct sw_config c;

	(void)state;
	share(b);
	b->p.classes[1].used = true;
	b->p.config.trim_to_sender = 1;
	b->p.config.trimmed_dscp = 48;
	b->p.config.returned_dscp = 49;
	ports_config(&c, &b->p);
	assert_int_equal(c.features, SW_TRIM | SW_PFC | SW_CLASSES | SW_BUFFERS);
	assert_int_equal(c.trim_classes, 1 << 0 | 1 << 1);
	assert_int_equal(c.trim_to_sender, 1);
	assert_int_equal(c.trim_or_return, 0);
	assert_int_equal(c.trimmed_dscp, 48);
	assert_int_equal(c.returned_dscp, 49);
	free(b);
}

static void remapped_classes_are_tagged_anew(void **state)
{
	struct bench *b = bench_new();
	struct sw_config c;

	(void)state;
	for (uint8_t i = 0; i < CLASSES; i++)
		b->p.remap[i] = i;
	b->p.remap[3] = 4;
	/* no DSCP says class 5 */
	b->p.remap[2] = 5;
	b->p.config.class_of[10] = 2;
	b->p.config.class_of[24] = b->p.config.class_of[26] = 3;
	b->p.config.class_of[32] = b->p.config.class_of[34] = 4;
	b->p.config.features = SW_ROLES;
	b->p.config.quanta = 4000;
	b->p.config.watchdog_ps = 11;
	b->p.config.cnp_dscp = 46;
	b->p.config.cnp_interval_ps = 12;
	ports_config(&c, &b->p);
	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++) {
		assert_int_equal(c.retag[dscp], dscp == 24 || dscp == 26 ? 32 : dscp);
		assert_int_equal(c.class_of[dscp], b->p.config.class_of[dscp]);
	}
	assert_int_equal(c.quanta, 4000);
	assert_int_equal(c.watchdog_ps, 11);
	assert_int_equal(c.cnp_dscp, 46);
	assert_int_equal(c.cnp_interval_ps, 12);
	b->p.config.features = 0;
	ports_config(&c, &b->p);
	assert_int_equal(c.retag[24], 24);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_know_their_place),
		cmocka_unit_test(static_queues_have_their_limit),
		cmocka_unit_test(a_hosts_queue_refuses_nothing),
		cmocka_unit_test(ecn_is_the_queues_own),
		cmocka_unit_test(a_static_ingress_ends_below_its_headroom),
		cmocka_unit_test(what_is_given_is_not_computed),
		cmocka_unit_test(a_pool_shares_what_nobody_was_promised),
		cmocka_unit_test(a_pool_is_sized_by_the_switch),
		cmocka_unit_test(alpha_is_in_256ths),
		cmocka_unit_test(quanta_are_512_bits),
		cmocka_unit_test(quanta_follow_the_ports_rate),
		cmocka_unit_test(what_is_off_is_no_feature),
		cmocka_unit_test(features_follow_from_the_classes),
		cmocka_unit_test(lossy_classes_are_trimmed),
		cmocka_unit_test(remapped_classes_are_tagged_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
