/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/workload.h"

#include <errno.h>
#include <stdlib.h>
#include "workload/list.h"

void messages_release(struct messages *m)
{
	free(m->items);
	*m = (struct messages)MESSAGES_INIT;
}

int messages_reserve(struct messages *m, size_t extra)
{
	struct message *items;
	size_t needed;

	if (extra >= MESSAGE_NONE - m->count)
		return -E2BIG;
	needed = m->count + extra;
	if (needed <= m->capacity)
		return 0;
	items = reallocarray(m->items, needed, sizeof(*items));
	if (!items)
		return -ENOMEM;
	m->items = items;
	m->capacity = needed;
	return 0;
}

void messages_add_rounds(struct messages *m, const struct workload_params *p, const uint32_t *src,
	const uint32_t *dst, size_t n)
{
	for (uint32_t round = 0; round < p->repeat; round++)
		for (size_t i = 0; i < n; i++, m->count++)
			m->items[m->count] = (struct message){
				.src_host = src[i],
				.dst_host = dst[i],
				.bytes = p->bytes,
				.start_ps = p->start_ps,
				.after = round ? (uint32_t)(m->count - n) : MESSAGE_NONE,
				.gap_ps = p->gap_ps,
			};
}
