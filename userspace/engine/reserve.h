/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RESERVE_H
#define FABRICBED_RESERVE_H

/* Address space that the system backs with memory, zeroed, as it is first used. */
#include <stddef.h>
#include <stdint.h>

/* NULL: there is none. */
uint8_t *reserve_new(size_t bytes);

/* NULL is fine. */
void reserve_free(uint8_t *from, size_t bytes);

/* Whole pages of it: they are zero again, and take no memory until they are used. */
void reserve_give_back(uint8_t *from, size_t bytes);

/*
 * For items that are visited at random: with small pages most visits of a large fabric would miss
 * the TLB. The first stretch keeps small ones, which are all that a small fabric touches: clearing
 * a huge page would take longer than the rest of its run. bytes: at least 4 MB.
 */
void reserve_want_huge_pages(uint8_t *from, size_t bytes);

#endif
