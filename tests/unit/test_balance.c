/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The load-balancing policies of docs/switch.md against what they are by definition: an account of
 * its own, in plain lists, of whose turn it is, of which queues are remembered and which flows are
 * known, says where each of many random frames must go. Three switches with groups of 1 to 254
 * ports; queues fill, links come and go, routes change in between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/numbers.h"
#include "base/rng_stream.h"
#include "fabricbed/policy.h"
#include "lib/switch_bench.h"

#define SWITCHES    3u
#define PORTS       260u /* a switch */
#define GROUPS      12u  /* a switch */
#define SETS        2u   /* of flows, a switch */
#define FLOW_LIST   512u
#define FIRST(s)    (PORT_FIRST + (s)*PORTS)
#define PORT_COUNT  FIRST(SWITCHES)
#define CHOICES     8u /* of DRILL, at most */
#define REMEMBERED  4u
#define GAP_PS      2000u
#define STEP_PS     100u
#define LIFETIME_PS 40000u

/* What the dataplane tells of a frame. A policy has no place for a pointer of a test's. */
static struct policy told;
static uint32_t answer;

static uint32_t listen(struct policy *p)
{
	told = *p;
	return answer;
}

/* ---- what must be ---------------------------------------------------------------------------- */

/* A flow that a switch knows. */
struct known {
	uint32_t sw, set;
	uint64_t key, last_ps;
	uint32_t index,
		port; /* of the candidate that it was sent to; port UINT32_MAX: to none yet */
};

struct account {
	struct {
		uint32_t first, sent;
	} round[SWITCHES][GROUPS];                   /* spray */
	uint32_t best[SWITCHES][GROUPS][REMEMBERED]; /* drill: the best first */
	uint32_t bests[SWITCHES][GROUPS];
	struct known flows[FLOW_LIST]; /* the one not used for longest first */
	uint32_t flow_count;
	uint64_t made[SWITCHES], forgotten[SWITCHES];
};

struct world {
	struct dataplane *dp;
	enum balance policy;
	uint64_t rng, now_ps;
	struct packet_spec last; /* of the frame before; its ttl 0: there is none */
	struct account is;
};

/* A frame at a switch that has a choice. */
struct choice {
	struct world *w;
	uint32_t sw, group, class;
	const struct group *g;
};

static const struct port *candidate(const struct choice *c, uint32_t i)
{
	return &c->w->dp->tables.ports[FIRST(c->sw) + c->g->port[i]];
}

static uint64_t waiting(const struct choice *c, uint32_t i)
{
	return c->w->dp->tables.queues[(FIRST(c->sw) + c->g->port[i]) * CLASSES + c->class]
		.depth_bytes;
}

/* The first of the shortest queues whose links are up, from `first` on, in a circle. */
static uint32_t shortest(const struct choice *c, uint32_t first)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t n = 0; n < c->g->count; n++) {
		uint32_t i = (first + n) % c->g->count;

		if (candidate(c, i)->up && (best == UINT32_MAX || waiting(c, i) < waiting(c, best)))
			best = i;
	}
	return best == UINT32_MAX ? first : best;
}

/* 0 to n - 1 out of the upper half of 64 random bits: their share of the whole. */
static uint32_t share(uint64_t bits, uint32_t n)
{
	return (uint32_t)((unsigned __int128)(bits >> 32) * n >> 32);
}

static uint32_t by_hash(const struct choice *c)
{
	return share((uint64_t)told.hash << 32, c->g->count);
}

static uint32_t at_random(const struct choice *c)
{
	return share(told.random, c->g->count);
}

static uint32_t want_ecmp(const struct choice *c)
{
	return by_hash(c);
}

static uint32_t want_random(const struct choice *c)
{
	return at_random(c);
}

/* Rounds over all ports in a circle, each from one at random on. */
static uint32_t want_spray(const struct choice *c)
{
	uint32_t *first = &c->w->is.round[c->sw][c->group].first;
	uint32_t *sent = &c->w->is.round[c->sw][c->group].sent;

	if (*sent >= c->g->count)
		*sent = 0;
	if (!*sent)
		*first = at_random(c);
	return (*first + (*sent)++) % c->g->count;
}

/* At random, unless that queue is longer than the shortest by more than the threshold. */
static uint32_t want_adaptive(const struct choice *c)
{
	uint32_t any = at_random(c), best = shortest(c, any);
	bool longer = waiting(c, any) > waiting(c, best) + told.threshold_bytes;

	return candidate(c, any)->up && !longer ? any : best;
}

