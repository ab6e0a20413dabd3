/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_ABI_DROP_H
#define FABRICBED_ABI_DROP_H

/*
 * Why a packet ended before its receiver had it: one reason a packet, each counted where it
 * happened. Append only: the numbers are part of the trace. X(symbol, name in results, meaning).
 */
#define DROP_REASONS(X)                                                                            \
	X(DROP_NONE, "none", "the packet goes on")                                                 \
	X(DROP_MALFORMED, "malformed", "headers cut short, wrong version or wrong lengths")        \
	X(DROP_CHECKSUM, "checksum", "the IPv4 header checksum does not match")                    \
	X(DROP_TTL, "ttl", "TTL or hop limit used up")                                             \
	X(DROP_NO_ROUTE, "no_route", "the switch has no port towards the destination")             \
	X(DROP_BUFFER, "buffer", "the egress queue had no room (tail drop)")                       \
	X(DROP_LINK_DOWN, "link_down", "the link was down while the frame was on it")              \
	X(DROP_NOT_MINE, "not_mine", "the frame reached a host it is not addressed to")            \
	X(DROP_FOREIGN, "foreign", "a frame that the engine did not send")                         \
	X(DROP_LOSS, "loss", "lost on the wire at random")                                         \
	X(DROP_BURST, "burst", "lost on the wire in a burst")                                      \
	X(DROP_GILBERT, "gilbert", "lost on the wire by the Gilbert-Elliott model")                \
	X(DROP_FCS, "fcs", "bit errors on the wire: the frame check failed")                       \
	X(DROP_HEADERS, "headers", "trimmed, and even the headers had no room")                    \
	X(DROP_HEADROOM, "headroom", "a lossless class had used up its headroom")                  \
	X(DROP_WATCHDOG, "watchdog", "its queue was paused too long, the watchdog emptied it")     \
	X(DROP_SWITCH_DOWN, "switch_down", "the switch that held it died")                         \
	X(DROP_HOST_QUEUE, "host_queue", "the sending host's transmit queue had no room")

enum drop_reason {
#define X(symbol, name, meaning) symbol,
	DROP_REASONS(X)
#undef X
		DROP_REASON_COUNT
};

#endif
