/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FNV_H
#define FABRICBED_FNV_H

/* FNV-1a of 64 bits (Fowler, Noll, Vo), for text: fast, and not against malice. */
#include <stddef.h>
#include <stdint.h>

static inline uint64_t fnv_hash(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ull;
	return hash;
}

#endif
