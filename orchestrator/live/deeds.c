/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/deeds.h"

#include <errno.h>
#include <stdlib.h>
#include "live/timeline.h"

void deeds_release(struct deeds *d)
{
	free(d->items);
	*d = (struct deeds)DEEDS_INIT;
}

int deeds_begin(struct deeds *d, uint32_t fault, uint32_t target, uint64_t now_ps)
{
	if (d->count == d->capacity) {
		size_t capacity = d->capacity ? 2 * d->capacity : 16;
		struct deed *items = realloc(d->items, capacity * sizeof(*items));

		if (!items)
			return -ENOMEM;
		d->items = items;
		d->capacity = capacity;
	}
	d->items[d->count++] = (struct deed){fault, target, now_ps, DEED_LASTS};
	return 0;
}

static int compare_deeds(const void *x, const void *y)
{
	const struct deed *a = x, *b = y;

	if (a->fault != b->fault)
		return a->fault < b->fault ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

void deeds_sort(struct deeds *d)
{
	if (d->count)
		qsort(d->items, d->count, sizeof(*d->items), compare_deeds);
}

/* What is in force is mostly recent. */
static struct deed *find_lasting(const struct deeds *d, uint32_t fault, uint32_t target)
{
	for (size_t i = d->count; i--;) {
		struct deed *deed = &d->items[i];

		if (deed->fault == fault && deed->target == target && deed->until_ps == DEED_LASTS)
			return deed;
	}
	return NULL;
}

bool deeds_end(struct deeds *d, uint32_t fault, uint32_t target, uint64_t now_ps)
{
	struct deed *deed = find_lasting(d, fault, target);

	if (!deed)
		return false;
	deed->until_ps = now_ps;
	return true;
}

bool deeds_lasts(const struct deeds *d, uint32_t fault, uint32_t target)
{
	return find_lasting(d, fault, target) != NULL;
}

bool deeds_find(const struct deeds *d, const struct scenario *s, enum fault_kind kind,
	uint32_t target, uint32_t *ret_fault)
{
	for (size_t i = d->count; i--;) {
		const struct deed *deed = &d->items[i];

		if (deed->until_ps == DEED_LASTS && deed->target == target &&
			s->faults[deed->fault].kind == kind) {
			*ret_fault = deed->fault;
			return true;
		}
	}
	return false;
}

bool deeds_cut(const struct deeds *d, const struct scenario *s, uint64_t at_ps)
{
	for (size_t i = d->count; i--;) {
		const struct deed *deed = &d->items[i];

		if (fault_cuts(s->faults[deed->fault].kind) &&
			(deed->since_ps == at_ps || deed->until_ps == at_ps))
			return true;
	}
	return false;
}

bool deeds_alike(const struct deeds *d, uint32_t fault, struct deed *ret)
{
	const struct deed *first = NULL;

	for (size_t i = 0; i < d->count; i++) {
		const struct deed *deed = &d->items[i];

		if (deed->fault != fault)
			continue;
		if (first &&
			(deed->since_ps != first->since_ps || deed->until_ps != first->until_ps))
			return false;
		if (!first)
			first = deed;
	}
	if (first)
		*ret = *first;
	return first != NULL;
}
