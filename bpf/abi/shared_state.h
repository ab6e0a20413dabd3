/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_SHARED_STATE_H
#define FABRICBED_ABI_SHARED_STATE_H

#include <linux/types.h>

/*
 * State that the switch program and user space share: elements of mmap-able BPF array maps on the
 * kernel dataplane, of plain arrays on the inline one. Control (routing, faults) writes what is
 * configuration; the program adds to a queue at admit; the engine subtracts as a frame's
 * last bit leaves. Only one of them runs at a time, so nothing here is atomic.
 *
 * A port is one end of a link. Its id is the ifindex of its veth end: PORT_FIRST is the smallest,
 * since 1 is the loopback of every namespace. The ports of one node have consecutive ids.
 */
#define PORT_FIRST 2u

/* A port's traffic classes, each with an egress queue (802.1Q, 8.6.6); class 7 is served first. */
#define CLASSES 8u
#define QUEUE_CONTROL                                                                              \
	8u /* of MAC control and LLDP frames: not counted, not paused, before all others */

enum port_kind {
	PORT_HOST = 0,
	PORT_SWITCH = 1,
};

/* Where a port leads to, seen from its own node (802.1Qcz, topology recognition). */
enum port_role {
	ROLE_UNKNOWN = 0,
	ROLE_UP = 1,
	ROLE_DOWN = 2,
	ROLE_CROSS = 3,
};

struct port {
	/* as an ingress: what a frame meets that arrives here */
	__u32 switch_id;   /* index in the switch table (PORT_SWITCH) */
	__u32 host;        /* host number, from 0 (PORT_HOST) */
	__u32 peer;        /* id of the port at the other end of the link */
	__u8 kind;         /* enum port_kind */
	__u8 up;           /* the link carries bits */
	__u8 role;         /* enum port_role */
	__u8 faulty;       /* faults[] has something for it */
	__u64 up_since_ps; /* when the link last came up; 0: it always was */
	__u64 rng;         /* state of this port's random stream */
	__u64 rx_frames;
	__u64 marked_frames;
	__u64 quantum; /* time of PFC_BITS at the port's rate, in 256ths of a picosecond */
	__u64 trimmed_frames;

	/* as an egress */
	__u8 mac[6];
	__u8 peer_mac[6];
	__u8 chooses; /* as an ingress: its frames may have several ports to go to; see routing.c */
	__u8 reserved[3];
	__u64 tx_frames; /* frames whose last bit has left */
	__u64 tx_bytes;
	__u64 tx_control_bytes; /* of these, of MAC control and LLDP frames */
	__u64 tx_busy_ps;       /* wire time of frames, the one on the line to its end */
	__u64 tx_until_ps;      /* when the latest has left */
	__u64 rate_bps;         /* of the link, now */
};

/* An egress queue: class c of port p is element p * CLASSES + c. */
struct queue {
	__u32 depth_bytes; /* admitted and not yet left, the frame in service included */
	__u32 depth_frames;
	__u32 max_depth_bytes;
	__u32 limit_bytes; /* capacity; with alpha, the part that is reserved */
	__u32 alpha;       /* 256ths: share of the pool's free bytes on top; 0: no pool */
	__u32 kmin_bytes;  /* ECN: see sw/mark.h; kmax 0: off */
	__u32 kmax_bytes;
	__u32 pmax;          /* marking probability at kmax, 0..65536 */
	__u32 average_bytes; /* moving average of the depth, if average_shift */
	__u8 average_shift;  /* its weight is 2^-shift; 0: the depth itself counts */
	__u8 lossless;       /* never full: its frames are counted at their ingress */
	__u8 stormed;        /* the watchdog has emptied it and ignores its pauses */
	__u8 reserved;
	__u64 paused_until_ps; /* by PFC frames of the peer */
	__u64 paused_since_ps; /* when the pause began that lasts until then */
	__u64 paused_ps;       /* how long it was paused in all, pauses still to come included */
};

/* A lossless class at its ingress: class c of port p is element p * CLASSES + c. */
struct ingress {
	__u32 bytes;          /* held by frames that came in here, below XOFF */
	__u32 headroom_bytes; /* and above it */
	__u32 xoff_bytes; /* the threshold; with alpha, what it may hold whatever the others do */
	__u32 alpha;      /* as a queue's */
	__u32 xon_bytes;  /* XON is sent so much below the threshold, or at 0 */
	__u32 headroom_limit;
	__u32 max_bytes; /* most that it ever held, headroom included */
	__u8 lossless;
	__u8 paused; /* XOFF was sent, and no XON since */
	__u16 reserved;
	__u64 pauses_sent; /* XOFF frames, refreshes included */
	__u64 pauses_received;
	__u64 resumes_sent; /* XON frames */
	__u64 reserved2;
};

