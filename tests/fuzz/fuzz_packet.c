/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arbitrary bytes as hop header and frame, into the switch's pipeline and the host's, with nothing
 * on, with everything, and with what hosts' kernel stacks need beside it. Whatever they are, the
 * accounts must balance, and only what a switch may change has changed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "abi/drop.h"
#include "abi/policies.h"
#include "abi/wire.h"
#include "base/rng_stream.h"
#include "dataplane/dataplane.h"

#define HOST_PORT   2u
#define SWITCH_PORT 3u /* the switch's port 0 */
#define PORT_COUNT  7u
#define FRAME_MAX   2048u
#define ETH         14u
#define HOSTS       40u
#define GATEWAY     6u /* the host of HOST_PORT */
#define LOSSLESS    3u /* the classes that are, with everything on: this and the next */

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

/*
 * The head of an input: what the tables hold when the frame comes. Then the hop header and the
 * frame.
 */
struct setting {
	uint32_t up_since_ps;
	uint32_t kmin_bytes, kmax_bytes, pmax;
	uint32_t depth_bytes, limit_bytes;
	uint16_t route, group_count;
	uint8_t down;
	uint8_t to_sender; /* bit 0; bit 1: or return */
	uint8_t seed[2];   /* of what only counts with everything on */
};

/* One run: what goes in, and what the tables say before and after. */
struct tally {
	uint64_t dropped, rx, marked, trimmed;
	uint64_t pool_used, pool, depth, depth_frames, held, headroom, headroom_used;
};

struct run {
	struct setting s;
	struct hop hop;
	uint32_t port;
	const uint8_t *bytes;
	uint32_t captured;
	bool full;
	uint32_t stacks; /* SW_STACK and SW_GATEWAY, in a full run */
	struct tally before;
};

static uint64_t dice_of(const struct setting *s)
{
	return rng_stream(s->seed[0] | s->seed[1] << 8, "fuzz", 0);
}

static void write_config(struct sw_config *c, const struct setting *s, uint32_t stacks)
{
	uint64_t dice = dice_of(s);

	c->features = (SW_FEATURES & ~(SW_STACK | SW_GATEWAY)) | stacks;
	c->balances = (1u << BALANCE_FILE) - 1;
	c->flow_sets = 2;
	c->host_count = HOSTS;
	c->gateway = GATEWAY;
	for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++) {
		c->class_of[dscp] = rng_below(&dice, CLASSES);
		c->retag[dscp] = (uint8_t)dscp;
	}
	/* a lossless class is remapped to another, and a trimmed one is lossy */
	for (unsigned from = 0; from < DSCP_COUNT; from++)
		for (unsigned to = 0; to < DSCP_COUNT; to++)
			if (c->class_of[from] == LOSSLESS && c->class_of[to] == LOSSLESS + 1)
				c->retag[from] = (uint8_t)to;
	c->trim_classes = (uint8_t)(rng_take(&dice) & ~(3u << LOSSLESS));
	c->trim_to_sender = s->to_sender & 1;
	c->trim_or_return = s->to_sender >> 1 & 1;
	c->trimmed_dscp = 7;
	c->returned_dscp = 56;
	c->cnp_dscp = 48;
	c->class_of[7] = c->class_of[56] = 6;
	c->class_of[48] = 7;
	c->trim_classes &= (uint8_t) ~(1u << 6);
	c->quanta = 0xffff;
	c->watchdog_ps = rng_below(&dice, 1000);
	c->cnp_interval_ps = rng_below(&dice, 1000);
	c->response_ps = rng_below(&dice, 1000);
}

