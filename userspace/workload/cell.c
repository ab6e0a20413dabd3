/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "workload/cell.h"

#include <errno.h>
#include <string.h>

const char *cell_show(const struct cell *c, char buf[CELL_SHOWN])
{
	size_t length = c->length < CELL_SHOWN ? c->length : CELL_SHOWN - 1;

	for (size_t i = 0; i < length; i++)
		buf[i] = (char)(c->text[i] < ' ' || c->text[i] > '~' ? '?' : c->text[i]);
	buf[length] = '\0';
	return buf;
}

bool cell_is(const struct cell *c, const char *word)
{
	return strlen(word) == c->length && !memcmp(c->text, word, c->length);
}

int cell_refuse(char why[WORKLOAD_REFUSAL], const struct file_text *file, const char *unit,
	uint32_t number, const char *format, va_list ap)
{
	size_t used = (size_t)snprintf(
		why, WORKLOAD_REFUSAL, "file: %.60s %s %u: ", file_text_name(file), unit, number);

	vsnprintf(why + used, WORKLOAD_REFUSAL - used, format, ap);
	return -EINVAL;
}
