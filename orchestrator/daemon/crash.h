/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CRASH_H
#define FABRICBED_CRASH_H

#include "base/error.h"

/*
 * From now on, a signal that is a crash (SIGSEGV, SIGBUS, SIGABRT, ...) is told on standard error, in a line that begins
 * with CRASH_WORDS, before it ends the process as it would have. Also where the stack has overflown. 0 or -errno.
 */
int crash_watch(struct error *why);

#endif
