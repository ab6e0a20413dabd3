/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/switch_bench.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FIRST_ROUTE 1u /* not 0: an offset that is forgotten must show */
#define FIRST_GROUP 2u

enum {
	GROUP_ONE,
	GROUP_EMPTY,
	GROUP_2,
	GROUP_3,
	GROUP_4,
	GROUP_7,
	GROUP_64,
	GROUP_LAST,
	GROUP_NO_PORT,
	GROUP_HUGE,
	GROUP_BACK,
	GROUP_AROUND,
	GROUPS
};

/* Each class has several DSCPs, and the DSCPs of a class are no range. */
static void write_classes(struct sw_config *config)
{
	static const struct {
		uint8_t dscp, class;
	} classes[] = {
		{DSCP_PLAIN, CLASS_PLAIN},
		{1, CLASS_PLAIN},
		{DSCP_TRIM, CLASS_TRIM},
		{DSCP_TRIM_TOO, CLASS_TRIM_TOO},
		{63, CLASS_TRIM_TOO},
		{DSCP_LOSSLESS, CLASS_LOSSLESS},
		{32, CLASS_LOSSLESS},
		{DSCP_BOUNCED, CLASS_BOUNCED},
		{DSCP_TRIMMED, CLASS_HEADERS},
		{DSCP_RETURNED, CLASS_HEADERS},
		{DSCP_CNP, CLASS_CNP},
		{62, CLASS_CNP},
	};

	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++)
		config->retag[dscp] = dscp;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		config->class_of[classes[i].dscp] = classes[i].class;
	config->retag[DSCP_LOSSLESS] = DSCP_BOUNCED;
	config->retag[32] = DSCP_BOUNCED;
	config->retag[DSCP_TRIM] = DSCP_TRIM_TOO;
}

static uint32_t bench_features(enum bench_kind kind)
{
	switch (kind) {
	case BENCH_PLAIN:
		return 0;
	case BENCH_STACK:
		return SW_FEATURES & ~SW_GATEWAY;
	case BENCH_GATEWAY:
		return SW_FEATURES;
	default:
		return SW_FEATURES & ~(SW_STACK | SW_GATEWAY);
	}
}

struct sw_sizes bench_sizes(enum bench_kind kind)
{
	struct sw_sizes s = {
		.ports = BENCH_PORT_COUNT,
		.switches = 1,
		.routes = FIRST_ROUTE + (BENCH_HOSTS + ROUTE_BLOCK - 1) / ROUTE_BLOCK,
		.groups = FIRST_GROUP + GROUPS,
		.config =
			{
				.features = bench_features(kind),
				.trim_classes = 1 << CLASS_TRIM | 1 << CLASS_TRIM_TOO,
				.trim_to_sender = kind == BENCH_TO_SENDER,
				.trim_or_return = kind == BENCH_OR_RETURN,
				.trimmed_dscp = DSCP_TRIMMED,
				.returned_dscp = DSCP_RETURNED,
				.cnp_dscp = DSCP_CNP,
				.quanta = BENCH_QUANTA,
				.response_ps = BENCH_RESPONSE,
				.watchdog_ps = BENCH_WATCHDOG,
				.cnp_interval_ps = BENCH_INTERVAL,
				.host_count = BENCH_HOSTS,
				.gateway = BENCH_HOST,
				.balances = (1u << BALANCE_COUNT) - 1,
				.flow_sets = BENCH_FLOW_SETS,
			},
	};

	write_classes(&s.config);
	return s;
}

/* The other end of its link: the host's is port 0, others are paired, the last with itself. */
static uint32_t peer_of(uint32_t id)
{
	uint32_t local = id - BENCH_IN;

	if (id <= BENCH_IN)
		return BENCH_HOST_PORT + BENCH_IN - id;
	if (local == BENCH_PORTS - 1)
		return id;
	return local % 2 ? id + 1 : id - 1;
}

