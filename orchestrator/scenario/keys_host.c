/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <strings.h>
#include "scenario/check.h"

#define WINDOW_MAX  (1ull << 30)
#define COUNTER_MAX (1ull << 40)

/* ---- STrack ---- */

#define STRACK(word, kind, member, ...)                                                            \
	KEY(word, kind, struct host_spec, strack.member, __VA_ARGS__)

static const char *const sprays[] = {[SPRAY_ADAPTIVE] = "adaptive",
	[SPRAY_OBLIVIOUS] = "oblivious",
	[SPRAY_SINGLE] = "single",
	NULL};
static const char *const on_off[] = {"on", "off", NULL};

static const struct key strack_keys[] = {
	STRACK("paths", COUNT, paths, .fallback = "256", .min = 1, .max = 1024,
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

static const struct map strack_map = {KEYS(strack_keys)};

/* ---- RoCEv2 ---- */

#define ROCE(word, kind, member, ...) KEY(word, kind, struct host_spec, roce.member, __VA_ARGS__)
#define OF_RATE(...)                  AUTO, .min = RATE_MIN, .max = RATE_MAX, __VA_ARGS__

static const char *const congestions[] = {"off", "dcqcn", NULL};
static const char *const clamps[] = {"always", "after_increase", NULL};
static const char *const dcqcn_kinds[] = {[DCQCN_PAPER] = "paper",
	[DCQCN_TUNED] = "tuned",
	[DCQCN_STRACK_PAPER] = "strack-paper",
	NULL};

/* What each kind of DCQCN gives the keys that say nothing themselves; docs/transports.md names the sources. */
static const struct {
	uint64_t cnp_ps, increase_ps, alpha_ps;
	uint32_t rounds;
	bool keep_target;
} dcqcn_defaults[] = {
	[DCQCN_PAPER] = {50 * PS_PER_US, 55 * PS_PER_US, 55 * PS_PER_US, 5, false},
	[DCQCN_TUNED] = {4 * PS_PER_US, 300 * PS_PER_US, 1 * PS_PER_US, 1, true},
	[DCQCN_STRACK_PAPER] = {50 * PS_PER_US, 25 * PS_PER_US, 55 * PS_PER_US, 5, false},
};

/* By the kind that is named; an unknown one is a message elsewhere. */
static void prepare_roce(struct check *c, const struct tree *n, void *host_spec)
{
	const struct tree *name = tree_get(n, "dcqcn");
	struct host_spec *h = host_spec;
	enum dcqcn_kind kind = DCQCN_PAPER;

	(void)c;
	for (unsigned i = 0; name && name->kind == TREE_SCALAR && dcqcn_kinds[i]; i++)
		if (!strcasecmp(name->text, dcqcn_kinds[i]))
			kind = (enum dcqcn_kind)i;
	h->roce.cnp_ps = dcqcn_defaults[kind].cnp_ps;
	h->roce.increase_ps = dcqcn_defaults[kind].increase_ps;
	h->roce.alpha_ps = dcqcn_defaults[kind].alpha_ps;
	h->roce.rounds = dcqcn_defaults[kind].rounds;
	h->roce.keep_target = dcqcn_defaults[kind].keep_target;
}

static const struct key roce_keys[] = {
	ROCE("qps_per_connection", COUNT, qps, .fallback = "1", .min = 1, .max = 64,
		.help = "queue pairs that a message is divided among"),
	ROCE("congestion", FLAG, dcqcn, .fallback = "dcqcn", .words = congestions,
		.help = "off: at the line's rate"),
	ROCE("rto", TIME, rto_ps, AUTO, .min = PS_PER_NS, .max = TIME_MAX,
		.help = "retransmission timeout; auto: the larger of 1ms and 10 base round trips"),
	ROCE("dcqcn", WORD, kind, .fallback = "paper", .words = dcqcn_kinds,
		.help = "gives the keys below their defaults, with sources in transports.md"),
	ROCE("cnp_interval", TIME, cnp_ps, .usual = "50us", .min = PS_PER_NS, .max = TIME_MAX,
		.help = "a receiver sends at most one CNP a queue pair in this time"),
	ROCE("timer", TIME, increase_ps, .usual = "55us", .min = PS_PER_US, .max = TIME_MAX,
		.help = "of rate increases"),
	ROCE("alpha_timer", TIME, alpha_ps, .usual = "55us", .min = PS_PER_US, .max = TIME_MAX,
		.help = "without a CNP for so long alpha is reduced"),
	ROCE("initial_alpha", CHANCE, alpha_start, .fallback = "1", .min = 1,
		.help = "alpha of a new queue pair"),
	ROCE("gain", CHANCE, gain, .fallback = "0.00390625", .min = 1,
		.help = "g, the weight of a new sample in alpha"),
	ROCE("fast_recovery", COUNT, rounds, .usual = "5", .min = 1, .max = 1000,
		.help = "rounds of fast recovery before the target rate rises"),
	ROCE("clamp_target", FLAG, keep_target, .usual = "always", .words = clamps,
		.help = "whether each rate cut lowers the target rate, or only one after an increase"),
	ROCE("byte_counter", BYTES, increase_bytes, AUTO, .min = 1, .max = COUNTER_MAX,
		.help = "bytes sent that count like an interval of the timer; auto: 10MB at 40Gbps, by the rate"),
	ROCE("additive", RATE, additive_bps,
		OF_RATE(.help = "R_AI, the step of additive increase; auto: by the rate")),
	ROCE("hyper", RATE, hyper_bps,
		OF_RATE(.help = "R_HAI, the step of hyper increase; auto: by the rate")),
	ROCE("min_rate", RATE, min_bps, OF_RATE(.help = "no rate is lower; auto: by the rate")),
};

static const struct map roce_map = {KEYS(roce_keys), .prepare = prepare_roce};

/* ---- the section ---- */

/* In the order of enum transport_kind. */
static const struct key transport_keys[] = {
	{.name = "strack",
		.kind = VALUE_MAP,
		.choice = true,
		.map = &strack_map,
		.help = "STrack: multipath, window by delay, selective acknowledgements"},
	{.name = "roce",
		.kind = VALUE_MAP,
		.choice = true,
		.map = &roce_map,
		.help = "RoCEv2: reliable connections, go-back-N, DCQCN"},
};

/* The one that is not used has its defaults all the same. */
static const struct map transport_map = {
	KEYS(transport_keys), .chosen = FIELD(struct host_spec, transport), .every_choice = true};

#define OF_ANSWERS .fallback = "auto", .word = "auto", .word_value = DSCP_AUTO, .max = DSCP_MAX

static const struct key dscp_keys[] = {
	KEY("data", COUNT, struct host_spec, data_dscp, .fallback = "0", .max = DSCP_MAX,
		.help = "of data packets"),
	KEY("control", COUNT, struct host_spec, control_dscp, OF_ANSWERS,
		.help = "of ACKs, SACKs and probes; auto: a strict class of their own where the file names no classes"),
	KEY("notify", COUNT, struct host_spec, notify_dscp, OF_ANSWERS,
		.help = "of CNPs; auto: as control"),
};

/* One for all. */
static bool check_dscp(struct check *c, const struct tree *n, void *host_spec, uint64_t good)
{
	struct host_spec *h = host_spec;

	(void)c;
	(void)good;
	if (n && n->kind == TREE_SCALAR && !tree_is_null(n))
		h->control_dscp = h->notify_dscp = h->data_dscp;
	return true;
}

static const struct map dscp_map = {KEYS(dscp_keys), .lone = &dscp_keys[0], .check = check_dscp};

static const char *const payloads[] = {
	[PAYLOAD_AUTO] = "auto", [PAYLOAD_HEADERS] = "headers", [PAYLOAD_FULL] = "full", NULL};
static const char *const versions[] = {"4", "6", NULL};

static const struct key keys[] = {
	{.name = "transport",
		.kind = VALUE_MAP,
		.fallback = "strack",
		.map = &transport_map,
		.help = "the transport protocol of messages"},
	{.name = "dscp",
		.kind = VALUE_MAP,
		.map = &dscp_map,
		.usual = "{data: 0, control: auto, notify: auto}",
		.help = "one for all packets, or by what they carry"},
	KEY("payload", WORD, struct host_spec, payload, .fallback = "auto", .words = payloads,
		.help = "whether payload bytes exist, or only their number; auto: headers, unless something reads them"),
	KEY("ip", FLAG, struct host_spec, ip6, .fallback = "4", .words = versions,
		.help = "version of the Internet Protocol"),
	KEY("stack", MAP, struct host_spec, stack, .map = &stack_map, .usual = "all defaults",
		.help = "packets of ordinary programs, by the hosts' own kernel stack"),
};

const struct map host_map = {KEYS(keys)};

void check_host_classes(struct check *c, const struct tree *root, const struct scenario *s)
{
	const struct tree *dscp = tree_get(tree_get(root, "host"), "dscp"),
			  *data = tree_get(dscp, "data");

	if (s->sw.trim.to == TRIM_OFF ||
		scenario_class_of(&s->sw, s->host.data_dscp) != s->sw.trim.class)
		return;
	if (!dscp)
		dscp = tree_get(tree_get(root, "switch"), "trim");
	explain_value(c->diags, data ? data : dscp,
		"data would go by class %u, that of trimmed headers; expected host.dscp.data to be of another class",
		s->sw.trim.class);
}
