/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FAIR_SHARES_H
#define FABRICBED_FAIR_SHARES_H

/*
 * The fair share of each message: the rate that it may have if all that are under way at a time
 * divide the links equally (Addanki et al. call a sender that keeps to it "paced at the fair share
 * rate"). Workloads make it, and the engine tells it to transports.
 */
#include <stddef.h>
#include <stdint.h>

/*
 * The hosts in parts, and what one message has of the links that lead from a part to the rest of
 * the fabric, or back. Rates are bits a second.
 */
struct share_division {
	uint32_t *part; /* of a host; NULL: each host is one */
	uint64_t *leaving_bps, *entering_bps;
};

struct fair_shares {
	struct share_division *divisions;
	uint32_t count;               /* 0: shares are not known */
	uint64_t least_bps, most_bps; /* of all messages */
	uint32_t entries; /* they are of messages of the scenario's workloads before this one */
};

/* What a message from one host to another has; 0: that is not known. */
static inline uint64_t fair_share(const struct fair_shares *s, uint32_t src, uint32_t dst)
{
	uint64_t least = s->count ? UINT64_MAX : 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct share_division *d = &s->divisions[i];
		uint32_t from = d->part ? d->part[src] : src, to = d->part ? d->part[dst] : dst;

		if (from == to)
			continue;
		least = d->leaving_bps[from] < least ? d->leaving_bps[from] : least;
		least = d->entering_bps[to] < least ? d->entering_bps[to] : least;
	}
	return least;
}

#endif
