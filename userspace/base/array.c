/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/array.h"

#include <stdlib.h>

void *array_room(void *items, size_t count, size_t size)
{
	if (items && (count & (count - 1)))
		return items;
	return reallocarray(items, count ? 2 * count : 1, size);
}