static void forget(struct account *a, uint32_t at)
{
	memmove(&a->flows[at], &a->flows[at + 1], (a->flow_count - at - 1) * sizeof(a->flows[0]));
	a->flow_count--;
}

/* The frame's flow, as its switch knew it before, the last of the list. */
static struct known *know(const struct choice *c)
{
	struct account *a = &c->w->is;
	struct known k = {.sw = c->sw,
		.set = share(told.key, SETS),
		.key = told.key,
		.last_ps = c->w->now_ps,
		.port = UINT32_MAX};
	uint32_t others = 0, eldest = UINT32_MAX, at = UINT32_MAX;

	for (uint32_t i = 0; i < a->flow_count; i++) {
		const struct known *f = &a->flows[i];

		if (f->sw != k.sw || f->set != k.set)
			continue;
		if (f->key == k.key)
			at = i;
		if (!others++)
			eldest = i;
	}
	if (at != UINT32_MAX && c->w->now_ps - a->flows[at].last_ps <= LIFETIME_PS)
		k = a->flows[at];
	else
		a->made[k.sw]++;
	if (at == UINT32_MAX && others == FLOW_WAYS) {
		at = eldest;
		a->forgotten[k.sw] += c->w->now_ps - a->flows[at].last_ps <= LIFETIME_PS;
	}
	if (at != UINT32_MAX)
		forget(a, at);
	assert_in_range(a->flow_count, 0, FLOW_LIST - 1);
	a->flows[a->flow_count] = k;
	return &a->flows[a->flow_count++];
}

/* Whether its flow has a port that is still among the candidates, whatever its number is now. */
static bool stays(const struct choice *c, struct known *f)
{
	if (f->port == UINT32_MAX)
		return false;
	if (f->index < c->g->count && c->g->port[f->index] == f->port)
		return true;
	for (f->index = 0; f->index < c->g->count; f->index++)
		if (c->g->port[f->index] == f->port)
			return true;
	return false;
}

static uint32_t send(const struct choice *c, struct known *f, uint32_t pick)
{
	f->index = pick;
	f->port = c->g->port[pick];
	f->last_ps = c->w->now_ps;
	return pick;
}

static uint32_t want_ecmp_adaptive(const struct choice *c)
{
	struct known *f = know(c);
	uint32_t pick = by_hash(c);

	if (stays(c, f))
		return send(c, f, f->index);
	if (!candidate(c, pick)->up || waiting(c, pick) > told.threshold_bytes)
		pick = shortest(c, pick);
	return send(c, f, pick);
}

static uint32_t want_flowlet(const struct choice *c)
{
	struct known *f = know(c);

	if (stays(c, f) && c->w->now_ps - f->last_ps <= GAP_PS)
		return send(c, f, f->index);
	return send(c, f, shortest(c, at_random(c)));
}

static uint32_t want_letflow(const struct choice *c)
{
	struct known *f = know(c);

	if (stays(c, f) && c->w->now_ps - f->last_ps <= GAP_PS)
		return send(c, f, f->index);
	return send(c, f, at_random(c));
}

/* Whether queue a is worse than b: longer, or its link is down. */
static bool worse(const struct choice *c, uint32_t a, uint32_t b)
{
	bool up = candidate(c, a)->up, other = candidate(c, b)->up;

	if (!up || !other)
		return !up && other;
	return waiting(c, a) > waiting(c, b);
}

static uint32_t want_drill(const struct choice *c)
{
	uint32_t *best = c->w->is.best[c->sw][c->group], *bests = &c->w->is.bests[c->sw][c->group];
	uint32_t seen[CHOICES + REMEMBERED], n = 0;

	for (uint32_t i = 0; i < told.choices + *bests; i++) {
		bool remembered = i >= told.choices;
		uint32_t k = 0, at = remembered ? best[i - told.choices]
						: share(policy_random(&told, i), c->g->count);

		while (k < n && seen[k] != at)
			k++;
		if (k < n || at >= c->g->count) /* it was seen, or the group has become smaller */
			continue;
		/* behind all that are as good */
		for (k = n++; k && worse(c, seen[k - 1], at); k--)
			seen[k] = seen[k - 1];
		seen[k] = at;
	}
	*bests = n < told.remembered ? n : told.remembered;
	memcpy(best, seen, *bests * sizeof(best[0]));
	return seen[0];
}