static void write_ports(const struct sw_tables *t)
{
	for (uint32_t id = BENCH_HOST_PORT; id < BENCH_PORT_COUNT; id++) {
		struct port *p = &t->ports[id];

		p->kind = id == BENCH_HOST_PORT ? PORT_HOST : PORT_SWITCH;
		p->host = id == BENCH_HOST_PORT ? BENCH_HOST : HOST_NONE;
		p->peer = peer_of(id);
		p->up = 1;
		p->rng = 1000 + id;
		p->quantum = BENCH_QUANTUM * 256;
		memcpy(p->mac, (uint8_t[]){0x02, 0xfb, 0, 0, 0, (uint8_t)id}, 6);
		memcpy(p->peer_mac, (uint8_t[]){0x02, 0xfb, 1, 0, 0, (uint8_t)id}, 6);
	}
}

static void write_queues(const struct sw_tables *t)
{
	for (uint32_t i = BENCH_HOST_PORT * CLASSES; i < t->count.queues; i++) {
		uint32_t class = i % CLASSES;
		bool lossless = class == CLASS_LOSSLESS || class == CLASS_BOUNCED;

		t->queues[i].limit_bytes = BENCH_BUFFER;
		t->queues[i].lossless = lossless;
		t->ingresses[i].lossless = lossless;
		t->ingresses[i].xoff_bytes = lossless ? BENCH_BUFFER : 0;
		t->ingresses[i].headroom_limit = lossless ? BENCH_HEADROOM : 0;
	}
}

static void write_groups(struct group *g)
{
	static const uint16_t counts[GROUPS] = {
		[GROUP_ONE] = 1,
		[GROUP_2] = 2,
		[GROUP_3] = 3,
		[GROUP_4] = 4,
		[GROUP_7] = 7,
		[GROUP_64] = 64,
		[GROUP_LAST] = 1,
		[GROUP_NO_PORT] = 1,
		[GROUP_HUGE] = 0xffff,
		[GROUP_BACK] = 1,
		[GROUP_AROUND] = 4,
	};

	for (unsigned i = 0; i < GROUPS; i++) {
		g[i].count = counts[i];
		for (unsigned port = 0; port < counts[i] && port < GROUP_PORTS; port++)
			g[i].port[port] = (uint16_t)(1 + port % 64);
	}
	g[GROUP_LAST].port[0] = 3;
	g[GROUP_NO_PORT].port[0] = BENCH_PORTS;
	g[GROUP_BACK].port[0] = 0;
	memcpy(g[GROUP_AROUND].port, (uint16_t[]){1, 0, 2, 0}, 4 * sizeof(uint16_t));
}

static void write_routes(struct route_block *blocks)
{
	static const struct {
		enum bench_host host;
		uint16_t group;
	} routes[] = {
		{TO_NONE, ROUTE_NONE},
		{TO_EMPTY, GROUP_EMPTY},
		{TO_2, GROUP_2},
		{TO_3, GROUP_3},
		{TO_4, GROUP_4},
		{TO_7, GROUP_7},
		{TO_64, GROUP_64},
		{TO_NO_PORT, GROUP_NO_PORT},
		{TO_NO_GROUP, GROUPS},
		{TO_HUGE_GROUP, GROUP_HUGE},
		{TO_BACK, GROUP_BACK},
		{TO_AROUND, GROUP_AROUND},
		{TO_LAST, GROUP_LAST},
	};

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		blocks[routes[i].host / ROUTE_BLOCK].group[routes[i].host % ROUTE_BLOCK] =
			routes[i].group;
}

