/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <string.h>
#include <strings.h>
#include "base/units.h"
#include "scenario/explain.h"

#define WINDOW_MAX   (1ull << 30)
#define COUNTER_MAX  (1ull << 40)
#define DSCP_MAX     63
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool read_strack(struct check *c, const struct tree *n, void *host_spec)
{
	static const char *const sprays[] = {
		[SPRAY_ADAPTIVE] = "adaptive",
		[SPRAY_OBLIVIOUS] = "oblivious",
		[SPRAY_SINGLE] = "single",
		NULL,
	};
	static const char *const congestions[] = {"on", "off", NULL};
	static const struct key keys[] = {
		{.name = "paths",
			.type = VALUE_COUNT,
			.fallback = "256",
			.min = 1,
			.max = 1024,
			.offset = offsetof(struct host_spec, strack.paths)},
		{.name = "spray",
			.type = VALUE_WORD,
			.fallback = "adaptive",
			.words = sprays,
			.offset = offsetof(struct host_spec, strack.spray)},
		{.name = "sack_packets",
			.type = VALUE_COUNT,
			.fallback = "1",
			.min = 1,
			.max = 64,
			.offset = offsetof(struct host_spec, strack.sack_packets)},
		{.name = "window",
			.type = VALUE_QUANTITY,
			.fallback = "140% BDP",
			.min = 1,
			.max = WINDOW_MAX,
			.offset = offsetof(struct host_spec, strack.window)},
		{.name = "rto",
			.type = VALUE_TIME,
			.fallback = "auto",
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, strack.rto_ps)},
		{.name = "bitmap_rtts",
			.type = VALUE_COUNT,
			.fallback = "8",
			.max = TIMES_MAX,
			.offset = offsetof(struct host_spec, strack.bitmap_rtts)},
		{.name = "target_delay",
			.type = VALUE_TIME,
			.fallback = "auto",
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, strack.target_delay_ps)},
		{.name = "congestion",
			.type = VALUE_FLAG,
			.fallback = "on",
			.words = congestions,
			.offset = offsetof(struct host_spec, strack.fixed)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), host_spec), COUNT(keys));
}

enum roce_key {
	QPS,
	CONGESTION,
	RTO,
	DCQCN,
	CNP_INTERVAL,
	TIMER,
	ALPHA_TIMER,
	INITIAL_ALPHA,
	GAIN,
	FAST_RECOVERY,
	CLAMP_TARGET,
	BYTE_COUNTER,
	ADDITIVE,
	HYPER,
	MIN_RATE,
	ROCE_KEYS
};

static const char *const dcqcn_kinds[] = {
	[DCQCN_PAPER] = "paper",
	[DCQCN_TUNED] = "tuned",
	[DCQCN_STRACK_PAPER] = "strack-paper",
	NULL,
};

/* The kind that is named; an unknown one is a message elsewhere. */
static enum dcqcn_kind kind_of(const struct tree *n)
{
	const struct tree *name = tree_get(n, "dcqcn");

	for (unsigned i = 0; name && name->kind == TREE_SCALAR && dcqcn_kinds[i]; i++)
		if (!strcasecmp(name->text, dcqcn_kinds[i]))
			return (enum dcqcn_kind)i;
	return DCQCN_PAPER;
}

/* Each kind's own defaults; docs/transports.md names their sources. */
static void use_defaults(struct key keys[ROCE_KEYS], enum dcqcn_kind kind)
{
	static const char *const defaults[][ROCE_KEYS] = {
		[DCQCN_PAPER] = {[CNP_INTERVAL] = "50us",
			[TIMER] = "55us",
			[ALPHA_TIMER] = "55us",
			[FAST_RECOVERY] = "5",
			[CLAMP_TARGET] = "always"},
		[DCQCN_TUNED] = {[CNP_INTERVAL] = "4us",
			[TIMER] = "300us",
			[ALPHA_TIMER] = "1us",
			[FAST_RECOVERY] = "1",
			[CLAMP_TARGET] = "after_increase"},
		[DCQCN_STRACK_PAPER] = {[CNP_INTERVAL] = "50us",
			[TIMER] = "25us",
			[ALPHA_TIMER] = "55us",
			[FAST_RECOVERY] = "5",
			[CLAMP_TARGET] = "always"},
	};

	for (int i = 0; i < ROCE_KEYS; i++)
		if (defaults[kind][i])
			keys[i].fallback = defaults[kind][i];
}

