/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CAPTURE_ORDER_H
#define FABRICBED_CAPTURE_ORDER_H

/*
 * Frames for captures in the order of time. The engine does all of a node's events of a window
 * before the next node's, and windows depend on when it was stopped; so frames are kept until a
 * window has ended, and passed on by time, then by port, then as they came.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/drop.h"

/* A frame that a port began to send, or one that ended there. */
struct capture_frame {
	uint64_t at_ps;
	uint32_t port;
	bool dropped;
	enum drop_reason reason; /* of a dropped one */
	const uint8_t *bytes;
	uint32_t captured, length;
};

typedef void (*capture_take)(void *arg, const struct capture_frame *f);

struct capture_item;

struct capture_order {
	capture_take take;
	void *arg;
	struct capture_item *items;
	size_t count, capacity;
	uint8_t *bytes; /* of all of them */
	size_t used, room;
};

/* Copies the frame. Without memory all are passed on at once: out of order, but none is lost. */
void capture_order_add(struct capture_order *o, const struct capture_frame *f);

/* Nothing earlier is to come: hands on what there is. */
void capture_order_flush(struct capture_order *o);

void capture_order_release(struct capture_order *o);

#endif
