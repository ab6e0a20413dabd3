/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top_model.h"
#include "report/number.h"

/* Initialisers: what is absent is not in the columns' tables, so that a line of them stays one line. */
#define END                                                                                        \
	{                                                                                          \
		.title = NULL                                                                      \
	}

static const struct top_column links[] = {
	{"port", "port", "port", TOP_LEVEL, NUMBER_NONE, 0, 'n'},
	{"state", "state", "up", TOP_UP, NUMBER_NONE, 6, 0},
	{"rate", "rate_bps", "rate_gbps", TOP_RATE_BPS, NUMBER_SCALED, 9, 0},
	{"util%", "utilisation_percent", "tx_bytes", TOP_LOAD, NUMBER_PERCENT, 1, 'u'},
	{"bit/s", "load_bps", "tx_bytes", TOP_LOAD_BPS, NUMBER_SCALED, 8, 0},
	{"pkt/s", "packets_per_s", "tx_frames", TOP_RATE, NUMBER_SCALED, 10, 0},
	{"queue", "depth_bytes", "depth_bytes", TOP_LEVEL, NUMBER_BYTES, 2, 'b'},
	{"max", "max_depth_bytes", "max_depth_bytes", TOP_LEVEL, NUMBER_BYTES, 9, 0},
	{"drop/s", "drops_per_s", "dropped", TOP_RATE, NUMBER_SCALED, 3, 'd'},
	{"drops", "drops", "dropped", TOP_LEVEL, NUMBER_WHOLE, 11, 0},
	{"mark/s", "marks_per_s", "marked", TOP_RATE, NUMBER_SCALED, 4, 'm'},
	{"trim/s", "trims_per_s", "trimmed", TOP_RATE, NUMBER_SCALED, 8, 0},
	{"paus%", "paused_percent", "paused_us", TOP_SHARE, NUMBER_PERCENT, 5, 'p'},
	{"faults", "faults", "faults", TOP_LEVEL, NUMBER_NONE, 7, 0},
	END,
};

static const struct top_column queues[] = {
	{"port", "port", "port", TOP_LEVEL, NUMBER_NONE, 0, 'n'},
	{"class", "class", "class", TOP_LEVEL, NUMBER_WHOLE, 0, 0},
	{"depth", "depth_bytes", "depth_bytes", TOP_LEVEL, NUMBER_BYTES, 1, 'b'},
	{"max", "max_depth_bytes", "max_depth_bytes", TOP_LEVEL, NUMBER_BYTES, 3, 0},
	{"limit", "limit_bytes", "limit_bytes", TOP_LEVEL, NUMBER_BYTES, 5, 0},
	{"full%", "full_percent", "depth_bytes", TOP_FILL, NUMBER_PERCENT, 2, 'u'},
	{"frames", "frames", "frames", TOP_LEVEL, NUMBER_WHOLE, 6, 0},
	{"state", "state", "paused", TOP_PAUSED, NUMBER_NONE, 4, 0},
	{"paus%", "paused_percent", "paused_us", TOP_SHARE, NUMBER_PERCENT, 4, 'p'},
	{"paused", "paused_us", "paused_us", TOP_LEVEL, NUMBER_TIME, 7, 0},
	END,
};

static const struct top_column flows[] = {
	{"flow", "flow", "flow", TOP_LEVEL, NUMBER_WHOLE, 0, 'n'},
	{"src", "src", "src", TOP_LEVEL, NUMBER_NONE, 1, 0},
	{"dst", "dst", "dst", TOP_LEVEL, NUMBER_NONE, 1, 0},
	{"state", "state", "fct_us", TOP_PROGRESS, NUMBER_NONE, 2, 0},
	{"bytes", "bytes", "bytes", TOP_LEVEL, NUMBER_BYTES, 3, 'b'},
	{"pkt/s", "packets_per_s", "packets", TOP_RATE, NUMBER_SCALED, 2, 'u'},
	{"packets", "packets", "packets", TOP_LEVEL, NUMBER_WHOLE, 7, 0},
	{"start", "start_us", "start_us", TOP_LEVEL, NUMBER_TIME, 8, 0},
	{"fct", "fct_us", "fct_us", TOP_LEVEL, NUMBER_TIME, 4, 0},
	{"goodput", "goodput_bps", "bytes", TOP_GOODPUT, NUMBER_SCALED, 6, 0},
	{"retr/s", "retransmitted_per_s", "retransmitted", TOP_RATE, NUMBER_SCALED, 9, 0},
	{"retrans", "retransmitted", "retransmitted", TOP_LEVEL, NUMBER_WHOLE, 5, 'd'},
	{"timeout", "timeouts", "timeouts", TOP_LEVEL, NUMBER_WHOLE, 6, 0},
	END,
};

static const struct top_column faults[] = {
	{"fault", "fault", "fault", TOP_LEVEL, NUMBER_WHOLE, 0, 'n'},
	{"state", "state", "state", TOP_LEVEL, NUMBER_NONE, 1, 0},
	{"words", "words", "words", TOP_LEVEL, NUMBER_NONE, 1, 0},
	{"since", "since_us", "since_us", TOP_LEVEL, NUMBER_TIME, 2, 0},
	{"until", "until_us", "until_us", TOP_LEVEL, NUMBER_TIME, 3, 0},
	{"by", "by", "by", TOP_LEVEL, NUMBER_NONE, 4, 0},
	{"targets", "targets", "targets", TOP_LEVEL, NUMBER_NONE, 5, 0},
	END,
};

static const struct top_column nodes[] = {
	{"node", "node", "node", TOP_LEVEL, NUMBER_NONE, 0, 'n'},
	{"kind", "kind", "kind", TOP_LEVEL, NUMBER_NONE, 5, 0},
	{"ports", "ports", "ports", TOP_LEVEL, NUMBER_WHOLE, 6, 0},
	{"sent/s", "sent_per_s", "sent", TOP_RATE, NUMBER_SCALED, 1, 'u'},
	{"deliv/s", "delivered_per_s", "delivered", TOP_RATE, NUMBER_SCALED, 1, 0},
	{"drop/s", "drops_per_s", "dropped", TOP_RATE, NUMBER_SCALED, 1, 'd'},
	{"sent", "sent", "sent", TOP_LEVEL, NUMBER_WHOLE, 4, 0},
	{"deliv", "delivered", "delivered", TOP_LEVEL, NUMBER_WHOLE, 4, 0},
	{"drops", "drops", "dropped", TOP_LEVEL, NUMBER_WHOLE, 4, 0},
	{"ip4", "ip4", "ip4", TOP_LEVEL, NUMBER_NONE, 3, 0},
	{"ip6", "ip6", "ip6", TOP_LEVEL, NUMBER_NONE, 7, 0},
	{"netns", "netns", "netns", TOP_LEVEL, NUMBER_NONE, 8, 0},
	END,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]) - 1)

_Static_assert(COUNT(links) <= TOP_COLUMNS_MAX, "a row has no room for so many cells");

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
		[TOP_LINKS] = COUNT(links),
		[TOP_QUEUES] = COUNT(queues),
		[TOP_FLOWS] = COUNT(flows),
		[TOP_FAULTS] = COUNT(faults),
		[TOP_NODES] = COUNT(nodes),
	};

	return counts[view];
}
