/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/check.h"

#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "scenario/explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool check_name(struct check *c, const struct tree *n, void *target)
{
	static const struct key key = {
		.type = VALUE_LABEL,
		.max = NAME_LIMIT,
		.expected = "1 to 24 of a-z, 0-9 and '-', the first no '-'",
	};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	if (n->kind == TREE_SCALAR && !tree_is_null(n) &&
		(n->text[0] == '-' || strspn(n->text, letters) != strlen(n->text))) {
		explain_unexpected(c->diags, n, key.expected);
		return false;
	}
	return value_read(c, &key, n, target);
}

static bool read_telemetry(struct check *c, const struct tree *n, void *scenario)
{
	static const struct key keys[] = {
		{.name = "queues",
			.type = VALUE_TIME,
			.offset = offsetof(struct scenario, sample_ps),
			.fallback = "off",
			.min = PS_PER_NS,
			.max = TIME_MAX,
			.word = "off"},
	};

	return keys_all(keys_read(c, n, keys, COUNT(keys), scenario), COUNT(keys));
}

static void check_holds_packet(
	struct check *c, const struct tree *n, double bytes, const struct scenario *s)
{
	if (n && bytes < s->topology.mtu)
		explain_value(c->diags, n, "%s is too small; it holds not even one packet (mtu %u)",
			n->text, s->topology.mtu);
}

static void check_per_port(struct check *c, const struct tree *root, const struct scenario *s)
{
	const struct quantity *buffer = &s->sw.buffer.per_port;

	if (buffer->unit == QUANTITY_BYTES)
		check_holds_packet(c,
			tree_get(tree_get(tree_get(root, "switch"), "buffer"), "per_port"),
			buffer->value, s);
}

enum {
	NAME,
	ABOUT,
	SEED,
	CLOCK,
	TOPOLOGY,
	SWITCH,
	HOST,
	EXTERNAL,
	WORKLOAD,
	FAULTS,
	TELEMETRY,
	UNTIL,
	EXPECT,
	COMPARE
};

bool scenario_check(struct check *c, const struct tree *root, struct scenario *s)
{
	static const struct key keys[] = {
		[NAME] = {.name = "name",
			.type = VALUE_READ,
			.read = check_name,
			.offset = offsetof(struct scenario, name),
			.required = true,
			.expected = "1 to 24 of a-z, 0-9 and '-', the first no '-'"},
		[ABOUT] = {.name = "about",
			.type = VALUE_TEXT,
			.fallback = "",
			.offset = offsetof(struct scenario, about)},
		[SEED] = {.name = "seed",
			.type = VALUE_SEED,
			.fallback = "1",
			.max = UINT64_MAX,
			.offset = offsetof(struct scenario, seed)},
		[CLOCK] = {.name = "clock",
			.type = VALUE_SECTION,
			.read = check_clock,
			.offset = offsetof(struct scenario, clock)},
		[TOPOLOGY] = {.name = "topology",
			.type = VALUE_READ,
			.read = check_topology,
			.offset = offsetof(struct scenario, topology),
			.required = true},
		[SWITCH] = {.name = "switch",
			.type = VALUE_SECTION,
			.read = check_switch,
			.offset = offsetof(struct scenario, sw)},
		[HOST] = {.name = "host",
			.type = VALUE_SECTION,
			.read = check_host,
			.offset = offsetof(struct scenario, host)},
		[EXTERNAL] = {.name = "external",
			.type = VALUE_READ,
			.read = check_external,
			.offset = offsetof(struct scenario, external)},
		[WORKLOAD] = {.name = "workload", .type = VALUE_READ, .read = check_workload},
		[FAULTS] = {.name = "faults", .type = VALUE_READ, .read = check_faults},
		[TELEMETRY] = {.name = "telemetry", .type = VALUE_SECTION, .read = read_telemetry},
		[UNTIL] = {.name = "until",
			.type = VALUE_TIME,
			.min = 1,
			.max = MOMENT_MAX,
			.fallback = "auto",
			.word = "auto",
			.offset = offsetof(struct scenario, until_ps)},
		[EXPECT] = {.name = "expect", .type = VALUE_READ, .read = check_expects},
		[COMPARE] = {.name = "compare", .type = VALUE_READ, .read = check_compare},
	};
	uint64_t good;

	good = keys_read(c, root, keys, COUNT(keys), s);
	if (!(good & 1u << TOPOLOGY))
		return false;
	/* the time in which the senders that it is to notify raise their rates */
	if (s->sw.cnp_ps == EVERY_AUTO)
		s->sw.cnp_ps = s->host.roce.increase_ps;
	s->sw.sound = good & 1u << SWITCH;
	if (good & 1u << WORKLOAD)
		check_messages(c, tree_get(root, "workload"), s);
	if (good & 1u << SWITCH)
		check_per_port(c, root, s);
	if (good & 1u << HOST)
		check_holds_packet(c, tree_get(tree_get(tree_get(root, "host"), "stack"), "queue"),
			(double)s->host.stack.queue_bytes, s);
	if (good & 1u << SWITCH && good & 1u << HOST && check_answers(c, root, s)) {
		check_host_classes(c, root, s);
		check_stack_switch(c, root, s);
	}
	if (good & 1u << CLOCK && good & 1u << HOST)
		check_stack_clock(c, root, s);
	if (good & 1u << CLOCK && good & 1u << EXPECT)
		check_expects_clock(c, root, s);
	if (good & 1u << SWITCH)
		check_storms(c, root, s);
	return true;
}
