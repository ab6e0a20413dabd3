/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What befalls links and switches between two calls of engine_run(). */
#include "engine/internal.h"

static void port_set_up(struct engine *e, uint32_t port, bool up)
{
	struct port *p = e->ports[port].shared;

	p->up = up;
	if (up)
		p->up_since_ps = e->now_ps;
	pause_forget(e, port, e->now_ps);
}

void engine_set_link_up(struct engine *e, uint32_t port, bool up)
{
	port_set_up(e, port, up);
	port_set_up(e, e->ports[port].peer, up);
}

void engine_set_link_rate(struct engine *e, uint32_t port, uint64_t rate_bps)
{
	uint32_t ends[] = {port, e->ports[port].peer};

	for (int i = 0; i < 2; i++)
		port_set_rate(e, ends[i], rate_bps);
	/* a faster link may be the one that sets the windows now, and may bring more in one */
	engine_bound_lookahead(e, port);
	for (int i = 0; i < 2; i++)
		engine_bound_window(e, &e->nodes[e->ports[ends[i]].node]);
}

/* The lookahead stays that of the shorter delay: windows need no more. */
void engine_set_link_delay(struct engine *e, uint32_t port, uint64_t extra_ps)
{
	uint32_t ends[] = {port, e->ports[port].peer};

	for (int i = 0; i < 2; i++)
		e->ports[ends[i]].delay_ps = e->links[ends[i]].own_delay_ps + extra_ps;
}

static void port_empty(struct engine *e, uint32_t port)
{
	struct packet_fifo *control = &e->control[port];
	struct engine_port *p = &e->ports[port];

	while (!packet_fifo_empty(control))
		engine_discard(
			e, port, packet_fifo_pop(&e->pool, control), DROP_SWITCH_DOWN, e->now_ps);
	for (uint32_t c = 0; c < CLASSES; c++)
		while (p->waiting >> c & 1) {
			uint32_t packet = egress_pop(e, port, c);
			const struct packet *k = packet_get(&e->pool, packet);

			line_give(e, port, k->length, k->in_port, k->queue, k->in_queue, e->now_ps);
			engine_discard(e, port, packet, DROP_SWITCH_DOWN, e->now_ps);
		}
}

void engine_empty_switch(struct engine *e, uint32_t node)
{
	const struct engine_node *n = &e->nodes[node];

	/* what is given back must not make it speak, and what it holds must not leave */
	for (uint32_t i = n->first_port * CLASSES; i < (n->first_port + n->port_count) * CLASSES;
		i++)
		e->dp->tables.ingresses[i].paused = 0;
	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++)
		port_empty(e, id);
	for (uint32_t id = n->first_port; id < n->first_port + n->port_count; id++)
		pause_forget(e, id, e->now_ps);
}
