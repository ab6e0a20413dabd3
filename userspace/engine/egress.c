/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which frame a port sends next: control frames; then strict classes, the highest first; then the others by their shares
 * (ETS, 802.1Q clause 37): deficit round robin over wire bytes (Shreedhar and Varghese, 1996).
 */
#include "engine/internal.h"

/*
 * The class with the smallest share has a full packet a turn: with less some turns would bring it nothing, with more the
 * others would wait longer than they have to.
 */
void egress_init(struct engine *e, const struct engine_schedule *schedule)
{
	double full = (double)wire_bytes(data_frame_bytes(e->env.mtu, e->env.ip6)), least = 1;

	for (uint32_t c = 0; c < CLASSES; c++)
		if (schedule->share[c] > 0 && schedule->share[c] < least)
			least = schedule->share[c];
	for (uint32_t c = 0; c < CLASSES; c++) {
		e->quantum[c] = (int64_t)(schedule->share[c] / least * full);
		if (schedule->share[c] <= 0)
			e->strict |= (uint8_t)(1u << c);
	}
	for (uint32_t i = 0; i < e->port_count; i++)
		e->control[i] = PACKET_FIFO_INIT;
	for (uint32_t i = 0; i < e->port_count * CLASSES; i++)
		e->queues[i].packets = PACKET_FIFO_INIT;
}

void egress_push(struct engine *e, uint32_t port, uint32_t packet)
{
	uint32_t class = packet_get(&e->pool, packet)->queue;

	if (sw_unlikely(class >= CLASSES)) {
		packet_fifo_push(&e->pool, &e->control[port], packet);
		return;
	}
	packet_fifo_push(&e->pool, &port_queue(e, port, class)->packets, packet);
	e->ports[port].waiting |= (uint8_t)(1u << class);
}

uint32_t egress_pop(struct engine *e, uint32_t port, uint32_t class)
{
	struct engine_queue *q = port_queue(e, port, class);
	uint32_t packet = packet_fifo_pop(&e->pool, &q->packets);

	if (packet_fifo_empty(&q->packets)) {
		e->ports[port].waiting &= (uint8_t) ~(1u << class);
		q->credit = 0; /* what it did not use is not saved up */
	}
	return packet;
}

/* The class among `ready` whose turn it is; a turn gives a class its quantum once. */
static uint32_t egress_turn(struct engine *e, uint32_t port, uint32_t ready)
{
	struct engine_port *p = &e->ports[port];

	for (;;) {
		struct engine_queue *q = port_queue(e, port, p->turn);

		if (ready >> p->turn & 1) {
			const struct packet *k = packet_get(&e->pool, q->packets.head);
			int64_t cost = (int64_t)wire_bytes(k->length);

			if (q->credit >= cost) {
				q->credit -= cost;
				return p->turn;
			}
		}
		p->turn = (p->turn + 1) % CLASSES;
		if (ready >> p->turn & 1)
			port_queue(e, port, p->turn)->credit += e->quantum[p->turn];
	}
}

uint32_t egress_next(struct engine *e, uint32_t port)
{
	struct engine_port *p = &e->ports[port];
	uint32_t ready = p->waiting & ~p->paused, strict;

	if (engine_has(e, SW_CONTROL) && !packet_fifo_empty(&e->control[port]))
		return packet_fifo_pop(&e->pool, &e->control[port]);
	if (!ready)
		return PACKET_NONE;
	strict = ready & e->strict;
	if (strict)
		return egress_pop(e, port, 31u - (uint32_t)__builtin_clz(strict));
	return egress_pop(e, port, egress_turn(e, port, ready));
}
