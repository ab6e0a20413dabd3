/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_EVENT_LOG_H
#define FABRICBED_EVENT_LOG_H

/*
 * The lines of events.jsonl. They are written as they become known, to a file of their own, and
 * sorted at the end. Memory does not grow with their number.
 */
#include "telemetry/spool.h"

struct event_log;

/* A line's place: unique, so that the order is the model's, whatever the machine does. */
struct event_place {
	uint64_t at_ps;
	uint64_t rank; /* among those of one time */
};

#define EVENT_SPOOL "events.jsonl.part"

/* In a folder that is open as `directory`; -1: nothing is written. 0 or -errno. */
int event_log_open(struct event_log **ret, int directory);

/* Lines of one place keep the order in which they came. */
void event_log_add(struct event_log *l, struct event_place place, const char *text);

/* As spool_flush(). */
int event_log_flush(struct event_log *l);

/* Lines that were lost so far; *ret_why: the -errno of the latest, if there is one. */
uint64_t event_log_lost(const struct event_log *l, int *ret_why);

/* Makes a file of that name with all lines in order. 0, or -errno: it may be tried again. */
int event_log_write(struct event_log *l, int directory, const char *name);

/* Removes the file in which they were collected. How many were lost is still known. */
void event_log_remove(struct event_log *l);

/* That, and all else. NULL is fine. */
void event_log_free(struct event_log *l);

#endif
