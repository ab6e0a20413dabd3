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
#define HOP_BYTES 32
#define VETH_FRAME_MAX                                                                             \
	3400u /* most bytes behind them that native XDP on a veth passes in one piece */
#define HOP_MAGIC     0xfab5c0deu
#define VERDICT_MAGIC 0xfab5beefu

/*
 * The frame runs ahead of its arrival, and there will be room for it wherever it goes: the engine
 * takes the space when it arrives. See docs/engine.md, "Ahead of time".
 */
#define HOP_ROOM 0x1

/*
 * Nothing has arrived: the program makes a frame of its own. A PFC frame of 60 bytes for the peer,
 * as the ingress accounting of `classes` requires; one that pauses `classes` for as long as a frame
 * can; or, out of a copy of a data packet, a CNP to its sender.
 */
#define HOP_MAKE_PFC   0x2
#define HOP_MAKE_STORM 0x4
#define HOP_MAKE_CNP   0x8
#define HOP_MAKE       (HOP_MAKE_PFC | HOP_MAKE_STORM | HOP_MAKE_CNP)

struct hop {
	__u32 magic;      /* HOP_MAGIC; a frame from a host's kernel stack has none */
	__u32 length;     /* modelled length of the frame: Ethernet header to ICRC, no FCS */
	__u64 now_ps;     /* model time at which the last bit arrives */
	__u64 started_ps; /* model time at which the first bit left the other end */
	union {
		__u32 behind_bytes; /* that waited behind it in its egress queue as it started */
		__u32 out_port; /* HOP_MAKE_CNP: the egress of the packet that it is a copy of */
	};
	__u16 flags;  /* HOP_* */
	__u8 queue;   /* that egress queue: a class, or QUEUE_CONTROL */
	__u8 classes; /* HOP_MAKE_PFC, _STORM: a bit a class */
};

enum verdict_action {
	VERDICT_DROP = 0,    /* ends here, see reason */
	VERDICT_FORWARD = 1, /* enqueue at port */
	VERDICT_DELIVER = 2, /* hand to the endpoint on this host */
	VERDICT_END = 3,     /* it was for the port itself and has done its work: PFC */
	VERDICT_CONTROL = 4, /* hand to the node's own processor: LLDP */
	VERDICT_NOTHING = 5, /* HOP_MAKE_*: there is nothing to be made */
	VERDICT_STACK = 6,   /* hand to this host's kernel stack */
};

#define VERDICT_MARKED   0x01 /* this hop set CE */
#define VERDICT_TRIMMED  0x02 /* this hop cut the payload off; length says what is left */
#define VERDICT_RETURNED 0x04 /* and turned it around */
#define VERDICT_REMAPPED 0x08 /* from uplink to uplink: moved to another class */
#define VERDICT_LOSSLESS 0x10 /* its space is counted at the ingress, in class in_queue */
#define VERDICT_ASK_PFC  0x20 /* to be submitted at the ingress: HOP_MAKE_PFC, class in_queue */
#define VERDICT_ASK_CNP                                                                            \
	0x40 /* the same, HOP_MAKE_CNP with a copy, if the egress queue is past kmax */

struct verdict {
	__u32 magic;   /* VERDICT_MAGIC */
	__u8 action;   /* enum verdict_action */
	__u8 reason;   /* enum drop_reason */
	__u8 flags;    /* VERDICT_* */
	__u8 queue;    /* egress queue of port: a class, or QUEUE_CONTROL */
	__u32 port;    /* egress port id */
	__u32 length;  /* modelled length of the frame as it goes on */
	__u8 in_queue; /* the class in which it arrived */
	__u8 reserved[7];
	__u64 reserved2;
};

_Static_assert(sizeof(struct hop) == HOP_BYTES, "hop header");
_Static_assert(sizeof(struct verdict) == HOP_BYTES, "the verdict takes the hop header's place");

#endif
