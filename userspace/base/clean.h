/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLEAN_H
#define FABRICBED_CLEAN_H

/*
 * Makes '?' of what is no printable ASCII, so that a byte is a column of a table: names and words
 * come from files and requests, and must not reach a terminal as commands. Returns text. For
 * messages: text_shown() (scenario/text.h).
 */
static inline char *clean_text(char *text)
{
	for (char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return text;
}

#endif
