/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/harms.h"

#include <stdlib.h>
#include "base/array.h"
#include "live/timeline.h"
#include "scenario/scenario.h"

void harms_release(struct harms *d)
{
	free(d->items);
	*d = (struct harms)HARMS_INIT;
}

int harms_begin(struct harms *d, uint32_t fault, uint32_t target, uint64_t now_ps)
{
	return ARRAY_ADD(d->items, d->count, (struct harm){fault, target, now_ps, HARM_LASTS});
}

static int compare_harms(const void *x, const void *y)
{
	const struct harm *a = x, *b = y;

	if (a->fault != b->fault)
		return a->fault < b->fault ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

void harms_sort(struct harms *d)
{
	if (d->count)
		qsort(d->items, d->count, sizeof(*d->items), compare_harms);
}

/* What is in force is mostly recent. */
static struct harm *find_lasting(const struct harms *d, uint32_t fault, uint32_t target)
{
	for (size_t i = d->count; i--;) {
		struct harm *harm = &d->items[i];

		if (harm->fault == fault && harm->target == target && harm->until_ps == HARM_LASTS)
			return harm;
	}
	return NULL;
}

bool harms_end(struct harms *d, uint32_t fault, uint32_t target, uint64_t now_ps)
{
	struct harm *harm = find_lasting(d, fault, target);

	if (!harm)
		return false;
	harm->until_ps = now_ps;
	return true;
}

bool harms_find(const struct harms *d, const struct scenario *s, enum fault_kind kind,
	uint32_t target, uint32_t *ret_fault)
{
	for (size_t i = d->count; i--;) {
		const struct harm *harm = &d->items[i];

		if (harm->until_ps == HARM_LASTS && harm->target == target &&
			s->faults[harm->fault].kind == kind) {
			*ret_fault = harm->fault;
			return true;
		}
	}
	return false;
}

bool harms_cut(const struct harms *d, const struct scenario *s, uint64_t at_ps)
{
	for (size_t i = d->count; i--;) {
		const struct harm *harm = &d->items[i];

		if (fault_cuts(s->faults[harm->fault].kind) &&
			(harm->since_ps == at_ps || harm->until_ps == at_ps))
			return true;
	}
	return false;
}

bool harms_alike(const struct harms *d, uint32_t fault, struct harm *ret)
{
	const struct harm *first = NULL;

	for (size_t i = 0; i < d->count; i++) {
		const struct harm *harm = &d->items[i];

		if (harm->fault != fault)
			continue;
		if (first &&
			(harm->since_ps != first->since_ps || harm->until_ps != first->until_ps))
			return false;
		if (!first)
			first = harm;
	}
	if (first)
		*ret = *first;
	return first != NULL;
}
