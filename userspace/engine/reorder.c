/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/reorder.h"

#include <errno.h>
#include "abi/wire.h"
#include "engine/reserve.h"

/* Address space, not memory, for all queue pairs that there can be: each has two numbers. */
#define HISTORIES       ((size_t)(BTH_MASK_24 + 1) / 2)
#define HISTORY_RESERVE (HISTORIES * sizeof(struct reorder_history))

int reorder_memory_init(struct reorder_memory *m)
{
	*m = (struct reorder_memory){
		.histories = (struct reorder_history *)reserve_new(HISTORY_RESERVE)};
	return m->histories ? 0 : -ENOMEM;
}

void reorder_memory_release(struct reorder_memory *m)
{
	reserve_free((uint8_t *)m->histories, HISTORY_RESERVE);
}

static void remember(struct reorder_history *h, uint32_t number, uint32_t arrival)
{
	h->latest[h->count % REORDER_EXTENT].number = number;
	h->latest[h->count++ % REORDER_EXTENT].arrival = arrival;
}

/* From the latest arrival on. */
static void begin(struct reorder_memory *m, struct reorder *r)
{
	uint32_t place = m->free_head;

	if (place)
		m->free_head = m->histories[place - 1].next;
	else
		place = ++m->fresh;
	r->history = place;
	m->histories[place - 1].count = 0;
	remember(&m->histories[place - 1], r->number, r->arrivals - 1);
}

static bool sent_later(const struct reorder_history *h, uint32_t i, uint32_t number)
{
	return (int32_t)(h->latest[i % REORDER_EXTENT].number - number) > 0;
}

static uint32_t extent(struct reorder_history *h, uint32_t number, uint32_t arrival)
{
	uint32_t first = h->count > REORDER_EXTENT ? h->count - REORDER_EXTENT : 0;
	uint32_t i = h->count;

	while (i > first && sent_later(h, i - 1, number))
		i--;
	if (i == h->count) {
		remember(h, number, arrival);
		return 0;
	}
	arrival -= h->latest[i % REORDER_EXTENT].arrival;
	return arrival < REORDER_EXTENT ? arrival : REORDER_EXTENT;
}

uint32_t reorder_take(struct reorder_memory *m, struct reorder *r, uint32_t number, uint32_t psn)
{
	bool continues = !r->arrivals || psn == ((r->psn + 1) & BTH_MASK_24);

	if (!r->history && !continues)
		begin(m, r);
	if (r->history)
		return extent(&m->histories[r->history - 1], number, r->arrivals++);
	r->arrivals++;
	r->number = number;
	r->psn = psn;
	return 0;
}

void reorder_close(struct reorder_memory *m, struct reorder *r)
{
	if (!r->history)
		return;
	m->histories[r->history - 1].next = m->free_head;
	m->free_head = r->history;
	r->history = 0;
}
