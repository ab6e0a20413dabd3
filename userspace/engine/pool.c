/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/pool.h"

#include <errno.h>
#include <sys/mman.h>
#include "engine/reserve.h"

/* Address space, not memory: more packets than any fabric keeps in flight. */
#define POOL_RESERVE (32ull << 30)

int packet_pool_init(struct packet_pool *p, uint32_t frame_capacity)
{
	size_t frame = packet_frame_bytes(frame_capacity);
	size_t count = POOL_RESERVE / packet_slot_bytes(frame_capacity);
	uint8_t *base;

	if (count > PACKET_NONE)
		count = PACKET_NONE;
	base = reserve_new(POOL_RESERVE);
	if (!base)
		return -ENOMEM;
	reserve_want_huge_pages(base, count * frame);
	reserve_want_huge_pages(base + count * frame, count * sizeof(struct packet));
	*p = (struct packet_pool){
		.frames = base,
		.packets = (struct packet *)(base + count * frame),
		.frame_bytes = frame,
		.reserved_bytes = POOL_RESERVE,
		.capacity = (uint32_t)count,
		.free_head = PACKET_NONE,
	};
	return 0;
}

void packet_pool_release(struct packet_pool *p)
{
	if (p->frames)
		reserve_free(p->frames, p->reserved_bytes);
	p->frames = 0;
}
