/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/demand.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"

/*
 * docs/closed-forms.md, "messages that share a host link": the work that waits there
 * grows with every message and shrinks as time passes (Lindley's recursion); none of them can all
 * be done earlier.
 */
struct demand_line {
	uint64_t backlog_ps, then_ps; /* after the latest message, and its start */
	uint64_t most_ps;
	uint64_t before_ps, after_ps; /* the least of any; most_ps 0: there was none */
};

int demands_init(struct demands *d, uint32_t lines)
{
	*d = (struct demands){
		.lines = calloc((size_t)lines + 1, sizeof(*d->lines)), .line_count = lines};
	return d->lines ? 0 : -ENOMEM;
}

void demands_release(struct demands *d)
{
	free(d->part);
	free(d->lines);
}

int demands_reserve(struct demands *d, size_t more)
{
	struct demand *part;

	if (d->count + more <= d->capacity)
		return 0;
	part = reallocarray(d->part, d->count + more, sizeof(*part));
	if (!part)
		return -ENOMEM;
	d->part = part;
	d->capacity = d->count + more;
	return 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct demand *x = a, *y = b;

	return x->start_ps < y->start_ps ? -1 : x->start_ps > y->start_ps;
}

static void line_take(struct demand_line *l, const struct demand *d)
{
	uint64_t passed = d->start_ps - l->then_ps;
	bool first = !l->most_ps;

	l->backlog_ps = (l->backlog_ps > passed ? l->backlog_ps - passed : 0) + d->work_ps;
	l->then_ps = d->start_ps;
	l->most_ps = max_u64(l->most_ps, l->backlog_ps);
	l->before_ps = first ? d->before_ps : min_u64(l->before_ps, d->before_ps);
	l->after_ps = first ? d->after_ps : min_u64(l->after_ps, d->after_ps);
}

static bool is_sorted(const struct demands *d)
{
	for (size_t i = 1; i < d->count; i++)
		if (d->part[i].start_ps < d->part[i - 1].start_ps)
			return false;
	return true;
}

void demands_settle(struct demands *d)
{
	if (!is_sorted(d))
		qsort(d->part, d->count, sizeof(*d->part), compare_starts);
	for (size_t i = 0; i < d->count; i++)
		line_take(&d->lines[d->part[i].at], &d->part[i]);
	/* that of a long list would be larger than all else */
	free(d->part);
	d->part = NULL;
	d->count = d->capacity = 0;
}

void demands_end_list(struct demands *d)
{
	demands_settle(d);
	for (uint32_t i = 0; i < d->line_count; i++) {
		const struct demand_line *l = &d->lines[i];

		if (l->most_ps)
			d->bound_ps = max_u64(d->bound_ps, l->before_ps + l->most_ps + l->after_ps);
	}
	memset(d->lines, 0, d->line_count * sizeof(*d->lines));
}
