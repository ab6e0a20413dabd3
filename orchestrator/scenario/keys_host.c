/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

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
static bool check_dscp(struct check *c, const struct tree *n, void *host_spec, uint64_t valid)
{
	struct host_spec *h = host_spec;

	(void)c;
	(void)valid;
	if (n && n->kind == TREE_SCALAR && !tree_is_null(n))
		h->control_dscp = h->notify_dscp = h->data_dscp;
	return true;
}

static const struct map dscp_map = {KEYS(dscp_keys), .lone = &dscp_keys[0], .check = check_dscp};

static const char *const payloads[] = {
	[PAYLOAD_AUTO] = "auto", [PAYLOAD_HEADERS] = "headers", [PAYLOAD_FULL] = "full", NULL};
static const char *const versions[] = {"4", "6", NULL};

static const struct key keys[] = {
	KEY("transport", MAP, struct host_spec, transport, .map = &transport_map,
		.fallback = "strack", .help = "the transport protocol of messages"),
	SECTION("dscp", &dscp_map, .usual = "{data: 0, control: auto, notify: auto}",
		.help = "one for all packets, or by what they carry"),
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
