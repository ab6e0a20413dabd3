/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLEAN_H
#define FABRICBED_CLEAN_H

/*
 * Makes '?' of what is no printable ASCII: names and words come from files and requests, and
 * nothing in them may reach a terminal as a command of its own. Returns text.
 */
static inline char *clean_text(char *text)
{
	for (char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return text;
}

#endif
