/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A message's payload bytes: byte i of flow f is a function of both, so that a byte that is lost,
 * duplicated, moved or from another flow is detected wherever it arrives.
 */
#include "engine/internal.h"

static uint8_t payload_byte(uint32_t flow, uint64_t offset)
{
	return (uint8_t)(rng_mix((uint64_t)flow << 40 ^ offset >> 3) >> (offset & 7) * 8);
}

void payload_fill(uint8_t *bytes, uint32_t flow, uint64_t offset, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		bytes[i] = payload_byte(flow, offset + i);
}

bool payload_matches(const uint8_t *bytes, uint32_t flow, uint64_t offset, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (bytes[i] != payload_byte(flow, offset + i))
			return false;
	return true;
}
