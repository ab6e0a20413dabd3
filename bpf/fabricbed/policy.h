/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_H
#define FABRICBED_POLICY_H

/*
 * A load-balancing policy is one function: which of the equal-cost ports a packet takes.
 *
 *	#include <fabricbed/policy.h>
 *
 *	POLICY(by_hash)
 *	{
 *		return policy_scale(p->hash, p->count);
 *	}
 *
 * `p` tells of the packet; the functions below tell of the candidates, which have the numbers 0 to
 * p->count - 1. The policy returns one of them. The same file is compiled for the kernel (BPF) and
 * for the process, and both must decide alike: it has no clock but p->now_ps, no randomness but
 * p->random, and no memory but that of POLICY_SWITCH() and POLICY_FLOW(). See
 * docs/your-own-policy.md.
 */
#include "abi/shared_state.h"
#include "lib/compiler.h"
#include "lib/hash.h"
#include "lib/rng.h"
#include "lib/tables.h"

#define POLICY_NONE 0xffffffffu /* no candidate: the packet is dropped as `policy` */

struct policy {
	/* the packet */
	__u64 now_ps;  /* model time at which it arrives */
	__u64 random;  /* 64 random bits of its own; policy_random() has more */
	__u64 key;     /* 64 bits that stand for its flow, the same at each switch */
	__u64 count;   /* candidates, 2 to GROUP_PORTS: so wide that the verifier keeps the bound */
	__u32 hash;    /* of its flow, different at each switch: what ECMP goes by */
	__u32 length;  /* bytes, Ethernet header to ICRC */
	__u32 src;     /* IPv4 address, or the last 32 bits of an IPv6 address: */
	__u32 dst;     /* 10.0.0.1 is 0x0a000001 */
	__u32 entropy; /* what a sender varies for another path: IPv6 flow label, or src_port */
	__u16 src_port, dst_port; /* of UDP or TCP; 0: the packet has none */
	__u8 protocol;            /* of IP; 17: UDP */
	__u8 dscp;
	/*
	 * Traffic class: whose egress queues policy_depth() looks at. With roles, a packet that
	 * goes from uplink to uplink changes its class after the choice.
	 */
	__u8 class;
	__u8 reserved;
	/* the choice */
	__u32 group;   /* number of this set of candidates at the switch */
	__u32 in_port; /* number of the port at which it arrives */
	/* keys of switch.balance */
	__u32 threshold_bytes;
	__u32 choices;
	__u32 remembered;
	__u64 gap_ps;
	/* for the functions below */
	__u32 switch_id;
	__u32 group_id;
	__u32 first_port;
	__u32 reserved2;
	const struct sw_tables *t; /* NULL in BPF */
};

/* ---- numbers ---- */

/* The n-th number of 64 random bits of this packet, from 0. */
static __always_inline __u64 policy_random(const struct policy *p, __u32 n)
{
	return rng_mix(p->random + n);
}

/* Maps 32 bits evenly to 0 to n - 1. */
static __always_inline __u32 policy_scale(__u32 bits, __u32 n)
{
	return hash_pick(bits, n);
}

/* ---- candidates ---- */

/*
 * policy_..._of() are BPF functions of their own, which take numbers alone: the verifier walks each
 * of them once, whatever loop calls it.
 */

/* The port id of a candidate; 0: there is none of that number. */
static __always_inline __u32 policy_port_id(
	const struct sw_tables *t, __u32 group_id, __u32 first_port, __u32 i)
{
	const struct group *g = table_groups(t, group_id);

	sw_opaque(i);
	if (!g || i >= g->count || i >= GROUP_PORTS)
		return 0;
	return first_port + g->port[i];
}

SW_GLOBAL __u32 policy_port_of(const struct sw_tables *t, __u32 group_id, __u32 first_port, __u32 i)
{
	__u32 id = policy_port_id(t, group_id, first_port, i);

	return id ? id - first_port : POLICY_NONE;
}

/* The number of a candidate's port at its switch. */
static __always_inline __u32 policy_port(const struct policy *p, __u32 i)
{
	return policy_port_of(p->t, p->group_id, p->first_port, i);
}

