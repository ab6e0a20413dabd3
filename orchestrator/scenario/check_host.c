/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <string.h>
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
			.fallback = "4",
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

static bool read_roce(struct check *c, const struct tree *n, void *host_spec)
{
	static const char *const congestions[] = {"off", "dcqcn", NULL};
	static const struct key keys[] = {
		{.name = "qps_per_connection",
			.type = VALUE_COUNT,
			.fallback = "1",
			.min = 1,
			.max = 64,
			.offset = offsetof(struct host_spec, roce.qps)},
		{.name = "congestion",
			.type = VALUE_FLAG,
			.fallback = "dcqcn",
			.words = congestions,
			.offset = offsetof(struct host_spec, roce.dcqcn)},
		{.name = "rto",
			.type = VALUE_TIME,
			.fallback = "auto",
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.rto_ps)},
		{.name = "cnp_interval",
			.type = VALUE_TIME,
			.fallback = "50us",
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.offset = offsetof(struct host_spec, roce.cnp_ps)},
		{.name = "timer",
			.type = VALUE_TIME,
			.fallback = "55us",
			.min = PS_PER_US,
			.max = TIME_MAX,
			.offset = offsetof(struct host_spec, roce.increase_ps)},
		{.name = "byte_counter",
			.type = VALUE_BYTES,
			.fallback = "auto",
			.min = 1,
			.max = COUNTER_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.increase_bytes)},
		{.name = "alpha_timer",
			.type = VALUE_TIME,
			.fallback = "55us",
			.min = PS_PER_US,
			.max = TIME_MAX,
			.offset = offsetof(struct host_spec, roce.alpha_ps)},
		{.name = "additive",
			.type = VALUE_RATE,
			.fallback = "auto",
			.min = RATE_MIN,
			.max = RATE_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.additive_bps)},
		{.name = "hyper",
			.type = VALUE_RATE,
			.fallback = "auto",
			.min = RATE_MIN,
			.max = RATE_MAX,
			.word = "auto",
			.offset = offsetof(struct host_spec, roce.hyper_bps)},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), host_spec), COUNT(keys));
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
