/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/capture_order.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ITEMS 256
#define FIRST_BYTES 65536

struct capture_item {
	struct capture_frame frame; /* its bytes are at `offset`: they move as more come */
	size_t offset, number;
};

static int compare_items(const void *x, const void *y)
{
	const struct capture_item *a = x, *b = y;

	if (a->frame.at_ps != b->frame.at_ps)
		return a->frame.at_ps < b->frame.at_ps ? -1 : 1;
	if (a->frame.port != b->frame.port)
		return a->frame.port < b->frame.port ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Room for one more frame. */
static bool reserve(struct capture_order *o, size_t bytes)
{
	size_t capacity = o->capacity ? o->capacity : FIRST_ITEMS;
	size_t room = o->room ? o->room : FIRST_BYTES;

	if (o->count == o->capacity) {
		struct capture_item *items;

		if (o->capacity)
			capacity *= 2;
		items = reallocarray(o->items, capacity, sizeof(*items));
		if (!items)
			return false;
		o->items = items;
		o->capacity = capacity;
	}
	while (room < o->used + bytes)
		room *= 2;
	if (room != o->room) {
		uint8_t *more = realloc(o->bytes, room);

		if (!more)
			return false;
		o->bytes = more;
		o->room = room;
	}
	return true;
}

void capture_order_add(struct capture_order *o, const struct capture_frame *f)
{
	if (!reserve(o, f->captured)) {
		capture_order_flush(o);
		o->take(o->arg, f);
		return;
	}
	memcpy(o->bytes + o->used, f->bytes, f->captured);
	o->items[o->count] = (struct capture_item){*f, o->used, o->count};
	o->count++;
	o->used += f->captured;
}

void capture_order_flush(struct capture_order *o)
{
	if (!o->count)
		return;
	qsort(o->items, o->count, sizeof(*o->items), compare_items);
	for (size_t i = 0; i < o->count; i++) {
		o->items[i].frame.bytes = o->bytes + o->items[i].offset;
		o->take(o->arg, &o->items[i].frame);
	}
	o->count = 0;
	o->used = 0;
}

void capture_order_release(struct capture_order *o)
{
	free(o->items);
	free(o->bytes);
	o->items = NULL;
	o->bytes = NULL;
	o->count = o->capacity = o->used = o->room = 0;
}
