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
#include "topology/pick.h"

/* One fault on one target: a link, or a node. */
struct hit {
	uint32_t target, fault;
};

struct hits {
	struct hit *items;
	size_t count;
};

const char *fault_target_name(
	const struct fabric *f, enum fault_target on, uint32_t target, char buf[LINK_NAME])
{
	if (on == TARGET_LINK)
		return fabric_link_name(f, target, buf);
	return strcpy(buf, f->nodes[target].name);
}

/* The links or nodes from `first` to `end` that a fault can befall, and what they are. */
struct targets {
	uint32_t first, end;
	const char *kind, *kinds;
};

static struct targets targets_of(const struct fabric *f, enum fault_target on)
{
	const struct net *net = &f->net;
	const struct targets all[FAULT_TARGETS] = {
		[TARGET_LINK] = {0, net->link_count, "link", "links"},
		[TARGET_SWITCH] = {net->host_count, net->node_count, "switch", "switches"},
		[TARGET_HOST] = {0, net->host_count, "host", "hosts"},
	};

	return all[on];
}

/* "; did you mean ...", or "". */
static void hint_node(
	char buf[DIAG_HINT], const struct fabric *f, const struct targets *n, const char *word)
{
	uint32_t count = n->end - n->first;
	const char **words = calloc((size_t)count + 1, sizeof(*words));

	for (uint32_t i = 0; words && i < count; i++)
		words[i] = f->nodes[n->first + i].name;
	diag_hint(buf, word, words, words ? count : 0, "");
	free(words);
}