static uint32_t (*const wants[])(const struct choice *c) = {
#define X(symbol, name, word, ahead, flows, reorders) [symbol] = want_##name,
	BALANCES(X)
#undef X
};

/* ---- the world ------------------------------------------------------------------------------- */

/* Sizes from 1 to 254, the largest in each world; ports in any order, none twice. */
static void draw_group(struct world *w, struct group *g, uint32_t number)
{
	static const uint16_t sizes[] = {GROUP_PORTS, 1, 2, 2, 3, 4, 5, 8, 16, 17, 64, 100};
	uint16_t ports[PORTS];
	uint32_t count = sizes[number % COUNT(sizes)];

	count -= rng_below(&w->rng, count / 2 > 1 ? count / 2 : 1);
	for (uint16_t i = 0; i < PORTS; i++) {
		uint32_t at = rng_below(&w->rng, i + 1u);

		ports[i] = ports[at];
		ports[at] = i;
	}
	g->count = (uint16_t)count;
	memcpy(g->port, ports, count * sizeof(ports[0]));
}

static void draw_port(struct world *w, uint32_t id)
{
	struct sw_tables *t = &w->dp->tables;

	t->ports[id].up = rng_below(&w->rng, 4) > 0;
	for (uint32_t class = 0; class < CLASSES; class ++) /* few values: many are equal */
		t->queues[id * CLASSES + class].depth_bytes = 3000 * rng_below(&w->rng, 4);
}

static void open_balance(struct world *w, uint32_t s)
{
	w->dp->tables.balances[s] = (struct switch_balance){.gap_ps = GAP_PS,
		.lifetime_ps = LIFETIME_PS,
		.threshold_bytes = 3000,
		.choices = 1 + rng_below(&w->rng, CHOICES),
		.remembered = rng_below(&w->rng, REMEMBERED + 1),
		.first_set = s * SETS,
		.flow_sets = SETS};
}

static void open_switch(struct world *w, uint32_t s)
{
	struct sw_tables *t = &w->dp->tables;

	t->switches[s] = (struct switch_state){.first_port = FIRST(s),
		.port_count = PORTS,
		.first_route = s,
		.first_group = s * GROUPS,
		.hash_seed = rng_take(&w->rng),
		.host_count = ROUTE_BLOCK,
		.balance = w->policy};
	for (uint32_t i = 0; i < GROUPS; i++)
		draw_group(w, &t->groups[s * GROUPS + i], i);
	for (uint16_t host = 0; host < ROUTE_BLOCK; host++)
		t->routes[s].group[host] = host % GROUPS;
	for (uint32_t id = FIRST(s); id < FIRST(s + 1); id++) {
		t->ports[id] = (struct port){.kind = PORT_SWITCH, .switch_id = s, .peer = id};
		for (uint32_t class = 0; class < CLASSES; class ++)
			t->queues[id * CLASSES + class].limit_bytes = UINT32_MAX;
		draw_port(w, id);
	}
}

static void world_open(struct world *w, enum balance policy, uint32_t features, uint64_t seed)
{
	struct sw_sizes sizes = {
		.ports = PORT_COUNT,
		.switches = SWITCHES,
		.routes = SWITCHES,
		.groups = SWITCHES * GROUPS,
		.config = {.features = features, .flow_sets = SETS, .host_count = ROUTE_BLOCK},
	};

	for (uint8_t dscp = 0; dscp < DSCP_COUNT; dscp++)
		sizes.config.class_of[dscp] = dscp / 8;
	*w = (struct world){.policy = policy, .rng = rng_stream(seed, "balance", policy)};
	assert_int_equal(dataplane_inline_open(&w->dp, &sizes, PACKET_MAX), 0);
	w->dp->tables.policy = listen;
	for (uint32_t s = 0; s < SWITCHES; s++)
		open_switch(w, s);
	for (uint32_t s = 0; s < w->dp->tables.count.balances; s++)
		open_balance(w, s);
}

static void world_close(struct world *w)
{
	w->dp->ops->close(w->dp);
}

/* A frame of one of some dozens of flows, to whatever group. */
static struct packet_spec draw_spec(struct world *w)
{
	struct packet_spec spec = packet_spec_default;
	uint32_t flow = rng_below(&w->rng, 8);

	if (w->last.ttl && !rng_below(&w->rng, 4))
		return w->last;

