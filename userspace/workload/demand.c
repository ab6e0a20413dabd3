/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/demand.h"

#include <stdlib.h>
#include "base/numbers.h"

static int compare_demands(const void *a, const void *b)
{
	const struct demand *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->start_ps < y->start_ps ? -1 : x->start_ps > y->start_ps;
}

/*
 * docs/closed-forms.md, "messages that share a host link": the work that waits there
 * grows with every message and shrinks as time passes (Lindley's recursion); none of them can all
 * be done earlier.
 */
uint64_t demands_bound(struct demand *d, size_t n)
{
	uint64_t bound = 0;

	qsort(d, n, sizeof(*d), compare_demands);
	for (size_t i = 0, next; i < n; i = next) {
		uint64_t before = UINT64_MAX, after = UINT64_MAX, backlog = 0, most = 0, then = 0;

		for (next = i; next < n && d[next].at == d[i].at; next++) {
			uint64_t passed = d[next].start_ps - then;

			if (!d[next].starts_alone)
				continue;
			backlog = (backlog > passed ? backlog - passed : 0) + d[next].work_ps;
			most = max_u64(most, backlog);
			then = d[next].start_ps;
			if (d[next].before_ps < before)
				before = d[next].before_ps;
			if (d[next].after_ps < after)
				after = d[next].after_ps;
		}
		if (most)
			bound = max_u64(bound, before + most + after);
	}
	return bound;
}
