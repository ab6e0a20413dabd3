/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <string.h>
#include "base/units.h"
#include "scenario/explain.h"

#define WINDOW_MAX   (1ull << 30)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool read_strack(struct check *c, const struct tree *n, void *host_spec)
{
	static const char *const sprays[] = {
		[SPRAY_ADAPTIVE] = "adaptive",
		[SPRAY_OBLIVIOUS] = "oblivious",
		[SPRAY_SINGLE] = "single",
		NULL,
	};
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
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), host_spec), COUNT(keys));
}

static bool read_transport(struct check *c, const struct tree *n, void *host_spec)
{
	static const char *const words[] = {"strack", NULL};
	static const struct key word = {.type = VALUE_WORD, .words = words};
	static const struct key keys[] = {
		{.name = "strack", .type = VALUE_SECTION, .read = read_strack},
	};
	struct host_spec *h = host_spec;

	h->transport = TRANSPORT_STRACK;
	if (n && n->kind != TREE_MAP)
		return value_read(c, &word, n, NULL) && read_strack(c, NULL, h);
	return keys_all(keys_read(c, n, keys, COUNT(keys), h), COUNT(keys));
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
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), host_spec), COUNT(keys));
}
