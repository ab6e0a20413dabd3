/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_DROP_H
#define FABRICBED_ABI_DROP_H

/* Where a frame ended. */
enum drop_place {
	DROP_AT_INGRESS,
	DROP_AT_EGRESS, /* the port that was chosen */
	DROP_AT_WIRE,   /* counted at the ingress, shown at the other end of its cable */
};

/*
 * Why a packet ended before its receiver had it: one reason a packet, each counted where it
 * happened. Append only: the numbers are part of the trace. X(symbol, name in results, place,
 * meaning).
 */
#define DROP_REASONS(X)                                                                            \
	X(DROP_NONE, "none", DROP_AT_INGRESS, "the packet goes on")                                \
	X(DROP_MALFORMED, "malformed", DROP_AT_INGRESS,                                            \
		"headers cut short, wrong version or wrong lengths")                               \
	X(DROP_CHECKSUM, "checksum", DROP_AT_INGRESS, "the IPv4 header checksum does not match")   \
	X(DROP_TTL, "ttl", DROP_AT_INGRESS, "TTL or hop limit used up")                            \
	X(DROP_NO_ROUTE, "no_route", DROP_AT_INGRESS,                                              \
		"the switch has no port towards the destination")                                  \
	X(DROP_BUFFER, "buffer", DROP_AT_EGRESS, "the egress queue had no room (tail drop)")       \
	X(DROP_LINK_DOWN, "link_down", DROP_AT_WIRE,                                               \
		"the link was down while the frame was on it")                                     \
	X(DROP_NOT_MINE, "not_mine", DROP_AT_INGRESS,                                              \
		"the frame reached a host it is not addressed to")                                 \
	X(DROP_FOREIGN, "foreign", DROP_AT_INGRESS, "a frame that the engine did not send")        \
	X(DROP_LOSS, "loss", DROP_AT_WIRE, "lost on the wire at random")                           \
	X(DROP_BURST, "burst", DROP_AT_WIRE, "lost on the wire in a burst")                        \
	X(DROP_GILBERT, "gilbert", DROP_AT_WIRE, "lost on the wire by the Gilbert-Elliott model")  \
	X(DROP_FCS, "fcs", DROP_AT_WIRE, "bit errors on the wire: the frame check failed")         \
	X(DROP_HEADERS, "headers", DROP_AT_EGRESS, "trimmed, and even the headers had no room")    \
	X(DROP_HEADROOM, "headroom", DROP_AT_INGRESS, "a lossless class had used up its headroom") \
	X(DROP_WATCHDOG, "watchdog", DROP_AT_EGRESS,                                               \
		"its queue was paused too long, the watchdog emptied it")                          \
	X(DROP_SWITCH_DOWN, "switch_down", DROP_AT_EGRESS, "the switch that held it died")         \
	X(DROP_HOST_QUEUE, "host_queue", DROP_AT_INGRESS,                                          \
		"the sending host's transmit queue had no room")                                   \
	X(DROP_POLICY, "policy", DROP_AT_INGRESS,                                                  \
		"the load-balancing policy named a port that is not there")

enum drop_reason {
#define X(symbol, name, place, meaning) symbol,
	DROP_REASONS(X)
#undef X
		DROP_REASON_COUNT
};

#endif
