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
#define DICE_STEP   0x9e3779b97f4a7c15ull /* SplitMix64's increment */

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
	GROUPS
};

struct sw_tables bench_sizes(void)
{
	return (struct sw_tables){
		.port_count = BENCH_PORT_COUNT,
		.switch_count = 1,
		.route_count = FIRST_ROUTE + (BENCH_HOSTS + ROUTE_BLOCK - 1) / ROUTE_BLOCK,
		.group_count = FIRST_GROUP + GROUPS,
	};
}

static void write_ports(const struct sw_tables *t)
{
	for (uint32_t id = BENCH_HOST_PORT; id < BENCH_PORT_COUNT; id++) {
		struct port *p = &t->ports[id];

		p->kind = id == BENCH_HOST_PORT ? PORT_HOST : PORT_SWITCH;
		p->host = id == BENCH_HOST_PORT ? BENCH_HOST : HOST_NONE;
		p->up = 1;
		p->rng = 1000 + id;
		p->buffer_bytes = BENCH_BUFFER;
		memcpy(p->mac, (uint8_t[]){0x02, 0xfb, 0, 0, 0, (uint8_t)id}, 6);
		memcpy(p->peer_mac, (uint8_t[]){0x02, 0xfb, 1, 0, 0, (uint8_t)id}, 6);
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
	};

	for (unsigned i = 0; i < GROUPS; i++) {
		g[i].count = counts[i];
		for (unsigned port = 0; port < counts[i] && port < GROUP_PORTS; port++)
			g[i].port[port] = (uint16_t)(1 + port % 64);
	}
	g[GROUP_LAST].port[0] = 3;
	g[GROUP_NO_PORT].port[0] = BENCH_PORTS;
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
		{TO_LAST, GROUP_LAST},
	};

	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		blocks[routes[i].host / ROUTE_BLOCK].group[routes[i].host % ROUTE_BLOCK] =
			routes[i].group;
}

void bench_tables(const struct sw_tables *t)
{
	memset(t->ports, 0, t->port_count * sizeof(*t->ports));
	memset(t->drops, 0, t->port_count * sizeof(*t->drops));
	memset(t->routes, 0, t->route_count * sizeof(*t->routes));
	memset(t->groups, 0, t->group_count * sizeof(*t->groups));
	t->switches[0] = (struct switch_state){
		.first_port = BENCH_IN,
		.port_count = BENCH_PORTS,
		.first_route = FIRST_ROUTE,
		.first_group = FIRST_GROUP,
		.hash_seed = 0x5eed,
		.host_count = BENCH_HOSTS,
	};
	write_ports(t);
	write_groups(t->groups + FIRST_GROUP);
	write_routes(t->routes + FIRST_ROUTE);
}

static void *allocate(size_t count, size_t size)
{
	void *at = calloc(count, size);

	if (!at)
		abort();
	return at;
}

struct switch_bench *bench_open(struct dataplane *dp)
{
	struct switch_bench *b = allocate(1, sizeof(*b));
	struct sw_tables *w = &b->want;

	b->dp = dp;
	*w = bench_sizes();
	w->ports = allocate(w->port_count, sizeof(*w->ports));
	w->drops = allocate(w->port_count, sizeof(*w->drops));
	w->switches = allocate(w->switch_count, sizeof(*w->switches));
	w->routes = allocate(w->route_count, sizeof(*w->routes));
	w->groups = allocate(w->group_count, sizeof(*w->groups));
	return b;
}

void bench_close(struct switch_bench *b)
{
	if (!b)
		return;
	b->dp->ops->close(b->dp);
	free(b->want.ports);
	free(b->want.drops);
	free(b->want.switches);
	free(b->want.routes);
	free(b->want.groups);
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

	memcpy(to->ports, from->ports, to->port_count * sizeof(*to->ports));
	memcpy(to->drops, from->drops, to->port_count * sizeof(*to->drops));
	memcpy(to->switches, from->switches, to->switch_count * sizeof(*to->switches));
	memcpy(to->routes, from->routes, to->route_count * sizeof(*to->routes));
	memcpy(to->groups, from->groups, to->group_count * sizeof(*to->groups));
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
	table_assert_equal("ports", got->ports, want->ports, sizeof(*got->ports), want->port_count);
	table_assert_equal("drops", got->drops, want->drops, sizeof(*got->drops), want->port_count);
	table_assert_equal("switches", got->switches, want->switches, sizeof(*got->switches),
		want->switch_count);
	table_assert_equal(
		"routes", got->routes, want->routes, sizeof(*got->routes), want->route_count);
	table_assert_equal(
		"groups", got->groups, want->groups, sizeof(*got->groups), want->group_count);
}