	spec.ip6 = flow & 1;
	spec.src_host = flow;
	spec.src_port = (uint16_t)(49152 + flow);
	spec.flow_label = flow;
	spec.dst_host = rng_below(&w->rng, rng_below(&w->rng, 2) ? ROUTE_BLOCK : 6);
	spec.tos = (uint8_t)(rng_below(&w->rng, DSCP_COUNT) << 2);
	spec.payload = (uint16_t)(rng_below(&w->rng, 3) * 1500);
	w->last = spec;
	return spec;
}

/* Sends it in at a port, and gives the verdict. */
static struct verdict submit(struct world *w, uint32_t port, const struct packet *p)
{
	_Alignas(struct frame) uint8_t bytes[sizeof(struct frame) + PACKET_MAX];
	struct frame *f = (struct frame *)bytes;
	struct frame_ref ref = {f, p->captured};

	f->hop = (struct hop){.magic = HOP_MAGIC,
		.length = p->length,
		.started_ps = w->now_ps,
		.now_ps = w->now_ps};
	memcpy(f->bytes, p->bytes, p->captured);
	w->dp->tables.ports[port].up = 1; /* or nothing arrives there */
	assert_int_equal(w->dp->ops->submit(w->dp, port, &ref, 1), 0);
	return f->verdict;
}

static uint32_t draw_ingress(struct world *w, uint32_t *ret_switch)
{
	*ret_switch = rng_below(&w->rng, SWITCHES);
	return FIRST(*ret_switch) + rng_below(&w->rng, PORTS);
}

static void cut(struct world *w, uint32_t group)
{
	const struct group *g = &w->dp->tables.groups[group];

	for (uint32_t i = 0; g->count <= 8 && i < g->count; i++)
		w->dp->tables.ports[FIRST(group / GROUPS) + g->port[i]].up = 0;
}

/* What happens between frames: time, queues, links, now and then routes. */
static void go_on(struct world *w)
{
	static const uint32_t longer[] = {GAP_PS, LIFETIME_PS, 2 * LIFETIME_PS};

	/* gaps and lifetimes are met to the picosecond */
	if (rng_below(&w->rng, 16))
		w->now_ps += STEP_PS * (1 + rng_below(&w->rng, 3));
	else
		w->now_ps += longer[rng_below(&w->rng, COUNT(longer))];
	for (int i = 0; i < 8; i++)
		draw_port(w, PORT_FIRST + rng_below(&w->rng, SWITCHES * PORTS));
	if (!rng_below(&w->rng, 10)) {
		uint32_t g = rng_below(&w->rng, SWITCHES * GROUPS);

		draw_group(w, &w->dp->tables.groups[g], g % GROUPS);
	}
	if (!rng_below(&w->rng, 10)) /* a group without any link, if it is small */
		cut(w, rng_below(&w->rng, SWITCHES * GROUPS));
}

static void assert_told(
	const struct world *w, const struct packet_spec *spec, const struct packet *p, uint32_t in)
{
	const struct switch_balance *b = &w->dp->tables.balances[told.switch_id];

	assert_int_equal(told.now_ps, w->now_ps);
	assert_int_equal(told.length, p->length);
	assert_int_equal(told.src, (spec->ip6 ? 0 : 0x0a000000) + spec->src_host + 1);
	assert_int_equal(told.dst, (spec->ip6 ? 0 : 0x0a000000) + spec->dst_host + 1);
	assert_int_equal(told.src_port, spec->src_port);
	assert_int_equal(told.dst_port, 4791);
	assert_int_equal(told.entropy, spec->ip6 ? spec->flow_label : spec->src_port);
	assert_int_equal(told.protocol, 17);
	assert_int_equal(told.dscp, spec->tos >> 2);
	assert_int_equal(told.class, spec->tos >> 2 >> 3);
	assert_int_equal(told.in_port, (in - PORT_FIRST) % PORTS);
	assert_int_equal(told.switch_id, (in - PORT_FIRST) / PORTS);
	assert_int_equal(told.group, spec->dst_host % GROUPS);
	assert_int_equal(told.gap_ps, b->gap_ps);
	assert_int_equal(told.threshold_bytes, b->threshold_bytes);
	assert_int_equal(told.choices, b->choices);
	assert_int_equal(told.remembered, b->remembered);
	assert_ptr_equal(told.t, &w->dp->tables);
}

