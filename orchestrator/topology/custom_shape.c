/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */

/* Nodes and links as the scenario lists them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/scenario.h"
#include "topology/shape.h"
#include "topology/topology_kind.h"

#define WHERE "topology.custom"

/* A node's name and its index, sorted by name. */
struct named {
	const struct custom_node *spec;
	uint32_t node;
};

struct reader {
	const struct topology_spec *t;
	const struct custom *o;
	struct shape *s;
	struct diags *diags;
	struct named *names;
	const char **words; /* all names, for suggestions */
	uint32_t *degree;   /* links of each node */
	uint32_t *part;     /* union of what links join */
	uint32_t count;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->spec->name, y->spec->name);

	return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

static const struct custom_node *spec_of(const struct reader *r, uint32_t node)
{
	return node < r->o->host_count ? &r->o->hosts[node]
				       : &r->o->switches[node - r->o->host_count];
}

static void read_names(struct reader *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		strcpy(r->s->nodes[i].name, spec_of(r, i)->name);
		r->names[i] = (struct named){spec_of(r, i), i};
		r->words[i] = spec_of(r, i)->name;
		r->part[i] = i;
	}
	qsort(r->names, r->count, sizeof(*r->names), compare_named);
}

static bool find(const struct reader *r, const char *name, struct diag_pos pos, uint32_t *ret)
{
	const struct custom_node key_spec = {.name = (char *)name};
	const struct named key = {&key_spec, 0};
	uint32_t low = 0, high = r->count;
	char hint[DIAG_HINT];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_named(&r->names[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < r->count && !strcmp(r->names[low].spec->name, name)) {
		*ret = r->names[low].node;
		return true;
	}
	diags_add(r->diags, pos, WHERE ".links: there is no node '%s'%s", name,
		diag_hint(hint, name, r->words, r->count, ""));
	return false;
}

static uint32_t part_of(struct reader *r, uint32_t node)
{
	while (r->part[node] != node) {
		r->part[node] = r->part[r->part[node]];
		node = r->part[node];
	}
	return node;
}

static void read_link(struct reader *r, const struct custom_link *link)
{
	struct shape *s = r->s;
	uint32_t a, b;
	bool found_a = find(r, link->a, link->pos, &a);
	bool found_b = find(r, link->b, link->pos, &b);

	if (!found_a || !found_b)
		return;
	if (a < s->host_count && b < s->host_count) {
		diags_add(r->diags, link->pos,
			WHERE ".links: \"%s\" and \"%s\" are both hosts; put a switch between them",
			link->a, link->b);
		return;
	}
	r->degree[a]++;
	r->degree[b]++;
	r->part[part_of(r, a)] = part_of(r, b);
	shape_link(s, r->t, a, b);
	if (link->rate_bps)
		s->links[s->link_count - 1].rate_bps = link->rate_bps;
	if (link->delay_ps != UINT64_MAX)
		s->links[s->link_count - 1].delay_ps = link->delay_ps;
}

static void check_degrees(struct reader *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct custom_node *spec = spec_of(r, i);

		if (i < r->s->host_count && r->degree[i] != 1)
			diags_add(r->diags, spec->pos,
				WHERE ".hosts: \"%s\" has %u links; a host has exactly one",
				spec->name, r->degree[i]);
		else if (!r->degree[i])
			diags_add(r->diags, spec->pos, WHERE ".switches: \"%s\" has no link",
				spec->name);
		else if (r->degree[i] > SWITCH_PORTS_MAX)
			diags_add(r->diags, spec->pos,
				WHERE ".switches: \"%s\" has %u links; a switch has at most %u",
				spec->name, r->degree[i], SWITCH_PORTS_MAX);
	}
}

/* One message for all that cannot be reached: a missing link cuts off many. */
static void check_parts(struct reader *r)
{
	uint32_t cut_off = 0, first = 0;

	for (uint32_t i = 1; i < r->count; i++) {
		if (part_of(r, i) == part_of(r, 0))
			continue;
		if (!cut_off++)
			first = i;
	}
	if (cut_off == 1)
		diags_add(r->diags, spec_of(r, first)->pos,
			WHERE ".links: no path joins \"%s\" and \"%s\"", spec_of(r, first)->name,
			spec_of(r, 0)->name);
	else if (cut_off)
		diags_add(r->diags, spec_of(r, first)->pos,
			WHERE ".links: no path joins \"%s\" and %u other nodes with \"%s\"",
			spec_of(r, first)->name, cut_off - 1, spec_of(r, 0)->name);
}

