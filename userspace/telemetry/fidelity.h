/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FIDELITY_H
#define FABRICBED_FIDELITY_H

/*
 * Fidelity of a run on the wall clock: how late events ran beside the smallest link delay, the
 * share of the time that the engine was busy, and how much CPU others took. Windows, of about a
 * second, are judged one by one: which were degraded, and whether by the fabric's own load, which a
 * slowdown cures, or by others, which it does not. All times are model time unless a name says
 * otherwise. Pure: it reads no clock.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct fidelity;

/* delay_ps: of the shortest link. slowdown: wall time over model time. 0 or -ENOMEM. */
int fidelity_new(struct fidelity **ret, uint64_t delay_ps, double slowdown);
void fidelity_free(struct fidelity *f);

/* `events` ran up to late_ps (below 2^63) late; behind: events due before them were late too. */
void fidelity_late(struct fidelity *f, uint64_t late_ps, uint64_t events, bool behind);

/* The engine worked for busy_ps (of the wall's clock) out of passed_ps. */
void fidelity_busy(struct fidelity *f, uint64_t busy_ps, uint64_t passed_ps);

/* Of the wall's clock: so long the engine would have run, and others did. */
void fidelity_taken(struct fidelity *f, uint64_t taken_ps);

/*
 * Model time was held back by slip_ps, since events could not keep up at all. stalled: the engine
 * did not run for that long.
 */
void fidelity_slip(struct fidelity *f, uint64_t slip_ps, bool stalled);

/* Frames that a host's stack had sent and nobody took in time. */
void fidelity_lost(struct fidelity *f, uint64_t frames);

/*
 * Whether numbers of this run can be trusted: p99 of lateness is at most the smallest delay
 * (exactly, not by buckets), and nothing slipped or was lost. Without any event: yes.
 */
bool fidelity_is_faithful(const struct fidelity *f);

/* How long the present window is, of the wall's clock: what fidelity_busy() was told. */
uint64_t fidelity_window_ps(const struct fidelity *f);

/* Ends the window. Whether it was faithful by itself. */
bool fidelity_window(struct fidelity *f);

/* Whether the latest whole window was; the first one, as far as it is known. */
bool fidelity_is_faithful_now(const struct fidelity *f);

/*
 * {verdict: "faithful"|"degraded", now: the same of the latest window, degraded_s: in all windows,
 * passed_s, reason: text if degraded, late_us: {p50, p99, max}, smallest_delay_us, slowdown,
 * sufficient_slowdown, busy: share 0..1, others_degraded_s: of degraded_s, others_took_s: in those,
 * slipped_us, lost}. A new reference, or NULL: no memory. Seconds are wall time. Lateness is at
 * most 1/32 too much, never too little; max is exact. sufficient_slowdown is the present one of a
 * faithful run. Else it brings lateness down to the delay and the busiest 100 ms down to 80%, and
 * makes up for slips, in windows that the fabric's own load degraded, with a margin, rounded up to
 * two digits; null if others or stalls alone are the cause.
 */
json_t *fidelity_json(const struct fidelity *f);

#endif
