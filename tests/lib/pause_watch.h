/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_PAUSE_WATCH_H
#define FABRICBED_TEST_PAUSE_WATCH_H

/*
 * One port of a class_net, and the PFC frames that its peer sends it for one class: what they
 * should come to, by themselves, and what the engine made of them.
 */
#include "lib/class_net.h"

#define PAUSE_CLASS      3
#define PAUSE_WATCH_MOST 20000

struct pause_order {
	uint64_t sent_ps, from_ps, length_ps; /* when it takes effect, and for how long at most */
};

struct pause_span {
	uint64_t from_ps, until_ps;
};

/* A port that obeys, and its peer that orders. */
struct pause_watch {
	const struct class_net *net;
	uint32_t port, peer;
	uint64_t starts[CLASSES][PAUSE_WATCH_MOST], last_ps;
	uint32_t count[CLASSES];
	struct pause_order orders[PAUSE_WATCH_MOST];
	uint32_t order_count, stops, goes;        /* of these orders: XOFF, XON */
	struct pause_span told[PAUSE_WATCH_MOST]; /* pauses that the engine reported */
	uint32_t told_count;
	uint64_t dropped[DROP_REASON_COUNT], first_drop_ps, drops_at_first;
};

/* Before class_net_open(); free() it after class_net_close(). */
struct pause_watch *pause_watch_new(struct class_net *n, uint32_t port);

/* The engine's reports and counters are what the orders come to. All pauses are over. */
void pause_watch_assert_told(const struct pause_watch *w);

/* That, and they are all that there were: no other port was ever paused. */
void pause_watch_assert_alone(const struct pause_watch *w);

/* Frames that could have started back to back: each did as soon as pauses let it, exactly. */
void pause_watch_assert_back_to_back(const struct pause_watch *w, uint32_t class, uint64_t ser);

#endif
