/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RING_H
#define FABRICBED_RING_H

/*
 * A bitmap over a moving range of sequence numbers: the bit of n is n modulo its length, a power of
 * two and at least 64. Ranges are half open and no longer than the ring; the work is by words.
 */
#include <stdbool.h>
#include <stdint.h>

struct ring {
	uint64_t *words;
	uint32_t bits;
};

static inline uint32_t ring_words(uint32_t bits)
{
	return bits / 64;
}

static inline uint64_t *ring_word(const struct ring *r, uint32_t n)
{
	return &r->words[(n & (r->bits - 1)) / 64];
}

static inline bool ring_test(const struct ring *r, uint32_t n)
{
	return *ring_word(r, n) >> (n % 64) & 1;
}

static inline void ring_set(const struct ring *r, uint32_t n)
{
	*ring_word(r, n) |= 1ull << (n % 64);
}

static inline void ring_clear(const struct ring *r, uint32_t n)
{
	*ring_word(r, n) &= ~(1ull << (n % 64));
}

/* The bits of n's word that lie in n..end-1, and in *ret_next where the next word starts. */
static inline uint64_t ring_span(uint32_t n, uint32_t end, uint32_t *ret_next)
{
	uint32_t low = n % 64, room = 64 - low, left = end - n;
	uint32_t count = left < room ? left : room;

	*ret_next = n + count;
	return (~0ull >> (64 - count)) << low;
}

/* Clears the range; returns how many bits were set. */
static inline uint32_t ring_clear_range(const struct ring *r, uint32_t from, uint32_t end)
{
	uint32_t cleared = 0;

	for (uint32_t n = from, next; n < end; n = next) {
		uint64_t mask = ring_span(n, end, &next), *word = ring_word(r, n);

		cleared += (uint32_t)__builtin_popcountll(*word & mask);
		*word &= ~mask;
	}
	return cleared;
}

/* The first n of the range whose bit is set, or end. */
static inline uint32_t ring_first_set(const struct ring *r, uint32_t from, uint32_t end)
{
	for (uint32_t n = from, next; n < end; n = next) {
		uint64_t found = *ring_word(r, n) & ring_span(n, end, &next);

		if (found)
			return n - n % 64 + (uint32_t)__builtin_ctzll(found);
	}
	return end;
}

/* The first n of the range whose bit is clear, or end. */
static inline uint32_t ring_first_clear(const struct ring *r, uint32_t from, uint32_t end)
{
	for (uint32_t n = from, next; n < end; n = next) {
		uint64_t found = ~*ring_word(r, n) & ring_span(n, end, &next);

		if (found)
			return n - n % 64 + (uint32_t)__builtin_ctzll(found);
	}
	return end;
}

/* The 64 bits from n on; the ring has at least 128. */
static inline uint64_t ring_read64(const struct ring *r, uint32_t n)
{
	uint32_t low = n % 64;
	uint64_t bits = *ring_word(r, n) >> low;

	return low ? bits | *ring_word(r, n + 64) << (64 - low) : bits;
}

/* Changes the 64 bits from n on: sets those in `set`, or clears them. Returns how many changed. */
static inline uint32_t ring_write64(const struct ring *r, uint32_t n, uint64_t bits, bool set)
{
	uint32_t low = n % 64;
	uint64_t parts[2] = {bits << low, low ? bits >> (64 - low) : 0};
	uint32_t changed = 0;

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t *word = ring_word(r, n + 64 * i);
		uint64_t after = set ? *word | parts[i] : *word & ~parts[i];

		changed += (uint32_t)__builtin_popcountll(*word ^ after);
		*word = after;
	}
	return changed;
}

#endif
