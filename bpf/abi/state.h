/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_STATE_H
#define FABRICBED_ABI_STATE_H

#include <linux/types.h>

/*
 * State that the switch program and user space share: elements of mmap-able BPF array maps on the
 * kernel dataplane, of plain arrays on the inline one. Control (routing, faults) writes what is
 * configuration; the program adds to an egress queue at admit; the engine subtracts as a frame's
 * last bit leaves. Only one of them runs at a time, so nothing here is atomic.
 *
 * A port is one end of a link. Its id is the ifindex of its veth end: PORT_FIRST is the smallest,
 * since 1 is the loopback of every namespace. The ports of one node have consecutive ids.
 */
#define PORT_FIRST 2u

enum port_kind {
	PORT_HOST = 0,
	PORT_SWITCH = 1,
};

struct port {
	/* as an ingress: what a frame meets that arrives here */
	__u32 switch_id; /* index in the switch table (PORT_SWITCH) */
	__u32 host;      /* host number, from 0 (PORT_HOST) */
	__u8 kind;       /* enum port_kind */
	__u8 up;         /* the link carries bits */
	__u8 pad[6];
	__u64 up_since_ps; /* when the link last came up; 0: it always was */
	__u32 kmin_bytes;  /* egress ECN of the queue at the other end of the link; both 0: off */
	__u32 kmax_bytes;
	__u32 pmax; /* marking probability at kmax, 0..65536 */
	__u32 reserved;
	__u64 rng; /* state of this port's dice */
	__u64 rx_frames;
	__u64 marked_frames;

	/* as an egress */
	__u8 mac[6];
	__u8 peer_mac[6];
	__u32 buffer_bytes; /* tail drop above this */
	__u32 depth_bytes;  /* admitted and not yet left, the frame in service included */
	__u32 depth_frames;
	__u32 max_depth_bytes;
	__u32 reserved2;
	__u64 tx_frames; /* frames whose last bit has left */
	__u64 tx_bytes;
	__u64 reserved3[2];
};

/* Frames that ended at a port, by enum drop_reason. */
#define DROP_SLOTS 16
struct port_drops {
	__u64 frames[DROP_SLOTS];
};

struct switch_state {
	__u32 first_port; /* id of its port 0 */
	__u32 port_count;
	__u32 first_route; /* index of its first route_block */
	__u32 first_group; /* index of its group 0 */
	__u64 hash_seed;   /* differs from switch to switch, else the tiers' choices correlate */
	__u32 host_count;  /* of the fabric; its routes cover so many */
	__u32 reserved;
};

/* The group of each of 32 consecutive hosts: block first_route + host / 32. */
#define ROUTE_BLOCK 32
#define ROUTE_NONE  0xffff
struct route_block {
	__u16 group[ROUTE_BLOCK];
};

/* Equal-cost ports: local numbers, from 0, of ports of the switch that owns the group. */
#define GROUP_PORTS 254
struct group {
	__u16 count;
	__u16 reserved;
	__u16 port[GROUP_PORTS];
};

/* All tables of a fabric, as user space and the inline dataplane hold them. */
struct sw_tables {
	struct port *ports; /* by port id, as are drops */
	struct port_drops *drops;
	struct switch_state *switches;
	struct route_block *routes;
	struct group *groups;
	__u32 port_count; /* elements of ports and drops: PORT_FIRST + number of ports */
	__u32 switch_count;
	__u32 route_count;
	__u32 group_count;
};

_Static_assert(sizeof(struct port) == 128, "two cache lines, ingress and egress");
_Static_assert(sizeof(struct port_drops) == 128, "");
_Static_assert(sizeof(struct switch_state) == 32, "");
_Static_assert(sizeof(struct route_block) == 64, "");
_Static_assert(sizeof(struct group) == 512, "");

#endif
