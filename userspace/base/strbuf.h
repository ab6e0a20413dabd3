/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STRBUF_H
#define FABRICBED_STRBUF_H

/*
 * Text that is put together in a buffer of the caller's. It always ends with a zero; what has no
 * room is cut off.
 *
 *	char text[256];
 *	struct strbuf b = STRBUF(text);
 *
 *	for (size_t i = 0; i < count; i++)
 *		strbuf_add(&b, "%s%s", i ? ", " : "", words[i]);
 */
#include <stddef.h>

struct strbuf {
	char *text;
	size_t size;   /* bytes, the zero included; at least 1 */
	size_t length; /* what there is of the text, without the zero: at most size - 1 */
};

/* An empty text in an array; strbuf_init() takes any buffer and its size in bytes. */
#define STRBUF(array) strbuf_init((array), sizeof(array))
struct strbuf strbuf_init(char *text, size_t size);

__attribute__((format(printf, 2, 3))) void strbuf_add(struct strbuf *b, const char *format, ...);

/* "one, two, three" */
void strbuf_add_list(struct strbuf *b, const char *const *words, size_t count);

#endif
