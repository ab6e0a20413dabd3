/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/pool.h"

#include <errno.h>
#include <sys/mman.h>

/* Address space, not memory: more packets than any fabric keeps in flight. */
#define POOL_RESERVE (32ull << 30)
#define HUGE_PAGE    ((uintptr_t)2 << 20)

/*
 * Packets are visited at random: with small pages most visits of a large fabric would miss the TLB.
 * The first stretch keeps small ones, which are all that a small fabric touches: clearing a huge
 * page would take longer than the rest of its run.
 */
static void want_huge_pages(uint8_t *from, size_t bytes)
{
	uintptr_t start = ((uintptr_t)from + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);

	madvise((void *)(start + HUGE_PAGE), bytes - 2 * HUGE_PAGE, MADV_HUGEPAGE);
}

int packet_pool_init(struct packet_pool *p, uint32_t frame_capacity)
{
	size_t frame = packet_frame_bytes(frame_capacity);
	size_t count = POOL_RESERVE / packet_slot_bytes(frame_capacity);
	uint8_t *base;

	if (count > PACKET_NONE)
		count = PACKET_NONE;
	base = mmap(0, POOL_RESERVE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -ENOMEM;
	want_huge_pages(base, count * frame);
	want_huge_pages(base + count * frame, count * sizeof(struct packet));
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
