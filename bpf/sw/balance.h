/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_BALANCE_H
#define FABRICBED_SW_BALANCE_H

/*
 * One port of the group, by the switch's policy. Needs sw and group; sets out_id and out. Where
 * switches reroute by themselves, a frame goes back out of its ingress port only if there is no
 * other: the group's next port takes it.
 */
#include "abi/policies.h"
#include "fabricbed/policy.h"
#include "sw/balance/adaptive.h"
#include "sw/balance/drill.h"
#include "sw/balance/ecmp.h"
#include "sw/balance/ecmp_adaptive.h"
#include "sw/balance/flowlet.h"
#include "sw/balance/letflow.h"
#include "sw/balance/random.h"
#include "sw/balance/spray.h"
#include "sw/context.h"

/* Whether a switch of the fabric has the policy: a constant in loaded BPF. */
#ifdef __bpf__
#define sw_balances(c, symbol) (table_config((c)->t)->balances >> (symbol)&1)
#else
#define sw_balances(c, symbol) 1
#endif

/* The user's policy. In BPF the linker puts it in the place of this one, which names no port. */
#ifdef __bpf__
__attribute__((weak, noinline, visibility("hidden"))) __u32 fabricbed_policy(struct policy *p)
{
	__u32 none = POLICY_NONE;

	sw_opaque(p);
	sw_opaque(none);
	return none;
}
#define sw_balance_file(c, p) sw_forget(fabricbed_policy(p))
#else
#define sw_balance_file(c, p) ((c)->t->policy ? (c)->t->policy(p) : POLICY_NONE)
#endif

/*
 * What a policy is told; what it does not use costs nothing, as it is part of this function. The
 * random bits are those of the packet, its place and its time: how many came before would not do,
 * since a frame that the switch makes comes among those that ran ahead of time.
 */
static __always_inline struct policy sw_policy(
	const struct sw_ctx *c, const struct switch_balance *b, __u64 count)
{
	struct words {
		__be32 word[4];
	} __attribute__((packed));
	__u64 key = hash_key(c->addresses, c->ports);
	struct policy p = {
		.now_ps = c->hop.now_ps,
		.random = rng_mix(rng_mix(c->sw->hash_seed ^ c->in_id) ^ key ^ c->hop.now_ps),
		.key = key,
		.count = count,
		.hash = hash_flow(c->sw->hash_seed, c->addresses, c->ports),
		.length = c->hop.length,
		.entropy = be16(c->ports >> 32),
		.src_port = be16(c->ports >> 32),
		.dst_port = be16(c->ports >> 16),
		.protocol = (__u8)c->ports,
		.dscp = c->dscp,
		.class = c->queue,
		.group = c->group_id - c->sw->first_group,
		.in_port = c->in_id - c->sw->first_port,
		.switch_id = c->in->switch_id,
		.group_id = c->group_id,
		.first_port = c->sw->first_port,
		.t = c->t,
	};

	if (b) {
		p.threshold_bytes = b->threshold_bytes;
		p.choices = b->choices;
		p.remembered = b->remembered;
		p.gap_ps = b->gap_ps;
	}
	if (c->ip4) {
		p.src = be32(c->ip4->src);
		p.dst = be32(c->ip4->dst);
	} else if (c->ip6) {
		p.src = be32(((const struct words *)c->ip6->src)->word[3]);
		p.dst = be32(((const struct words *)c->ip6->dst)->word[3]);
		p.entropy = be32(c->ip6->version_class_flow) & 0xfffff;
	}
	return p;
}

static __always_inline __u32 sw_balance_own(struct sw_ctx *c, const struct switch_balance *b)
{
	__u64 count = c->group->count;

	/* on the stack the verifier keeps its bound, for loops over the candidates */
	sw_opaque(count);
	if (count > GROUP_PORTS)
		return GROUP_PORTS; /* a broken table: no port at all */
	switch (c->sw->balance) {
#define X(symbol, name, word, ahead, flows, reorders)                                              \
	case symbol:                                                                               \
		if (sw_balances(c, symbol)) {                                                      \
			struct policy p = sw_policy(c, b, count);                                  \
			return balance_##name(&p);                                                 \
		}                                                                                  \
		break;
		BALANCES(X)
#undef X
	case BALANCE_FILE:
		if (sw_balances(c, BALANCE_FILE)) {
			struct policy p = sw_policy(c, b, count);
			return sw_balance_file(c, &p);
		}
		break;
	}
	return POLICY_NONE;
}

/* A number from 0 to count - 1, unless a policy is wrong. */
static __always_inline __u32 sw_balance_pick(struct sw_ctx *c)
{
	const struct switch_balance *b;

	if (!sw_has(c, SW_BALANCE)) {
		struct policy p = sw_policy(c, 0, c->group->count);
		return balance_ecmp(&p);
	}
	b = table_balances(c->t, c->in->switch_id);
	return b ? sw_balance_own(c, b) : POLICY_NONE;
}

static __always_inline enum sw_step sw_group_port(struct sw_ctx *c, __u32 pick)
{
	sw_opaque(pick);
	if (pick >= GROUP_PORTS)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	c->out_id = c->sw->first_port + c->group->port[pick];
	return SW_NEXT;
}

static __always_inline enum sw_step sw_balance(struct sw_ctx *c)
{
	__u32 pick = 0;

	if (c->group->count > 1)
		pick = sw_balance_pick(c);
	if (sw_has(c, SW_BALANCE) && sw_unlikely(pick >= c->group->count))
		return sw_drop(c, c->in_id, DROP_POLICY);
	if (sw_group_port(c, pick) != SW_NEXT)
		return SW_END;
	if (sw_has(c, SW_DETOUR) && c->out_id == c->in_id && !c->turned) {
		if (sw_group_port(c, pick + 1 < c->group->count ? pick + 1 : 0) != SW_NEXT)
			return SW_END;
	}
	c->out = table_ports(c->t, c->out_id);
	if (!c->out)
		return sw_drop(c, c->in_id, DROP_NO_ROUTE);
	return SW_NEXT;
}

#endif
