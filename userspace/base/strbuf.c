/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

struct strbuf strbuf_init(char *text, size_t size)
{
	text[0] = '\0';
	return (struct strbuf){.text = text, .size = size};
}

void strbuf_add(struct strbuf *b, const char *format, ...)
{
	size_t room = b->size - b->length;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(b->text + b->length, room, format, ap);
	va_end(ap);
	if (n > 0)
		b->length += (size_t)n < room ? (size_t)n : room - 1;
}

void strbuf_add_list(struct strbuf *b, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_add(b, "%s%s", i ? ", " : "", words[i]);
}
