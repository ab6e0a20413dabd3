/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WALLCLOCK_H
#define FABRICBED_WALLCLOCK_H

/*
 * A session on the wall clock: model time is the time since its start, divided by the slowdown.
 * What is due is done as soon as possible, and lateness counts against the run's fidelity.
 */
#include <stdbool.h>
#include "session/session.h"
#include "telemetry/fidelity.h"

struct wallclock;

/* slowdown: above 0. 0 or -ENOMEM. It does not go yet. */
int wallclock_new(
	struct wallclock **ret, struct session *s, const struct fabric *f, double slowdown);
void wallclock_free(struct wallclock *p);

/* From this moment model time follows the clock, on from where the session stands. */
void wallclock_go(struct wallclock *p);

/*
 * Takes what programs have sent and does what is due now; of a backlog only a part, so that the
 * caller gets a turn. until_ps: model time goes no further. 0 or -errno with why.
 */
int wallclock_turn(
	struct wallclock *p, uint64_t until_ps, const volatile bool *stop, struct error *why);

/* Nanoseconds for which the caller may sleep unless a program sends; 0: take the next turn. */
int64_t wallclock_idle_ns(const struct wallclock *p, uint64_t until_ps);

/* With all that is known by now. */
struct fidelity *wallclock_fidelity(struct wallclock *p);

#endif
