/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/*
 * Sends and receives of GOAL, by source, destination and tag. Of those that fit the ones that began
 * first belong together, as in MPI.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "workload/goal.h"

/* What has begun with one source, destination and tag and waits for the other side: alike all. */
struct channel {
	uint32_t from, to, tag;
	uint32_t first, last; /* operations; GOAL_NONE: there are none */
	uint32_t next;        /* channel of the destination that is listed */
	bool listed;          /* as all are where sends wait */
};

/* Of a rank. */
struct destination {
	uint32_t first_channel;
	uint32_t first, last; /* receives from any rank, or with any tag, that wait */
};

struct goal_matching {
	const struct goal *g;
	struct {
		uint32_t next, turn; /* in its queue; when it began */
	} * waiting;                 /* by operation */
	struct destination *ranks;
	uint32_t turn;
	struct channel *channels;
	uint32_t channel_count;
	uint32_t *slots; /* numbers of channels, plus 1, by hash */
	size_t slot_count;
};

void goal_matching_free(struct goal_matching *m)
{
	if (!m)
		return;
	free(m->waiting);
	free(m->ranks);
	free(m->channels);
	free(m->slots);
	free(m);
}

int goal_matching_new(struct goal_matching **ret, const struct goal *g)
{
	struct goal_matching *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->g = g;
	m->waiting = calloc((size_t)g->op_count + 1, sizeof(*m->waiting));
	m->ranks = malloc(g->ranks * sizeof(*m->ranks));
	/* each channel begins with an operation, so half of the slots stay free */
	for (m->slot_count = 16; m->slot_count < 2 * (size_t)g->op_count;)
		m->slot_count *= 2;
	m->slots = calloc(m->slot_count, sizeof(*m->slots));
	if (!m->waiting || !m->ranks || !m->slots) {
		goal_matching_free(m);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->ranks; i++)
		m->ranks[i] = (struct destination){GOAL_NONE, GOAL_NONE, GOAL_NONE};
	*ret = m;
	return 0;
}

/* ---- queues ---- */

static void queue_add(struct goal_matching *m, uint32_t *first, uint32_t *last, uint32_t op)
{
	m->waiting[op].next = GOAL_NONE;
	if (*first == GOAL_NONE)
		*first = op;
	else
		m->waiting[*last].next = op;
	*last = op;
}

/* The one behind `before`; GOAL_NONE: the first. */
static uint32_t queue_take(
	struct goal_matching *m, uint32_t *first, uint32_t *last, uint32_t before)
{
	uint32_t op = before == GOAL_NONE ? *first : m->waiting[before].next;

	if (before == GOAL_NONE)
		*first = m->waiting[op].next;
	else
		m->waiting[before].next = m->waiting[op].next;
	if (*last == op)
		*last = before;
	return op;
}

static bool began_before(const struct goal_matching *m, uint32_t a, uint32_t b)
{
	return b == GOAL_NONE || m->waiting[a].turn < m->waiting[b].turn;
}

/* ---- channels ---- */

static uint64_t channel_hash(uint32_t from, uint32_t to, uint32_t tag)
{
	uint64_t h = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15ull;

	h = (h ^ h >> 29 ^ tag) * 0xbf58476d1ce4e5b9ull;
	return h ^ h >> 32;
}

/* NULL: no memory. */
static struct channel *channel_of(struct goal_matching *m, uint32_t from, uint32_t to, uint32_t tag)
{
	struct channel *c;

	for (size_t i = channel_hash(from, to, tag);; i++) {
		uint32_t *slot = &m->slots[i & (m->slot_count - 1)];

		if (!*slot) {
			if (ARRAY_ADD(m->channels, m->channel_count,
				    (struct channel){from, to, tag, GOAL_NONE, GOAL_NONE, GOAL_NONE,
					    false}) < 0)
				return NULL;
			*slot = m->channel_count;
		}
		c = &m->channels[*slot - 1];
		if (c->from == from && c->to == to && c->tag == tag)
			return c;
	}
}

