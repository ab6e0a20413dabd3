/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/units.h"
#include "scenario/scenario.h"
#include "topology/missing.h"

/* One fault on one target: a link, or a node. */
struct hit {
	uint32_t target, fault;
};

struct hits {
	struct hit *items;
	size_t count;
};

static int add_hit(struct hits *h, uint32_t target, uint32_t fault)
{
	return ARRAY_ADD(h->items, h->count, (struct hit){target, fault});
}

/* The nodes from `first` to `end` that a fault can befall, and what they are. */
struct nodes {
	uint32_t first, end;
	const char *kind, *kinds;
};

static struct nodes nodes_of(const struct fabric *f, enum fault_kind kind)
{
	if (fault_target(kind) == TARGET_HOST)
		return (struct nodes){0, f->net.host_count, "host", "hosts"};
	return (struct nodes){f->net.host_count, f->net.node_count, "switch", "switches"};
}

/* "; did you mean ...", or "". */
static void mean_node(
	char buf[DIAG_MEANT], const struct fabric *f, const struct nodes *n, const char *word)
{
	uint32_t count = n->end - n->first;
	const char **words = calloc((size_t)count + 1, sizeof(*words));

	for (uint32_t i = 0; words && i < count; i++)
		words[i] = f->nodes[n->first + i].name;
	diag_meant(buf, word, words, words ? count : 0, "");
	free(words);
}

static void report_no_node(const struct fabric *f, const struct nodes *n, const char *key,
	const struct fault_spec *fault, struct diags *diags)
{
	bool plain = !strpbrk(fault->target, "*?[\\");
	char meant[DIAG_MEANT] = "";
	uint32_t other;

	if (plain)
		mean_node(meant, f, n, fault->target);
	if (plain && fabric_find_node(f, fault->target, &other))
		diags_add(diags, fault->pos, "%s: '%s' is a %s; expected a %s", key, fault->target,
			other < f->net.host_count ? "host" : "switch", n->kind);
	else if (*meant)
		diags_add(diags, fault->pos, "%s: there is no %s '%s'%s", key, n->kind,
			fault->target, meant);
	else
		diags_add(diags, fault->pos, "%s: '%s' matches no %s; the %u %s are %s to %s", key,
			fault->target, n->kind, n->end - n->first, n->kinds,
			f->nodes[n->first].name, f->nodes[n->end - 1].name);
}

/* "faults.3.link" */
#define KEY_TEXT 32
static const char *fault_key(char buf[KEY_TEXT], uint32_t index, const char *target)
{
	snprintf(buf, KEY_TEXT, "faults.%u.%s", index, target);
	return buf;
}

static int collect_nodes(const struct fabric *f, uint32_t index, const struct fault_spec *fault,
	struct hits *h, struct diags *diags)
{
	struct nodes n = nodes_of(f, fault->kind);
	size_t before = h->count;
	char key[KEY_TEXT];

	for (uint32_t i = n.first; i < n.end; i++)
		if (fabric_node_matches(f, i, fault->target) && add_hit(h, i, index))
			return -ENOMEM;
	if (h->count == before)
		report_no_node(f, &n, fault_key(key, index, n.kind), fault, diags);
	return 0;
}

static int collect_links(const struct fabric *f, uint32_t index, const struct fault_spec *fault,
	struct hits *h, struct diags *diags)
{
	size_t before = h->count;
	char key[KEY_TEXT];

	for (uint32_t l = 0; l < f->net.link_count; l++)
		if (fabric_link_matches(f, l, fault->target) && add_hit(h, l, index))
			return -ENOMEM;
	if (h->count == before)
		report_no_link(f, fault_key(key, index, "link"), fault->target, fault->pos, diags);
	return 0;
}

/* Each takes its place in the timetable: so many take a run some 400 MB. */
#define HITS_MAX (1u << 22)

static int collect_hits(
	const struct fabric *f, const struct scenario *s, struct diags *diags, struct hits *h)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->fault_count; i++) {
		const struct fault_spec *fault = &s->faults[i];

		if (!fault->sound)
			continue;
		if (fault_target(fault->kind) != TARGET_LINK)
			err = collect_nodes(f, i, fault, h, diags);
		else
			err = collect_links(f, i, fault, h, diags);
		if (h->count <= HITS_MAX)
			continue;
		diags_add(diags, fault->pos,
			"faults.%u: up to here faults befall %zu links and nodes; expected at most %u in all",
			i, h->count, HITS_MAX);
		break;
	}
	return err;
}