void bench_tables(const struct sw_tables *t)
{
	struct switch_state *sw = t->switches;

#define CLEAR(table, element, bytes, elements)                                                     \
	memset(t->table, 0, t->count.table * sizeof(*t->table));
	SW_TABLES(CLEAR)
#undef CLEAR
	*sw = (struct switch_state){
		.first_port = BENCH_IN,
		.port_count = BENCH_PORTS,
		.first_route = FIRST_ROUTE,
		.first_group = FIRST_GROUP,
		.hash_seed = 0x5eed,
		.host_count = BENCH_HOSTS,
		.pool_bytes = BENCH_BUFFER,
	};
	if (t->count.balances)
		t->balances[0].flow_sets = BENCH_FLOW_SETS;
	sw->headroom_bytes[CLASS_LOSSLESS] = sw->headroom_bytes[CLASS_BOUNCED] = BENCH_HEADROOM;
	write_ports(t);
	write_queues(t);
	write_groups(t->groups + FIRST_GROUP);
	write_routes(t->routes + FIRST_ROUTE);
}

static void *allocate(size_t count, size_t size)
{
	void *at = calloc(count ? count : 1, size);

	if (!at)
		abort();
	return at;
}

struct switch_bench *bench_open(struct dataplane *dp)
{
	struct switch_bench *b = allocate(1, sizeof(*b));
	struct sw_tables *w = &b->want;

	b->dp = dp;
	*w = dp->tables;
#define ALLOCATE(table, element, bytes, elements)                                                  \
	w->table = allocate(w->count.table, sizeof(*w->table));
	SW_TABLES(ALLOCATE)
#undef ALLOCATE
	return b;
}

void bench_close(struct switch_bench *b)
{
	if (!b)
		return;
	b->dp->ops->close(b->dp);
#define FREE(table, element, bytes, elements) free(b->want.table);
	SW_TABLES(FREE)
#undef FREE
	free(b);
}

int bench_reset(void **state)
{
	struct switch_bench *b = *state;

	bench_tables(&b->dp->tables);
	bench_accept(b);
	return 0;
}

void bench_accept(struct switch_bench *b)
{
	const struct sw_tables *from = &b->dp->tables, *to = &b->want;

#define COPY(table, element, bytes, elements)                                                      \
	memcpy(to->table, from->table, to->count.table * sizeof(*to->table));
	SW_TABLES(COPY)
#undef COPY
}

bool bench_has(const struct switch_bench *b, uint32_t feature)
{
	return b->dp->tables.config.features & feature;
}

uint8_t bench_class(const struct switch_bench *b, uint8_t dscp)
{
	return bench_has(b, SW_CLASSES) ? b->dp->tables.config.class_of[dscp] : 0;
}

struct queue *bench_queue(struct switch_bench *b, uint32_t port, uint32_t class)
{
	return &b->dp->tables.queues[port * CLASSES + class];
}

struct ingress *bench_ingress(struct switch_bench *b, uint32_t port, uint32_t class)
{
	return &b->dp->tables.ingresses[port * CLASSES + class];
}

static void table_assert_equal(
	const char *name, const void *got, const void *want, size_t size, uint32_t count)
{
	const uint8_t *a = got, *b = want;

	if (!memcmp(a, b, size * count))
		return;
	for (uint32_t i = 0; i < count; i++, a += size, b += size) {
		if (!memcmp(a, b, size))
			continue;
		print_error("element %u of table ", i);
		packet_assert_equal(name, a, b, (uint32_t)size);
	}
}

void tables_assert_equal(const struct sw_tables *got, const struct sw_tables *want)
{
#define COMPARE(table, element, bytes, elements)                                                   \
	table_assert_equal(#table, got->table, want->table, bytes, want->count.table);
	SW_TABLES(COMPARE)
#undef COMPARE
}

void assert_even(const unsigned *counts, unsigned n, unsigned total)
{
	double mean = (double)total / n, chi = 0, freedom = n - 1;

	for (unsigned i = 0; i < n; i++)
		chi += (counts[i] - mean) * (counts[i] - mean) / mean;
	if (chi <= freedom + 4 * sqrt(2 * freedom))
		return;
	print_error("chi-square %.1f over %u counts of %u in all: not even\n", chi, n, total);
	fail();
}
