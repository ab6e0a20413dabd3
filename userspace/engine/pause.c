/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PFC over time: a paused queue stops after the packet in service and resumes when the pause ends
 * or expires; a pause that has to last is refreshed before it expires; a watchdog ends one that
 * lasts too long. The program does what frames do; this is what happens between them. One event a
 * port serves all.
 */
#include <stdlib.h>
#include "base/numbers.h"
#include "engine/internal.h"
#include "lib/buffer.h"
#include "lib/pause.h"

int pause_init(struct engine *e)
{
	if (!engine_has(e, SW_PFC | SW_CONTROL))
		return 0;
	e->pauses = calloc(e->port_count, sizeof(*e->pauses));
	return e->pauses ? 0 : -ENOMEM;
}

static struct queue *queue_of(const struct engine *e, uint32_t port, uint32_t class)
{
	return &e->dp->tables.queues[port * CLASSES + class];
}

/* A pause is refreshed at half of its time, so that one lost or late frame does not matter. */
static uint64_t refresh_after(const struct engine *e, uint32_t port)
{
	uint64_t whole = e->dp->tables.config.quanta * e->ports[port].shared->quantum >> 8;

	return whole > 1 ? whole / 2 : 1;
}

/* The next moment at which a port has something to do by itself. */
static uint64_t pause_next(const struct engine *e, uint32_t port, uint64_t now)
{
	const struct engine_pause *pause = &e->pauses[port];
	const struct engine_port *p = &e->ports[port];
	uint64_t watchdog = e->dp->tables.config.watchdog_ps, next = UINT64_MAX;

	for (uint32_t c = 0; c < CLASSES; c++) {
		const struct queue *q = queue_of(e, port, c);

		if (pause->refresh_ps[c])
			next = min_u64(next, pause->refresh_ps[c]);
		if (q->paused_until_ps <= now)
			continue;
		if (q->paused_since_ps > now) { /* it takes effect then */
			next = min_u64(next, q->paused_since_ps);
			continue;
		}
		next = min_u64(next, q->paused_until_ps);
		if (watchdog && p->shared->kind == PORT_SWITCH)
			next = min_u64(next, pause_watch(q, watchdog));
	}
	return next > now || next == UINT64_MAX ? next : now;
}

static void pause_arm(struct engine *e, uint32_t port, uint64_t now)
{
	struct engine_pause *pause = &e->pauses[port];
	uint64_t next = pause_next(e, port, now);

	/* an earlier event that is armed looks again when it comes */
	if (next == UINT64_MAX || (pause->armed_ps && pause->armed_ps <= next))
		return;
	pause->armed_ps = next;
	engine_arm(e, &e->nodes[e->ports[port].node], next, EVENT_PAUSE, port_local(e, port));
}

/* The port's mask after its queues' pauses; what may go on goes on. */
static void pause_apply(struct engine *e, uint32_t port, uint64_t now)
{
	struct engine_port *p = &e->ports[port];
	uint8_t before = p->paused;

	p->paused = 0;
	for (uint32_t c = 0; c < CLASSES; c++)
		if (pause_holds(queue_of(e, port, c), now))
			p->paused |= (uint8_t)(1u << c);
	if (e->observer.paused && before != p->paused)
		e->observer.paused(e->observer.arg, now, port, before, p->paused);
	pause_arm(e, port, now);
	if (before & ~p->paused)
		line_kick(e, port, now);
}

void pause_received(struct engine *e, uint32_t port, uint64_t now)
{
	pause_apply(e, port, now);
}

void pause_sent(struct engine *e, uint32_t port, uint8_t classes, uint64_t now)
{
	for (uint32_t c = 0; c < CLASSES; c++) {
		const struct ingress *in = &e->dp->tables.ingresses[port * CLASSES + c];

		if (classes >> c & 1)
			e->pauses[port].refresh_ps[c] =
				in->paused ? now + refresh_after(e, port) : 0;
	}
	pause_arm(e, port, now);
}

