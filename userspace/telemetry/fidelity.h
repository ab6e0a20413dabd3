/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FIDELITY_H
#define FABRICBED_FIDELITY_H

/*
 * How faithful a run on the wall clock was: how late events ran beside the smallest link delay, and how much of the time the
 * box was busy with them. All times are model time unless a name says otherwise. Pure: it reads no clock.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct fidelity;

/* delay_ps: of the shortest link. slowdown: model time runs so many times slower than the wall's. 0 or -ENOMEM. */
int fidelity_new(struct fidelity **ret, uint64_t delay_ps, double slowdown);
void fidelity_free(struct fidelity *f);

/* `events` of them ran up to late_ps (below 2^63) after they were due; behind: others that were due before them were late too. */
void fidelity_late(struct fidelity *f, uint64_t late_ps, uint64_t events, bool behind);

/* The engine worked for busy_ps (of the wall's clock) out of passed_ps. */
void fidelity_busy(struct fidelity *f, uint64_t busy_ps, uint64_t passed_ps);

/* Model time was held back by slip_ps, since events could not keep up at all. */
void fidelity_slip(struct fidelity *f, uint64_t slip_ps);

/* Frames that a host's stack had sent and nobody took in time. */
void fidelity_lost(struct fidelity *f, uint64_t frames);

/*
 * Whether numbers of this run are to be believed: p99 of lateness is at most the smallest delay (exactly so, whatever buckets
 * it is counted in), nothing slipped or was lost. Without any event: yes.
 */
bool fidelity_is_faithful(const struct fidelity *f);

/* The same of what came since it was asked last: for a screen, once a second or so. */
bool fidelity_window(struct fidelity *f);

/*
 * {verdict: "faithful"|"degraded", reason: text if degraded, late_us: {p50, p99, max}, smallest_delay_us, slowdown,
 * sufficient_slowdown, busy: share 0..1, slipped_us, lost}. A new reference. Lateness is at most 1/32 too much, never too
 * little, max exact. sufficient_slowdown is the present one of a faithful run; else what brings p99 down to the delay, the
 * busiest 100 ms down to 80%, and makes up for what slipped, rounded up to two digits.
 */
json_t *fidelity_json(const struct fidelity *f);

#endif