static void write_queue(struct queue *q, struct ingress *in, uint32_t class,
	const struct setting *s, uint64_t *dice)
{
	bool lossless = class == LOSSLESS || class == LOSSLESS + 1;

	q->limit_bytes = s->limit_bytes;
	q->depth_bytes = s->depth_bytes;
	q->kmin_bytes = s->kmin_bytes;
	q->kmax_bytes = s->kmax_bytes;
	q->pmax = s->pmax & 0x1ffff;
	if (!dice)
		return;
	/* depths have 32 bits, and a pool on top of what is one's own has to fit in */
	q->limit_bytes &= 0x3fffffff;
	q->depth_bytes &= 0x3fffffff;
	q->alpha = lossless ? 0 : rng_below(dice, 3) * rng_below(dice, 1000);
	q->average_shift = (uint8_t)rng_below(dice, 16);
	q->average_bytes = rng_below(dice, UINT32_MAX);
	q->stormed = !rng_below(dice, 8);
	q->lossless = in->lossless = lossless;
	q->paused_since_ps = rng_below(dice, 2000);
	in->bytes = rng_below(dice, 50000);
	in->headroom_bytes = rng_below(dice, 2) * rng_below(dice, 50000);
	in->xoff_bytes = rng_below(dice, 50000);
	in->xon_bytes = rng_below(dice, 5000);
	in->alpha = lossless ? rng_below(dice, 2) * rng_below(dice, 1000) : 0;
	in->headroom_limit = rng_below(dice, 100000);
	in->paused = (uint8_t)rng_below(dice, 2);
}

static void write_fault(struct fault *f, uint64_t *dice)
{
	const uint64_t below = (1ull << 56) - 1;

	f->loss = rng_below(dice, UINT32_MAX);
	f->enter = f->leave = rng_below(dice, UINT32_MAX);
	f->lost_bad = rng_below(dice, UINT32_MAX);
	f->hazard = rng_take(dice) >> rng_below(dice, 64);
	f->every_ps = (rng_take(dice) & below) >> rng_below(dice, 56);
	f->last_ps = (rng_take(dice) & below) >> rng_below(dice, 56);
	f->cell_shift = (uint8_t)rng_below(dice, 64);
	f->fresh = (uint8_t)rng_below(dice, 2);
	f->next_ps = rng_take(dice) >> rng_below(dice, 64);
	f->frame_seed = f->burst_seed = rng_take(dice);
}

static void write_switch(const struct sw_tables *t, const struct setting *s)
{
	t->switches[0] = (struct switch_state){
		.first_port = SWITCH_PORT, .port_count = 4, .host_count = HOSTS, .hash_seed = 1};
	memset(t->routes, 0, t->count.routes * sizeof(*t->routes));
	t->routes[1].group[1] = s->route;
	t->groups[0] = (struct group){.count = 3, .port = {1, 2, 3}};
	t->groups[1] = (struct group){.count = s->group_count, .port = {1, 2, 3, 200}};
}

static void fill(const struct sw_tables *t, const struct run *r)
{
	uint64_t dice = dice_of(&r->s);
	struct switch_state *sw = t->switches;

	write_switch(t, &r->s);
	for (uint32_t id = HOST_PORT; id < PORT_COUNT; id++) {
		struct port *p = &t->ports[id];

		p->kind = id == HOST_PORT ? PORT_HOST : PORT_SWITCH;
		p->host = GATEWAY;
		p->peer = id ^ 1;
		p->up = !(r->s.down & 1);
		p->up_since_ps = r->s.up_since_ps;
		p->quantum = 5120 * 256;
		memset(p->mac, 0x10 + (int)id, 6);
		memset(p->peer_mac, 0x20 + (int)id, 6);
		if (r->full) {
			p->role = (uint8_t)rng_below(&dice, 4);
			p->faulty = !rng_below(&dice, 4);
			write_fault(&t->faults[id], &dice);
		}
		for (uint32_t class = 0; class < CLASSES; class ++)
			write_queue(&t->queues[id * CLASSES + class],
				&t->ingresses[id * CLASSES + class], class, &r->s,
				r->full ? &dice : NULL);
	}
	sw->pool_bytes = rng_below(&dice, 100000);
	sw->balance = rng_below(&dice, BALANCE_FILE);
	t->balances[0].flow_sets = 2;
	t->balances[0].choices = t->balances[0].remembered = 1 + rng_below(&dice, 4);
	sw->pool_used = rng_below(&dice, 2) * rng_below(&dice, 100000);
	for (uint32_t class = 0; class < CLASSES; class ++)
		sw->headroom_bytes[class] = rng_below(&dice, 100000);
}