/* Whether a receive of a rank takes what is sent to that. */
static bool takes(const struct goal_op *receive, const struct goal_op *send)
{
	return (receive->peer == GOAL_ANY || receive->peer == send->rank) &&
	       (receive->tag == GOAL_ANY || receive->tag == send->tag);
}

/* ---- matching ---- */

/* Of the receives from anywhere, the one behind which a send's stands; false: there is none. */
static bool find_open(const struct goal_matching *m, uint32_t send, uint32_t *ret_before)
{
	const struct goal_op *ops = m->g->ops;

	*ret_before = GOAL_NONE;
	for (uint32_t i = m->ranks[ops[send].peer].first; i != GOAL_NONE; i = m->waiting[i].next) {
		if (takes(&ops[i], &ops[send]))
			return true;
		*ret_before = i;
	}
	return false;
}

static int match_send(struct goal_matching *m, uint32_t op, uint32_t *ret)
{
	const struct goal_op *o = &m->g->ops[op];
	struct channel *c = channel_of(m, o->rank, o->peer, o->tag);
	struct destination *d = &m->ranks[o->peer];
	uint32_t exact = GOAL_NONE, before;

	if (!c)
		return -ENOMEM;
	if (c->first != GOAL_NONE && m->g->ops[c->first].kind == GOAL_RECV)
		exact = c->first;
	if (find_open(m, op, &before) &&
		began_before(m, before == GOAL_NONE ? d->first : m->waiting[before].next, exact))
		*ret = queue_take(m, &d->first, &d->last, before);
	else if (exact != GOAL_NONE)
		*ret = queue_take(m, &c->first, &c->last, GOAL_NONE);
	else
		queue_add(m, &c->first, &c->last, op);
	if (!c->listed && c->first == op) {
		c->listed = true;
		c->next = d->first_channel;
		d->first_channel = (uint32_t)(c - m->channels);
	}
	return 0;
}

static int match_receive(struct goal_matching *m, uint32_t op, uint32_t *ret)
{
	const struct goal_op *o = &m->g->ops[op];
	struct channel *c = channel_of(m, o->peer, o->rank, o->tag);

	if (!c)
		return -ENOMEM;
	if (c->first != GOAL_NONE && m->g->ops[c->first].kind == GOAL_SEND)
		*ret = queue_take(m, &c->first, &c->last, GOAL_NONE);
	else
		queue_add(m, &c->first, &c->last, op);
	return 0;
}

/* From any rank, or with any tag. */
static void match_open(struct goal_matching *m, uint32_t op, uint32_t *ret)
{
	const struct goal_op *ops = m->g->ops;
	struct destination *d = &m->ranks[ops[op].rank];
	struct channel *best = NULL;

	for (uint32_t *at = &d->first_channel; *at != GOAL_NONE;) {
		struct channel *c = &m->channels[*at];

		c->listed = c->first != GOAL_NONE && ops[c->first].kind == GOAL_SEND;
		if (!c->listed) {
			*at = c->next;
			continue;
		}
		at = &c->next;
		if (takes(&ops[op], &ops[c->first]) &&
			began_before(m, c->first, best ? best->first : GOAL_NONE))
			best = c;
	}
	if (best)
		*ret = queue_take(m, &best->first, &best->last, GOAL_NONE);
	else
		queue_add(m, &d->first, &d->last, op);
}

int goal_match(struct goal_matching *m, uint32_t op, uint32_t *ret)
{
	const struct goal_op *o = &m->g->ops[op];

	*ret = GOAL_NONE;
	m->waiting[op].turn = m->turn++;
	if (o->kind == GOAL_SEND)
		return match_send(m, op, ret);
	if (o->peer != GOAL_ANY && o->tag != GOAL_ANY)
		return match_receive(m, op, ret);
	match_open(m, op, ret);
	return 0;
}
