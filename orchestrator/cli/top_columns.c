/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_model.h"
#include "report/number.h"

#include "base/numbers.h"

/* Initialisers: a column's table leaves out what is absent, so that a row is one line. */
#define END                                                                                        \
	{                                                                                          \
		.shown = { 0 }                                                                     \
	}

static const struct top_column links[] = {
	{{"port", "port", NUMBER_NONE, 0}, "port", TOP_LEVEL, 'n'},
	{{"state", "state", NUMBER_NONE, 6}, "up", TOP_UP, 0},
	{{"rate_gbps", "rate", NUMBER_GBPS, 9}, "rate_gbps", TOP_LEVEL, 0},
	{{"utilisation_percent", "util%", NUMBER_PERCENT, 1}, "tx_bytes", TOP_LOAD, 'u'},
	{{"load_gbps", "bit/s", NUMBER_GBPS, 8}, "tx_bytes", TOP_LOAD_GBPS, 0},
	{{"tx_frames_per_s", "frame/s", NUMBER_SCALED, 10}, "tx_frames", TOP_RATE, 0},
	{{"depth_bytes", "queue", NUMBER_BYTES, 2}, "depth_bytes", TOP_LEVEL, 'b'},
	{{"max_depth_bytes", "max", NUMBER_BYTES, 9}, "max_depth_bytes", TOP_LEVEL, 0},
	{{"dropped_per_s", "drop/s", NUMBER_SCALED, 3}, "dropped", TOP_RATE, 'd'},
	{{"dropped", "drops", NUMBER_WHOLE, 11}, "dropped", TOP_LEVEL, 0},
	{{"marked_per_s", "mark/s", NUMBER_SCALED, 4}, "marked", TOP_RATE, 'm'},
	{{"trimmed_per_s", "trim/s", NUMBER_SCALED, 8}, "trimmed", TOP_RATE, 0},
	{{"paused_percent", "paus%", NUMBER_PERCENT, 5}, "paused_us", TOP_SHARE, 'p'},
	{{"faults", "faults", NUMBER_NONE, 7}, "faults", TOP_LEVEL, 0},
	END,
};

static const struct top_column queues[] = {
	{{"port", "port", NUMBER_NONE, 0}, "port", TOP_LEVEL, 'n'},
	{{"class", "class", NUMBER_WHOLE, 0}, "class", TOP_LEVEL, 0},
	{{"depth_bytes", "depth", NUMBER_BYTES, 1}, "depth_bytes", TOP_LEVEL, 'b'},
	{{"max_depth_bytes", "max", NUMBER_BYTES, 3}, "max_depth_bytes", TOP_LEVEL, 0},
	{{"limit_bytes", "limit", NUMBER_BYTES, 5}, "limit_bytes", TOP_LEVEL, 0},
	{{"full_percent", "full%", NUMBER_PERCENT, 2}, "depth_bytes", TOP_FILL, 'u'},
	{{"depth_frames", "frames", NUMBER_WHOLE, 6}, "depth_frames", TOP_LEVEL, 0},
	{{"state", "state", NUMBER_NONE, 4}, "paused", TOP_PAUSED, 0},
	{{"paused_percent", "paus%", NUMBER_PERCENT, 4}, "paused_us", TOP_SHARE, 'p'},
	{{"paused_us", "paused", NUMBER_TIME, 7}, "paused_us", TOP_LEVEL, 0},
	END,
};

static const struct top_column flows[] = {
	{{"flow", "flow", NUMBER_WHOLE, 0}, "flow", TOP_LEVEL, 'n'},
	{{"src", "src", NUMBER_NONE, 1}, "src", TOP_LEVEL, 0},
	{{"dst", "dst", NUMBER_NONE, 1}, "dst", TOP_LEVEL, 0},
	{{"state", "state", NUMBER_NONE, 2}, "fct_us", TOP_PROGRESS, 0},
	{{"bytes", "bytes", NUMBER_BYTES, 3}, "bytes", TOP_LEVEL, 'b'},
	{{"packets_per_s", "pkt/s", NUMBER_SCALED, 2}, "packets", TOP_RATE, 'u'},
	{{"packets", "packets", NUMBER_WHOLE, 7}, "packets", TOP_LEVEL, 0},
	{{"start_us", "start", NUMBER_TIME, 8}, "start_us", TOP_LEVEL, 0},
	{{"fct_us", "fct", NUMBER_TIME, 4}, "fct_us", TOP_LEVEL, 0},
	{{"goodput_gbps", "goodput", NUMBER_GBPS, 6}, "bytes", TOP_GOODPUT, 0},
	{{"retransmitted_per_s", "retr/s", NUMBER_SCALED, 9}, "retransmitted", TOP_RATE, 0},
	{{"retransmitted", "retrans", NUMBER_WHOLE, 5}, "retransmitted", TOP_LEVEL, 'd'},
	{{"timeouts", "timeout", NUMBER_WHOLE, 6}, "timeouts", TOP_LEVEL, 0},
	END,
};