static uint32_t beyond(uint32_t bytes, uint32_t own, uint32_t alpha)
{
	return alpha && bytes > own ? bytes - own : 0;
}

static struct tally count(const struct sw_tables *t)
{
	struct tally sum = {0};

	for (uint32_t id = 0; id < t->count.ports; id++) {
		for (unsigned reason = 0; reason < DROP_SLOTS; reason++)
			sum.dropped += t->drops[id].frames[reason];
		sum.rx += t->ports[id].rx_frames;
		sum.marked += t->ports[id].marked_frames;
		sum.trimmed += t->ports[id].trimmed_frames;
	}
	/* what of the pool is not accounted for stays what it was */
	sum.pool = sum.pool_used = t->switches[0].pool_used;
	for (uint32_t i = 0; i < t->count.queues; i++) {
		const struct queue *q = &t->queues[i];
		const struct ingress *in = &t->ingresses[i];

		sum.depth += q->depth_bytes;
		sum.depth_frames += q->depth_frames;
		sum.held += in->bytes;
		sum.headroom += in->headroom_bytes;
		sum.pool -= beyond(q->depth_bytes, q->limit_bytes, q->alpha);
		sum.pool -= beyond(in->bytes, in->xoff_bytes, in->alpha);
	}
	for (uint32_t class = 0; class < CLASSES; class ++)
		sum.headroom_used += t->switches[0].headroom_used[class];
	return sum;
}

static uint32_t ip4_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static bool is_between(uint32_t i, uint32_t from, uint32_t bytes)
{
	return i >= from && i < from + bytes;
}

/* Byte i of the frame may only differ if a switch may change it there. */
static bool may_change(uint32_t i, bool ip6, const struct verdict *v)
{
	bool forwarded = v->action == VERDICT_FORWARD;
	bool tagged = v->flags & (VERDICT_TRIMMED | VERDICT_RETURNED | VERDICT_REMAPPED);
	bool marked = v->flags & VERDICT_MARKED, cut = v->flags & VERDICT_TRIMMED;
	uint32_t ip = i - ETH;

	if (i < 12)
		return forwarded;
	/* TOS, or the class: of that ECN is in its second byte alone */
	if (ip == 1 || (ip6 && ip == 0))
		return tagged || (marked && ip == 1);
	if (is_between(ip, ip6 ? 4 : 2, 2) || is_between(ip, ip6 ? 44 : 24, 2))
		return cut;
	if (is_between(ip, ip6 ? 8 : 12, ip6 ? 32 : 8))
		return v->flags & VERDICT_RETURNED;
	if (ip6)
		return ip == 7 && forwarded;
	return (ip == 8 && forwarded) || (is_between(ip, 10, 2) && (forwarded || marked || tagged));
}

/* UDP to 4791, its header in plain sight. */
static bool is_roce(const uint8_t *frame)
{
	const uint8_t *ip = frame + ETH;
	bool ip6 = frame[12] == 0x86;
	bool udp = ip6 ? ip[6] == 17 : ip[0] == 0x45 && ip[9] == 17 && !(ip[6] & 0x3f) && !ip[7];

	ip += ip6 ? 42 : 22;
	return udp && (ip[0] << 8 | ip[1]) == 4791;
}

/* RoCE that leaves with CE set asks for a CNP, and nothing else does. */
static void check_ask(const struct run *r, const uint8_t *after, const struct verdict *v)
{
	const uint8_t *ip = after + ETH;
	bool ip6 = after[12] == 0x86, ce;

	ce = ((ip6 ? ip[1] >> 4 : ip[1]) & 3) == 3;
	must(!(v->flags & VERDICT_ASK_CNP) ==
		!(r->full && v->action == VERDICT_FORWARD && ce && is_roce(after) &&
			!(v->flags & VERDICT_RETURNED)));
}

