/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_FEED_H
#define FABRICBED_TOP_FEED_H

/*
 * Samples from a live fabric's control socket without waiting: the screen must read its keys while
 * the fabric is busy or hangs.
 */
#include "cli/client.h"
#include "cli/top_model.h"

struct top_feed;

/* Takes the connection, on failure too. 0 or -ENOMEM. */
int top_feed_open(struct top_feed **ret, struct client *client);
void top_feed_close(struct top_feed *f);

int top_feed_fd(const struct top_feed *f);

/* Asks for `status` and the views of a mask (1 << view); not while replies are due. 0 or -errno. */
int top_feed_ask(struct top_feed *f, unsigned views);

/* Whether answers are awaited. */
bool top_feed_waits(const struct top_feed *f);

struct top_answers {
	json_t *status;
	json_t *shown[TOP_VIEWS]; /* NULL: not asked for, or refused */
	char refusal[256];        /* why */
};

/* 1: all replies are in *ret, which is to be released; 0: not yet; -errno: broken connection. */
int top_feed_take(struct top_feed *f, struct top_answers *ret);
void top_answers_release(struct top_answers *a);

/* Samples of one fabric, and where they come from. */
struct top {
	const char *name;     /* of the fabric */
	uint64_t interval_ns; /* between samples, of the wall clock */
	struct top_feed *feed;
	struct top_pair status, views[TOP_VIEWS];
};

/* Gives the answers to the samples they belong to, and releases them. */
void top_push(struct top *t, struct top_answers *answers);

/* Nanoseconds of the monotonic clock. */
uint64_t top_clock(void);

/* Milliseconds until then, rounded up, at most `most`: for poll(). */
int top_until(uint64_t then_ns, int most);

#endif
