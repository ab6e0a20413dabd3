/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/timeline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "scenario/scenario.h"
#include "topology/pick.h"

/* What each fault adds per target: its start, its end, and a reroute after each. */

/*
 * At one time: first what ends, so that a target may go from one fault to the next; reroutes last.
 * Faults in their own order, or as they were injected.
 */
static int compare_actions(const void *x, const void *y)
{
	const struct action *a = x, *b = y;

	if (a->at_ps != b->at_ps)
		return a->at_ps < b->at_ps ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->fault != b->fault)
		return a->fault < b->fault ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

uint64_t timeline_later(uint64_t at_ps, uint64_t delay_ps)
{
	return at_ps > UINT64_MAX - delay_ps ? UINT64_MAX : at_ps + delay_ps;
}

static int add_fault(struct timeline *t, const struct scenario *s, uint32_t fault, uint32_t target)
{
	const struct fault_spec *f = &s->faults[fault];
	uint64_t reroute = s->sw.reroute_ps;
	const struct action actions[] = {
		{f->at_ps, ACTION_BEGIN, fault, target},
		{f->until_ps, ACTION_END, fault, target},
		{timeline_later(f->at_ps, reroute), ACTION_REROUTE, 0, 0},
		{timeline_later(f->until_ps, reroute), ACTION_REROUTE, 0, 0},
	};
	int count = fault_kinds[f->effect.kind].cuts ? 4 : 2, r = 0;

	for (int i = 0; i < count && r == 0; i++)
		if (actions[i].at_ps != UINT64_MAX)
			r = ARRAY_ADD(t->items, t->count, actions[i]);
	return r;
}

int timeline_init(struct timeline *t, const struct scenario *s, const struct fabric *f)
{
	size_t kept = 0;
	int r = 0;

	*t = (struct timeline)TIMELINE_INIT;
	for (uint32_t i = 0; i < s->fault_count && r == 0; i++) {
		uint32_t *targets = NULL;
		size_t count = 0;

		r = fault_targets(f, s->seed, &s->faults[i], &targets, &count);
		for (size_t n = 0; n < count && r == 0; n++)
			r = add_fault(t, s, i, targets[n]);
		free(targets);
	}
	if (r < 0) {
		timeline_release(t);
		return r;
	}
	if (t->count)
		qsort(t->items, t->count, sizeof(*t->items), compare_actions);
	/* one reroute serves all links that changed at one time */
	for (size_t i = 0; i < t->count; i++)
		if (!kept || t->items[i].kind != ACTION_REROUTE ||
			t->items[kept - 1].kind != ACTION_REROUTE ||
			t->items[kept - 1].at_ps != t->items[i].at_ps)
			t->items[kept++] = t->items[i];
	t->count = kept;
	return 0;
}

int timeline_insert(struct timeline *t, const struct action *a)
{
	size_t at = t->count;

	if (a->at_ps == UINT64_MAX)
		return 0;
	while (at > t->next && compare_actions(a, &t->items[at - 1]) < 0)
		at--;
	if (a->kind == ACTION_REROUTE && at > t->next && t->items[at - 1].kind == ACTION_REROUTE &&
		t->items[at - 1].at_ps == a->at_ps)
		return 0;
	if (ARRAY_ROOM(t->items, t->count) < 0)
		return -ENOMEM;
	memmove(&t->items[at + 1], &t->items[at], (t->count - at) * sizeof(*t->items));
	t->items[at] = *a;
	t->count++;
	return 0;
}

void timeline_release(struct timeline *t)
{
	free(t->items);
	*t = (struct timeline)TIMELINE_INIT;
}

uint64_t timeline_next(const struct timeline *t)
{
	return t->next < t->count ? t->items[t->next].at_ps : UINT64_MAX;
}