static void check_lengths(const uint8_t *after, bool ip6, const struct verdict *v)
{
	const uint8_t *ip = after + ETH;
	uint32_t above = ip6 ? 36 : 56;

	if (!(v->flags & VERDICT_TRIMMED))
		return;
	must(v->length == (ip6 ? 90 : 70));
	must((uint32_t)(ip[ip6 ? 4 : 2] << 8 | ip[ip6 ? 5 : 3]) == above);
	must(!(v->flags & VERDICT_LOSSLESS));
}

static void check_frame(const struct run *r, const uint8_t *after, const struct verdict *v)
{
	bool ip6 = r->captured > ETH && r->bytes[ETH] >> 4 == 6;
	const uint8_t *ip = after + ETH;

	for (uint32_t i = 0; i < r->captured; i++)
		must(r->bytes[i] == after[i] || may_change(i, ip6, v));
	if (v->action != VERDICT_FORWARD && v->action != VERDICT_DELIVER &&
		v->action != VERDICT_STACK)
		return;
	must(r->captured >= ETH + 20);
	if (r->port == HOST_PORT && r->stacks)
		must((v->action == VERDICT_DELIVER) == is_roce(after));
	if (ip[0] == 0x45)
		must(ip4_sum(ip) == 0xffff);
	check_lengths(after, ip6, v);
	check_ask(r, after, v);
	if (v->action == VERDICT_FORWARD) {
		uint32_t life = ETH + (ip6 ? 7 : 8);

		must(after[life] > 0 && after[life] == r->bytes[life] - 1);
		must(after[0] == 0x20 + v->port && after[6] == 0x10 + v->port);
	}
}

/* Of a frame that was made: a PFC frame for the peer, or a CNP that goes where any packet goes. */
static void check_made(const struct run *r, const uint8_t *after, const struct verdict *v)
{
	must(v->action == VERDICT_FORWARD || v->action == VERDICT_NOTHING ||
		v->action == VERDICT_DROP);
	if (v->action != VERDICT_FORWARD)
		return;
	if (r->hop.flags & (HOP_MAKE_PFC | HOP_MAKE_STORM)) {
		must(v->queue == QUEUE_CONTROL && v->port == r->port && v->length == PFC_FRAME);
		must(after[12] == 0x88 && after[13] == 0x08 && after[16] == 0 && after[17] != 0);
	} else {
		must(v->queue == 7 && v->length == (after[ETH] >> 4 == 6 ? 94 : 74));
		must(after[ETH] != 0x45 || ip4_sum(after + ETH) == 0xffff);
		must(after[ETH + (after[12] == 0x86 ? 7 : 8)] == 63);
	}
}

static void check_verdict(const struct run *r, const struct verdict *v, bool made)
{
	bool dropped = v->action == VERDICT_DROP;

	must(v->magic == VERDICT_MAGIC && v->in_queue < CLASSES && v->queue <= QUEUE_CONTROL);
	must(dropped == (v->reason != DROP_NONE) && v->reason < DROP_REASON_COUNT);
	must(v->length == r->hop.length || made || v->flags & VERDICT_TRIMMED);
	if (!r->full)
		must(!(v->flags & ~VERDICT_MARKED) && !v->queue && !v->in_queue);
	if (v->action == VERDICT_FORWARD)
		must(made || r->port != HOST_PORT);
	else if (v->action == VERDICT_DELIVER)
		must(!made && r->port == HOST_PORT);
	else if (v->action == VERDICT_STACK)
		must(!made && r->port == HOST_PORT && r->stacks);
	else if (!dropped)
		must(r->full && v->action <= VERDICT_NOTHING &&
			(v->action == VERDICT_NOTHING) == made);
}