SW_GLOBAL __u32 policy_depth_of(
	const struct sw_tables *t, __u32 group_id, __u32 first_port, __u32 class, __u32 i)
{
	__u32 id = policy_port_id(t, group_id, first_port, i);
	const struct queue *q = table_queues(t, id * CLASSES + class % CLASSES);

	return id && q ? q->depth_bytes : POLICY_NONE;
}

/*
 * Bytes in a candidate's egress queue of the packet's class, the frame on the line included.
 * POLICY_NONE: there is no such candidate.
 */
static __always_inline __u32 policy_depth(const struct policy *p, __u32 i)
{
	return policy_depth_of(p->t, p->group_id, p->first_port, p->class, i);
}

SW_GLOBAL __u64 policy_rate_of(const struct sw_tables *t, __u32 group_id, __u32 first_port, __u32 i)
{
	__u32 id = policy_port_id(t, group_id, first_port, i);
	const struct port *port = table_ports(t, id);

	return id && port ? port->rate_bps : 0;
}

/* The rate of a candidate's link now, bits per second; 0: there is no such candidate. */
static __always_inline __u64 policy_rate(const struct policy *p, __u32 i)
{
	return policy_rate_of(p->t, p->group_id, p->first_port, i);
}

SW_GLOBAL int policy_up_of(const struct sw_tables *t, __u32 group_id, __u32 first_port, __u32 i)
{
	__u32 id = policy_port_id(t, group_id, first_port, i);
	const struct port *port = table_ports(t, id);

	return id && port && port->up;
}

/* Whether a candidate's link is up. */
static __always_inline int policy_up(const struct policy *p, __u32 i)
{
	return policy_up_of(p->t, p->group_id, p->first_port, i);
}

/*
 * The least of (depth, distance from `first`), as one number, so that the verifier follows one path
 * through all rounds. The distance of those before `first` wraps around: they come last, in order.
 */
SW_GLOBAL __u32 policy_shortest_of(
	const struct sw_tables *t, __u32 group_id, __u32 first_port, __u32 class, __u32 first)
{
	const struct group *g = table_groups(t, group_id);
	__u64 least = ~0ull;

	if (!g)
		return POLICY_NONE;
	for (__u32 i = 0; i < GROUP_PORTS && i < g->count; i++) {
		__u32 id = first_port + g->port[i];
		const struct queue *q = table_queues(t, id * CLASSES + class % CLASSES);
		const struct port *port;
		__u64 one;

		if (!q)
			break;
		one = (__u64)q->depth_bytes << 32 | (__u32)(i - first);
		if (one >= least)
			continue;
		port = table_ports(t, id);
		if (port && port->up)
			least = one;
	}
	least = sw_forget_long(least);
	return least == ~0ull ? POLICY_NONE : first + (__u32)least;
}

/*
 * The candidate with the shortest queue of those whose link is up, and of several the next one from
 * `first` on, in a circle. `first` if no link is up.
 */
static __always_inline __u32 policy_shortest(const struct policy *p, __u32 first)
{
	__u32 best = policy_shortest_of(p->t, p->group_id, p->first_port, p->class, first);

	return best == POLICY_NONE ? first : best;
}

/* ---- memory ---- */

#define POLICY_SWITCH_BYTES BALANCE_MEMORY
#define POLICY_FLOW_BYTES   FLOW_MEMORY

/*
 * In the policy: a pointer to memory of this switch, of a type of the policy's own. It is zero at
 * the start.
 */
#define POLICY_SWITCH(type)                                                                        \
	({                                                                                         \
		struct switch_balance *balance_ = table_balances(p->t, p->switch_id);              \
		_Static_assert(                                                                    \
			sizeof(type) <= POLICY_SWITCH_BYTES, "memory of a switch: too much");      \
		if (!balance_)                                                                     \
			return POLICY_NONE;                                                        \
		(type *)balance_->memory;                                                          \
	})

#define FLOW_MISS 0x100u

