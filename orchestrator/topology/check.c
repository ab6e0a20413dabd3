/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"

/* A flow takes two of the 24-bit queue pair numbers of the BTH. */
#define FLOWS_MAX (1u << 23)

/* The first link up from each tier, as examples of names. */
static void example_names(const struct fabric *f, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = 0;
	for (uint32_t tier = 0; tier < f->tier_count; tier++) {
		for (uint32_t l = 0; l < f->net.link_count && used < size; l++) {
			char name[LINK_NAME];

			if (f->nodes[f->net.ports[f->links[l].a].node].tier != tier)
				continue;
			used += (size_t)snprintf(buf + used, size - used, "%s%s", tier ? ", " : "",
				fabric_link_name(f, l, name));
			break;
		}
	}
}

static const char *nearest_link(const struct fabric *f, const char *word, char buf[LINK_NAME])
{
	uint32_t count = f->net.link_count;
	char(*names)[LINK_NAME] = calloc(count, sizeof(*names));
	const char **words = calloc(count, sizeof(*words));
	const char *near = NULL;

	for (uint32_t l = 0; names && words && l < count; l++)
		words[l] = fabric_link_name(f, l, names[l]);
	if (names && words)
		near = nearest_word(word, words, count);
	if (near)
		near = strcpy(buf, near);
	free(names);
	free(words);
	return near;
}

void report_no_link(const struct fabric *f, const char *key, const char *glob, struct diag_pos pos,
	struct diags *diags)
{
	char examples[4 * LINK_NAME];
	char name[LINK_NAME];

	if (!strpbrk(glob, "*?[\\") && nearest_link(f, glob, name)) {
		diags_add(diags, pos, "%s: there is no link \"%s\"; did you mean \"%s\"?", key,
			glob, name);
		return;
	}
	example_names(f, examples, sizeof(examples));
	diags_add(
		diags, pos, "%s: \"%s\" matches no link; links are called %s", key, glob, examples);
}

/* Whether a workload may name that node; says why not. */
static bool find_host(const struct fabric *f, const char *key, const char *name,
	struct diag_pos pos, struct diags *diags, uint32_t *ret_host)
{
	uint32_t hosts = f->net.host_count, node;
	const char *near = NULL;
	const char **words;

	if (fabric_find_node(f, name, &node)) {
		*ret_host = node;
		if (node < hosts)
			return true;
		diags_add(diags, pos, "%s: \"%s\" is a switch; only hosts send and receive", key,
			name);
		return false;
	}
	words = calloc(hosts, sizeof(*words));
	for (uint32_t h = 0; words && h < hosts; h++)
		words[h] = f->nodes[h].name;
	if (words)
		near = nearest_word(name, words, hosts);
	if (near)
		diags_add(diags, pos, "%s: there is no host \"%s\"; did you mean \"%s\"?", key,
			name, near);
	else
		diags_add(diags, pos, "%s: there is no host \"%s\"; the %u hosts are %s to %s", key,
			name, hosts, f->nodes[0].name, f->nodes[hosts - 1].name);
	free(words);
	return false;
}

#define KEY_TEXT 64

/* "workload.1.incast.to" */
static const char *workload_key(char buf[KEY_TEXT], size_t index, const char *rest)
{
	snprintf(buf, KEY_TEXT, "workload.%zu.%s", index, rest);
	return buf;
}

static uint64_t check_incast(
	const struct fabric *f, const struct scenario *s, size_t index, struct diags *diags)
{
	const struct workload_spec *w = &s->workloads[index];
	char key[KEY_TEXT];
	uint32_t to;

	find_host(f, workload_key(key, index, "incast.to"), w->to, w->pos, diags, &to);
	if (w->senders >= f->net.host_count)
		diags_add(diags, w->pos,
			"%s: %u; of the fabric's %u hosts one receives, so at most %u",
			workload_key(key, index, "incast.senders"), w->senders, f->net.host_count,
			f->net.host_count - 1);
	return w->senders;
}

static uint64_t check_pairs(
	const struct fabric *f, const struct scenario *s, size_t index, struct diags *diags)
{
	const struct workload_spec *w = &s->workloads[index];
	char from_key[KEY_TEXT], to_key[KEY_TEXT];

	workload_key(from_key, index, "pairs.from");
	workload_key(to_key, index, "pairs.to");
	for (size_t i = 0; i < w->pair_count; i++) {
		uint32_t from, to;
		bool found = find_host(f, from_key, w->from[i], w->pos, diags, &from);

		found &= find_host(f, to_key, w->pair_to[i], w->pos, diags, &to);
		if (found && from == to)
			diags_add(diags, w->pos, "%s: \"%s\" sends to itself", to_key, w->from[i]);
	}
	return w->pair_count;
}

