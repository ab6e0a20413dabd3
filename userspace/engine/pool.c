/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/pool.h"

#include <errno.h>
#include <sys/mman.h>

/* Address space, not memory: more packets than any fabric keeps in flight. */
#define POOL_RESERVE (32ull << 30)
#define CACHE_LINE   64

int packet_pool_init(struct packet_pool *p, uint32_t frame_capacity)
{
	size_t frame = (sizeof(struct frame) + frame_capacity + CACHE_LINE - 1) &
		       ~(size_t)(CACHE_LINE - 1);
	size_t count = POOL_RESERVE / (frame + sizeof(struct packet));
	uint8_t *base;

	if (count > PACKET_NONE)
		count = PACKET_NONE;
	base = mmap(0, POOL_RESERVE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	/* packets are visited at random: with small pages most visits would miss the TLB */
	madvise(base, POOL_RESERVE, MADV_HUGEPAGE);
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
		munmap(p->frames, p->reserved_bytes);
	p->frames = 0;
}
