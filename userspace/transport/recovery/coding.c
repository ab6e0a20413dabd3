/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A rateless erasure code: any symbols will do, if there are enough of them. A sender sends one
 * after the other until it hears that there are. Load Balancing for AI Training Workloads, section
 * 4, "Erasure Coding", and 6.1: message x (1 + overhead). Encoding and decoding take no time.
 */
#include "transport/recovery/recovery.h"

#include "abi/wire.h"
#include "base/numbers.h"
#include "transport/recovery/arrivals.h"
#include "transport/recovery/rto.h"

struct coding_options {
	struct recovery_options common;
	double overhead;
};

/* Both ends: of the message that is not complete, the first such one. */
struct coding {
	struct recovery r;
	struct rto rto;
	uint32_t needed;       /* symbols that complete a message */
	uint32_t symbol_bytes; /* payload of each */
	uint32_t message;
	uint32_t next; /* sender: the next symbol; receiver: so many have come */
	uint32_t seen; /* sender: all symbols before it have come or will not; receiver: no later */
	struct ring came; /* receiver: of the symbols before `seen`, the latest that have come */
	uint64_t words[];
};

static const struct key keys[] = {
	KEY("overhead", CHANCE, struct coding_options, overhead, .fallback = "0%",
		.help = "symbols that a message takes beyond its own packets"),
	RECOVERY_RTO("without an answer for so long all symbols under way count as lost", "100us"),
};

/* However short a message is, its sender goes on until it hears that it is complete. */
static uint32_t came_bits(const struct transport_env *env)
{
	return arrivals_window(env, UINT32_MAX, 1);
}

static size_t size(const struct transport_env *env, const void *options,
	const struct flow_spec *flow, bool sender)
{
	(void)options;
	(void)flow;
	return sizeof(struct coding) + (sender ? 0 : ring_words(came_bits(env)) * sizeof(uint64_t));
}

static uint64_t message_bytes(const struct coding *c)
{
	return c->r.packets.bytes / c->r.messages;
}

/* Symbols of equal size, so that a message without overhead takes no more than its own bytes. */
static void open(struct recovery *r, bool sender, uint64_t now)
{
	struct coding *c = (struct coding *)r;
	const struct coding_options *o = r->options;
	uint64_t bytes = message_bytes(c), packets = r->packets.of_message;

	if (!sender)
		c->came = (struct ring){c->words, came_bits(r->env)};
	c->symbol_bytes = (uint32_t)((bytes + packets - 1) / packets);
	c->needed = (uint32_t)whole_up((double)bytes * (1 + o->overhead) / c->symbol_bytes);
	c->rto.ps = r->rto_ps;
	rto_restart(&c->rto, now);
}

/* ---- the sender ---- */

static bool has(const struct recovery *r, uint64_t now)
{
	(void)now;
	return ((const struct coding *)r)->message < r->released;
}

static uint64_t unacked(const struct recovery *r)
{
	const struct coding *c = (const struct coding *)r;

	return (uint64_t)(c->next - c->seen) * c->symbol_bytes;
}

static void next(struct recovery *r, struct recovery_data *ret, uint64_t now)
{
	struct coding *c = (struct coding *)r;

	if (c->next == c->seen)
		c->rto.from_ps = now;
	ret->psn = ret->number = c->next++;
	ret->message = c->message;
}

/*
 * What left before the packet that is answered is no longer under way: it has come, or been
 * overtaken by it. Nothing else is known of what is missing, nor needed.
 */
static bool on_answer(struct recovery *r, const struct recovery_answer *answer,
	struct recovery_news *news, uint64_t now)
{
	struct coding *c = (struct coding *)r;
	uint32_t number = c->seen + ((answer->psn - c->seen) & BTH_MASK_24);

	if (answer->expected > c->message + 1 ||
		(answer->expected > c->message && c->next < c->needed))
		return false;
	news->acked_bytes = c->symbol_bytes;
	if (answer->expected > c->message) {
		c->message = r->ep->done = answer->expected;
		c->next = c->seen = 0;
		if (c->message == r->messages)
			r->ep->finished_ps = now;
	} else if (answer->expected == c->message && answer->base == c->message &&
		   number < c->next) {
		c->seen = number + 1;
	}
	rto_restart(&c->rto, now);
	return true;
}

static uint64_t due(const struct recovery *r)
{
	const struct coding *c = (const struct coding *)r;

	return c->next == c->seen ? 0 : rto_due(&c->rto);
}

static void on_timer(struct recovery *r, struct recovery_news *news, uint64_t now)
{
	struct coding *c = (struct coding *)r;

	c->seen = c->next;
	rto_expire(&c->rto, now);
	news->timeout = true;
}

/* ---- the receiver ---- */

static bool place(const struct recovery *r, const struct recovery_data *data, uint64_t *ret_offset,
	uint32_t *ret_bytes)
{
	const struct coding *c = (const struct coding *)r;

	if (data->message >= r->messages)
		return false;
	*ret_offset = data->message * message_bytes(c) + (uint64_t)data->number * c->symbol_bytes;
	*ret_bytes = c->symbol_bytes;
	return true;
}

/* False: it has come before, or is too old to tell. */
static bool enter(struct coding *c, uint32_t symbol)
{
	uint32_t bits = c->came.bits, end = symbol + 1;

	if (symbol < c->seen && (c->seen - symbol > bits || ring_test(&c->came, symbol)))
		return false;
	if (symbol >= c->seen) {
		ring_clear_range(&c->came, end - c->seen > bits ? end - bits : c->seen, end);
		c->seen = end;
	}
	ring_set(&c->came, symbol);
	return true;
}

static bool on_data(struct recovery *r, const struct recovery_data *data,
	struct recovery_answer *ret, uint64_t now)
{
	struct coding *c = (struct coding *)r;
	uint64_t bytes = message_bytes(c), got;

	if (data->message > c->message || data->message >= r->messages)
		return false;
	if (data->message < c->message || !enter(c, data->number)) {
		r->ep->stats.duplicates++; /* or there were enough without it */
	} else {
		got = (uint64_t)++c->next * c->symbol_bytes;
		r->ep->received = c->message * bytes + (got < bytes ? got : bytes);
		if (c->next == c->needed) {
			c->next = c->seen = 0;
			r->ep->done = ++c->message;
		}
		if (c->message == r->messages)
			r->ep->delivered_ps = now;
	}
	ret->expected = c->message;
	ret->count = c->next;
	ret->base = data->message;
	return true;
}

const struct recovery_kind recovery_kind_coding = {
	.name = "coding",
	.map = {KEYS(keys), .size = sizeof(struct coding_options), .lone = &keys[0],
		.help = "a rateless erasure code: any packets will do, if there are enough"},
	.size = size,
	.open = open,
	.has = has,
	.next = next,
	.unacked = unacked,
	.on_answer = on_answer,
	.due = due,
	.on_timer = on_timer,
	.on_data = on_data,
	.place = place,
	.rto_least_ps = RECOVERY_RTO_LEAST_PS,
	.even = true,
};