static void check_workloads(const struct fabric *f, const struct scenario *s, struct diags *diags)
{
	double flows = 0;

	for (size_t i = 0; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		double at_once = 0;

		if (!w->sound)
			continue;
		switch (w->kind) {
		case WORKLOAD_PERMUTATION:
			at_once = (double)f->net.host_count * w->count;
			break;
		case WORKLOAD_INCAST:
			at_once = (double)check_incast(f, s, i, diags);
			break;
		case WORKLOAD_PAIRS:
			at_once = (double)check_pairs(f, s, i, diags);
			break;
		}
		if (flows <= FLOWS_MAX && flows + at_once * w->repeat > FLOWS_MAX)
			diags_add(diags, w->pos,
				"workload: %.0f messages up to here; at most %u (queue pairs have 24-bit numbers, a message takes two)",
				flows + at_once * w->repeat, FLOWS_MAX);
		flows += at_once * w->repeat;
	}
}

/* One fault on one link. */
struct hit {
	uint32_t link, fault;
};

struct hits {
	struct hit *items;
	size_t count, capacity;
};

static int add_hit(struct hits *h, uint32_t link, uint32_t fault)
{
	if (h->count == h->capacity) {
		size_t capacity = h->capacity ? 2 * h->capacity : 64;
		struct hit *items = reallocarray(h->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		h->items = items;
		h->capacity = capacity;
	}
	h->items[h->count++] = (struct hit){link, fault};
	return 0;
}

static void report_no_fault_link(
	const struct fabric *f, uint32_t index, const struct fault_spec *fault, struct diags *diags)
{
	char key[KEY_TEXT];

	snprintf(key, sizeof(key), "faults.%u.link", index);
	report_no_link(f, key, fault->link, fault->pos, diags);
}

static int collect_hits(
	const struct fabric *f, const struct scenario *s, struct diags *diags, struct hits *h)
{
	for (uint32_t i = 0; i < s->fault_count; i++) {
		const struct fault_spec *fault = &s->faults[i];
		size_t before = h->count;

		if (!fault->sound)
			continue;
		for (uint32_t l = 0; l < f->net.link_count; l++)
			if (fabric_link_matches(f, l, fault->link) && add_hit(h, l, i))
				return -ENOMEM;
		if (h->count == before)
			report_no_fault_link(f, i, fault, diags);
	}
	return 0;
}

/* By link, kind and begin: what overlaps is then found in one pass. */
static int compare_hits(const void *a, const void *b, void *scenario)
{
	const struct scenario *s = scenario;
	const struct hit *x = a, *y = b;
	const struct fault_spec *fx = &s->faults[x->fault], *fy = &s->faults[y->fault];

	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	if (fx->kind != fy->kind)
		return fx->kind < fy->kind ? -1 : 1;
	if (fx->at_ps != fy->at_ps)
		return fx->at_ps < fy->at_ps ? -1 : 1;
	return x->fault < y->fault ? -1 : x->fault > y->fault;
}

static void report_overlap(const struct fabric *f, const struct scenario *s, uint32_t link,
	uint32_t one, uint32_t two, struct diags *diags)
{
	const struct fault_spec *first = &s->faults[one < two ? one : two];
	const struct fault_spec *second = &s->faults[one < two ? two : one];
	const char *kind = first->kind == FAULT_LINK_DOWN ? "down" : "rate";
	char name[LINK_NAME], from[UNITS_TEXT], until[UNITS_TEXT];

	if (first->until_ps == UINT64_MAX)
		strcpy(until, "for good");
	else
		format_time(until, first->until_ps);
	diags_add(diags, second->pos,
		"faults.%u: this \"%s\" overlaps the one in line %u on link %s (that one: %s, %s%s); keep their times apart, or merge them",
		one < two ? two : one, kind, first->pos.line, fabric_link_name(f, link, name),
		format_time(from, first->at_ps), first->until_ps == UINT64_MAX ? "" : "until ",
		until);
}

/* One message a pair of faults at most: on its first link, and each fault as the later one once. */
static void report_overlaps(const struct fabric *f, const struct scenario *s, const struct hits *h,
	bool *reported, struct diags *diags)
{
	uint32_t last = 0; /* of this link and kind, the fault that ends last so far */

	for (size_t i = 0; i < h->count; i++) {
		const struct hit *hit = &h->items[i];
		const struct fault_spec *fault = &s->faults[hit->fault];
		bool same = i && h->items[i - 1].link == hit->link &&
			    s->faults[h->items[i - 1].fault].kind == fault->kind;

		if (!same) {
			last = hit->fault;
			continue;
		}
		if (fault->at_ps < s->faults[last].until_ps && !reported[hit->fault]) {
			reported[hit->fault] = true;
			report_overlap(f, s, hit->link, last, hit->fault, diags);
		}
		if (fault->until_ps > s->faults[last].until_ps)
			last = hit->fault;
	}
}

static int check_faults(const struct fabric *f, const struct scenario *s, struct diags *diags)
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

int check_scenario(const struct fabric *f, const struct scenario *s, struct diags *diags)
{
	check_workloads(f, s, diags);
	return check_faults(f, s, diags);
}
