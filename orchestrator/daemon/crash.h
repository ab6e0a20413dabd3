/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CRASH_H
#define FABRICBED_CRASH_H

#include "base/error.h"

/*
 * From now on a crash signal (SIGSEGV, SIGBUS, SIGABRT, ...) is reported on standard error, in a
 * line that begins with CRASH_WORDS, before it ends the process. Also after a stack overflow. 0 or
 * -errno.
 */
int crash_watch(struct error *why);

#endif