static void report_no_target(const struct fabric *f, const struct targets *n, const char *key,
	const struct fault_spec *fault, struct diags *diags)
{
	bool plain = !strpbrk(fault->target, "*?[\\");
	char hint[DIAG_HINT] = "";
	uint32_t other;

	if (fault->on == TARGET_LINK) {
		report_no_link(f, key, fault->target, fault->pos, diags);
		return;
	}
	if (plain)
		hint_node(hint, f, n, fault->target);
	if (plain && fabric_find_node(f, fault->target, &other))
		diags_add(diags, fault->pos, "%s: '%s' is a %s; expected a %s", key, fault->target,
			other < f->net.host_count ? "host" : "switch", n->kind);
	else if (*hint)
		diags_add(diags, fault->pos, "%s: there is no %s '%s'%s", key, n->kind,
			fault->target, hint);
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

/* The group with the fewest candidates; before all, that of what is in no pod. */
static struct pick_group smallest_group(const struct pick *p, const struct fault_spec *fault)
{
	struct pick_group least = {.end = SIZE_MAX}, g;

	for (size_t i = 0; i < p->count; i = g.end) {
		g = pick_group(p, fault, i);
		if (p->items[i].group == NO_POD)
			return g;
		if (g.end - g.first < least.end - least.first)
			least = g;
	}
	return least;
}

/* Whether each group has what is to be picked of it; there is one at least. */
static void check_pick(const struct fabric *f, const struct pick *p, const char *key,
	const struct fault_spec *fault, struct diags *diags)
{
	const struct fault_pick *pick = &fault->pick;
	struct pick_group least = smallest_group(p, fault);
	const struct candidate *first = &p->items[least.first];
	size_t there = least.end - least.first, wanted = (size_t)pick->skip + pick->count;
	const char *kinds = targets_of(f, fault->on).kinds;
	char name[LINK_NAME], group[POD_NAME], skipped[48] = "";

	if (pick->skip)
		snprintf(skipped, sizeof(skipped), " (%u skipped, %u picked)", pick->skip,
			pick->count);
	if (first->group != NO_POD && there >= wanted)
		return;
	if (first->group == NO_POD && f->tier_count < 3)
		diags_add(diags, pick->pos,
			"%s: there are no pods, since the fabric has one tier of switches; pick so many in all, or per switch",
			key);
	else if (first->group == NO_POD)
		diags_add(diags, pick->pos,
			"%s: '%s' matches %s, which is in no pod; expected %s below the top tier",
			key, fault->target, fault_target_name(f, fault->on, first->target, name),
			kinds);
	else if (pick->per == PICK_OF_ALL)
		diags_add(diags, pick->pos,
			"%s: '%s' matches %zu %s, fewer than %zu%s; expected at most %zu", key,
			fault->target, there, kinds, wanted, skipped, there);
	else
		diags_add(diags, pick->pos,
			"%s: %s has %zu %s that match '%s', fewer than %zu%s; expected at most %zu",
			key, pick_group_name(f, p, fault, first->group, group), there, kinds,
			fault->target, wanted, skipped, there);
}

/* Each is an entry of the schedule: so many take a run some 400 MB. */
#define HITS_MAX (1u << 22)

/* Whether there is what a fault names, and enough of it; keys: of what it names, and of `pick`. */
static void check_targets(const struct fabric *f, const struct pick *p, const char *const keys[2],
	const struct fault_spec *fault, struct diags *diags)
{
	struct targets t = targets_of(f, fault->on);

	if (!p->count)
		report_no_target(f, &t, keys[0], fault, diags);
	else if (fault->pick.per != PICK_ALL)
		check_pick(f, p, keys[1], fault, diags);
}

static int collect(const struct fabric *f, const struct scenario *s, uint32_t index, struct hits *h,
	struct diags *diags)
{
	const struct fault_spec *fault = &s->faults[index];
	char target[KEY_TEXT], pick[KEY_TEXT];
	const char *const keys[] = {fault_key(target, index, targets_of(f, fault->on).kind),
		fault_key(pick, index, "pick")};
	struct pick_group g;
	struct pick p;
	int err = pick_init(&p, f, s->seed, fault);

	if (err)
		return err;
	check_targets(f, &p, keys, fault, diags);
	for (size_t i = 0; i < p.count; i = g.end) {
		g = pick_group(&p, fault, i);
		for (size_t n = g.taken; !err && n < g.taken_end; n++)
			err = ARRAY_ADD(h->items, h->count, (struct hit){p.items[n].target, index});
	}
	pick_release(&p);
	return err;
}

static int collect_hits(
	const struct fabric *f, const struct scenario *s, struct diags *diags, struct hits *h)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->fault_count; i++) {
		const struct fault_spec *fault = &s->faults[i];

		if (!fault->valid)
			continue;
		err = collect(f, s, i, h, diags);
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

	if (fx->on != fy->on)
		return fx->on < fy->on ? -1 : 1;
	if (fx->effect.kind != fy->effect.kind)
		return fx->effect.kind < fy->effect.kind ? -1 : 1;
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
	bool drawn_alike = first->pick.per != PICK_ALL && first->pick.per == second->pick.per &&
			   !strcmp(first->target, second->target);
	char name[LINK_NAME], from[UNITS_TEXT], until[UNITS_TEXT], which[WHICH];

	if (first->until_ps == UINT64_MAX)
		strcpy(until, "for good");
	else
		format_time(until, first->until_ps);
	diags_add(diags, second->pos,
		"faults.%u: this \"%s\" overlaps %s on %s %s (that one: %s, %s%s); keep their times apart, or %s",
		one < two ? two : one, fault_keys[first->effect.kind].name,
		which_fault(which, first, one < two ? one : two), targets_of(f, first->on).kind,
		fault_target_name(f, first->on, target, name), format_time(from, first->at_ps),
		first->until_ps == UINT64_MAX ? "" : "until ", until,
		drawn_alike ? "let one skip what the other picks" : "merge them");
}

/* A message per pair of faults at most, on its first target, and one per fault as the later. */
static void report_overlaps(const struct fabric *f, const struct scenario *s, const struct hits *h,
	bool *reported, struct diags *diags)
{
	uint32_t last = 0; /* of this target and kind, the fault that ends last so far */

	for (size_t i = 0; i < h->count; i++) {
		const struct hit *hit = &h->items[i];
		const struct fault_spec *fault = &s->faults[hit->fault];
		bool same = i && h->items[i - 1].target == hit->target &&
			    fault_alike(&s->faults[h->items[i - 1].fault], fault);

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

int fabric_check_fault(const struct fabric *f, const struct fault_spec *fault, struct diags *diags)
{
	const struct fault_effect *e = &fault->effect;
	const char *const keys[] = {targets_of(f, fault->on).kind, "pick"};
	size_t before = diags->count;
	struct pick p;

	/* whatever the seed: how many there are does not depend on it */
	if (pick_init(&p, f, 0, fault) < 0)
		return -ENOMEM;
	check_targets(f, &p, keys, fault, diags);
	pick_release(&p);
	if (fault_kinds[e->kind].pauses_class && !f->switching.classes[e->class].lossless)
		diags_add(diags, fault->pos,
			"%s: class %u is not lossless, so that nobody heeds its pauses; expected one that is",
			fault_keys[e->kind].name, e->class);
	if (diags->out_of_memory)
		return -ENOMEM;
	return diags->count == before ? 0 : -EINVAL;
}
