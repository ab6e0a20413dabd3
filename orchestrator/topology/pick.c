/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "topology/pick.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/numbers.h"
#include "base/rng_stream.h"
#include "scenario/scenario.h"

static bool matches(const struct fabric *f, const struct fault_spec *fault, uint32_t target)
{
	if (fault->on == TARGET_LINK)
		return fabric_link_matches(f, target, fault->target);
	return (f->net.nodes[target].kind == NODE_SWITCH) == (fault->on == TARGET_SWITCH) &&
	       fabric_node_matches(f, target, fault->target);
}

/* The lower end of a link, or the node itself. */
static uint32_t lower_node(const struct fabric *f, enum fault_target on, uint32_t target)
{
	return on == TARGET_LINK ? f->net.ports[f->links[target].a].node : target;
}

/* A host's is the one that it hangs on. */
static uint32_t switch_of(const struct fabric *f, uint32_t node)
{
	const struct net *net = &f->net;

	if (node >= net->host_count)
		return node;
	return net->ports[net->ports[net->nodes[node].first_port].peer].node;
}

static uint32_t group_of(
	const struct fabric *f, const struct pods *pods, const struct fault_spec *fault, uint32_t t)
{
	uint32_t node = lower_node(f, fault->on, t);

	switch (fault->pick.per) {
	case PICK_PER_POD:
		return pods->of[node];
	case PICK_PER_SWITCH:
		return switch_of(f, node);
	default:
		return 0;
	}
}

static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

static int compare_targets(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return a->target < b->target ? -1 : a->target > b->target;
}

/* By group and rank, and what is taken by target. */
static void draw(struct pick *p, const struct fault_spec *fault)
{
	struct pick_group g;

	qsort(p->items, p->count, sizeof(*p->items), compare_candidates);
	for (size_t i = 0; i < p->count; i = g.end) {
		g = pick_group(p, fault, i);
		qsort(p->items + g.taken, g.taken_end - g.taken, sizeof(*p->items),
			compare_targets);
	}
}

int pick_init(
	struct pick *ret, const struct fabric *f, uint64_t seed, const struct fault_spec *fault)
{
	uint32_t end = fault->on == TARGET_LINK ? f->net.link_count : f->net.node_count;
	uint64_t order = rng_stream(rng_stream(seed, "pick", fault->on), fault->target, 0);
	struct pick p = {.pods = PODS_INIT};
	int r = fault->pick.per == PICK_PER_POD ? pods_init(&p.pods, f) : 0;

	for (uint32_t t = 0; r == 0 && t < end; t++)
		if (matches(f, fault, t))
			r = ARRAY_ADD(p.items, p.count,
				(struct candidate){t, group_of(f, &p.pods, fault, t),
					rng_mix(order ^ rng_mix(t))});
	if (r < 0) {
		pick_release(&p);
		return r;
	}
	if (fault->pick.per != PICK_ALL && p.count)
		draw(&p, fault);
	*ret = p;
	return 0;
}

void pick_release(struct pick *p)
{
	free(p->items);
	pods_release(&p->pods);
	*p = (struct pick){.pods = PODS_INIT};
}

struct pick_group pick_group(const struct pick *p, const struct fault_spec *fault, size_t first)
{
	struct pick_group g = {.first = first, .end = first + 1};

	while (g.end < p->count && p->items[g.end].group == p->items[first].group)
		g.end++;
	if (fault->pick.per == PICK_ALL) {
		g.taken = first;
		g.taken_end = g.end;
	} else {
		g.taken = min_u64(first + fault->pick.skip, g.end);
		g.taken_end = min_u64(g.taken + fault->pick.count, g.end);
	}
	return g;
}

const char *pick_group_name(const struct fabric *f, const struct pick *p,
	const struct fault_spec *fault, uint32_t group, char buf[POD_NAME])
{
	if (fault->pick.per == PICK_PER_POD)
		return pod_name(f, &p->pods, group, buf);
	return strcpy(buf, f->nodes[group].name);
}

static int compare_u32(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

int fault_targets(const struct fabric *f, uint64_t seed, const struct fault_spec *fault,
	uint32_t **ret, size_t *ret_count)
{
	struct pick p;
	struct pick_group g;
	uint32_t *targets;
	size_t count = 0;
	int r = pick_init(&p, f, seed, fault);

	if (r < 0)
		return r;
	targets = calloc(p.count + 1, sizeof(*targets));
	for (size_t i = 0; targets && i < p.count; i = g.end) {
		g = pick_group(&p, fault, i);
		for (size_t n = g.taken; n < g.taken_end; n++)
			targets[count++] = p.items[n].target;
	}
	pick_release(&p);
	if (!targets)
		return -ENOMEM;
	if (fault->pick.per != PICK_ALL)
		qsort(targets, count, sizeof(*targets), compare_u32);
	*ret = targets;
	*ret_count = count;
	return 0;
}
