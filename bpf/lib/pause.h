/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_PAUSE_H
#define FABRICBED_LIB_PAUSE_H

/* The pause of an egress queue (802.1Q, clause 36): set and ended by the peer, or by time. */
#include "abi/shared_state.h"
#include "lib/compiler.h"

static __always_inline int pause_holds(const struct queue *q, __u64 now)
{
	return q->paused_since_ps <= now && now < q->paused_until_ps;
}

/* What is left of a pause, which may not have begun yet. */
static __always_inline __u64 pause_left(const struct queue *q, __u64 now)
{
	__u64 from = q->paused_since_ps > now ? q->paused_since_ps : now;

	return q->paused_until_ps > from ? q->paused_until_ps - from : 0;
}

/* Ends it now. */
static __always_inline void pause_end(struct queue *q, __u64 now)
{
	__u64 left = pause_left(q, now);

	q->paused_ps -= left;
	q->paused_until_ps -= left;
}

/*
 * A PFC frame of the peer, which takes effect `response` later: pause for so many quanta from then
 * on, or resume. It cancels an end (of an earlier XON, or by time) that is due at its own effect or
 * later: the pause lasts. A queue that the watchdog has taken out of service ignores it until the
 * peer relents: it sends XON, or nothing for as long as the watchdog waits.
 */
static __always_inline void pause_set(
	struct queue *q, __u32 quanta, __u64 quantum, __u64 now, __u64 response, __u64 watchdog)
{
	int pending = q->paused_since_ps < q->paused_until_ps && now < q->paused_until_ps;
	__u64 at = now + response;

	if (q->stormed && quanta && at - q->paused_since_ps <= watchdog) {
		q->paused_since_ps = at;
		return;
	}
	q->stormed = 0;
	if (pause_holds(q, at)) {
		pause_end(q, at);
	} else if (!pending) {
		q->paused_since_ps = at;
		q->paused_until_ps = at;
	} else if (!quanta) {
		return;
	}
	q->paused_ps -= q->paused_until_ps;
	q->paused_until_ps = at + (quanta * quantum >> 8);
	q->paused_ps += q->paused_until_ps;
}

/* When the watchdog is to look at a queue that is paused now. */
static __always_inline __u64 pause_watch(const struct queue *q, __u64 watchdog)
{
	return q->paused_since_ps + watchdog;
}

/* The watchdog has had enough. */
static __always_inline void pause_trip(struct queue *q, __u64 now)
{
	pause_end(q, now);
	q->stormed = 1;
	q->paused_since_ps = now;
}

#endif
