/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/reserve.h"

#include <sys/mman.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)

uint8_t *reserve_new(size_t bytes)
{
	uint8_t *base = mmap(0, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return base == MAP_FAILED ? NULL : base;
}

void reserve_free(uint8_t *from, size_t bytes)
{
	if (from)
		munmap(from, bytes);
}

void reserve_give_back(uint8_t *from, size_t bytes)
{
	madvise(from, bytes, MADV_DONTNEED);
}

void reserve_want_huge_pages(uint8_t *from, size_t bytes)
{
	uintptr_t start = ((uintptr_t)from + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);

	madvise((void *)(start + HUGE_PAGE), bytes - 2 * HUGE_PAGE, MADV_HUGEPAGE);
}
