/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ARRIVALS_H
#define FABRICBED_ARRIVALS_H

/*
 * What has arrived of a sequence of packets, as a receiver keeps it that takes them in any order;
 * and how far such a sequence may run ahead of the packet that is expected.
 */
#include "abi/wire.h"
#include "transport/recovery/recovery.h"
#include "transport/ring.h"

struct arrivals {
	struct ring ring;  /* from `expected` on */
	uint32_t expected; /* all before it have arrived */
	uint32_t count;    /* packets that arrived beyond it */
};

/*
 * Packets of each of so many subflows that may be out: four bandwidth-delay products, 1,024 at
 * least and 16,384 at most, or all `packets` that there are; a power of two.
 */
uint32_t arrivals_window(const struct transport_env *env, uint32_t packets, uint32_t subflows);

/* No number of subflows up to that takes more bits: it grows with both arguments. */
uint32_t arrivals_bits_most(const struct transport_env *env, uint32_t packets, uint32_t subflows);

/* Whether what a packet says of itself fits, with all packets dealt to so many sequences. */
static inline bool arrivals_is(
	const struct recovery *r, const struct recovery_data *data, uint32_t sequences)
{
	return data->number < r->packets.count && data->subflow == data->number % sequences &&
	       data->psn == (data->number / sequences & BTH_MASK_24) &&
	       data->message == data->number / r->packets.of_message;
}

/*
 * Enters such a packet in the books of its sequence, and what it delivers and counts in those of
 * the endpoint. False: it is too far ahead, and nothing has changed.
 */
bool arrivals_take(struct recovery *r, struct arrivals *a, const struct recovery_data *data,
	uint32_t sequences, uint64_t now);

/* Payload of the packets from number `from` to before `end`. */
static inline uint64_t packets_bytes(const struct packets *p, uint32_t from, uint32_t end)
{
	uint32_t missing = end == p->count && end > from ? p->mtu - p->last_bytes : 0;

	return (uint64_t)(end - from) * p->mtu - missing;
}

/* Packets of the messages that may be sent. */
static inline uint32_t recovery_sendable(const struct recovery *r)
{
	return r->released < r->messages ? r->released * r->packets.of_message : r->packets.count;
}

#endif