/* Frames that ended at a port, by enum drop_reason. */
#define DROP_SLOTS 32
struct port_drops {
	__u64 frames[DROP_SLOTS];
};

/*
 * Faults of the frames on the cable towards a port. Probabilities in 2^-32, the largest being
 * certainty; times and means in picoseconds; 0 is off. See sw/cable.h; userspace/faults/ fills it.
 */
struct fault {
	__u32 loss;                /* each frame for itself */
	__u32 enter, leave;        /* Gilbert-Elliott: from good to bad and back, a frame */
	__u32 lost_good, lost_bad; /* lost in either state */
	__u8 is_bad;
	__u8 fresh;      /* next_ps is no burst, but the start of a cell */
	__u8 cell_shift; /* a cell is 2^cell_shift ps */
	__u8 reserved;
	__u64 hazard; /* bit errors: -ln of the chance that a byte comes through, in 2^-56 */
	__u64 every_ps,
		last_ps;  /* bursts: mean from one start to the next, and mean length; below 2^56 */
	__u64 next_ps;    /* the next burst begins; no frame has come upon it yet */
	__u64 until_ps;   /* those that have begun are over by then */
	__u64 bursts;     /* begun so far, but for those that a long silence hid */
	__u64 burst_ps;   /* sum of their lengths */
	__u64 rng;        /* random stream of the cell of next_ps */
	__u64 burst_seed; /* the same at both ends of a link */
	__u64 frame_seed; /* of the draws for each frame */
	__u64 reserved2[8];
};

/* Congested flows that a switch keeps in mind for supplemental CNPs: sw/cnp.h. */
#define FLOW_SLOTS 256u /* a switch */
struct flow_mark {
	__u64 key;       /* of the flow */
	__u64 marked_ps; /* its last packet that came in marked */
	__u32 psn;       /* of that packet */
	__u32 reserved[3];
};

