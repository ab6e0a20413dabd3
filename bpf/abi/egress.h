/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_EGRESS_H
#define FABRICBED_ABI_EGRESS_H

#include <linux/types.h>

/* The egress program of hosts' kernel stacks, bpf/egress.bpf.c: what it does to packets. */
#define EGRESS_RULES 8
#define EGRESS_LEVELS                                                                              \
	9 /* of the cgroup tree, the root's included, in which a rule's cgroup is found */

/* Packets that get a DSCP: to or from a TCP or UDP port, or sent by a cgroup's processes. */
struct egress_rule {
	__u64 cgroup; /* id (inode of its folder), descendants included; 0: by port */
	__u16 port;   /* host byte order; 0: cgroup counts */
	__u8 dscp;    /* 0..63 */
	__u8 reserved[5];
};

/* When packets of a flow take a new path: the IPv6 flow label, which the switches hash. */
enum egress_entropy {
	EGRESS_FLOW = 0,    /* never */
	EGRESS_FLOWLET = 1, /* after a silence */
	EGRESS_PACKET = 2,  /* each */
};

struct egress_config {
	struct egress_rule rules[EGRESS_RULES]; /* the first that fits */
	__u64 flowlet_ns; /* a longer silence, of real time, begins a new flowlet */
	__u8 rule_count;
	__u8 ect;     /* what is not ECN-capable becomes ECT(0) */
	__u8 entropy; /* enum egress_entropy */
	__u8 reserved[5];
};

_Static_assert(sizeof(struct egress_rule) == 16, "");
_Static_assert(sizeof(struct egress_config) == 144, "");

#endif
