/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PORTS_H
#define FABRICBED_PORTS_H

/*
 * The configuration of ports, queues, ingresses and switches, and of the program itself, as a
 * switch's own processor writes it once at start.
 */
#include <stdbool.h>
#include "abi/state.h"
#include "base/net.h"

/* A threshold: bytes, or a time at the port's rate (ps not 0). */
struct ports_depth {
	uint64_t bytes, ps;
};

#define PORTS_AUTO UINT64_MAX

/* A traffic class. */
struct ports_class {
	bool used, lossless;
	/*
	 * static: of a queue, or of a lossless ingress with its headroom; shared: what either has
	 * for itself
	 */
	uint64_t limit_bytes;
	struct ports_depth kmin, kmax; /* egress ECN; kmax 0: off */
	double pmax;                   /* 0..1 */
	uint32_t average; /* a new depth counts 2^-average, 1..15; 0: the depth itself counts */
	/* of a lossless class */
	uint64_t xoff_bytes;     /* static alone; PORTS_AUTO: the limit less the headroom */
	uint64_t xon_bytes;      /* below the threshold by so much: XON */
	uint64_t headroom_bytes; /* PORTS_AUTO: base/headroom.h */
};

struct ports_params {
	uint64_t seed;
	uint32_t features; /* SW_*; what follows from the classes is added to them */
	struct ports_class classes[CLASSES];
	uint8_t class_of[DSCP_COUNT]; /* a used class each */
	bool shared;                  /* a pool a switch */
	uint64_t pool_bytes;          /* 0: pool_bytes_auto() of the switch's rate */
	double alpha;                 /* 1/256..256 */

	/* for the headroom, see there */
	uint32_t frame_bytes;
	uint32_t control_bytes;
	uint64_t response_ps;

	/* with SW_TRIM */
	struct {
		uint32_t class;       /* of headers; lossy */
		uint64_t queue_bytes; /* of headers that a port holds, pool or not */
		bool to_sender, or_return;
		uint8_t dscp, return_dscp;
	} trim;
	uint8_t remap[CLASSES]; /* with SW_ROLES: to what a class changes between uplinks */
	uint16_t quanta;        /* with SW_PFC: of an XOFF */
	uint64_t watchdog_ps;   /* 0: off */
	uint8_t cnp_dscp;       /* with SW_CNP */
	uint64_t cnp_interval_ps;
};

/* What the program does; known before any table is there. */
void ports_config(struct sw_config *ret, const struct ports_params *p);

/*
 * Fills ports[], queues[] and ingresses[], and of switches[] the seeds and the buffers; every link
 * is up, every queue empty. Of a switch's pool, what is guaranteed (the reserves of queues and
 * lossless ingresses, the queues of headers, the headroom) is not shared: pool_bytes is the rest.
 * 0; -EINVAL if there is no rest, if a headroom leaves no room below XOFF, or if either passes 32
 * bits: the tables are not to be used then.
 */
int ports_configure(struct sw_tables *t, const struct net *net, const struct ports_params *p);

#endif
