/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RoCEv2's options in a scenario, and what others have to know of it. */
#include "abi/wire.h"
#include "transport/kind.h"
#include "transport/roce.h"

#define ROCE(word, kind, member, ...) KEY(word, kind, struct roce_options, member, __VA_ARGS__)

static const char *const congestions[] = {"off", "dcqcn", NULL};

static const struct key keys[] = {
	ROCE("qps_per_connection", COUNT, qps, .fallback = "1", .min = 1, .max = 64,
		.help = "queue pairs that a message is divided among"),
	ROCE("congestion", FLAG, dcqcn, .fallback = "dcqcn", .words = congestions,
		.help = "off: at the line's rate"),
	ROCE("rto", TIME, rto_ps, AUTO, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "retransmission timeout; auto: the larger of 1ms and 10 base round trips"),
	DCQCN_KEYS(struct roce_options, reaction.),
};

static bool complete(struct check *c, const struct tree *n, void *options, uint64_t good)
{
	(void)c;
	(void)n;
	(void)good;
	dcqcn_complete(&((struct roce_options *)options)->reaction);
	return true;
}

static void facts(const void *options, struct transport_facts *ret)
{
	const struct roce_options *o = options;

	ret->qps = o->qps;
	ret->packets_per_ack = ROCE_ACK_EVERY;
	ret->rto_ps = o->rto_ps;
	ret->rto_least_ps = ROCE_RTO_MIN_PS;
	ret->least_share = o->dcqcn ? DCQCN_LEAST_SHARE : 0;
	ret->raise_ps = o->reaction.increase_ps;
	ret->order_harm =
		"a packet that overtakes another is a loss, after which the queue pair goes back and sends again";
	ret->loss_harm =
		"after each loss a queue pair goes back and starts again at its lowest rate";
}

/* Of data only a write's first packet has a header after the BTH. */
const struct transport_kind transport_kind_roce = {
	.title = "RoCEv2",
	.map = {KEYS(keys), .size = sizeof(struct roce_options), .check = complete,
		.help = "RoCEv2: reliable connections, go-back-N, DCQCN"},
	.ops = &roce_transport,
	.answer_bytes = sizeof(struct aeth_hdr),
	.facts = facts,
};
