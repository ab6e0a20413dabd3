/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_TRIM_H
#define FABRICBED_SW_TRIM_H

/*
 * Trimming: a data packet that finds no room loses its payload, and its headers go on in a class of
 * their own, to the receiver or back to the sender (Handley et al., Re-architecting datacenter
 * networks and stacks for low latency and high performance, SIGCOMM 2017, sections 3.1 and 3.2.4).
 * The trimmed length does not depend on whether payload bytes are carried: Ethernet, IP, UDP, BTH
 * and as much again as any data packet's extension has. There is no ICRC any more.
 */
#include "sw/resubmit.h"
#include "lib/ip.h"

/* Control packets are headers only: a frame below so many trimmed lengths is not trimmed. */
#define TRIM_WORTH 2

/* Of the transport's headers: UDP, BTH, its extension. */
#define TRIM_ABOVE (sizeof(struct udp_hdr) + sizeof(struct bth_hdr) + TRIMMED_EXTENSION)

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

/* Sends headers back to where they came from. */
static __always_inline enum sw_step sw_return(struct sw_ctx *c)
{
	ip_turn(c->ip4, c->ip6);
	sw_trim_tag(c, table_config(c->t)->returned_dscp);
	c->flags |= VERDICT_RETURNED;
	return sw_resubmit(c);
}

/* A packet that found no room: its headers may. */
static __always_inline enum sw_step sw_place_trimmed(struct sw_ctx *c)
{
	int back = table_config(c->t)->trim_to_sender;
	int was_trimmed = sw_is_trimmed(c), was_returned = sw_is_returned(c);
	enum sw_step step = sw_trim(c);

	if (step != SW_NEXT && !was_trimmed && !was_returned)
		return SW_FULL;
	if (step == SW_NEXT)
		c->out->trimmed_frames++;
	if (step == SW_NEXT && !back)
		step = sw_admit(c);
	if (step != SW_NEXT && !was_returned && table_config(c->t)->trim_or_return)
		back = 1;
	if (back && !was_returned)
		step = sw_return(c);
	if (step == SW_FULL)
		c->reason = DROP_HEADERS;
	return step;
}

#endif
