/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which frame a port sends next: control frames; then strict classes, the highest first; then the
 * others by their shares (ETS, 802.1Q clause 37): deficit round robin over wire bytes (Shreedhar
 * and Varghese, 1996).
 */
#include "engine/internal.h"

/*
 * The class with the smallest share gets a full packet a round: with less, some rounds would send
 * nothing of it; with more, the others would wait longer than necessary.
 */
void egress_init(struct engine *e, const struct engine_schedule *schedule)
{
	double full = (double)wire_bytes(schedule->frame_bytes), least = 1;

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

uint32_t egress_turn(struct engine *e, uint32_t port, uint32_t ready)
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
