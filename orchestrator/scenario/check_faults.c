/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool read_do(struct check *c, const struct tree *n, void *fault)
{
	static const struct key keys[] = {
		{.name = "rate",
			.type = VALUE_SHARE,
			.required = true,
			.offset = offsetof(struct fault_spec, share),
			.expected = "the share of the rate that is left, such as 25%"},
	};
	static const char *const words[] = {"down", NULL};
	static const struct key word = {
		.type = VALUE_WORD,
		.words = words,
		.expected = "down, or {rate: 25%}",
	};
	struct fault_spec *f = fault;

	if (n->kind != TREE_MAP) {
		f->kind = FAULT_LINK_DOWN;
		return value_read(c, &word, n, NULL);
	}
	f->kind = FAULT_LINK_RATE;
	return keys_all(keys_read(c, n, keys, COUNT(keys), f), COUNT(keys));
}

static bool read_fault(struct check *c, const struct tree *n, void *fault)
{
	static const struct key keys[] = {
		{.name = "at",
			.type = VALUE_TIME,
			.required = true,
			.max = TIME_MAX,
			.offset = offsetof(struct fault_spec, at_ps)},
		{.name = "until",
			.type = VALUE_TIME,
			.fallback = "never",
			.max = TIME_MAX,
			.word = "never",
			.word_value = UINT64_MAX,
			.offset = offsetof(struct fault_spec, until_ps)},
		{.name = "link",
			.type = VALUE_LABEL,
			.required = true,
			.max = LABEL_LIMIT,
			.offset = offsetof(struct fault_spec, link),
			.expected = "the name of a link, or a pattern, such as agg0.1-core2"},
		{.name = "do",
			.type = VALUE_READ,
			.read = read_do,
			.required = true,
			.expected = "down, or {rate: 25%}"},
	};
	struct fault_spec *f = fault;

	f->pos = n->pos;
	if (!keys_all(keys_read(c, n, keys, COUNT(keys), f), COUNT(keys))) {
		f->until_ps = 0; /* an empty time, that overlaps nothing */
		return false;
	}
	if (f->until_ps <= f->at_ps) {
		explain_value(c->diags, tree_get(n, "until"), "%s is not after the start at %s",
			tree_get(n, "until")->text, tree_get(n, "at")->text);
		return false;
	}
	f->sound = true;
	return true;
}

struct span {
	struct fault_spec *fault;
	const struct tree *item;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int r = strcmp(x->fault->link, y->fault->link);

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
		a->fault->kind == FAULT_LINK_DOWN ? "take down" : "slow down", a->fault->link,
		format_time(from, b->fault->at_ps));
}

/*
 * Two faults of one kind must not hold the same link at once: what would the end of the first mean?
 * Sorted by link and start, so that a fault need only be held against the one that lasts longest so
 * far.
 */
static bool check_overlaps(struct check *c, const struct tree *n, const struct scenario *s)
{
	struct span *spans = calloc(s->fault_count, sizeof(*spans)), *longest;
	bool good = true;
	size_t count = 0;

	if (!spans) {
		c->out_of_memory = true;
		return false;
	}
	for (size_t i = 0; i < s->fault_count; i++)
		if (s->faults[i].until_ps > s->faults[i].at_ps)
			spans[count++] = (struct span){&s->faults[i], n->items[i]};
	qsort(spans, count, sizeof(*spans), compare_spans);
	longest = spans;
	for (size_t i = 1; i < count; i++) {
		const struct fault_spec *held = longest->fault, *next = spans[i].fault;
		bool same = !strcmp(held->link, next->link) && held->kind == next->kind;

		if (same && next->at_ps < held->until_ps) {
			explain_overlap(c, longest, &spans[i]);
			spans[i].fault->sound = false;
			good = false;
		}
		if (!same || next->until_ps > held->until_ps)
			longest = &spans[i];
	}
	free(spans);
	return good;
}

bool check_faults(struct check *c, const struct tree *n, void *scenario)
{
	struct scenario *s = scenario;
	bool good = list_read(c, n, "a list of {at, until, link, do}", sizeof(*s->faults),
		read_fault, (void **)&s->faults, &s->fault_count);

	return (!s->fault_count || check_overlaps(c, n, s)) && good;
}
