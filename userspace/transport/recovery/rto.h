/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RTO_H
#define FABRICBED_RTO_H

/* A retransmission timeout, doubled at each expiry until there is progress. */
#include "transport/transport.h"

struct rto {
	uint64_t ps; /* not doubled */
	uint64_t from_ps;
	uint32_t backoff;
};

static inline uint64_t rto_due(const struct rto *t)
{
	return t->from_ps + (t->ps << t->backoff);
}

/* There is progress, or something to wait for that there was not before. */
static inline void rto_restart(struct rto *t, uint64_t now)
{
	t->from_ps = now;
	t->backoff = 0;
}

/* It has run out. */
static inline void rto_expire(struct rto *t, uint64_t now)
{
	t->from_ps = now;
	if (t->backoff < RTO_BACKOFF_MAX)
		t->backoff++;
}

#endif