void trial_init(struct trial *t, const struct packet_spec *spec)
{
	memset(t, 0, sizeof(*t));
	t->spec = *spec;
	packet_build(&t->in, spec);
	t->at = BENCH_IN;
	t->hop = (struct hop){
		.magic = HOP_MAGIC,
		.length = t->in.length,
		.now_ps = 2000000,
		.started_ps = 1000000,
	};
}

struct verdict trial_run(struct switch_bench *b, const struct trial *t, struct packet *ret_out)
{
	/* of exactly its size, so that the sanitizer sees a step too far */
	struct frame *frame = allocate(1, sizeof(*frame) + t->in.captured);
	struct frame_ref ref = {frame, t->in.captured};
	struct verdict v;

	frame->hop = t->hop;
	memcpy(frame->bytes, t->in.bytes, t->in.captured);
	assert_int_equal(b->dp->ops->submit(b->dp, t->at, &ref, 1), 0);
	assert_int_equal(ref.captured, t->in.captured);
	v = frame->verdict;
	if (ret_out) {
		*ret_out = t->in;
		memcpy(ret_out->bytes, frame->bytes, t->in.captured);
	}
	free(frame);
	return v;
}

/* CE in a frame, by the bytes of the standards: RFC 791, 3.1; RFC 8200, 3. */
static void set_ce(struct packet *p)
{
	uint8_t *ip = p->bytes + PACKET_IP;

	if (ip[0] >> 4 == 6) {
		ip[1] |= 3 << 4;
	} else {
		ip[1] |= 3;
		packet_seal(p);
	}
}

/*
 * Runs it, then compares frame, verdict and tables; b->want has the outcome, but the ingress
 * counters.
 */
static void trial_check(struct switch_bench *b, const struct trial *t, const struct packet *out,
	const struct verdict *want)
{
	struct packet got;
	struct verdict v = trial_run(b, t, &got);

	packet_assert_equal("the frame", got.bytes, out->bytes, t->in.captured);
	assert_int_equal(v.magic, VERDICT_MAGIC);
	assert_int_equal(v.reason, want->reason);
	assert_int_equal(v.action, want->action);
	assert_int_equal(v.flags, t->flags);
	assert_int_equal(v.queue, 0);
	assert_int_equal(v.port, want->port);
	assert_int_equal(v.length, t->hop.length);
	assert_true(!v.reserved[0] && !v.reserved[1]);
	b->want.ports[t->at].rx_frames++;
	b->want.ports[t->at].rng += t->dice * DICE_STEP;
	b->want.ports[t->at].marked_frames += !!(t->flags & VERDICT_MARKED);
	tables_assert_equal(&b->dp->tables, &b->want);
}

void trial_forwards(struct switch_bench *b, const struct trial *t, uint32_t port)
{
	struct verdict want = {.action = VERDICT_FORWARD, .port = port};
	struct port *p = &b->want.ports[port];
	struct packet out = t->in;
	uint8_t *ip = out.bytes + PACKET_IP;

	memcpy(out.bytes, p->peer_mac, 6);
	memcpy(out.bytes + 6, p->mac, 6);
	ip[ip[0] >> 4 == 6 ? 7 : 8]--;
	if (ip[0] >> 4 == 4)
		packet_seal(&out);
	if (t->flags & VERDICT_MARKED)
		set_ce(&out);
	if (!(t->hop.flags & HOP_ROOM)) {
		p->depth_bytes += t->hop.length;
		p->depth_frames++;
		if (p->max_depth_bytes < p->depth_bytes)
			p->max_depth_bytes = p->depth_bytes;
	}
	trial_check(b, t, &out, &want);
}

void trial_delivers(struct switch_bench *b, const struct trial *t)
{
	struct verdict want = {.action = VERDICT_DELIVER};
	struct packet out = t->in;

	if (t->flags & VERDICT_MARKED)
		set_ce(&out);
	trial_check(b, t, &out, &want);
}

void trial_drops(
	struct switch_bench *b, const struct trial *t, enum drop_reason reason, uint32_t port)
{
	struct verdict want = {
		.action = VERDICT_DROP, .reason = (uint8_t)reason, .port = t->chosen};
	struct packet out = t->in;

	if (t->flags & VERDICT_MARKED)
		set_ce(&out);
	b->want.drops[port].frames[reason]++;
	trial_check(b, t, &out, &want);
}

uint32_t trial_port(struct switch_bench *b, const struct trial *t)
{
	struct verdict v = trial_run(b, t, NULL);

	assert_int_equal(v.action, VERDICT_FORWARD);
	return v.port;
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