/* Of a frame that is not let through. */
static void listen_to(struct world *w, uint32_t sw, uint32_t in, const struct packet *p)
{
	memset(&told, 0, sizeof(told));
	answer = POLICY_NONE;
	w->dp->tables.switches[sw].balance = BALANCE_FILE;
	submit(w, in, p);
	w->dp->tables.switches[sw].balance = w->policy;
}

/* One frame, and where it must go. */
static void step(struct world *w)
{
	struct packet_spec spec = draw_spec(w);
	struct choice c = {.w = w};
	uint32_t in = draw_ingress(w, &c.sw), pick = 0;
	struct packet p;
	struct verdict v;

	packet_build(&p, &spec);
	c.group = spec.dst_host % GROUPS;
	c.class = spec.tos >> 5;
	c.g = &w->dp->tables.groups[c.sw * GROUPS + c.group];
	listen_to(w, c.sw, in, &p);
	/* a group of one asks nobody */
	assert_int_equal(told.count, c.g->count > 1 ? c.g->count : 0);
	if (c.g->count > 1) {
		assert_told(w, &spec, &p, in);
		pick = wants[w->policy](&c);
	}
	v = submit(w, in, &p);
	assert_int_equal(v.action, VERDICT_FORWARD);
	assert_int_equal(v.port, FIRST(c.sw) + c.g->port[pick]);
}

/* What the switches tell of their flow tables. */
static void assert_counted(const struct world *w, bool flows)
{
	for (uint32_t s = 0; s < SWITCHES; s++) {
		const struct switch_balance *b = &w->dp->tables.balances[s];

		assert_int_equal(b->flows, w->is.made[s]);
		assert_int_equal(b->forgotten, w->is.forgotten[s]);
		assert_int_equal(b->flows > 0, flows);
		assert_int_equal(b->forgotten > 0, flows);
		/* some came back after their time, into their own entry or another's */
		if (flows)
			assert_true(b->forgotten + SETS * FLOW_WAYS < b->flows);
	}
}

static void where_frames_go(enum balance policy, bool flows)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct world w;

		world_open(&w, policy, SW_BALANCE | SW_CLASSES, seed);
		for (int i = 0; i < 1000; i++) {
			go_on(&w);
			step(&w);
		}
		assert_counted(&w, flows);
		world_close(&w);
	}
}

#define X(symbol, name, word, ahead, flows, reorders)                                              \
	static void name##_is_what_it_is(void **state)                                             \
	{                                                                                          \
		(void)state;                                                                       \
		where_frames_go(symbol, flows);                                                    \
	}
BALANCES(X)
#undef X

/* ---- chance ---------------------------------------------------------------------------------- */

#define DRAWS 20000u

/* Even, and what the last packet got, of this flow or that, says nothing of the next. */
static void random_is_even_and_independent(void **state)
{
	static const uint32_t groups[] = {2, 5, 8, 9}; /* of 2, 4, 16 and 17 ports, or one less */

	(void)state;
	for (unsigned i = 0; i < COUNT(groups); i++) {
		struct packet_spec spec = packet_spec_default;
		static unsigned pairs[17 * 17], after_two[17 * 17];
		uint32_t count, last = 0, before = 0;
		struct packet p;
		struct world w;

		world_open(&w, BALANCE_RANDOM, SW_BALANCE | SW_CLASSES, i);
		count = w.dp->tables.groups[groups[i]].count;
		memset(pairs, 0, sizeof(pairs));
		memset(after_two, 0, sizeof(after_two));
		spec.dst_host = groups[i];
		packet_build(&p, &spec);
		for (unsigned n = 0; n < DRAWS; n++) {
			uint32_t port, at = 0;

			w.now_ps += n & 1;
			port = submit(&w, FIRST(0) + n % 2 * 7, &p).port - FIRST(0);
			while (w.dp->tables.groups[groups[i]].port[at] != port)
				at++;
			assert_in_range(at, 0, count - 1);
			pairs[last * count + at]++;
			after_two[before * count + at]++;
			before = last;
			last = at;
		}
		assert_even(pairs, count * count, DRAWS);
		assert_even(after_two, count * count, DRAWS);
		world_close(&w);
	}
}

