/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "transport/recovery/arrivals.h"
#include "base/numbers.h"

#define WINDOW_BDPS  4
#define WINDOW_LEAST 1024
#define WINDOW_MOST  16384
#define RING_LEAST   128 /* as ring_read64() needs it */

uint32_t arrivals_window(const struct transport_env *env, uint32_t packets, uint32_t subflows)
{
	double bdp = (double)env->host_rate_bps / 8 * (double)env->base_rtt_ps / PS_PER_S;
	double wanted = WINDOW_BDPS * bdp / env->mtu;
	uint32_t bits = RING_LEAST;

	if (!(wanted > WINDOW_LEAST))
		wanted = WINDOW_LEAST;
	if (wanted > WINDOW_MOST)
		wanted = WINDOW_MOST;
	if (wanted > packets)
		wanted = packets;
	while ((double)bits * subflows < wanted)
		bits *= 2;
	return bits;
}

/* Of bitmaps longer than RING_LEAST the halves together are shorter than the window of one. */
uint32_t arrivals_bits_most(const struct transport_env *env, uint32_t packets, uint32_t subflows)
{
	return (uint32_t)max_u64(
		2 * arrivals_window(env, packets, 1), (uint64_t)subflows * RING_LEAST);
}

/* False: it has come before. */
static bool enter(struct arrivals *a, uint32_t psn)
{
	uint32_t end;

	if (psn < a->expected || ring_test(&a->ring, psn))
		return false;
	if (psn != a->expected) {
		ring_set(&a->ring, psn);
		a->count++;
		return true;
	}
	a->expected++;
	if (!a->count)
		return true;
	end = ring_first_clear(&a->ring, a->expected, a->expected + a->ring.bits - 1);
	a->count -= ring_clear_range(&a->ring, a->expected, end);
	a->expected = end;
	return true;
}

bool arrivals_take(struct recovery *r, struct arrivals *a, const struct recovery_data *data,
	uint32_t sequences, uint64_t now)
{
	uint32_t expected = a->expected, psn = data->number / sequences;

	if (psn >= expected + a->ring.bits)
		return false;
	if (!enter(a, psn)) {
		r->ep->stats.duplicates++;
		return true;
	}
	r->ep->stats.out_of_order += psn != expected;
	r->ep->received += packets_payload(&r->packets, data->number);
	if (r->ep->received == r->packets.bytes)
		r->ep->delivered_ps = now;
	return true;
}
