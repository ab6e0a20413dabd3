/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_HOP_H
#define FABRICBED_ABI_HOP_H

#include <linux/types.h>

/*
 * The 32 bytes in front of each frame on a veth. On the way in they are a hop header, written by
 * the engine; the program at the receiving port overwrites them with its verdict, in place, so
 * that neither xdp_adjust_head nor xdp_adjust_meta runs on the packet path. Host byte order: they
 * never leave the machine.
 */
#define HOP_BYTES     32
#define HOP_MAGIC     0xfab5c0deu
#define VERDICT_MAGIC 0xfab5beefu

/*
 * The frame runs ahead of its arrival, and there will be room for it wherever it goes: the engine takes
 * the space when it arrives. See docs/engine.md, "Ahead of time".
 */
#define HOP_ROOM 0x1

struct hop {
	__u32 magic;        /* HOP_MAGIC; a frame from a host's kernel stack has none */
	__u32 length;       /* modelled length of the frame: Ethernet header to ICRC, no FCS */
	__u64 now_ps;       /* model time at which the last bit arrives */
	__u64 started_ps;   /* model time at which the first bit left the other end */
	__u32 behind_bytes; /* what waited behind this frame in its egress queue as it started */
	__u32 flags;        /* HOP_* */
};

enum verdict_action {
	VERDICT_DROP = 0,    /* ends here, see reason */
	VERDICT_FORWARD = 1, /* enqueue at port */
	VERDICT_DELIVER = 2, /* hand to the endpoint on this host */
};

#define VERDICT_MARKED 0x01 /* this hop set CE */

struct verdict {
	__u32 magic;  /* VERDICT_MAGIC */
	__u8 action;  /* enum verdict_action */
	__u8 reason;  /* enum drop_reason */
	__u8 flags;   /* VERDICT_* */
	__u8 queue;   /* egress queue of port */
	__u32 port;   /* egress port id */
	__u32 length; /* modelled length of the frame as it goes on */
	__u64 reserved[2];
};

_Static_assert(sizeof(struct hop) == HOP_BYTES, "hop header");
_Static_assert(sizeof(struct verdict) == HOP_BYTES, "the verdict takes the hop header's place");

#endif
