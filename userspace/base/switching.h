/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWITCHING_H
#define FABRICBED_SWITCHING_H

/*
 * What every switch of a fabric does, and how its memory is divided. Bytes are final; what depends
 * on a port is computed by the functions below, and nowhere else.
 */
#include <stdbool.h>
#include <stdint.h>
#include "abi/shared_state.h"
#include "base/net.h"

/* A threshold: bytes, or a time at the port's rate (ps not 0). */
struct switching_depth {
	uint64_t bytes, ps;
};

#define SWITCHING_AUTO UINT64_MAX

/* A traffic class. */
struct switching_class {
	bool used, lossless;
	bool headers; /* of trimmed packets: limit_bytes, and nothing from a pool */
	bool answers; /* made for ACKs, SACKs and CNPs, which are not to wait among data */
	double share; /* ETS, 0 < share <= 1; 0: strict priority */
	/* static: of a queue, or of a lossless ingress, headroom included; shared: the reserve */
	uint64_t limit_bytes;
	struct switching_depth kmin, kmax; /* egress ECN; kmax 0: off */
	double pmax;                       /* 0..1 */
	uint32_t average; /* a new depth counts 2^-average, 1..15; 0: the depth itself counts */
	/* of a lossless class */
	uint64_t xoff_bytes;     /* static alone; SWITCHING_AUTO: the limit less the headroom */
	uint64_t xon_bytes;      /* below the threshold by so much: XON */
	uint64_t headroom_bytes; /* SWITCHING_AUTO: base/headroom.h */
};

/* How switches pick among equal-cost ports: keys of switch.balance. */
struct switching_balance {
	uint32_t policy;      /* enum balance of abi/policies.h */
	uint64_t gap_ps;      /* of packets of one flowlet */
	uint64_t lifetime_ps; /* of a flow that is not seen any more; 0: it is never forgotten */
	uint64_t threshold_bytes;
	uint32_t choices, remembered;
};

#define SWITCHING_BALANCES 6 /* different ones in a fabric, at most */

struct switching {
	/* ports_config() adds the features of classes, retag and trim_classes. */
	struct sw_config config;
	struct switching_class classes[CLASSES];
	struct switching_balance balances[SWITCHING_BALANCES]; /* net_node.balance says whose */
	uint8_t remap[CLASSES]; /* with SW_ROLES: to what a class changes between uplinks */
	bool shared;            /* a pool a switch */
	uint64_t pool_bytes;    /* 0: pool_bytes_auto() of the switch's rate */
	double alpha;           /* 1/256..256 */
	uint64_t latency_ps;    /* from a frame's arrival to its place in a queue */
	uint32_t frame_bytes;   /* the longest frame, for the headroom */
	uint32_t control_bytes; /* wire bytes of control frames that may precede a PFC frame */
};

/* A threshold at a port of that rate, bytes; a time is at least one. */
uint64_t switching_depth_bytes(const struct switching_depth *d, uint64_t rate_bps);

/* Headroom of a lossless class at a port, bytes. */
uint64_t switching_headroom(
	const struct switching *s, const struct switching_class *c, const struct net_port *port);

/*
 * What a lossless class may hold below XOFF at a port, bytes; with a pool, its reserve. 0 where the
 * headroom leaves nothing of a static buffer.
 */
uint64_t switching_xoff(
	const struct switching *s, const struct switching_class *c, const struct net_port *port);

/* Headroom of a lossless class at all ports of a switch, bytes. */
uint64_t switching_headroom_sum(const struct switching *s, const struct switching_class *c,
	const struct net *net, uint32_t node);

/*
 * With a pool. Bytes of a switch's whole buffer; of its ports' own part: reserves, headroom and
 * room for trimmed headers; and of the rest, which its queues share, 0 if there is none.
 */
uint64_t switching_pool(const struct switching *s, const struct net *net, uint32_t node);
uint64_t switching_pool_own(const struct switching *s, const struct net *net, uint32_t node);
uint64_t switching_pool_left(const struct switching *s, const struct net *net, uint32_t node);

/* The most that a queue of a lossy class can hold, bytes; free: what its switch's queues share. */
double switching_lossy_most(
	const struct switching *s, const struct switching_class *c, double free);

/*
 * The most that any switch's queue of lossy data can hold, bytes; 0: no data is lossy. without: a
 * bit for each class by which no data goes.
 */
uint64_t switching_data_queue(const struct switching *s, const struct net *net, uint32_t without);

#endif
