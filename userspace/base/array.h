/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ARRAY_H
#define FABRICBED_ARRAY_H

/*
 * A growable array is a pointer and a count, both zero at first. It has room for the next power of
 * two, so that no capacity has to be kept: it grows when the count is a power of two. All items
 * must have been added by this.
 *
 *	struct hit *hits = NULL;
 *	size_t count = 0;
 *
 *	if (ARRAY_ADD(hits, count, (struct hit){target, fault}) < 0)
 *		return -ENOMEM;
 */
#include <errno.h>
#include <stddef.h>

/*
 * The array with room for one more item of that size behind count. NULL: no memory, and the array
 * is as it was.
 */
void *array_room(void *items, size_t count, size_t size);

/* Makes room for one more item, which the caller stores and counts. 0 or -ENOMEM. */
#define ARRAY_ROOM(items, count)                                                                   \
	({                                                                                         \
		void *array_room_ = array_room((items), (count), sizeof(*(items)));                \
                                                                                                   \
		if (array_room_)                                                                   \
			(items) = array_room_;                                                     \
		array_room_ ? 0 : -ENOMEM;                                                         \
	})

/* Appends an item and counts it. 0 or -ENOMEM. */
#define ARRAY_ADD(items, count, ...)                                                               \
	({                                                                                         \
		int array_add_ = ARRAY_ROOM(items, count);                                         \
                                                                                                   \
		if (array_add_ == 0)                                                               \
			(items)[(count)++] = (__VA_ARGS__);                                        \
		array_add_;                                                                        \
	})

#endif
