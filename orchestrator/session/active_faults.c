/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/active_faults.h"

#include <stdlib.h>
#include "base/array.h"
#include "session/timeline.h"
#include "scenario/scenario.h"

void active_faults_release(struct active_faults *d)
{
	free(d->items);
	*d = (struct active_faults)ACTIVE_FAULTS_INIT;
}

int active_faults_begin(struct active_faults *d, uint32_t fault, uint32_t target, uint64_t now_ps)
{
	return ARRAY_ADD(d->items, d->count,
		(struct active_fault){fault, target, now_ps, ACTIVE_FAULT_LASTS});
}

static int compare_active_faults(const void *x, const void *y)
{
	const struct active_fault *a = x, *b = y;

	if (a->fault != b->fault)
		return a->fault < b->fault ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

void active_faults_sort(struct active_faults *d)
{
	if (d->count)
		qsort(d->items, d->count, sizeof(*d->items), compare_active_faults);
}

/* What is in force is mostly recent. */
static struct active_fault *find_lasting(
	const struct active_faults *d, uint32_t fault, uint32_t target)
{
	for (size_t i = d->count; i--;) {
		struct active_fault *active = &d->items[i];

		if (active->fault == fault && active->target == target &&
			active->until_ps == ACTIVE_FAULT_LASTS)
			return active;
	}
	return NULL;
}

bool active_faults_end(struct active_faults *d, uint32_t fault, uint32_t target, uint64_t now_ps)
{
	struct active_fault *active = find_lasting(d, fault, target);

	if (!active)
		return false;
	active->until_ps = now_ps;
	return true;
}

bool active_faults_find(const struct active_faults *d, const struct scenario *s,
	const struct fault_spec *like, uint32_t target, uint32_t *ret_fault)
{
	for (size_t i = d->count; i--;) {
		const struct active_fault *active = &d->items[i];

		if (active->until_ps == ACTIVE_FAULT_LASTS && active->target == target &&
			fault_alike(&s->faults[active->fault], like)) {
			*ret_fault = active->fault;
			return true;
		}
	}
	return false;
}

bool active_faults_cut(const struct active_faults *d, const struct scenario *s, uint64_t at_ps)
{
	for (size_t i = d->count; i--;) {
		const struct active_fault *active = &d->items[i];

		if (fault_kinds[s->faults[active->fault].effect.kind].cuts &&
			(active->since_ps == at_ps || active->until_ps == at_ps))
			return true;
	}
	return false;
}

bool active_faults_alike(const struct active_faults *d, uint32_t fault, struct active_fault *ret)
{
	const struct active_fault *first = NULL;

	for (size_t i = 0; i < d->count; i++) {
		const struct active_fault *active = &d->items[i];

		if (active->fault != fault)
			continue;
		if (first && (active->since_ps != first->since_ps ||
				     active->until_ps != first->until_ps))
			return false;
		if (!first)
			first = active;
	}
	if (first)
		*ret = *first;
	return first != NULL;
}
