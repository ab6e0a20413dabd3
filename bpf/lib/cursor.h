/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_CURSOR_H
#define FABRICBED_LIB_CURSOR_H

#include "lib/compiler.h"

/* Walks a frame; every byte it gives out was checked to be there. */
struct cursor {
	void *pos;
	void *end;
};

/*
 * The next `size` bytes (a constant, for the verifier), or NULL if the frame is shorter. Check each
 * pull before the next: clang (19 does) may else fold two checks into one that the verifier does
 * not follow.
 */
static __always_inline void *cursor_pull(struct cursor *c, __u32 size)
{
	void *here = c->pos;

	if (here + size > c->end)
		return 0;
	c->pos = here + size;
	return here;
}

#endif