struct switch_state {
	__u32 first_port; /* id of its port 0 */
	__u32 port_count;
	__u32 first_route; /* index of its first route_block */
	__u32 first_group; /* index of its group 0 */
	__u64 hash_seed;   /* differs from switch to switch, else the tiers' choices correlate */
	__u32 host_count;  /* of the fabric; its routes cover so many */
	__u32 balance;     /* enum balance of abi/policies.h */
	__u64 pool_bytes; /* shared by what queues and ingresses hold beyond what is theirs alone */
	__u64 pool_used;
	__u64 pool_max;
	__u64 reserved2;
	__u32 headroom_bytes[CLASSES]; /* pool of each lossless class */
	__u32 headroom_used[CLASSES];
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

/* Load balancing at a switch: what its policy is told, and what it remembers. See sw/balance.h. */
#define BALANCE_MEMORY         4016
#define BALANCE_CHOICES_MAX    8 /* of the keys: what DRILL has memory for */
#define BALANCE_REMEMBERED_MAX 4
struct switch_balance {
	__u64 gap_ps;      /* keys of switch.balance */
	__u64 lifetime_ps; /* a flow that was not seen for longer is forgotten; 0: it never is */
	__u32 threshold_bytes, choices, remembered;
	__u32 first_set, flow_sets; /* its part of the flow table */
	__u32 reserved;
	__u64 flows;     /* entries made */
	__u64 forgotten; /* flows that gave their entry to another before their time */
	__u64 reserved2[3];
	__u8 memory[BALANCE_MEMORY]; /* the policy's own */
};

/* A switch's flows, as its policy remembers them. */
#define FLOW_WAYS   8u
#define FLOW_MEMORY 48
struct flow_entry {
	__u64 key;  /* of the flow; 0: free */
	__u64 used; /* the time of its latest packet, plus 1 */
	__u8 memory[FLOW_MEMORY];
};

struct flow_set {
	struct flow_entry way[FLOW_WAYS];
};

/* Behaviours, a bit each. What is off is not in the loaded program: see docs/switch.md. */
#define SW_CLASSES 0x01u /* more than class 0 */
#define SW_BUFFERS 0x02u /* shared pools, or lossless classes */
#define SW_TRIM    0x04u
#define SW_PFC     0x08u
#define SW_FAULTS  0x10u /* faults[] is there */
#define SW_ROLES   0x20u /* queue remapping */
#define SW_CNP     0x40u /* supplemental CNPs */
#define SW_AVERAGE 0x80u /* ECN by the average depth */
#define SW_DETOUR                                                                                  \
	0x100u /* local reroute: back to where it came from only if there is no other way */
#define SW_CONTROL  0x200u  /* LLDP and PFC frames occur */
#define SW_STACK    0x400u  /* hosts have kernel stacks beside the transport's endpoints */
#define SW_GATEWAY  0x800u  /* a host takes what is addressed to no host */
#define SW_BALANCE  0x1000u /* a switch balances in another way than ECMP: sw_config.balances */
#define SW_FEATURES 0x1fffu

#define DSCP_COUNT 64
struct sw_config {
	__u32 features; /* SW_* */
	__u8 class_of[DSCP_COUNT];
	__u8 retag[DSCP_COUNT]; /* DSCP of what goes from uplink to uplink; the same: leave it */
	__u8 trim_classes;      /* a bit a class: its packets may be cut */
	__u8 trim_to_sender;    /* else to the receiver */
	__u8 trim_or_return;    /* to the receiver, and to the sender where that has no room */
	__u8 trimmed_dscp;      /* of headers on their way to the receiver */
	__u8 returned_dscp;     /* and to the sender */
	__u8 cnp_dscp;
	__u16 quanta;          /* of an XOFF */
	__u64 response_ps;     /* from a PFC frame's arrival to its effect */
	__u64 watchdog_ps;     /* a pause that lasts longer is ignored; 0: off */
	__u64 cnp_interval_ps; /* CNPs further apart let DCQCN raise its rate */
	__u32 host_count;      /* of the fabric */
	__u32 gateway;         /* SW_GATEWAY: that host */
	__u32 balances;        /* a bit an enum balance: policies that some switch has */
	__u32 flow_sets;       /* of each switch's flow table */
};

/* What the sizes of the tables follow from. */
struct sw_sizes {
	__u32 ports; /* PORT_FIRST + number of ports */
	__u32 switches;
	__u32 routes; /* route blocks of all switches */
	__u32 groups;
	struct sw_config config; /* constant once the dataplane is open */
};

#define SW_WHERE(s, feature, n) ((s)->config.features & (feature) ? (n) : 0)

/*
 * The tables, a row each. The maps, their accessors, the arrays of the inline dataplane and the
 * mappings of the kernel's follow from it. X(name, element, bytes of one, how many a fabric of
 * struct sw_sizes *s has).
 */
#define SW_TABLES(X)                                                                               \
	X(ports, struct port, 128, s->ports)                                                       \
	X(drops, struct port_drops, 256, s->ports)                                                 \
	X(queues, struct queue, 64, CLASSES * s->ports)                                            \
	X(ingresses, struct ingress, 64, CLASSES * s->ports)                                       \
	X(faults, struct fault, 168, SW_WHERE(s, SW_FAULTS, s->ports))                             \
	X(switches, struct switch_state, 128, s->switches)                                         \
	X(routes, struct route_block, 64, s->routes)                                               \
	X(groups, struct group, 512, s->groups)                                                    \
	X(flows, struct flow_mark, 32, SW_WHERE(s, SW_CNP, FLOW_SLOTS * s->switches))              \
	X(balances, struct switch_balance, 4096, s->switches)                                      \
	X(balance_flows, struct flow_set, 512, s->config.flow_sets * s->switches)

/* All tables of a fabric, as user space and the inline dataplane hold them. */
struct policy;
struct sw_tables {
#define X(name, element, bytes, elements) element *name;
	SW_TABLES(X)
#undef X
	struct {
#define X(name, element, bytes, elements) __u32 name;
		SW_TABLES(X)
#undef X
	} count; /* elements of each */
	struct sw_config config;
	__u32 (*policy)(struct policy *p); /* inline: BALANCE_FILE; NULL: there is none */
};

#define X(name, element, bytes, elements)                                                          \
	_Static_assert(sizeof(element) == (bytes), "element of " #name);
SW_TABLES(X)
#undef X

#endif
