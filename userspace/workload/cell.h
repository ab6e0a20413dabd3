/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CELL_H
#define FABRICBED_CELL_H

/* Parts of the text of a file, and messages about its lines. Internal to workload/. */
#include <stdarg.h>
#include "workload/kind.h"

struct cell {
	const char *text;
	size_t length;
};

#define CELL_SHOWN 40

/* Safe to show, and cut off. */
const char *cell_show(const struct cell *c, char buf[CELL_SHOWN]);

bool cell_is(const struct cell *c, const char *word);

/* why becomes "file: <name> <unit> <number>: ..."; returns -EINVAL. unit: "line". */
int cell_refuse(char why[WORKLOAD_REFUSAL], const struct file_text *file, const char *unit,
	uint32_t number, const char *format, va_list ap);

#endif