/* What was admitted holds its own length: in a queue, and a lossless one at its ingress. */
static void check_tables(
	const struct sw_tables *t, const struct run *r, const struct verdict *v, bool made)
{
	struct tally is = count(t), was = r->before;
	bool entered =
		v->action == VERDICT_FORWARD && v->queue < CLASSES && !(r->hop.flags & HOP_ROOM);
	bool held = entered && v->flags & VERDICT_LOSSLESS;
	uint32_t length = v->length;

	must(is.rx == !made && is.marked == !!(v->flags & VERDICT_MARKED));
	must(is.trimmed == !!(v->flags & VERDICT_TRIMMED));
	must(is.dropped == (v->action == VERDICT_DROP));
	if (v->action == VERDICT_DROP && !r->full)
		must(t->drops[v->reason == DROP_BUFFER ? v->port : r->port].frames[v->reason] == 1);
	must(is.depth_frames == entered);
	must((uint32_t)(is.depth - was.depth) == (entered ? length : 0));
	must(is.held - was.held + is.headroom - was.headroom == (held ? length : 0));
	must(is.headroom_used == is.headroom - was.headroom);
	must(is.pool == was.pool);
	must(is.pool_used == was.pool_used || is.pool_used <= t->switches[0].pool_bytes);
	if (entered) {
		const struct queue *q = &t->queues[v->port * CLASSES + v->queue];

		must(q->depth_frames == 1);
		must(held || q->alpha || q->depth_bytes <= q->limit_bytes);
	}
	if (v->flags & VERDICT_LOSSLESS)
		must(t->ingresses[r->port * CLASSES + v->in_queue].lossless);
}

/* A CNP is made of a flow that is known: an earlier packet of it, which makes none. */
static void introduce(struct dataplane *dp, const struct run *r, struct frame *frame)
{
	struct frame_ref ref = {frame, r->captured};
	uint32_t psn = ETH + (r->captured > ETH && r->bytes[ETH] >> 4 == 6 ? 40 : 20) + 19;

	frame->hop = r->hop;
	frame->hop.flags = HOP_MAKE_CNP;
	frame->hop.out_port = PORT_FIRST + 1;
	memcpy(frame->bytes, r->bytes, r->captured);
	if (psn < r->captured)
		frame->bytes[psn]--;
	must(!dp->ops->submit(dp, r->port, &ref, 1));
	must(frame->verdict.action == VERDICT_NOTHING || frame->verdict.action == VERDICT_DROP);
	memset(dp->tables.drops, 0, dp->tables.count.ports * sizeof(*dp->tables.drops));
}

static void run(struct run *r)
{
	struct sw_sizes sizes = {.ports = PORT_COUNT, .switches = 1, .routes = 2, .groups = 2};
	/* of exactly its size, so that a step too far is seen */
	struct frame *frame = malloc(sizeof(*frame) + r->captured);
	struct frame_ref ref = {frame, r->captured};
	bool made = r->full && r->hop.flags & HOP_MAKE;
	struct dataplane *dp;

	if (r->full)
		write_config(&sizes.config, &r->s, r->stacks);
	must(frame && !dataplane_inline_open(&dp, &sizes, FRAME_MAX));
	fill(&dp->tables, r);
	if (made)
		introduce(dp, r, frame);
	r->before = count(&dp->tables);
	frame->hop = r->hop;
	memcpy(frame->bytes, r->bytes, r->captured);
	must(!dp->ops->submit(dp, r->port, &ref, 1) && ref.captured == r->captured);
	check_verdict(r, &frame->verdict, made);
	check_tables(&dp->tables, r, &frame->verdict, made);
	if (made)
		check_made(r, frame->bytes, &frame->verdict);
	else
		check_frame(r, frame->bytes, &frame->verdict);
	dp->ops->close(dp);
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r;

	if (size < sizeof(r.s) + sizeof(r.hop) || size > sizeof(r.s) + sizeof(r.hop) + FRAME_MAX)
		return 0;
	memcpy(&r.s, data, sizeof(r.s));
	memcpy(&r.hop, data + sizeof(r.s), sizeof(r.hop));
	r.bytes = data + sizeof(r.s) + sizeof(r.hop);
	r.captured = (uint32_t)(size - sizeof(r.s) - sizeof(r.hop));
	for (unsigned i = 0; i < 8; i++) {
		r.port = i & 1 ? SWITCH_PORT : HOST_PORT;
		r.full = i >= 2;
		r.stacks = i >= 4 ? SW_STACK : 0;
		r.stacks |= i >= 6 ? SW_GATEWAY : 0;
		run(&r);
	}
	return 0;
}