/* The numbers of one packet are as independent as those of two. */
static void dice_are_even_and_independent(void **state)
{
	static unsigned counts[16 * 16];
	struct policy p = {0};

	(void)state;
	for (unsigned n = 0; n < DRAWS; n++) {
		p.random = rng_mix(n);
		counts[policy_scale((uint32_t)(policy_random(&p, 0) >> 32), 16) * 16 +
			policy_scale((uint32_t)(policy_random(&p, 1) >> 32), 16)]++;
	}
	assert_even(counts, 256, DRAWS);
}

/* ---- what a policy is told ------------------------------------------------------------------- */

/* p->hash leads where the plain program sends it; the key is the same everywhere. */
static void the_hash_is_ecmps_and_the_key_is_the_flows(void **state)
{
	enum { FLOWS = 64 };
	uint64_t keys[FLOWS], dice[FLOWS * SWITCHES];
	struct world w, plain;
	unsigned n = 0;

	(void)state;
	world_open(&w, BALANCE_FILE, SW_BALANCE | SW_CLASSES, 1);
	world_open(&plain, BALANCE_FILE, 0, 1);
	for (uint32_t flow = 0; flow < FLOWS; flow++) {
		struct packet_spec spec = packet_spec_default;
		struct packet p;

		spec.ip6 = flow & 1;
		spec.src_port = (uint16_t)(1000 + flow / 2);
		spec.dst_host = 0; /* group 0, the largest */
		packet_build(&p, &spec);
		for (uint32_t s = 0; s < SWITCHES; s++) {
			const struct group *g = &w.dp->tables.groups[s * GROUPS];
			uint32_t port = submit(&plain, FIRST(s), &p).port;

			submit(&w, FIRST(s), &p);
			assert_int_equal(port,
				FIRST(s) + g->port[share((uint64_t)told.hash << 32, g->count)]);
			assert_int_equal(told.key, s ? keys[flow] : told.key);
			keys[flow] = told.key;
			dice[n++] = told.random;
		}
	}
	qsort(keys, FLOWS, sizeof(keys[0]), compare_u64);
	qsort(dice, n, sizeof(dice[0]), compare_u64);
	for (uint32_t i = 1; i < FLOWS; i++)
		assert_int_not_equal(keys[i], keys[i - 1]);
	for (uint32_t i = 1; i < n; i++)
		assert_int_not_equal(dice[i], dice[i - 1]);
	world_close(&plain);
	world_close(&w);
}

/* A policy of a user's that asks for all there is, and counts in both its memories. */
struct asked {
	uint32_t packets[POLICY_SWITCH_BYTES / 4];
};

struct asked_flow {
	uint64_t packets[POLICY_FLOW_BYTES / 8];
};

static struct asked asked;
static struct asked_flow asked_flow;
static const struct world *asked_of;

POLICY(asks)
{
	struct asked *m = POLICY_SWITCH(struct asked);
	struct asked_flow *f = POLICY_FLOW(struct asked_flow);
	const struct sw_tables *t = &asked_of->dp->tables;
	const struct group *g = &t->groups[p->switch_id * GROUPS + p->group];

	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t id = FIRST(p->switch_id) + g->port[i];

		assert_int_equal(policy_port(p, i), g->port[i]);
		assert_int_equal(
			policy_depth(p, i), t->queues[id * CLASSES + p->class].depth_bytes);
		assert_int_equal(policy_rate(p, i), t->ports[id].rate_bps);
		assert_int_equal(policy_up(p, i), t->ports[id].up);
	}
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t beyond[] = {g->count, GROUP_PORTS, UINT32_MAX};

		assert_int_equal(policy_port(p, beyond[i]), POLICY_NONE);
		assert_int_equal(policy_depth(p, beyond[i]), POLICY_NONE);
		assert_int_equal(policy_rate(p, beyond[i]), 0);
		assert_int_equal(policy_up(p, beyond[i]), 0);
	}
	m->packets[0]++;
	m->packets[COUNT(m->packets) - 1]++;
	f->packets[0]++;
	f->packets[COUNT(f->packets) - 1]++;
	asked = *m;
	asked_flow = *f;
	return p->count - 1;
}

static uint32_t ask(struct policy *p)
{
	return balance_asks(p);
}

