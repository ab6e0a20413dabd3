/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_ROUTE_H
#define FABRICBED_SW_ROUTE_H

/* The equal-cost ports towards dst_host. Needs a parsed frame; sets sw and group. */
#include "sw/context.h"

static __always_inline enum sw_step sw_route(struct sw_ctx *c)
{
	struct route_block *block;
	__u32 group;

	c->sw = table_switches(c->t, c->in->switch_id);
	if (!c->sw || c->dst_host >= c->sw->host_count)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	block = table_routes(c->t, c->sw->first_route + c->dst_host / ROUTE_BLOCK);
	if (!block)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	group = block->group[c->dst_host % ROUTE_BLOCK];
	if (group == ROUTE_NONE)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	c->group_id = c->sw->first_group + group;
	c->group = table_groups(c->t, c->group_id);
	if (!c->group || !c->group->count)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	return SW_NEXT;
}

#endif
