/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * From a graph of GOAL to operations. They are made in an order in which they may begin, so that
 * each waits for earlier ones alone: of what may begin, first what stands first in the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/goal_group.h"
#include "base/strbuf.h"
#include "base/wiretime.h"
#include "workload/goal.h"

#define LEVELS 5 /* 64^5 is more than OPERATIONS_MAX */

/* A set of numbers whose least is found by a look at each level: bits of what is not 0 below. */
struct ready {
	uint64_t *levels[LEVELS];
};

/* What an operation has become. */
struct made {
	uint32_t needs;     /* dependences that are not met yet */
	uint32_t other;     /* a receive's send, and the other way round */
	uint32_t operation; /* that ends with it; GOAL_NONE: a receive ends with its message */
	uint32_t posted;    /* of a receive whose begin others wait for: that has ended then */
};

struct build {
	struct operations *m;
	const struct goal *g;
	const struct goal_setting *s;
	struct goal_matching *matching;
	struct made *made;
	struct ready ready;
	/*
	 * Streams of computations: behind first_port one for each rank, of what it sends to others
	 * of its host; behind first_cpu one for each cpu of each rank.
	 */
	uint32_t first_port, first_cpu, cpus;
	uint32_t *missing; /* where it can't end, by receive: the send that does not begin */
};

/* ---- what may begin ---- */

static int ready_init(struct ready *r, uint64_t count)
{
	for (int l = 0; l < LEVELS; l++) {
		count = count / 64 + 1;
		r->levels[l] = calloc(count, sizeof(uint64_t));
		if (!r->levels[l])
			return -ENOMEM;
	}
	return 0;
}

static void ready_release(struct ready *r)
{
	for (int l = 0; l < LEVELS; l++)
		free(r->levels[l]);
}

static void ready_add(struct ready *r, uint32_t number)
{
	for (int l = 0; l < LEVELS; l++, number /= 64)
		r->levels[l][number / 64] |= 1ull << number % 64;
}

/* Takes the least out; GOAL_NONE: there is none. */
static uint32_t ready_take(struct ready *r)
{
	uint32_t number = 0;

	if (!r->levels[LEVELS - 1][0])
		return GOAL_NONE;
	for (int l = LEVELS - 1; l >= 0; l--)
		number = 64 * number + (uint32_t)__builtin_ctzll(r->levels[l][number]);
	for (uint32_t l = 0, n = number; l < LEVELS; l++, n /= 64)
		if (r->levels[l][n / 64] &= ~(1ull << n % 64))
			break;
	return number;
}

/* Those that waited for that of an operation. */
static void tell(struct build *b, uint32_t op, bool begun)
{
	const struct goal_dependence *d;

	for (uint32_t i = b->g->ops[op].first_after; i != GOAL_NONE; i = d->next_after) {
		d = &b->g->dependences[i];
		if (d->begun == begun && !--b->made[d->to].needs)
			ready_add(&b->ready, d->to);
	}
}

/* ---- operations ---- */

static void wait_for_message(struct build *b, uint32_t send)
{
	uint32_t from = b->made[send].operation;

	operations_wait(b->m, from,
		operation_is_message(&b->m->items[from]) ? OPERATION_DELIVERED : OPERATION_ENDED);
}

/* The latest operation waits for that. A receive that waits for nothing has begun at once. */
static void wait_for(struct build *b, const struct goal_dependence *d)
{
	const struct made *from = &b->made[d->from];
	bool receives = b->g->ops[d->from].kind == GOAL_RECV;

	if (d->begun && receives && from->posted != GOAL_NONE)
		operations_wait(b->m, from->posted, OPERATION_ENDED);
	else if (d->begun && !receives)
		operations_wait(b->m, from->operation, OPERATION_BEGUN);
	else if (!d->begun && from->operation != GOAL_NONE)
		operations_wait(b->m, from->operation, OPERATION_ENDED);
	else if (!d->begun)
		wait_for_message(b, from->other);
}

