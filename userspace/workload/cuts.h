/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CUTS_H
#define FABRICBED_CUTS_H

/* The bound by links as faults leave them: "messages that leave a part" in docs/closed-forms.md. */
#include "base/net.h"
#include "workload/ideal.h"

struct cuts;

/*
 * A lower bound on the largest completion time that is measured, whatever paths packets take.
 * rate_bps: of each link by its number, 0 if it is dead; needed only here. net lives on. 0 or
 * -ENOMEM.
 */
int cuts_new(struct cuts **ret, const struct net *net, const struct workload_frames *frames,
	const uint64_t *rate_bps);
void cuts_free(struct cuts *x);

/* As measure_take() and measure_end_list(). */
int cuts_take(struct cuts *x, const struct operations *m);
void cuts_end_list(struct cuts *x);

/* By all lists; 0: none. */
uint64_t cuts_bound(const struct cuts *x);

/*
 * The same without starts: what a message adds to the time that the busiest links need, if nothing
 * holds it up there. The sum grows until it is taken, which begins a new one.
 */
void cuts_add_work(struct cuts *x, const struct operation *msg);
uint64_t cuts_take_work(struct cuts *x);

#endif
