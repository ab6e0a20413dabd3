/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_H
#define FABRICBED_TOP_H

/* The two ways to look: a screen that goes on, and what it would show printed once. */
#include "cli/top_feed.h"
#include "cli/top_model.h"

/* Samples of one fabric, and where they come from. */
struct top {
	const char *name;     /* of the fabric */
	uint64_t interval_ns; /* between samples, of the wall clock */
	struct top_feed *feed;
	struct top_pair status, views[TOP_VIEWS];
};

/* Nanoseconds of the monotonic clock. */
uint64_t top_clock(void);

/* Milliseconds until then, rounded up, at most `most`: for poll(). */
int top_until(uint64_t then_ns, int most);

/* Gives the answers to the samples they belong to, and releases them. */
void top_push(struct top *t, struct top_answers *answers);

/* Prints all views after two samples, as text or as JSON. An exit status. */
int top_once(struct top *t, bool json);

/* Shows them until it is told to end. An exit status. */
int top_watch(struct top *t);

#endif
