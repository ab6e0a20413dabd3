/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LIB_CHECKSUM_H
#define FABRICBED_LIB_CHECKSUM_H

/* The Internet checksum (RFC 1071); sums are taken in memory's byte order, which it allows. */
#include "lib/compiler.h"
#include "abi/wire.h"

static __always_inline __u16 checksum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)sum;
}

/* The sum over a header without options; 0xffff if its checksum field is right. */
static __always_inline __u16 checksum_ip4(const struct ip4_hdr *ip)
{
	struct words {
		__u32 w[5];
	} __attribute__((packed, may_alias));
	const struct words *h = (const struct words *)ip;

	return checksum_fold((__u64)h->w[0] + h->w[1] + h->w[2] + h->w[3] + h->w[4]);
}

/* The checksum after one 16-bit word of what it covers changed: RFC 1624, equation 3. */
static __always_inline __be16 checksum_replace(__be16 checksum, __u16 from, __u16 to)
{
	__u64 sum = (__u16)~checksum;

	sum += (__u16)~from;
	sum += to;
	return (__be16)~checksum_fold(sum);
}

#endif
