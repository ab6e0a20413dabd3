/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COMPARE_H
#define FABRICBED_COMPARE_H

/* Runs of one scenario side by side. summaries: an object of them by variant, in order. */
#include <jansson.h>
#include "session/folder.h"

/* Makes compare.json appear. 0 or -errno after a message. */
int compare_write(struct folder *folder, const json_t *summaries);

/*
 * A table: a column per variant, each value also as a multiple of the first one's; several tables
 * where a line would be longer than width, unless that is 0.
 */
void compare_print(const char *title, json_t *summaries, int width);

#endif
