/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STOP_H
#define FABRICBED_STOP_H

/* Ctrl-C and the like, for what has to come to a clean end. */
#include <stdbool.h>
#include "bringup/claim.h"

/* Set by SIGINT, SIGTERM and SIGHUP once they are caught. */
extern volatile bool stop_asked;

/* All of them; flags: of sigaction(2). */
void stop_catch(int flags);

/* The first two; the third is deadly. */
void stop_catch_two(int flags);

/* Waits for a lock until one comes, and says what it waits for. */
extern const struct lock_wait stop_wait;

/* They are deadly again. */
void stop_release(void);

#endif