/* Tier 1 bears hosts; any other switch is one above its lowest neighbour. Lowers the links' `a`. */
static int set_tiers(struct shape *s)
{
	uint32_t nodes = s->host_count + s->switch_count;
	uint32_t *first = calloc((size_t)nodes + 2, sizeof(*first));
	uint32_t *peers = calloc(2 * (size_t)s->link_count + 1, sizeof(*peers));
	uint32_t *queue = calloc((size_t)nodes + 1, sizeof(*queue));
	uint32_t count = 0;

	if (!first || !peers || !queue) {
		free(first);
		free(peers);
		free(queue);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->link_count; i++) {
		first[s->links[i].a + 2]++;
		first[s->links[i].b + 2]++;
	}
	for (uint32_t i = 2; i < nodes + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < s->link_count; i++) {
		peers[first[s->links[i].a + 1]++] = s->links[i].b;
		peers[first[s->links[i].b + 1]++] = s->links[i].a;
	}
	while (count < s->host_count) {
		queue[count] = count;
		count++;
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t p = first[queue[i]]; p < first[queue[i] + 1]; p++) {
			uint32_t peer = peers[p];

			if (peer < s->host_count || s->nodes[peer].tier)
				continue;
			s->nodes[peer].tier = s->nodes[queue[i]].tier + 1;
			queue[count++] = peer;
		}
	}
	free(first);
	free(peers);
	free(queue);
	return 0;
}

static void lower_end_first(struct shape *s)
{
	for (uint32_t i = 0; i < s->link_count; i++) {
		struct shape_link *link = &s->links[i];
		uint32_t a = link->a;

		if (s->nodes[a].tier <= s->nodes[link->b].tier)
			continue;
		link->a = link->b;
		link->b = a;
	}
}

static bool check_counts(const struct custom *o, struct diag_pos pos, struct diags *diags)
{
	if (o->host_count < 2)
		diags_add(diags, pos, WHERE ".hosts: %zu; at least two are needed", o->host_count);
	else if (o->link_count > PORTS_MAX / 2)
		diags_add(
			diags, pos, WHERE ".links: %zu; at most %u", o->link_count, PORTS_MAX / 2);
	else if (o->host_count > PORTS_MAX / 2 || o->switch_count > PORTS_MAX / 2)
		diags_add(diags, pos, WHERE ": %zu hosts and %zu switches; at most %u of each",
			o->host_count, o->switch_count, PORTS_MAX / 2);
	else
		return true;
	return false;
}

static void read_all(struct reader *r)
{
	size_t before = r->diags->count;

	read_names(r);
	for (size_t i = 0; i < r->o->link_count; i++)
		read_link(r, &r->o->links[i]);
	/* A link that was not understood leaves its nodes with too few: one message is enough. */
	if (r->diags->count != before)
		return;
	check_degrees(r);
	if (r->diags->count == before)
		check_parts(r);
}

int custom_shape(struct shape *s, const struct topology_spec *t, struct diags *diags)
{
	const struct custom *o = t->options;
	struct reader r = {.t = t, .o = o, .s = s, .diags = diags};
	size_t before = diags->count;
	int err = -ENOMEM;

	if (!check_counts(o, t->pos, diags))
		return 0;
	r.count = (uint32_t)(o->host_count + o->switch_count);
	r.names = calloc(r.count, sizeof(*r.names));
	r.words = calloc(r.count, sizeof(*r.words));
	r.degree = calloc(r.count, sizeof(*r.degree));
	r.part = calloc(r.count, sizeof(*r.part));
	if (r.names && r.words && r.degree && r.part)
		err = shape_alloc(s, (uint32_t)o->host_count, (uint32_t)o->switch_count,
			(uint32_t)o->link_count);
	if (!err) {
		read_all(&r);
		if (diags->count == before)
			err = set_tiers(s);
		if (err || diags->count != before)
			shape_release(s);
		else
			lower_end_first(s);
	}
	free(r.names);
	free(r.words);
	free(r.degree);
	free(r.part);
	return err;
}
