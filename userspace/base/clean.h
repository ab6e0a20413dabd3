/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLEAN_H
#define FABRICBED_CLEAN_H

/*
 * Makes '?' of what is no printable ASCII, so that a byte is a column of a table: names and words come from files and requests, and
 * nothing in them may reach a terminal as a command of its own. Returns text. In messages it is text_shown() (scenario/text.h).
 */
static inline char *clean_text(char *text)
{
	for (char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return text;
}

#endif