static void a_policy_of_a_users(void **state)
{
	struct packet_spec spec = packet_spec_default;
	struct world w;

	(void)state;
	world_open(&w, BALANCE_FILE, SW_BALANCE | SW_CLASSES, 1);
	asked_of = &w;
	w.dp->tables.policy = ask;
	for (uint32_t id = PORT_FIRST; id < PORT_COUNT; id++)
		w.dp->tables.ports[id].rate_bps = id * 1000000000ull;
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t s = i % SWITCHES, flow = i / SWITCHES % 2, nth = i / SWITCHES / 2 + 1;
		struct group *g = &w.dp->tables.groups[s * GROUPS + 7];
		struct packet p;

		w.now_ps++;
		spec.dst_host = 7;
		spec.src_port = (uint16_t)flow;
		spec.tos = (uint8_t)(i % DSCP_COUNT << 2);
		packet_build(&p, &spec);
		assert_int_equal(submit(&w, FIRST(s), &p).port, FIRST(s) + g->port[g->count - 1]);
		assert_int_equal(asked.packets[0], i / SWITCHES + 1);
		assert_int_equal(asked.packets[COUNT(asked.packets) - 1], i / SWITCHES + 1);
		assert_int_equal(asked_flow.packets[0], nth);
		assert_int_equal(asked_flow.packets[COUNT(asked_flow.packets) - 1], nth);
	}
	for (uint32_t s = 0; s < SWITCHES; s++) {
		assert_int_equal(w.dp->tables.balances[s].flows, 2);
		/* what it remembers is nobody else's */
		assert_int_equal(w.dp->tables.balances[s].first_set, s * SETS);
	}
	world_close(&w);
}

/* ---- what a policy may not say --------------------------------------------------------------- */

static struct switch_bench *bench(enum balance policy)
{
	struct sw_sizes sizes = bench_sizes(BENCH_FULL);
	struct switch_bench *b;
	struct dataplane *dp;

	assert_int_equal(dataplane_inline_open(&dp, &sizes, PACKET_MAX), 0);
	b = bench_open(dp);
	bench_tables(&dp->tables);
	dp->tables.switches[0].balance = policy;
	bench_accept(b);
	return b;
}

/* Dropped at the ingress, counted once, and nothing else happens. */
static void a_port_that_is_not_there(void **state)
{
	static const uint32_t nonsense[] = {4, 5, 253, 254, 255, 0xffff, 0x10000, 0x10001,
		0x7fffffff, 0x80000000, POLICY_NONE - 1, POLICY_NONE};
	struct packet_spec spec = packet_spec_default;
	struct switch_bench *b = bench(BALANCE_FILE);
	struct trial t;

	(void)state;
	b->dp->tables.policy = listen;
	for (unsigned i = 0; i < 2 * COUNT(nonsense); i++) {
		spec.ip6 = i & 1;
		spec.dst_host = TO_4;
		trial_init(&t, &spec);
		answer = nonsense[i / 2];
		trial_drops(b, &t, DROP_POLICY, BENCH_IN);
		answer = 3;
		trial_forwards(b, &t, BENCH_LOCAL(4));
		/* it is not asked where there is one way */
		answer = nonsense[i / 2];
		spec.dst_host = TO_LAST;
		trial_init(&t, &spec);
		trial_forwards(b, &t, BENCH_LOCAL(3));
	}
	bench_close(b);
}

/* Whoever remembers flows needs a table for them. */
static void without_a_flow_table(void **state)
{
	static const bool needs[] = {
#define X(symbol, name, word, ahead, flows, reorders) flows,
		BALANCES(X)
#undef X
	};
	struct packet_spec spec = packet_spec_default;
	struct trial t;

	(void)state;
	spec.dst_host = TO_4;
	trial_init(&t, &spec);
	for (unsigned policy = 0; policy < COUNT(needs); policy++) {
		struct switch_bench *b = bench((enum balance)policy);
		struct switch_balance *of = &b->dp->tables.balances[0];

		of->flow_sets = 0;
		of->choices = 1;
		bench_accept(b);
		if (needs[policy])
			trial_drops(b, &t, DROP_POLICY, BENCH_IN);
		else
			assert_in_range(trial_port(b, &t), BENCH_LOCAL(1), BENCH_LOCAL(4));
		bench_close(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define X(symbol, name, word, ahead, flows, reorders) cmocka_unit_test(name##_is_what_it_is),
		BALANCES(X)
#undef X
			cmocka_unit_test(random_is_even_and_independent),
		cmocka_unit_test(dice_are_even_and_independent),
		cmocka_unit_test(the_hash_is_ecmps_and_the_key_is_the_flows),
		cmocka_unit_test(a_policy_of_a_users),
		cmocka_unit_test(a_port_that_is_not_there),
		cmocka_unit_test(without_a_flow_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
