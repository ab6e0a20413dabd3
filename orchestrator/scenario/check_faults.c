/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/check.h"
#include "scenario/fault_kind.h"

struct span {
	struct fault_spec *fault;
	const struct tree *item;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int r = strcmp(x->fault->target, y->fault->target);

	if (r)
		return r;
	if (x->fault->kind != y->fault->kind)
		return x->fault->kind < y->fault->kind ? -1 : 1;
	if (x->fault->at_ps != y->fault->at_ps)
		return x->fault->at_ps < y->fault->at_ps ? -1 : 1;
	return (x->item->index > y->item->index) - (x->item->index < y->item->index);
}

/* "faults.1 (line 20)" */
static const char *place(char buf[64], const struct tree *item)
{
	if (item->pos.line)
		snprintf(buf, 64, "faults.%zu (line %u)", item->index, item->pos.line);
	else
		snprintf(buf, 64, "faults.%zu", item->index);
	return buf;
}

static void explain_overlap(struct check *c, const struct span *a, const struct span *b)
{
	const struct span *first = a->item->index < b->item->index ? a : b,
			  *second = first == a ? b : a;
	char one[64], two[64], from[UNITS_TEXT];

	explain_value(c->diags, second->item, "%s overlaps %s: both %s '%s' from %s on",
		place(two, second->item), place(one, first->item),
		fault_kind_info(a->fault->kind)->phrase, a->fault->target,
		format_time(from, b->fault->at_ps));
}

/*
 * Two faults of one kind must not hold the same target at once: what would the end of the first mean?
 * Sorted by target and start, so that a fault need only be held against the one that lasts longest so
 * far.
 */
void check_faults(struct check *c, const struct tree *list, struct scenario *s)
{
	struct span *spans = calloc(s->fault_count, sizeof(*spans)), *longest;
	size_t count = 0;

	if (!spans) {
		c->out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < s->fault_count; i++)
		if (s->faults[i].sound)
			spans[count++] = (struct span){&s->faults[i], list->items[i]};
	qsort(spans, count, sizeof(*spans), compare_spans);
	longest = spans;
	for (size_t i = 1; i < count; i++) {
		const struct fault_spec *held = longest->fault, *next = spans[i].fault;
		bool same = !strcmp(held->target, next->target) && held->kind == next->kind;

		if (same && next->at_ps < held->until_ps) {
			explain_overlap(c, longest, &spans[i]);
			spans[i].fault->sound = false;
		}
		if (!same || next->until_ps > held->until_ps)
			longest = &spans[i];
	}
	free(spans);
}

void check_storms(struct check *c, const struct tree *root, struct scenario *s)
{
	const struct tree *list = tree_get(root, "faults");

	for (size_t i = 0; i < s->fault_count; i++) {
		struct fault_spec *f = &s->faults[i];
		const struct class_spec *class = &s->sw.classes[f->class % SCENARIO_CLASSES];

		if (!f->sound || f->kind != FAULT_HOST_STORM || (class->used && class->lossless))
			continue;
		f->sound = false;
		explain_value(c->diags, tree_get(tree_get(list->items[i], "do"), "pause"),
			"class %u is not lossless, so that nobody heeds its pauses%s", f->class,
			s->sw.pfc.on ? "; expected one that is" : "; add switch.pfc: on");
	}
}
