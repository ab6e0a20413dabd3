/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/timeline.h"

#include <errno.h>
#include <stdlib.h>

/* What each fault adds per link: its start, its end, and a reroute after each. */
#define ACTIONS_PER_LINK 4

/* At one time: first what ends, so that a link may go from one fault to the next; reroutes see it all. */
static int action_rank(const struct action *a)
{
	static const int rank[] = {
		[ACTION_LINK_UP] = 0,
		[ACTION_LINK_DOWN] = 1,
		[ACTION_LINK_RATE] = 1,
		[ACTION_REROUTE] = 2,
	};

	return rank[a->kind];
}

static int compare_actions(const void *x, const void *y)
{
	const struct action *a = x, *b = y;

	if (a->at_ps != b->at_ps)
		return a->at_ps < b->at_ps ? -1 : 1;
	if (action_rank(a) != action_rank(b))
		return action_rank(a) - action_rank(b);
	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	/* of two rates the full one is an end */
	return a->rate_bps > b->rate_bps ? -1 : a->rate_bps < b->rate_bps;
}

static void timeline_add(struct timeline *t, struct action a)
{
	if (a.at_ps != UINT64_MAX)
		t->items[t->count++] = a;
}

static uint64_t later(uint64_t at_ps, uint64_t delay_ps)
{
	return at_ps > UINT64_MAX - delay_ps ? UINT64_MAX : at_ps + delay_ps;
}

static void add_down(
	struct timeline *t, const struct scenario *s, const struct fault_spec *fault, uint32_t link)
{
	uint64_t reroute = s->sw.reroute_ps;

	timeline_add(t, (struct action){fault->at_ps, ACTION_LINK_DOWN, link, 0});
	timeline_add(t, (struct action){later(fault->at_ps, reroute), ACTION_REROUTE, 0, 0});
	timeline_add(t, (struct action){fault->until_ps, ACTION_LINK_UP, link, 0});
	timeline_add(t, (struct action){later(fault->until_ps, reroute), ACTION_REROUTE, 0, 0});
}

static void add_rate(
	struct timeline *t, const struct fabric *f, const struct fault_spec *fault, uint32_t link)
{
	uint64_t full = f->net.ports[f->links[link].a].rate_bps;
	uint64_t left = (uint64_t)((double)full * fault->share);

	timeline_add(t, (struct action){fault->at_ps, ACTION_LINK_RATE, link, left ? left : 1});
	timeline_add(t, (struct action){fault->until_ps, ACTION_LINK_RATE, link, full});
}

int timeline_init(struct timeline *t, const struct scenario *s, const struct fabric *f)
{
	size_t room = s->fault_count * f->net.link_count * ACTIONS_PER_LINK;
	size_t kept = 0;

	*t = (struct timeline)TIMELINE_INIT;
	t->items = calloc(room ? room : 1, sizeof(*t->items));
	if (!t->items)
		return -ENOMEM;
	for (size_t i = 0; i < s->fault_count; i++)
		for (uint32_t link = 0; link < f->net.link_count; link++) {
			if (!fabric_link_matches(f, link, s->faults[i].link))
				continue;
			if (s->faults[i].kind == FAULT_LINK_DOWN)
				add_down(t, s, &s->faults[i], link);
			else
				add_rate(t, f, &s->faults[i], link);
		}
	qsort(t->items, t->count, sizeof(*t->items), compare_actions);
	/* one reroute serves all links that changed at one time */
	for (size_t i = 0; i < t->count; i++)
		if (!kept || t->items[i].kind != ACTION_REROUTE ||
			t->items[kept - 1].kind != ACTION_REROUTE ||
			t->items[kept - 1].at_ps != t->items[i].at_ps)
			t->items[kept++] = t->items[i];
	t->count = kept;
	return 0;
}

void timeline_release(struct timeline *t)
{
	free(t->items);
	*t = (struct timeline)TIMELINE_INIT;
}

uint64_t timeline_next(const struct timeline *t)
{
	return t->next < t->count ? t->items[t->next].at_ps : UINT64_MAX;
}
