/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_TRIM_H
#define FABRICBED_SW_TRIM_H

/*
 * Trimming: a data packet that finds no room loses its payload, and its headers go on in a class of their own, to the
 * receiver or back to the sender (Handley et al., Re-architecting datacenter networks and stacks for low latency and
 * high performance, SIGCOMM 2017, sections 3.1 and 3.2.4). What stays is the same whether payload bytes are carried or
 * not: Ethernet, IP, UDP, BTH and as much again as any data packet's extension has. There is no ICRC any more.
 */
#include "sw/context.h"
#include "lib/ip.h"

#define TRIM_EXTENSION 16

/* An answer is nothing but headers: what is not at least so many times as long as what would stay is not cut. */
#define TRIM_WORTH 2

/* Of the transport's headers: UDP, BTH, its extension. */
#define TRIM_ABOVE (sizeof(struct udp_hdr) + sizeof(struct bth_hdr) + TRIM_EXTENSION)

/* What an earlier switch has cut: headers on their way to the receiver, or back to the sender. */
static __always_inline int sw_is_trimmed(const struct sw_ctx *c)
{
	return c->dscp == table_config(c->t)->trimmed_dscp;
}

static __always_inline int sw_is_returned(const struct sw_ctx *c)
{
	return c->dscp == table_config(c->t)->returned_dscp;
}

static __always_inline void sw_trim_tag(struct sw_ctx *c, __u8 dscp)
{
	ip_set_tos(c->ip4, c->ip6, (__u8)(dscp << 2 | (ip_tos(c->ip4, c->ip6) & 3)));
	c->dscp = dscp;
	c->in_queue = c->queue = sw_class(c, dscp);
}

/* Cuts a packet that found no room. SW_FULL: it cannot be cut, or needs not be any more. */
static __always_inline enum sw_step sw_trim(struct sw_ctx *c)
{
	__u32 kept = sizeof(struct eth_hdr) + TRIM_ABOVE +
		     (c->ip4 ? sizeof(struct ip4_hdr) : sizeof(struct ip6_hdr));

	if (!(table_config(c->t)->trim_classes >> c->queue & 1) || !c->udp ||
		c->hop.length < TRIM_WORTH * kept)
		return SW_FULL;
	c->hop.length = kept;
	c->udp->length = be16(TRIM_ABOVE);
	ip_set_length(c->ip4, c->ip6, TRIM_ABOVE);
	sw_trim_tag(c, table_config(c->t)->trimmed_dscp);
	c->reason = DROP_HEADERS;
	c->flags |= VERDICT_TRIMMED;
	return SW_NEXT;
}

/* Turns headers around. The frame must be parsed again: it has another destination. */
static __always_inline void sw_return(struct sw_ctx *c)
{
	ip_turn(c->ip4, c->ip6);
	sw_trim_tag(c, table_config(c->t)->returned_dscp);
	c->cursor.pos = (void *)(c->eth + 1);
	c->ip4 = 0;
	c->ip6 = 0;
	c->udp = 0;
	c->flags |= VERDICT_RETURNED;
	c->turned = 1;
}

#endif
