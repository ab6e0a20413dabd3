/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes by their next event: a binary heap that knows each node's place in it, so that a node
 * moves as its next event does. Ties go to the lower node, whatever was done before.
 */
#include <stdlib.h>
#include "engine/internal.h"

static bool item_before(const struct schedule_item *a, const struct schedule_item *b)
{
	return a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->node < b->node);
}

static void place(struct engine *e, uint32_t slot, struct schedule_item item)
{
	e->schedule[slot] = item;
	e->nodes[item.node].schedule_slot = slot;
}

static void sift_up(struct engine *e, uint32_t slot, struct schedule_item item)
{
	while (slot) {
		uint32_t parent = (slot - 1) / 2;

		if (!item_before(&item, &e->schedule[parent]))
			break;
		place(e, slot, e->schedule[parent]);
		slot = parent;
	}
	place(e, slot, item);
}

static void sift_down(struct engine *e, uint32_t slot, struct schedule_item item)
{
	for (;;) {
		uint32_t child = 2 * slot + 1;

		if (child >= e->node_count)
			break;
		if (child + 1 < e->node_count &&
			item_before(&e->schedule[child + 1], &e->schedule[child]))
			child++;
		if (!item_before(&e->schedule[child], &item))
			break;
		place(e, slot, e->schedule[child]);
		slot = child;
	}
	place(e, slot, item);
}

void schedule_init(struct engine *e)
{
	for (uint32_t i = 0; i < e->node_count; i++)
		place(e, i, (struct schedule_item){UINT64_MAX, i});
}

void schedule_update(struct engine *e, struct engine_node *n)
{
	struct schedule_item item = {node_next(n), node_index(e, n)};
	uint32_t slot = n->schedule_slot;

	if (item.time_ps < e->schedule[slot].time_ps)
		sift_up(e, slot, item);
	else
		sift_down(e, slot, item);
}

uint64_t engine_next(const struct engine *e)
{
	return e->schedule[0].time_ps;
}

int engine_reserve_events(struct engine_node *n, uint32_t more)
{
	uint32_t capacity = n->events.capacity;
	struct event *items;

	while (capacity < n->events.count + more)
		capacity *= 2;
	if (capacity == n->events.capacity)
		return 0;
	items = realloc(n->events.items, capacity * sizeof(*items));
	if (!items)
		return -ENOMEM;
	n->events.items = items;
	n->events.capacity = capacity;
	return 0;
}