/* The way of a set that has the key; else FLOW_MISS and the way that was not used for longest. */
SW_GLOBAL __u32 policy_way(const struct sw_tables *t, __u32 set, __u64 key)
{
	const struct flow_set *s = table_balance_flows(t, set);
	__u64 oldest = ~0ull;
	__u32 way = 0;

	if (!s)
		return FLOW_MISS;
	for (__u32 i = 0; i < FLOW_WAYS; i++) {
		__u64 used = s->way[i].used;

		if (s->way[i].key == key)
			return i;
		if (used < oldest) {
			oldest = used;
			way = i;
		}
	}
	return FLOW_MISS | way;
}

/*
 * The memory of the packet's flow: of an entry that is made if there is none, in the place of the
 * one of its set that was not used for longest. NULL: the scenario has no flow table.
 */
static __always_inline void *policy_flow(const struct policy *p)
{
	struct switch_balance *b = table_balances(p->t, p->switch_id);
	struct flow_entry *e;
	struct flow_set *s;
	__u32 set, way;
	int expired;

	if (!b || !b->flow_sets)
		return 0;
	set = b->first_set + hash_pick((__u32)(p->key >> 32), b->flow_sets);
	way = policy_way(p->t, set, p->key);
	s = table_balance_flows(p->t, set);
	if (!s)
		return 0;
	e = &s->way[way % FLOW_WAYS];
	expired = b->lifetime_ps && e->used && p->now_ps - (e->used - 1) > b->lifetime_ps;
	if (way & FLOW_MISS || expired) {
		b->flows++;
		b->forgotten += e->key && !expired;
		e->key = p->key;
		__builtin_memset(e->memory, 0, sizeof(e->memory));
	}
	e->used = p->now_ps + 1;
	return e->memory;
}

/*
 * In the policy: a pointer to memory of the packet's flow, of a type of the policy's own. It is
 * zero when the flow is new to the switch, or was forgotten.
 */
#define POLICY_FLOW(type)                                                                          \
	({                                                                                         \
		type *flow_ = policy_flow(p);                                                      \
		_Static_assert(sizeof(type) <= POLICY_FLOW_BYTES, "memory of a flow: too much");   \
		if (!flow_)                                                                        \
			return POLICY_NONE;                                                        \
		flow_;                                                                             \
	})

/* A choice that is kept, in memory of a flow or of the switch. Zero: none was made yet. */
struct policy_choice {
	__u32 port; /* the port's number at the switch, plus 1 */
	__u32 pick; /* its number among the candidates when it was chosen */
};

/* The candidate that has the port; POLICY_NONE: none has it. */
SW_GLOBAL __u32 policy_candidate_of(const struct sw_tables *t, __u32 group_id, __u32 port)
{
	const struct group *g = table_groups(t, group_id);

	for (__u32 i = 0; g && i < GROUP_PORTS && i < g->count; i++)
		if (g->port[i] == port)
			return i;
	return POLICY_NONE;
}

/*
 * The candidate that was chosen; POLICY_NONE: none was, or routes have changed and its port is no
 * candidate any more. Where they have changed otherwise, its number may be another.
 */
static __always_inline __u32 policy_kept(const struct policy *p, struct policy_choice *c)
{
	if (!c->port)
		return POLICY_NONE;
	if (policy_port(p, c->pick) + 1 != c->port)
		c->pick = policy_candidate_of(p->t, p->group_id, c->port - 1);
	return c->pick;
}

/* Keeps a choice, and returns it. */
static __always_inline __u32 policy_keep(
	const struct policy *p, struct policy_choice *c, __u32 pick)
{
	c->pick = pick;
	c->port = policy_port(p, pick) + 1;
	return pick;
}

/* ---- the policy ---- */

/*
 * In a file of the user's it is the function that the switch's program is linked with, which is why
 * its symbol is hidden there: the verifier follows it where it is called. Else it is one of the
 * switch's own.
 */
#ifndef FABRICBED_POLICY_FILE
#define POLICY(name) static __always_inline __u32 balance_##name(struct policy *p)
#else
#ifdef __bpf__
#define POLICY_SYMBOL __attribute__((visibility("hidden")))
#else
#define POLICY_SYMBOL
#endif
#define POLICY(name)                                                                               \
	POLICY_SYMBOL __u32 fabricbed_policy(struct policy *p);                                    \
	__u32 fabricbed_policy(struct policy *p)
#endif

#endif
