/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PFC deadlock: in a cycle, egress queues are paused by ingresses whose frames wait in egress
 * queues that are paused (IEEE 802 Nendica, Intelligent Lossless Data Center Networks, figure 21).
 * It is found without a timeout: of all paused queues, those that the rest of the fabric will yet
 * resume are removed, until no more can be. What is left never moves again by itself.
 */
#include <stdlib.h>
#include "engine/internal.h"
#include "lib/buffer.h"

struct search {
	const struct engine *e;
	bool *stuck;    /* by egress queue: it does not move */
	uint32_t *held; /* by ingress: bytes of its frames in stuck queues of its switch */
};

static bool queue_waits(const struct engine *e, uint32_t queue)
{
	const struct engine_port *p = &e->ports[queue / CLASSES];

	return (p->paused & p->waiting) >> queue % CLASSES & 1 && !e->nodes[p->node].is_host;
}

/* The ingress whose pause a queue obeys. */
static uint32_t ingress_of(const struct engine *e, uint32_t queue)
{
	return e->ports[queue / CLASSES].peer * CLASSES + queue % CLASSES;
}

static void count_held(struct search *s)
{
	const struct engine *e = s->e;

	memset(s->held, 0, e->port_count * CLASSES * sizeof(*s->held));
	for (uint32_t i = PORT_FIRST * CLASSES; i < e->port_count * CLASSES; i++) {
		uint32_t packet = s->stuck[i] ? e->queues[i].packets.head : PACKET_NONE;

		while (packet != PACKET_NONE) {
			const struct packet *k = packet_get(&e->pool, packet);

			if (k->in_queue & PACKET_LOSSLESS)
				s->held[k->in_port * CLASSES + (k->in_queue & (CLASSES - 1))] +=
					k->length;
			packet = k->next;
		}
	}
}

/* Whether an ingress would send XON if all that is not stuck left and the pool were free. */
static bool ingress_opens(const struct search *s, uint32_t ingress)
{
	const struct engine *e = s->e;
	const struct ingress *in = &e->dp->tables.ingresses[ingress];
	const struct engine_port *p = &e->ports[ingress / CLASSES];
	struct switch_state empty;

	/* a host that pauses may relent */
	if (e->nodes[p->node].is_host || !in->paused || !s->held[ingress])
		return true;
	empty = *port_switch(e, p);
	empty.pool_used = 0;
	return s->held[ingress] + (uint64_t)in->xon_bytes <=
	       buffer_threshold(&empty, in->xoff_bytes, in->alpha);
}

/* Strikes out what will move; whether there was such a thing. */
static bool strike_out(struct search *s)
{
	bool changed = false;

	count_held(s);
	for (uint32_t i = PORT_FIRST * CLASSES; i < s->e->port_count * CLASSES; i++)
		if (s->stuck[i] && ingress_opens(s, ingress_of(s->e, i))) {
			s->stuck[i] = false;
			changed = true;
		}
	return changed;
}

/* A stuck queue that holds frames of this ingress. There is one, or the ingress would open. */
static uint32_t next_in_circle(const struct search *s, uint32_t ingress)
{
	const struct engine *e = s->e;
	const struct engine_node *n = &e->nodes[e->ports[ingress / CLASSES].node];

	for (uint32_t i = n->first_port * CLASSES; i < (n->first_port + n->port_count) * CLASSES;
		i++) {
		uint32_t packet = s->stuck[i] ? e->queues[i].packets.head : PACKET_NONE;

		for (; packet != PACKET_NONE; packet = packet_get(&e->pool, packet)->next) {
			const struct packet *k = packet_get(&e->pool, packet);

			if (k->in_queue & PACKET_LOSSLESS &&
				k->in_port * CLASSES + (k->in_queue & (CLASSES - 1)) == ingress)
				return i;
		}
	}
	return UINT32_MAX;
}

/* Follows the wait-for edges from a stuck queue until one repeats: that part is the cycle. */
static int write_circle(struct search *s, uint32_t from, struct engine_waiting *ret, size_t room)
{
	uint32_t *seen =
		s->held; /* not needed any more: the step at which a queue was met, from 1 */
	uint32_t at = from, step = 0;
	int length;

	memset(seen, 0, s->e->port_count * CLASSES * sizeof(*seen));
	while (!seen[at]) {
		seen[at] = ++step;
		at = next_in_circle(s, ingress_of(s->e, at));
		if (at == UINT32_MAX)
			return 0;
	}
	length = (int)(step - seen[at] + 1);
	for (int i = 0; i < length; i++) {
		if ((size_t)i < room)
			ret[i] = (struct engine_waiting){at / CLASSES, (uint8_t)(at % CLASSES)};
		at = next_in_circle(s, ingress_of(s->e, at));
	}
	return length;
}

/* Most often there is nothing to search. */
static bool anything_waits(const struct engine *e)
{
	for (uint32_t port = PORT_FIRST; port < e->port_count; port++)
		if (e->ports[port].paused & e->ports[port].waiting)
			return true;
	return false;
}

int engine_find_deadlock(const struct engine *e, struct engine_waiting *ret, size_t room)
{
	uint32_t count = e->port_count * CLASSES, waiting = 0;
	struct search s = {.e = e};
	int length = 0;

	if (!anything_waits(e))
		return 0;
	s.stuck = calloc(count, sizeof(*s.stuck));
	s.held = calloc(count, sizeof(*s.held));
	if (!s.stuck || !s.held) {
		free(s.stuck);
		free(s.held);
		return -ENOMEM;
	}
	for (uint32_t i = PORT_FIRST * CLASSES; i < count; i++)
		waiting += s.stuck[i] = queue_waits(e, i);
	while (waiting && strike_out(&s))
		;
	for (uint32_t i = PORT_FIRST * CLASSES; waiting && i < count && !length; i++)
		if (s.stuck[i])
			length = write_circle(&s, i, ret, room);
	free(s.stuck);
	free(s.held);
	return length;
}
