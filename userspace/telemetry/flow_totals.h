/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FLOW_TOTALS_H
#define FABRICBED_FLOW_TOTALS_H

/* What all flows together say, however many of them the engine still knows. */
#include "base/metrics.h"
#include "engine/engine.h"

#define SIZE_CLASS_ONE(key, limit) +1
enum { ALL_SIZES = SIZE_CLASSES(SIZE_CLASS_ONE) }; /* behind the classes */

/* A flow that has finished, and is measured: percentiles are exact, so each is kept. */
struct flow_sample {
	uint64_t fct_ps;
	uint64_t ideal_ps : 60; /* 0: unknown */
	uint64_t size_class : 4;
};

_Static_assert(sizeof(struct flow_sample) == 16 && ALL_SIZES < 16, "there may be millions");

/* What each flow has, whether it has finished or not. */
enum flow_figure {
	FLOW_RETRANSMITTED,
	FLOW_SPURIOUS,
	FLOW_LOSS_RATE,
	FLOW_REORDERED,
	FLOW_FIGURES
};

struct flow_totals {
	const struct flow_totals *first; /* whose samples come before these; NULL: none do */
	struct flow_sample *samples;
	size_t sample_count;
	size_t measured[ALL_SIZES + 1], finished[ALL_SIZES + 1]; /* by class, and all of them */
	bool arriving;                                           /* there are more to come */
	uint64_t count, unmeasured, bytes, first_start_ps, last_finish_ps, longest_ps;
	uint64_t retransmitted, spurious, lost, reordered, reorder_sum, reorder_most;
	/* of those measured: sums, in FLOW_UNITths, and the largest */
	unsigned __int128 per_flow[FLOW_FIGURES];
	double most[FLOW_FIGURES];
};

/* Whole numbers come to the same sum in any order. */
#define FLOW_UNIT 0x1p60

#define FLOW_TOTALS_INIT                                                                           \
	{                                                                                          \
		.first_start_ps = UINT64_MAX                                                       \
	}

/* 0 or -ENOMEM. */
int flow_totals_add(struct flow_totals *t, const struct engine_flow_result *f);

/*
 * Those of `forgotten` (NULL: none), which lives on, and of all messages that the engine knows. 0
 * or -ENOMEM.
 */
int flow_totals_of(
	struct flow_totals *ret, const struct engine *e, const struct flow_totals *forgotten);
void flow_totals_release(struct flow_totals *t);

/* Number i of finished[ALL_SIZES]. */
static inline const struct flow_sample *flow_totals_sample(const struct flow_totals *t, size_t i)
{
	size_t before = t->first ? t->first->sample_count : 0;

	return i < before ? &t->first->samples[i] : &t->samples[i - before];
}

#endif
