/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TOP_H
#define FABRICBED_TOP_H

/* The two ways to look: a screen that goes on, and what it would show printed once. */
#include "cli/top_feed.h"

/* Prints all views after two samples, as text or as JSON. An exit status. */
int top_once(struct top *t, bool json);

/* Shows them until it is asked to end. An exit status. */
int top_watch(struct top *t);

#endif