void pause_check_resume(struct engine *e, uint32_t port, uint32_t class, uint64_t now)
{
	const struct ingress *in = &e->dp->tables.ingresses[port * CLASSES + class];

	if (sw_unlikely(in->paused) && ingress_may_resume(in, port_switch(e, &e->ports[port])))
		make_pfc(e, port, HOP_MAKE_PFC, (uint8_t)(1u << class), now);
}

/* The watchdog ends a pause: what waits and what arrives is discarded until the peer relents. */
static void watchdog_bite(struct engine *e, uint32_t port, uint32_t class, uint64_t now)
{
	struct engine_port *p = &e->ports[port];

	pause_trip(queue_of(e, port, class), now);
	while (p->waiting >> class & 1) {
		uint32_t packet = egress_pop(e, port, class);
		const struct packet *k = packet_get(&e->pool, packet);

		line_give(e, port, k->length, k->in_port, k->queue, k->in_queue, now);
		engine_discard(e, port, packet, DROP_WATCHDOG, now);
	}
}

static void pause_watchdog(struct engine *e, uint32_t port, uint64_t now)
{
	uint64_t watchdog = e->dp->tables.config.watchdog_ps;

	if (!watchdog || e->ports[port].shared->kind != PORT_SWITCH)
		return;
	for (uint32_t c = 0; c < CLASSES; c++) {
		const struct queue *q = queue_of(e, port, c);

		if (pause_holds(q, now) && pause_watch(q, watchdog) <= now)
			watchdog_bite(e, port, c, now);
	}
}

/* Classes whose pause the peer must be told again. */
static uint8_t pause_refresh(struct engine *e, uint32_t port, uint64_t now)
{
	struct engine_pause *pause = &e->pauses[port];
	uint8_t classes = 0;

	for (uint32_t c = 0; c < CLASSES; c++)
		if (pause->refresh_ps[c] && pause->refresh_ps[c] <= now) {
			pause->refresh_ps[c] = 0;
			classes |= (uint8_t)(1u << c);
		}
	return classes;
}

static void storm_refresh(struct engine *e, uint32_t port, uint8_t classes, uint64_t now)
{
	uint64_t whole = PFC_QUANTA_MAX * e->ports[port].shared->quantum >> 8;

	make_pfc(e, port, HOP_MAKE_STORM, classes, now);
	for (uint32_t c = 0; c < CLASSES; c++)
		if (classes >> c & 1)
			e->pauses[port].refresh_ps[c] = now + whole / 2;
}

void pause_due(struct engine *e, uint32_t port, uint64_t now)
{
	struct engine_pause *pause = &e->pauses[port];
	uint8_t classes;

	if (pause->armed_ps != now)
		return; /* an earlier one was armed after this and has been served */
	pause->armed_ps = 0;
	pause_watchdog(e, port, now);
	classes = pause_refresh(e, port, now);
	if (classes & pause->storm)
		storm_refresh(e, port, classes & pause->storm, now);
	if (classes & ~pause->storm)
		make_pfc(e, port, HOP_MAKE_PFC, classes & (uint8_t)~pause->storm, now);
	pause_apply(e, port, now);
}

void pause_forget(struct engine *e, uint32_t port, uint64_t now)
{
	if (!e->pauses)
		return;
	for (uint32_t c = 0; c < CLASSES; c++) {
		pause_end(queue_of(e, port, c), now);
		e->dp->tables.ingresses[port * CLASSES + c].paused = 0;
		if (!(e->pauses[port].storm >> c & 1))
			e->pauses[port].refresh_ps[c] = 0;
	}
	pause_apply(e, port, now);
}

void engine_set_storm(struct engine *e, uint32_t host, uint8_t classes)
{
	uint32_t port = e->nodes[host].first_port;
	struct engine_pause *pause = &e->pauses[port];

	for (uint32_t c = 0; c < CLASSES; c++)
		if (pause->storm >> c & 1)
			pause->refresh_ps[c] = 0;
	pause->storm = classes;
	if (classes)
		storm_refresh(e, port, classes, e->now_ps);
	pause_arm(e, port, e->now_ps);
}
