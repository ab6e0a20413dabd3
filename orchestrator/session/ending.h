/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ENDING_H
#define FABRICBED_ENDING_H

/* The earliest end that links allow, and a run's limit: docs/scenarios.md, "until". Pure. */
#include <stdbool.h>
#include "session/timeline.h"
#include "workload/ideal.h"

struct fabric;
struct scenario;

/* The longest that a run lasts, whatever it waits for: sums of a few such times fit. */
#define ENDING_MAX (UINT64_MAX / 8)

struct cuts;

/*
 * The links between switches, for bounds by them: without those that are dead, or slower, from the
 * start and for good, unless faults may be healed by hand. 0 or -ENOMEM.
 */
int ending_cuts(struct cuts **ret, const struct scenario *s, const struct fabric *f, bool healed);

struct ending_params {
	const struct scenario *scenario;
	const struct fabric *fabric;
	size_t first;                    /* of its workloads that are reckoned with */
	const struct timeline *timeline; /* NULL: it lasts, and faults may be healed by hand */
};

struct ending {
	struct workload_size size;
	uint64_t fabric_ps; /* a lower bound on the largest completion time, by those links */
	/* At least: how long the run lasts; and all messages together are under way. */
	uint64_t least_ps, flows_ps;
	/* When a working fabric has completed all, at most ENDING_MAX; UINT64_MAX: it lasts. */
	uint64_t limit_ps;
};

/* list: of traffic_list(). Sets its messages' base_rtt_ps and ideal_ps. 0 or -ENOMEM. */
int ending_foresee(struct ending *ret, const struct ending_params *p, struct operations *list);

#endif
