/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RoCEv2's: the receiver takes packets in order alone, and sends a NAK when one is missing
 * (InfiniBand volume 1, 9.7.5.2.8; Load Balancing for AI Training Workloads, section 4, "ROCE").
 * The sender goes back to that packet; or to the start of its message, as the first RDMA NICs did
 * (RDMA over Commodity Ethernet at Scale, section 4.1, "go-back-0"), of which the receiver then has
 * nothing.
 */
#include "base/numbers.h"
#include "transport/recovery/arrivals.h"
#include "transport/recovery/cumulative.h"

struct go_back_options {
	struct recovery_options common;
	bool whole; /* to the start of the message */
};

struct go_back {
	struct recovery r;
	/* sender */
	struct cumulative c;
	uint64_t back_ps; /* it went back last */
	/* receiver */
	uint32_t expected;
	uint32_t most;      /* of all `expected` so far */
	bool nak_sent;      /* for the packet that is missing */
	uint64_t newest_ps; /* when the latest left of those that were no further than expected */
};

static const char *const places[] = {"packet", "message", NULL};

static const struct key keys[] = {
	KEY("to", FLAG, struct go_back_options, whole, .fallback = "packet", .words = places,
		.help = "from where on all is sent again: the packet that is missing, or the first of its message"),
	RECOVERY_RTO("retransmission timeout", "1ms"),
};

static size_t size(const struct transport_env *env, const void *options,
	const struct flow_spec *flow, bool sender)
{
	(void)env;
	(void)options;
	(void)flow;
	(void)sender;
	return sizeof(struct go_back);
}

static void open(struct recovery *r, bool sender, uint64_t now)
{
	struct go_back *g = (struct go_back *)r;
	(void)sender;
	(void)now;
	g->c.rto.ps = r->rto_ps;
}

/* Where both ends start again when that packet is missing. */
static uint32_t restart_at(const struct recovery *r, uint32_t psn)
{
	const struct go_back_options *o = r->options;

	return o->whole ? psn - psn % r->packets.of_message : psn;
}

/* ---- the sender ---- */

static bool has(const struct recovery *r, uint64_t now)
{
	(void)now;
	return ((const struct go_back *)r)->c.next < recovery_sendable(r);
}

static void next(struct recovery *r, struct recovery_data *ret, uint64_t now)
{
	struct go_back *g = (struct go_back *)r;

	ret->psn = ret->number = g->c.next;
	ret->message = ret->number / r->packets.of_message;
	ret->again = ret->psn < g->c.high;
	cumulative_send(&g->c, ret->psn, now);
}

static uint64_t unacked(const struct recovery *r)
{
	const struct go_back *g = (const struct go_back *)r;

	return packets_bytes(&r->packets, g->c.una, g->c.next);
}

static void go_back(struct go_back *g, uint32_t psn, uint64_t now)
{
	g->c.una = g->c.next = psn;
	g->back_ps = now;
}

static bool plausible(const struct go_back *g, const struct recovery_answer *a)
{
	return !a->subflow && !a->trimmed && !a->count && a->psn < g->c.high &&
	       a->expected <= g->c.high && a->psn != a->expected &&
	       (!a->nak || a->psn > a->expected);
}

/*
 * What left before it went back has been seen to, since all after it is sent again. An answer to it
 * may even be wrong by now: of a message that is sent again the receiver has nothing.
 */
static bool on_answer(struct recovery *r, const struct recovery_answer *answer,
	struct recovery_news *news, uint64_t now)
{
	struct go_back *g = (struct go_back *)r;
	bool old = answer->sent_ps < g->back_ps;

	if (!plausible(g, answer))
		return false;
	r->ep->stats.naks += answer->nak;
	if (old && ((const struct go_back_options *)r->options)->whole)
		return true;
	if (answer->expected > g->c.una) {
		news->acked_bytes = packets_bytes(&r->packets, g->c.una, answer->expected);
		cumulative_acknowledge(&g->c, answer->expected, now);
		r->ep->done = g->c.una / r->packets.of_message;
		if (g->c.una == r->packets.count)
			r->ep->finished_ps = now;
	}
	if (answer->nak && !old && answer->expected >= restart_at(r, g->c.una)) {
		news->lost_bytes = unacked(r);
		go_back(g, answer->expected, now);
	}
	return true;
}

static uint64_t due(const struct recovery *r)
{
	return cumulative_due(&((const struct go_back *)r)->c);
}

static void on_timer(struct recovery *r, struct recovery_news *news, uint64_t now)
{
	struct go_back *g = (struct go_back *)r;

	if (!due(r) || due(r) > now)
		return;
	rto_expire(&g->c.rto, now);
	go_back(g, restart_at(r, g->c.una), now);
	news->timeout = true;
}

/* ---- the receiver ---- */

static void take(struct go_back *g, uint64_t now)
{
	struct recovery *r = &g->r;

	g->nak_sent = false;
	if (++g->expected <= g->most)
		return; /* it had been there before its message began again */
	g->most = g->expected;
	r->ep->received += packets_payload(&r->packets, g->expected - 1);
	r->ep->done = g->expected / r->packets.of_message;
	if (g->expected == r->packets.count)
		r->ep->delivered_ps = now;
}

/*
 * A packet is missing before one that left after all that came in turn. One that left before some
 * of these is of the time before the sender went back, and shows nothing: a NAK for it would be
 * ignored, and there would be none for what is lost later.
 */
static void lack(struct go_back *g, struct recovery_answer *ret)
{
	ret->nak = !g->nak_sent;
	g->nak_sent = true;
	g->expected = restart_at(&g->r, g->expected);
}

static bool on_data(struct recovery *r, const struct recovery_data *data,
	struct recovery_answer *ret, uint64_t now)
{
	struct go_back *g = (struct go_back *)r;

	if (!arrivals_is(r, data, 1))
		return false;
	if (data->number <= g->expected)
		g->newest_ps = max_u64(g->newest_ps, data->sent_ps);
	if (data->number == g->expected) {
		take(g, now);
	} else if (data->number < g->expected) {
		r->ep->stats.duplicates++;
	} else {
		r->ep->stats.out_of_order++;
		if (data->sent_ps > g->newest_ps)
			lack(g, ret);
	}
	ret->expected = ret->base = g->expected;
	return true;
}

const struct recovery_kind recovery_kind_go_back_n = {
	.name = "go-back-n",
	.map = {KEYS(keys), .size = sizeof(struct go_back_options),
		.help = "RoCEv2's: in order alone; a NAK sends the sender back"},
	.size = size,
	.open = open,
	.has = has,
	.next = next,
	.unacked = unacked,
	.on_answer = on_answer,
	.due = due,
	.on_timer = on_timer,
	.on_data = on_data,
	.rto_least_ps = PS_PER_MS,
	.loss_harm = "after each loss a sender goes back and sends again all that came after it",
	.order_harm =
		"a packet that overtakes another is a loss, after which the sender goes back and sends again",
};
