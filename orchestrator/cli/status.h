/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STATUS_H
#define FABRICBED_STATUS_H

/* A live fabric's status as a page to read, with what to type next. */
#include <jansson.h>

/* The result of the verb "status" (docs/control.md), on standard output. */
void status_print(const json_t *status);

#endif
