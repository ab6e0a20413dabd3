/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EVENT_HEAP_H
#define FABRICBED_EVENT_HEAP_H

/*
 * Events of one node, earliest first. At the same time a line that becomes idle goes before an
 * arrival, which may need the buffer space, and arrivals go in an order drawn by a hash of time and
 * port: fair to all ports, and independent of the order in which they were armed. A 4-ary heap: the
 * children of a node share a cache line. A port arms at most three events (with PFC), so that a
 * switch's heap stays in the L1 cache.
 */
#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EVENT_TX_DONE, /* the last bit left port `index` of the node */
	EVENT_ARRIVE,  /* the head of the wire towards port `index` of the node */
	EVENT_TIMER,   /* endpoint `index` of the engine */
	EVENT_START,   /* flow `index` of the engine begins */
	EVENT_PAUSE,   /* what is due at port `index` of the node: see pause.c */
};

struct event {
	uint64_t time_ps;
	uint64_t key; /* kind 3, tie-break 30, index 31 bits: from high to low */
};

struct event_heap {
	struct event *items;
	uint32_t count, capacity;
	bool hole; /* the earliest is being handled: the next push takes its place */
};

static inline enum event_kind event_kind(const struct event *e)
{
	return (enum event_kind)(e->key >> 61);
}

static inline uint32_t event_index(const struct event *e)
{
	return (uint32_t)e->key & 0x7fffffff;
}

/* Events that are drawn with the same number go in the order of their indices. */
static inline struct event event_make_drawn(
	uint64_t time_ps, enum event_kind kind, uint32_t index, uint32_t drawn)
{
	uint32_t tie = ((uint32_t)time_ps ^ drawn * 0x85ebca6bu) * 0x9e3779b1u;

	return (struct event){time_ps, (uint64_t)kind << 61 | (uint64_t)(tie >> 2) << 31 | index};
}

static inline struct event event_make(uint64_t time_ps, enum event_kind kind, uint32_t index)
{
	return event_make_drawn(time_ps, kind, index, index);
}

/* As one number of 128 bits, so that no branch depends on which half decides. */
static inline bool event_before(const struct event *a, const struct event *b)
{
	return ((unsigned __int128)a->time_ps << 64 | a->key) <
	       ((unsigned __int128)b->time_ps << 64 | b->key);
}

/* The earlier of two, chosen without a branch: which one it is can't be foreseen. */
static inline uint32_t event_earlier(const struct event_heap *h, uint32_t a, uint32_t b)
{
	return event_before(&h->items[b], &h->items[a]) ? b : a;
}

/* The earliest of item i's children, of which there is one at least. */
static inline uint32_t event_heap_child(const struct event_heap *h, uint32_t i)
{
	uint32_t child = 4 * i + 1, best = child;

	if (child + 4 <= h->count)
		return event_earlier(h, event_earlier(h, child, child + 1),
			event_earlier(h, child + 2, child + 3));
	while (++child < h->count)
		best = event_earlier(h, best, child);
	return best;
}

/* Puts e in the place of the earliest. */
static inline void event_heap_replace_top(struct event_heap *h, struct event e)
{
	uint32_t i = 0;

	while (4 * i + 1 < h->count) {
		uint32_t best = event_heap_child(h, i);

		if (!event_before(&h->items[best], &e))
			break;
		h->items[i] = h->items[best];
		i = best;
	}
	h->items[i] = e;
}

/* Room must be there. */
static inline void event_heap_push(struct event_heap *h, struct event e)
{
	uint32_t i = h->count;

	if (h->hole) {
		h->hole = false;
		event_heap_replace_top(h, e);
		return;
	}
	h->count++;
	while (i) {
		uint32_t parent = (i - 1) / 4;

		if (!event_before(&e, &h->items[parent]))
			break;
		h->items[i] = h->items[parent];
		i = parent;
	}
	h->items[i] = e;
}

/*
 * The earliest event, taken out. Most events arm their successor: its push fills the hole in one
 * pass over the heap. event_heap_settle() must follow before the heap is looked at again.
 */
static inline struct event event_heap_take(struct event_heap *h)
{
	h->hole = true;
	return h->items[0];
}

static inline void event_heap_settle(struct event_heap *h)
{
	if (!h->hole)
		return;
	h->hole = false;
	if (--h->count)
		event_heap_replace_top(h, h->items[h->count]);
}

#endif
