/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WIRETIME_H
#define FABRICBED_WIRETIME_H

/*
 * How long frames are, and how long they occupy a link. Frame lengths run from Ethernet header to
 * ICRC.
 */
#include <stdbool.h>
#include <stdint.h>
#include "abi/wire.h"
#include "base/units.h"

/*
 * Byte times that a frame takes on its link: FCS, padding, preamble and gap included (abi/wire.h).
 */
static inline uint64_t wire_bytes(uint32_t frame_len)
{
	uint64_t n = (uint64_t)frame_len + ETH_FCS_BYTES;

	return (n < ETH_MIN_BYTES ? ETH_MIN_BYTES : n) + ETH_LEAD_BYTES;
}

/*
 * Picoseconds from the first bit of a frame to the end of its gap; rounded up where the rate does
 * not divide. rate_bps: not 0. The product stays within 64 bits for frames up to 2 MB.
 */
static inline uint64_t serialise_ps(uint32_t frame_len, uint64_t rate_bps)
{
	uint64_t bits_ps = wire_bytes(frame_len) * 8 * PS_PER_S;

	return bits_ps / rate_bps + (bits_ps % rate_bps != 0);
}

/* Picoseconds of so many bytes, with nothing around them, rounded down. A rate of 0: for ever. */
static inline uint64_t bytes_ps(uint64_t bytes, uint64_t rate_bps)
{
	unsigned __int128 ps = (unsigned __int128)bytes * 8 * PS_PER_S;

	if (!rate_bps || ps / rate_bps > UINT64_MAX)
		return bytes ? UINT64_MAX : 0;
	return (uint64_t)(ps / rate_bps);
}

/*
 * Time of PFC_BITS at a rate, in 256ths of a picosecond: the unit of pauses (802.3, annex 31D).
 * From 1 kbps on the longest pause, 65535 of them, fits 64 bits.
 */
static inline uint64_t pfc_quantum(uint64_t rate_bps)
{
	return (PFC_BITS * PS_PER_S * 256 + rate_bps / 2) / rate_bps;
}

/* What a frame has beside the BTH's extension and the payload. */
static inline uint32_t frame_overhead(bool ip6)
{
	return (uint32_t)(sizeof(struct eth_hdr) +
			  (ip6 ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr)) +
			  sizeof(struct udp_hdr) + sizeof(struct bth_hdr) + ICRC_BYTES);
}

/* A STrack data frame with that much payload. */
static inline uint32_t data_frame_bytes(uint32_t payload, bool ip6)
{
	return frame_overhead(ip6) + (uint32_t)sizeof(struct strack_data) + payload;
}

static inline uint32_t sack_frame_bytes(bool ip6)
{
	return frame_overhead(ip6) + (uint32_t)sizeof(struct strack_sack);
}

#endif