/* Room for an operation in its place, and all that it may wait for. */
static int reserve(struct build *b, uint32_t op)
{
	size_t waits = 1;

	for (uint32_t i = b->g->ops[op].first_before; i != GOAL_NONE;
		i = b->g->dependences[i].next_before)
		waits++;
	return operations_reserve(b->m, 1, waits);
}

static uint32_t add(struct build *b, struct operation o)
{
	o.entry = b->s->p->entry;
	return operations_add(b->m, &o);
}

static void wait_for_all(struct build *b, uint32_t op)
{
	for (uint32_t i = b->g->ops[op].first_before; i != GOAL_NONE;
		i = b->g->dependences[i].next_before)
		wait_for(b, &b->g->dependences[i]);
}

/* Appends one that begins when `op` may. */
static int add_when_ready(struct build *b, uint32_t op, struct operation o, uint32_t *ret)
{
	int err = reserve(b, op);

	if (err < 0)
		return err;
	*ret = add(b, o);
	wait_for_all(b, op);
	if (!b->m->items[*ret].waits)
		b->m->items[*ret].start_ps = b->s->start_ps;
	return 0;
}

static struct operation computation(const struct build *b, uint32_t rank, uint64_t lasts_ps)
{
	return (struct operation){.src_host = b->s->placed[rank],
		.dst_host = b->s->placed[rank],
		.lasts_ps = lasts_ps,
		.group = rank};
}

static int make_calc(struct build *b, uint32_t op)
{
	const struct goal_op *o = &b->g->ops[op];
	struct operation work;
	uint64_t lasts_ps;

	if (__builtin_mul_overflow(o->amount, b->s->calc_ps, &lasts_ps) || lasts_ps > TIME_MAX)
		return goal_refuse(b->g, o->line,
			"rank %u: a calc of %llu takes more than ten days", o->rank,
			(unsigned long long)o->amount);
	work = computation(b, o->rank, lasts_ps);
	work.stream = b->first_cpu + o->rank * b->cpus + o->cpu + 1;
	return add_when_ready(b, op, work, &b->made[op].operation);
}

/* Inside a host it is a computation, of its sender's port. A rank's to itself takes no time. */
static struct operation message(const struct build *b, const struct goal_op *o)
{
	struct operation m = computation(b, o->rank, 0);

	m.dst_host = b->s->placed[o->peer];
	if (m.dst_host != m.src_host) {
		m.bytes = o->amount ? o->amount : 1; /* a packet in any case */
	} else if (o->rank != o->peer) {
		m.lasts_ps = bytes_ps(o->amount, b->s->placement->inside.rate_bps);
		m.after_ps = b->s->placement->inside.delay_ps;
		m.stream = b->first_port + o->rank + 1;
		m.group |= GOAL_SENDS_INSIDE;
	}
	return m;
}

static int make_message(struct build *b, uint32_t op)
{
	const struct goal_op *o = &b->g->ops[op];

	if (o->amount > b->s->hosts->message_max)
		return goal_refuse(b->g, o->line,
			"rank %u: %llu bytes; a message has at most 2^24 packets, %llu bytes",
			o->rank, (unsigned long long)o->amount,
			(unsigned long long)b->s->hosts->message_max);
	return add_when_ready(b, op, message(b, o), &b->made[op].operation);
}

/* Whether anything waits for the begin of an operation, or for its end. */
static bool is_awaited(const struct goal *g, uint32_t op, bool begun)
{
	uint32_t i = g->ops[op].first_after;

	while (i != GOAL_NONE && g->dependences[i].begun != begun)
		i = g->dependences[i].next_after;
	return i != GOAL_NONE;
}

/* A receive begins: the moment has an operation where another waits for it. */
static int make_posted(struct build *b, uint32_t op)
{
	const struct goal_op *o = &b->g->ops[op];

	if (o->first_before == GOAL_NONE || !is_awaited(b->g, op, true))
		return 0;
	return add_when_ready(b, op, computation(b, o->rank, 0), &b->made[op].posted);
}

