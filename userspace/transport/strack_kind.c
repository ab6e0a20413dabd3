/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* STrack's options in a scenario, and what others have to know of it. */
#include "abi/wire.h"
#include "transport/kind.h"
#include "transport/strack.h"

#define WINDOW_MAX (1ull << 30)

#define STRACK(word, kind, member, ...) KEY(word, kind, struct strack_options, member, __VA_ARGS__)

static const char *const sprays[] = {[STRACK_ADAPTIVE] = "adaptive",
	[STRACK_OBLIVIOUS] = "oblivious",
	[STRACK_SINGLE] = "single",
	NULL};
static const char *const on_off[] = {"on", "off", NULL};

static const struct key keys[] = {
	STRACK("paths", COUNT, paths, .fallback = "256", .min = 1, .max = STRACK_PATHS_MAX,
		.help = "entropy values that a flow sprays its packets over"),
	STRACK("spray", WORD, spray, .fallback = "adaptive", .words = sprays,
		.help = "adaptive avoids congested paths, oblivious takes all in turn, single keeps to one"),
	STRACK("sack_packets", COUNT, sack_packets, .fallback = "1", .min = 1, .max = 64,
		.help = "packets for which a receiver sends one SACK"),
	STRACK("window", QUANTITY, window, .fallback = "140% BDP", .min = 1, .max = WINDOW_MAX,
		.help = "the largest congestion window, and the first one"),
	STRACK("rto", TIME, rto_ps, AUTO, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "retransmission timeout; auto: the larger of 100us and 10 base round trips"),
	STRACK("bitmap_rtts", COUNT, bitmap_rtts, .fallback = "8", .max = TIMES_MAX,
		.help = "round trips after which the bitmap of congested paths is cleared; 0: never"),
	STRACK("target_delay", TIME, target_delay_ps, AUTO, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "queueing delay that the window aims at; auto: a base round trip"),
	STRACK("congestion", FLAG, fixed, .fallback = "on", .words = on_off,
		.help = "off: the window stays as large as it may be"),
};

static void facts(const void *options, struct transport_facts *ret)
{
	const struct strack_options *o = options;

	ret->paths = o->spray == STRACK_SINGLE ? 1 : o->paths;
	ret->packets_per_ack = o->sack_packets;
	ret->window = o->window;
	ret->rto_ps = o->rto_ps;
	ret->spreads = o->spray == STRACK_SINGLE ? NULL : "spray";
	ret->rto_least_ps = STRACK_RTO_MIN_PS;
}

const struct transport_kind transport_kind_strack = {
	.title = "STrack",
	.map = {KEYS(keys), .size = sizeof(struct strack_options),
		.help = "STrack: multipath, window by delay, selective acknowledgements"},
	.ops = &strack_transport,
	.data_bytes = sizeof(struct strack_data),
	.answer_bytes = sizeof(struct strack_sack),
	.facts = facts,
};
