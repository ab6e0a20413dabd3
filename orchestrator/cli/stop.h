/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STOP_H
#define FABRICBED_STOP_H

/* Ctrl-C and the like, for what has to come to a clean end. */
#include <stdbool.h>

/* Set by SIGINT, SIGTERM and SIGHUP once they are caught. */
extern volatile bool stop_asked;

/* flags: of sigaction(2). */
void stop_catch(int flags);

/* They are deadly again. */
void stop_release(void);

#endif
