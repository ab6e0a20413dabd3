/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRAIN_H
#define FABRICBED_STRAIN_H

/*
 * How long a workload keeps a fabric's links busy: no bound, but the order of what a working
 * transport takes. See docs/scenarios.md, "until".
 */
#include "base/net.h"
#include "workload/ideal.h"

/* Links as they are by now. Both by link number. */
struct strain_links {
	uint64_t *rate_bps; /* that frames get through at; 0: none does */
	uint64_t *delay_ps; /* switch latency included */
};

struct workload_strain {
	uint64_t busiest_ps; /* its share of one message of each chain, at its slowest link */
	uint64_t alone_ps;   /* the longest that the slowest link of its ways needs for a message */
	uint64_t round_trip_ps; /* of full frames at the slowest rate on the longest path */
	uint64_t packets;       /* of the longest message */
	uint32_t links;         /* that any of it crosses */
};

struct strain;

/*
 * Each switch divides what it forwards evenly among its shortest paths, as ECMP does on average. A
 * message that waits for another has the same two hosts and is no longer. Messages without a path
 * are left out. Times saturate at UINT64_MAX. net and links live on. 0 or -ENOMEM.
 */
int strain_new(struct strain **ret, const struct net *net, const struct workload_frames *frames,
	const struct strain_links *links);
void strain_free(struct strain *x);

/* More messages. 0 or -ENOMEM. */
int strain_take(struct strain *x, const struct operations *m);

/* By all of them. To be asked once. */
struct workload_strain strain_found(struct strain *x);

#endif