static const struct top_column faults[] = {
	{{"fault", "fault", NUMBER_WHOLE, 0}, "fault", TOP_LEVEL, 'n'},
	{{"state", "state", NUMBER_NONE, 1}, "state", TOP_LEVEL, 0},
	{{"words", "words", NUMBER_NONE, 1}, "words", TOP_LEVEL, 0},
	{{"since_us", "since", NUMBER_TIME, 2}, "since_us", TOP_LEVEL, 0},
	{{"until_us", "until", NUMBER_TIME, 3}, "until_us", TOP_LEVEL, 0},
	{{"by", "by", NUMBER_NONE, 4}, "by", TOP_LEVEL, 0},
	{{"targets", "targets", NUMBER_NONE, 5}, "targets", TOP_LEVEL, 0},
	END,
};

static const struct top_column nodes[] = {
	{{"node", "node", NUMBER_NONE, 0}, "node", TOP_LEVEL, 'n'},
	{{"kind", "kind", NUMBER_NONE, 5}, "kind", TOP_LEVEL, 0},
	{{"ports", "ports", NUMBER_WHOLE, 6}, "ports", TOP_LEVEL, 0},
	{{"sent_per_s", "sent/s", NUMBER_SCALED, 1}, "sent", TOP_RATE, 'u'},
	{{"delivered_per_s", "deliv/s", NUMBER_SCALED, 1}, "delivered", TOP_RATE, 0},
	{{"dropped_per_s", "drop/s", NUMBER_SCALED, 1}, "dropped", TOP_RATE, 'd'},
	{{"sent", "sent", NUMBER_WHOLE, 4}, "sent", TOP_LEVEL, 0},
	{{"delivered", "deliv", NUMBER_WHOLE, 4}, "delivered", TOP_LEVEL, 0},
	{{"dropped", "drops", NUMBER_WHOLE, 4}, "dropped", TOP_LEVEL, 0},
	{{"ip4", "ip4", NUMBER_NONE, 3}, "ip4", TOP_LEVEL, 0},
	{{"ip6", "ip6", NUMBER_NONE, 7}, "ip6", TOP_LEVEL, 0},
	{{"netns", "netns", NUMBER_NONE, 8}, "netns", TOP_LEVEL, 0},
	END,
};

/* but for END */
#define COLUMNS(array) (COUNT(array) - 1)

_Static_assert(COLUMNS(links) <= LAYOUT_COLUMNS_MAX, "a row has no room for so many cells");

const struct top_view_spec *top_view_spec(enum top_view view)
{
	static const struct top_view_spec specs[TOP_VIEWS] = {
		[TOP_LINKS] = {"links", "ports", links, 1, 3},
		[TOP_QUEUES] = {"queues", "queues", queues, 2, 2},
		[TOP_FLOWS] = {"flows", "flows", flows, 1, 5},
		[TOP_FAULTS] = {"faults", "faults", faults, 1, 3},
		[TOP_NODES] = {"nodes", "nodes", nodes, 1, 3},
	};

	return &specs[view];
}

size_t top_column_count(enum top_view view)
{
	static const size_t counts[TOP_VIEWS] = {
		[TOP_LINKS] = COLUMNS(links),
		[TOP_QUEUES] = COLUMNS(queues),
		[TOP_FLOWS] = COLUMNS(flows),
		[TOP_FAULTS] = COLUMNS(faults),
		[TOP_NODES] = COLUMNS(nodes),
	};

	return counts[view];
}
