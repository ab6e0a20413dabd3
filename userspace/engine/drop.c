/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where packets end that do not arrive. */
#include "base/drop_name.h"
#include "engine/internal.h"

void engine_drop(
	struct engine *e, uint32_t port, uint32_t packet, enum drop_reason reason, uint64_t now)
{
	struct packet *k = packet_get(&e->pool, packet);

	e->stats.dropped[reason]++;
	if (e->observer.dropped)
		e->observer.dropped(e->observer.arg, now, port, reason,
			packet_frame(&e->pool, packet)->bytes, k->captured, k->length);
	flow_packet_lost(e, k, packet_frame(&e->pool, packet)->bytes);
	packet_free(&e->pool, packet);
}

void engine_discard(
	struct engine *e, uint32_t port, uint32_t packet, enum drop_reason reason, uint64_t now)
{
	e->dp->tables.drops[port].frames[reason]++;
	engine_drop(e, port, packet, reason, now);
}

uint32_t engine_drop_port(const struct verdict *v, uint32_t in)
{
	return drop_place((enum drop_reason)v->reason) == DROP_AT_EGRESS ? v->port : in;
}
