/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_ROLES_H
#define FABRICBED_SW_ROLES_H

/*
 * Queue remapping by port roles. A packet that came down an uplink and goes up another was bounced:
 * its flow may close a cycle of buffers that wait for each other. It is tagged, by its DSCP, and
 * goes on in another lossless class, here and at all later switches (IEEE 802 Nendica, Intelligent
 * Lossless Data Center Networks, figures 26 to 28).
 */
#include "sw/context.h"
#include "lib/ip.h"

/* Needs out. The ingress keeps its class: the space was taken in the old one. */
static __always_inline enum sw_step sw_remap(struct sw_ctx *c)
{
	__u8 dscp;

	if (sw_likely(c->in->role != ROLE_UP || c->out->role != ROLE_UP))
		return SW_NEXT;
	dscp = table_config(c->t)->retag[c->dscp & (DSCP_COUNT - 1)];
	if (dscp == c->dscp)
		return SW_NEXT;
	ip_set_tos(c->ip4, c->ip6, (__u8)(dscp << 2 | (ip_tos(c->ip4, c->ip6) & 3)));
	c->dscp = dscp;
	c->queue = sw_class(c, dscp);
	c->flags |= VERDICT_REMAPPED;
	return SW_NEXT;
}

#endif