/* A receive whose message is known ends with that, or when it begins if that is later. */
static int make_received(struct build *b, uint32_t op, uint32_t send)
{
	const struct goal_op *o = &b->g->ops[op], *sent = &b->g->ops[send];
	struct made *made = &b->made[op];
	int err;

	if (sent->amount > o->amount)
		return goal_refuse(b->g, o->line,
			"rank %u: a receive of %llub; rank %u sends it %llub in %s %u", o->rank,
			(unsigned long long)o->amount, sent->rank, (unsigned long long)sent->amount,
			b->g->unit, sent->line);
	made->other = send;
	b->made[send].other = op;
	if (o->first_before == GOAL_NONE || !is_awaited(b->g, op, false))
		return 0;
	err = reserve(b, op);
	if (err < 0)
		return err;
	made->operation = add(b, computation(b, o->rank, 0));
	if (made->posted != GOAL_NONE)
		operations_wait(b->m, made->posted, OPERATION_ENDED);
	else
		wait_for_all(b, op);
	wait_for_message(b, send);
	return 0;
}

/* All that it waited for has happened. */
static int begin(struct build *b, uint32_t op)
{
	uint8_t kind = b->g->ops[op].kind;
	uint32_t other, receive;
	int err = kind == GOAL_CALC   ? make_calc(b, op)
		  : kind == GOAL_SEND ? make_message(b, op)
				      : make_posted(b, op);

	if (err < 0)
		return err;
	tell(b, op, true);
	if (kind != GOAL_RECV)
		tell(b, op, false);
	if (kind == GOAL_CALC)
		return 0;
	err = goal_match(b->matching, op, &other);
	if (err < 0 || other == GOAL_NONE)
		return err;
	receive = kind == GOAL_RECV ? op : other;
	err = make_received(b, receive, receive == op ? other : op);
	if (err == 0)
		tell(b, receive, false);
	return err;
}

/* ---- what never happens ---- */

static bool has_happened(const struct build *b, uint32_t op, bool begun)
{
	const struct made *made = &b->made[op];

	return !made->needs &&
	       (begun || b->g->ops[op].kind != GOAL_RECV || made->other != GOAL_NONE);
}

/* What holds up an operation that has not ended; GOAL_NONE: nobody sends what it receives. */
static uint32_t held_up_by(const struct build *b, uint32_t op)
{
	const struct goal *g = b->g;
	const struct goal_dependence *d;

	for (uint32_t i = g->ops[op].first_before; i != GOAL_NONE; i = d->next_before) {
		d = &g->dependences[i];
		if (!has_happened(b, d->from, d->begun))
			return d->from;
	}
	return b->missing[op];
}

static int refuse_alone(const struct build *b, uint32_t op)
{
	const struct goal_op *o = &b->g->ops[op];
	char name[CELL_SHOWN], peer[32] = "any rank", tag[32] = "any tag";

	goal_op_name(b->g, op, name);
	if (o->peer != GOAL_ANY)
		snprintf(peer, sizeof(peer), "rank %u", o->peer);
	if (o->tag != GOAL_ANY)
		snprintf(tag, sizeof(tag), "tag %u", o->tag);
	if (o->kind == GOAL_SEND)
		return goal_refuse(b->g, o->line,
			"rank %u: nothing receives %s: %s has no receive with %s left for it",
			o->rank, name, peer, tag);
	return goal_refuse(b->g, o->line,
		"rank %u: %s waits for ever: no send from %s with %s is left for it", o->rank, name,
		peer, tag);
}

#define CIRCLE_SHOWN 5

/* "rank 3: l4 (line 17) waits for l2 (line 15), which waits for rank 1: ..." */
static int refuse_circle(const struct build *b, uint32_t first)
{
	const struct goal_op *ops = b->g->ops;
	char name[CELL_SHOWN], all[WORKLOAD_REFUSAL];
	struct strbuf text = STRBUF(all);
	uint32_t at = first, shown = 0;

	do {
		uint32_t next = held_up_by(b, at);

		if (!shown)
			strbuf_add(&text, "rank %u: %s (%s %u)", ops[at].rank,
				goal_op_name(b->g, at, name), b->g->unit, ops[at].line);
		if (shown++ < CIRCLE_SHOWN) {
			strbuf_add(&text, shown > 1 ? ", which waits for " : " waits for ");
			if (ops[next].rank != ops[at].rank)
				strbuf_add(&text, "rank %u: ", ops[next].rank);
			strbuf_add(&text, "%s (%s %u)", goal_op_name(b->g, next, name), b->g->unit,
				ops[next].line);
		}
		at = next;
	} while (at != first);
	if (shown > CIRCLE_SHOWN)
		strbuf_add(&text, ", and so on, %u in all", shown);
	return goal_refuse(b->g, ops[first].line, "a circle: %s", all);
}

