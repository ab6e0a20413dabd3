/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_FORWARD_H
#define FABRICBED_SW_FORWARD_H

/*
 * What a router changes in a packet that it forwards: TTL or hop limit less one (RFC 1812, 5.3.1),
 * the checksum with it, and both MAC addresses. The TTL check is separate, since a packet that
 * expires must not take buffer space first.
 */
#include "sw/context.h"
#include "lib/ip.h"

static __always_inline enum sw_step sw_forward_check(struct sw_ctx *c)
{
	return ip_ttl(c->ip4, c->ip6) > 1 ? SW_NEXT : sw_drop(c, c->in_id, DROP_TTL);
}

static __always_inline void sw_forward(struct sw_ctx *c)
{
	ip_set_ttl(c->ip4, c->ip6, (__u8)(ip_ttl(c->ip4, c->ip6) - 1));
	__builtin_memcpy(c->eth->dst, c->out->peer_mac, 6);
	__builtin_memcpy(c->eth->src, c->out->mac, 6);
}

#endif
