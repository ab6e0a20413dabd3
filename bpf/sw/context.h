/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SW_CONTEXT_H
#define FABRICBED_SW_CONTEXT_H

/* One frame's way through a program: filled by the stages in turn, each saying what it adds. */
#include "abi/drop.h"
#include "abi/hop.h"
#include "abi/wire.h"
#include "lib/checksum.h"
#include "lib/compiler.h"
#include "lib/cursor.h"
#include "lib/tables.h"

struct sw_ctx {
	/* given */
	const struct sw_tables *t;
	struct cursor cursor; /* at the Ethernet header */
	struct hop hop;       /* a copy: the original's place is the verdict's */
	__u32 features;       /* native only: see sw_has() */
	__u32 in_id;
	struct port *in;

	/* parse */
	struct eth_hdr *eth;
	struct ip4_hdr *ip4; /* one of the two */
	struct ip6_hdr *ip6;
	struct udp_hdr *udp; /* NULL: something else */
	__u64 addresses;     /* what the flow hash covers */
	__u64 ports;
	__u32 dst_host; /* 0-based; out of range if it is no host's address */
	__u8 dscp;
	__u8 in_queue; /* its class */

	/* route, balance, admit */
	struct switch_state *sw;
	struct group *group;
	__u32 group_id;
	__u32 out_id;
	struct port *out;
	__u8 flags; /* VERDICT_* */
	__u8 queue; /* its class from here on */
	__u8 reason;
	__u8 action; /* of SW_DONE */
	__u8 turned; /* it goes back where it came from, and is to */
};

/* What a stage says of the frame. */
enum sw_step {
	SW_NEXT, /* on to the next stage */
	SW_END,  /* it ended here: c->reason */
	SW_DONE, /* it is settled here: c->action */
	SW_FULL, /* there is no room for it: c->reason, not counted yet */
};

/* In a function that returns a step: runs a stage, and ends there if the frame does. */
#define SW_STAGE(stage)                                                                            \
	do {                                                                                       \
		enum sw_step step_ = stage(c);                                                     \
		if (sw_unlikely(step_ != SW_NEXT))                                                 \
			return step_;                                                              \
	} while (0)

#define SW_STAGE_IF(feature, stage)                                                                \
	do {                                                                                       \
		if (sw_has(c, feature))                                                            \
			SW_STAGE(stage);                                                           \
	} while (0)

/* Whether a feature is on: a constant in loaded BPF and in the inline dataplane's plain program. */
#ifdef __bpf__
#define sw_has(c, feature) (table_config((c)->t)->features & (feature))
#else
#define sw_has(c, feature) ((c)->features & (feature))
#endif

/* A function of its own, since a program ends frames in two dozen places. */
SW_GLOBAL int drop_count(const struct sw_tables *t, __u32 port, __u32 reason)
{
	struct port_drops *d = table_drops(t, port);

	if (d)
		d->frames[reason & (DROP_SLOTS - 1)]++;
	return 0;
}

/* The only way for a frame to end: counts it at `port`. */
static __always_inline enum sw_step sw_drop(struct sw_ctx *c, __u32 port, enum drop_reason reason)
{
	drop_count(c->t, port, reason);
	c->reason = (__u8)reason;
	return SW_END;
}

/*
 * Where paths through the program join: else the verifier would walk what follows once for each set
 * of flags, and exceed its limit.
 */
static __always_inline void sw_join(struct sw_ctx *c)
{
	if (sw_has(c, SW_TRIM | SW_ROLES | SW_CNP))
		c->flags = (__u8)sw_forget(c->flags);
}

static __always_inline enum sw_step sw_done(struct sw_ctx *c, enum verdict_action action)
{
	c->action = (__u8)action;
	return SW_DONE;
}

/* Its class by its DSCP, now that this is known or changed. */
static __always_inline __u8 sw_class(const struct sw_ctx *c, __u8 dscp)
{
	if (!sw_has(c, SW_CLASSES))
		return 0;
	return table_config(c->t)->class_of[dscp & (DSCP_COUNT - 1)] & (CLASSES - 1);
}

/* The verdict, written over the hop header. */
static __always_inline void sw_verdict(
	const struct sw_ctx *c, struct verdict *v, enum sw_step step, enum verdict_action action)
{
	v->magic = VERDICT_MAGIC;
	v->action = step == SW_END ? VERDICT_DROP : step == SW_DONE ? c->action : action;
	v->reason = c->reason;
	v->flags = c->flags;
	v->queue = c->queue;
	v->port = c->out_id;
	v->length = c->hop.length;
	v->in_queue = c->in_queue;
	__builtin_memset(v->reserved, 0, sizeof(v->reserved));
	v->reserved2 = 0;
}

#endif
