/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include "scenario/check.h"
#include "workload/kind.h"

/* A kind has its keys beside its code. */
#define ROW(word)                                                                                  \
	KEY(#word, MAP, struct workload_spec, options, .choice = true,                             \
		.map = &workload_kind_##word.map),

static bool has_transport(const void *workload_spec)
{
	return ((const struct workload_spec *)workload_spec)->transport.options;
}

static const struct key keys[] = {
	WORKLOADS(ROW) KEY("dscp", COUNT, struct workload_spec, dscp, .optional = true,
		.usual = "host.dscp.data", .word_value = DSCP_OF_HOSTS, .max = DSCP_MAX,
		.help = "of its data packets, beside the kind"),
	KEY("transport", MAP, struct workload_spec, transport, .map = &transport_map,
		.usual = "host.transport", .applies = has_transport,
		.help = "of its messages, beside the kind; as host.transport"),
};

const struct map workload_map = {KEYS(keys), .chosen = FIELD(struct workload_spec, kind),
	.pos = offsetof(struct workload_spec, pos), .valid = FIELD(struct workload_spec, valid)};

void check_messages(struct check *c, const struct tree *list, const struct scenario *s)
{
	uint64_t max = MESSAGE_PACKETS * s->topology.mtu;
	char text[UNITS_TEXT];

	for (size_t i = 0; i < s->workload_count; i++) {
		const struct workload_spec *w = &s->workloads[i];
		const char *size_key = workload_kinds[w->kind]->size_key;
		const struct tree *n;

		if (w->options->bytes <= max)
			continue;
		n = tree_get(tree_get(list->items[i], keys[w->kind].name),
			size_key ? size_key : "message");
		explain_value(c->diags, n,
			"%s is too large; a message has at most 2^24 packets, %s at an mtu of %u",
			n->text, format_bytes(text, max), s->topology.mtu);
	}
}

void scenario_workload_hosts(const struct workload_spec *w,
	void (*visit)(void *arg, const char *path, const char *name), void *arg)
{
	map_each_host(&workload_map, w, "", visit, arg);
}

void workload_spec_release(struct workload_spec *w)
{
	map_release(&workload_map, w);
	*w = (struct workload_spec){0};
}