/* By kind, target and begin: what overlaps is then found in one pass. */
static int compare_hits(const void *a, const void *b, void *scenario)
{
	const struct scenario *s = scenario;
	const struct hit *x = a, *y = b;
	const struct fault_spec *fx = &s->faults[x->fault], *fy = &s->faults[y->fault];

	if (fx->kind != fy->kind)
		return fx->kind < fy->kind ? -1 : 1;
	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	if (fx->at_ps != fy->at_ps)
		return fx->at_ps < fy->at_ps ? -1 : 1;
	return x->fault < y->fault ? -1 : x->fault > y->fault;
}

/* "the one in line 12"; what --set gives has no line. */
#define WHICH 32
static const char *which_fault(char buf[WHICH], const struct fault_spec *f, uint32_t index)
{
	if (f->pos.line)
		snprintf(buf, WHICH, "the one in line %u", f->pos.line);
	else
		snprintf(buf, WHICH, "faults.%u", index);
	return buf;
}

static void report_overlap(const struct fabric *f, const struct scenario *s, uint32_t target,
	uint32_t one, uint32_t two, struct diags *diags)
{
	const struct fault_spec *first = &s->faults[one < two ? one : two];
	const struct fault_spec *second = &s->faults[one < two ? two : one];
	bool node = fault_target(first->kind) != TARGET_LINK;
	char name[LINK_NAME], from[UNITS_TEXT], until[UNITS_TEXT], which[WHICH];

	if (first->until_ps == UINT64_MAX)
		strcpy(until, "for good");
	else
		format_time(until, first->until_ps);
	diags_add(diags, second->pos,
		"faults.%u: this \"%s\" overlaps %s on %s %s (that one: %s, %s%s); keep their times apart, or merge them",
		one < two ? two : one, fault_word(first->kind),
		which_fault(which, first, one < two ? one : two),
		node ? nodes_of(f, first->kind).kind : "link",
		node ? f->nodes[target].name : fabric_link_name(f, target, name),
		format_time(from, first->at_ps), first->until_ps == UINT64_MAX ? "" : "until ",
		until);
}

/* One message a pair of faults at most: on its first target, and each fault as the later one once. */
static void report_overlaps(const struct fabric *f, const struct scenario *s, const struct hits *h,
	bool *reported, struct diags *diags)
{
	uint32_t last = 0; /* of this target and kind, the fault that ends last so far */

	for (size_t i = 0; i < h->count; i++) {
		const struct hit *hit = &h->items[i];
		const struct fault_spec *fault = &s->faults[hit->fault];
		bool same = i && h->items[i - 1].target == hit->target &&
			    s->faults[h->items[i - 1].fault].kind == fault->kind;

		if (!same) {
			last = hit->fault;
			continue;
		}
		if (fault->at_ps < s->faults[last].until_ps && !reported[hit->fault]) {
			reported[hit->fault] = true;
			report_overlap(f, s, hit->target, last, hit->fault, diags);
		}
		if (fault->until_ps > s->faults[last].until_ps)
			last = hit->fault;
	}
}

int check_fault_targets(const struct fabric *f, const struct scenario *s, struct diags *diags)
{
	struct hits h = {0};
	bool *reported = calloc(s->fault_count + 1, sizeof(*reported));
	int err = reported ? collect_hits(f, s, diags, &h) : -ENOMEM;

	if (!err && h.count) {
		qsort_r(h.items, h.count, sizeof(*h.items), compare_hits, (void *)s);
		report_overlaps(f, s, &h, reported, diags);
	}
	free(h.items);
	free(reported);
	return err;
}

static bool any_link(const struct fabric *f, const char *glob)
{
	for (uint32_t l = 0; l < f->net.link_count; l++)
		if (fabric_link_matches(f, l, glob))
			return true;
	return false;
}

static bool any_node(const struct fabric *f, const struct nodes *n, const char *glob)
{
	for (uint32_t i = n->first; i < n->end; i++)
		if (fabric_node_matches(f, i, glob))
			return true;
	return false;
}

int fabric_check_fault(const struct fabric *f, const struct fault_spec *fault, struct diags *diags)
{
	struct nodes n = nodes_of(f, fault->kind);
	size_t before = diags->count;

	if (fault_target(fault->kind) == TARGET_LINK) {
		if (!any_link(f, fault->target))
			report_no_link(f, "link", fault->target, fault->pos, diags);
	} else if (!any_node(f, &n, fault->target)) {
		report_no_node(f, &n, n.kind, fault, diags);
	}
	if (fault->kind == FAULT_HOST_STORM && !f->switching.classes[fault->class].lossless)
		diags_add(diags, fault->pos,
			"pause: class %u is not lossless, so that nobody heeds its pauses; expected one that is",
			fault->class);
	if (diags->out_of_memory)
		return -ENOMEM;
	return diags->count == before ? 0 : -EINVAL;
}
