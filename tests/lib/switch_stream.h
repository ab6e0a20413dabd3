/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_SWITCH_STREAM_H
#define FABRICBED_TEST_SWITCH_STREAM_H

/* Random frames through two dataplanes that must agree, while their tables change. */
#include "lib/switch_bench.h"

/* What came of a stream, a bit each, but for the last two. */
struct stream_seen {
	unsigned actions;                  /* enum verdict_action */
	unsigned flags;                    /* VERDICT_* */
	unsigned notified;                 /* how many CNPs were made */
	unsigned asked[BALANCE_COUNT + 1]; /* frames that each policy had a choice for; none */
};

/* n frames, always the same, each compared with its verdict and all tables. Resets both benches. */
struct stream_seen stream_run(struct switch_bench *one, struct switch_bench *other, unsigned n);

/* Every outcome that the bench's configuration has was seen, so that the comparison means
 * something. */
void stream_assert_seen(const struct switch_bench *b, const struct stream_seen *seen);

#endif
