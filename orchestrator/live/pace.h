/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PACE_H
#define FABRICBED_PACE_H

/*
 * A session on the wall clock: model time is what has passed since it began to go, divided by the slowdown. What is due
 * is done as soon as it can be, and how late that is counts against the run's fidelity.
 */
#include <stdbool.h>
#include "live/session.h"
#include "telemetry/fidelity.h"

struct pace;

/* slowdown: above 0. 0 or -ENOMEM. It does not go yet. */
int pace_new(struct pace **ret, struct session *s, const struct fabric *f, double slowdown);
void pace_free(struct pace *p);

/* From this moment model time follows the clock, on from where the session stands. */
void pace_go(struct pace *p);

/*
 * Takes what programs have sent and does what is due now; of a backlog only a part, so that the caller gets a turn. until_ps: model
 * time goes no further. 0 or -errno with why.
 */
int pace_turn(struct pace *p, uint64_t until_ps, const volatile bool *stop, struct error *why);

/* Nanoseconds for which the caller may sleep, unless a program sends something; 0: take the next turn at once. */
int64_t pace_idle_ns(const struct pace *p, uint64_t until_ps);

/* With all that is known by now. */
struct fidelity *pace_fidelity(struct pace *p);

#endif