static bool read_roce(struct check *c, const struct tree *n, void *host_spec)
{
	static const char *const congestions[] = {"off", "dcqcn", NULL};
	static const char *const clamps[] = {"always", "after_increase", NULL};
	struct key keys[ROCE_KEYS] = {
		[QPS] = {.name = "qps_per_connection",
			.type = VALUE_COUNT,
			.fallback = "1",
			.min = 1,
			.max = 64,
			.offset = offsetof(struct host_spec, roce.qps)},
		[CONGESTION] = {.name = "congestion",
			.type = VALUE_FLAG,
			.fallback = "dcqcn",
			.words = congestions,
			.offset = offsetof(struct host_spec, roce.dcqcn)},
		[RTO] = {.name = "rto",
			.type = VALUE_TIME,
			.fallback = "auto",
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.rto_ps)},
		[DCQCN] = {.name = "dcqcn",
			.type = VALUE_WORD,
			.fallback = "paper",
			.words = dcqcn_kinds,
			.offset = offsetof(struct host_spec, roce.kind)},
		[CNP_INTERVAL] = {.name = "cnp_interval",
			.type = VALUE_TIME,
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.offset = offsetof(struct host_spec, roce.cnp_ps)},
		[TIMER] = {.name = "timer",
			.type = VALUE_TIME,
			.min = PS_PER_US,
			.max = TIME_MAX,
			.offset = offsetof(struct host_spec, roce.increase_ps)},
		[ALPHA_TIMER] = {.name = "alpha_timer",
			.type = VALUE_TIME,
			.min = PS_PER_US,
			.max = TIME_MAX,
			.offset = offsetof(struct host_spec, roce.alpha_ps)},
		[INITIAL_ALPHA] = {.name = "initial_alpha",
			.type = VALUE_CHANCE,
			.fallback = "1",
			.min = 1,
			.offset = offsetof(struct host_spec, roce.alpha_start)},
		[GAIN] = {.name = "gain",
			.type = VALUE_CHANCE,
			.fallback = "0.00390625",
			.min = 1,
			.offset = offsetof(struct host_spec, roce.gain)},
		[FAST_RECOVERY] = {.name = "fast_recovery",
			.type = VALUE_COUNT,
			.min = 1,
			.max = 1000,
			.offset = offsetof(struct host_spec, roce.rounds)},
		[CLAMP_TARGET] = {.name = "clamp_target",
			.type = VALUE_FLAG,
			.words = clamps,
			.offset = offsetof(struct host_spec, roce.keep_target)},
		[BYTE_COUNTER] = {.name = "byte_counter",
			.type = VALUE_BYTES,
			.fallback = "auto",
			.min = 1,
			.max = COUNTER_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.increase_bytes)},
		[ADDITIVE] = {.name = "additive",
			.type = VALUE_RATE,
			.fallback = "auto",
			.min = RATE_MIN,
			.max = RATE_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.additive_bps)},
		[HYPER] = {.name = "hyper",
			.type = VALUE_RATE,
			.fallback = "auto",
			.min = RATE_MIN,
			.max = RATE_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.hyper_bps)},
		[MIN_RATE] = {.name = "min_rate",
			.type = VALUE_RATE,
			.fallback = "auto",
			.min = RATE_MIN,
			.max = RATE_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.min_bps)},
	};

	use_defaults(keys, kind_of(n));
	return keys_all(keys_read(c, n, keys, ROCE_KEYS, host_spec), ROCE_KEYS);
}

/* The one that is not used has its defaults all the same. */
static bool read_transport(struct check *c, const struct tree *n, void *host_spec)
{
	static const char *const names[] = {
		[TRANSPORT_STRACK] = "strack",
		[TRANSPORT_ROCE] = "roce",
	};
	static const char *const words[] = {"strack", "roce", NULL};
	static const struct key word = {.type = VALUE_WORD, .words = words};
	static const struct key keys[] = {
		{.name = "strack", .type = VALUE_SECTION, .read = read_strack},
		{.name = "roce", .type = VALUE_SECTION, .read = read_roce},
	};
	struct host_spec *h = host_spec;
	uint64_t good;
	size_t kind;

	h->transport = TRANSPORT_STRACK;
	if (n && n->kind != TREE_MAP)
		return value_read(c, &word, n, &h->transport) &&
		       keys_all(keys_read(c, NULL, keys, COUNT(keys), h), COUNT(keys));
	good = keys_read(c, n, keys, COUNT(keys), h);
	if (!n)
		return keys_all(good, COUNT(keys));
	if (!keys_choose(c, n, names, COUNT(names), good & VALUE_UNKNOWN, &kind))
		return false;
	h->transport = (enum transport_kind)kind;
	return keys_all(good, COUNT(keys));
}

/* One for all, or {data, control, notify}; see check_answers.c for "auto". */
static bool read_dscp(struct check *c, const struct tree *n, void *host_spec)
{
	static const struct key keys[] = {
		{.name = "data",
			.type = VALUE_COUNT,
			.fallback = "0",
			.max = DSCP_MAX,
			.offset = offsetof(struct host_spec, data_dscp)},
		{.name = "control",
			.type = VALUE_COUNT,
			.fallback = "auto",
			.max = DSCP_MAX,
			.word = "auto",
			.word_value = DSCP_AUTO,
			.offset = offsetof(struct host_spec, control_dscp)},
		{.name = "notify",
			.type = VALUE_COUNT,
			.fallback = "auto",
			.max = DSCP_MAX,
			.word = "auto",
			.word_value = DSCP_AUTO,
			.offset = offsetof(struct host_spec, notify_dscp)},
	};
	struct host_spec *h = host_spec;

	if (!n || n->kind != TREE_SCALAR || tree_is_null(n))
		return keys_all(keys_read(c, n, keys, COUNT(keys), h), COUNT(keys));
	if (!read_small(c, n, DSCP_MAX, &h->data_dscp))
		return false;
	h->control_dscp = h->notify_dscp = h->data_dscp;
	return true;
}

bool check_host(struct check *c, const struct tree *n, void *host_spec)
{
	static const char *const payloads[] = {
		[PAYLOAD_AUTO] = "auto",
		[PAYLOAD_HEADERS] = "headers",
		[PAYLOAD_FULL] = "full",
		NULL,
	};
	static const char *const versions[] = {"4", "6", NULL};
	static const struct key keys[] = {
		{.name = "transport", .type = VALUE_SECTION, .read = read_transport},
		{.name = "dscp", .type = VALUE_SECTION, .read = read_dscp},
		{.name = "payload",
			.type = VALUE_WORD,
			.fallback = "auto",
			.words = payloads,
			.offset = offsetof(struct host_spec, payload)},
		{.name = "ip",
			.type = VALUE_FLAG,
			.fallback = "4",
			.words = versions,
			.offset = offsetof(struct host_spec, ip6)},
		{.name = "stack",
			.type = VALUE_SECTION,
			.read = check_stack,
			.offset = offsetof(struct host_spec, stack)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), host_spec), COUNT(keys));
}

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
