/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CUMULATIVE_H
#define FABRICBED_CUMULATIVE_H

/*
 * A sender's books on a sequence of packets of which it hears only how far all have arrived. Time
 * is counted from the first one that is missing: from when it was last sent, or when the one before
 * it was acknowledged.
 */
#include "transport/recovery/rto.h"

struct cumulative {
	struct rto rto;
	uint32_t una;  /* all before it are acknowledged */
	uint32_t next; /* the next that is sent in turn; below `high` it was sent before */
	uint32_t high; /* one more than the highest that was sent */
};

/* Packet psn, which is `una` or `next`, leaves now. */
static inline void cumulative_send(struct cumulative *c, uint32_t psn, uint64_t now)
{
	if (psn == c->una)
		c->rto.from_ps = now;
	if (psn == c->next)
		c->next++;
	if (c->high < c->next)
		c->high = c->next;
}

/* All before `expected` have arrived, which is above `una` and no more than `high`. */
static inline void cumulative_acknowledge(struct cumulative *c, uint32_t expected, uint64_t now)
{
	c->una = expected;
	if (c->next < expected)
		c->next = expected; /* it had gone back for nothing */
	rto_restart(&c->rto, now);
}

/* When its timeout is due; 0: it waits for nothing. */
static inline uint64_t cumulative_due(const struct cumulative *c)
{
	return c->next > c->una ? rto_due(&c->rto) : 0;
}

#endif