/* For receives that have begun, what would be sent to them. */
static int find_missing(struct build *b)
{
	const struct goal *g = b->g;
	int err = 0;

	b->missing = malloc(g->op_count * sizeof(*b->missing));
	if (!b->missing)
		return -ENOMEM;
	memset(b->missing, 0xff, g->op_count * sizeof(*b->missing));
	for (uint32_t i = 0, receive; err == 0 && i < g->op_count; i++) {
		if (g->ops[i].kind != GOAL_SEND || has_happened(b, i, true))
			continue;
		err = goal_match(b->matching, i, &receive);
		if (err == 0 && receive != GOAL_NONE)
			b->missing[receive] = i;
	}
	return err;
}

/* Goes from what has not ended to what holds it up, until there is nothing, or it comes back. */
static int refuse_stuck(struct build *b, uint32_t op)
{
	bool *seen = calloc(b->g->op_count, sizeof(*seen));
	uint32_t next = op;
	int err = seen ? find_missing(b) : -ENOMEM;

	for (; err == 0 && next != GOAL_NONE && !seen[next]; next = held_up_by(b, op)) {
		seen[next] = true;
		op = next;
	}
	if (err == 0)
		err = next == GOAL_NONE ? refuse_alone(b, op) : refuse_circle(b, next);
	free(seen);
	return err;
}

/* 0, or why the graph can't end. */
static int check_end(struct build *b)
{
	for (uint32_t i = 0; i < b->g->op_count; i++)
		if (!has_happened(b, i, false))
			return refuse_stuck(b, i);
	for (uint32_t i = 0; i < b->g->op_count; i++)
		if (b->g->ops[i].kind == GOAL_SEND && b->made[i].other == GOAL_NONE)
			return refuse_alone(b, i);
	return 0;
}

/* ---- all of it ---- */

static int build_init(struct build *b)
{
	int err = goal_matching_new(&b->matching, b->g);

	if (err == 0)
		err = ready_init(&b->ready, b->g->op_count);
	b->made = malloc(b->g->op_count * sizeof(*b->made));
	if (err < 0 || !b->made)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->g->op_count; i++) {
		b->made[i] = (struct made){0, GOAL_NONE, GOAL_NONE, GOAL_NONE};
		if (b->g->ops[i].cpu >= b->cpus)
			b->cpus = b->g->ops[i].cpu + 1u;
	}
	b->first_cpu = b->first_port + (b->s->placement->inside.rate_bps ? b->g->ranks : 0);
	b->m->work_stream_count = b->first_cpu + b->g->ranks * b->cpus;
	for (uint32_t i = 0; i < b->g->dependence_count; i++)
		b->made[b->g->dependences[i].to].needs++;
	for (uint32_t i = 0; i < b->g->op_count; i++)
		if (!b->made[i].needs)
			ready_add(&b->ready, i);
	return 0;
}

int goal_build(struct operations *m, const struct goal *g, const struct goal_setting *s)
{
	struct build b = {.m = m, .g = g, .s = s, .first_port = m->work_stream_count};
	size_t before = m->count, waits_before = m->wait_count;
	int err = build_init(&b);

	for (uint32_t op; err == 0 && (op = ready_take(&b.ready)) != GOAL_NONE;)
		err = begin(&b, op);
	if (err == 0)
		err = check_end(&b);
	if (err < 0) {
		m->work_stream_count = b.first_port;
		m->count = before;
		m->wait_count = waits_before;
	}
	ready_release(&b.ready);
	goal_matching_free(b.matching);
	free(b.made);
	free(b.missing);
	return err;
}
