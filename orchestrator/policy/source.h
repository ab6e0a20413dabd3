/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_POLICY_SOURCE_H
#define FABRICBED_POLICY_SOURCE_H

/* A policy file as text. */
#include <stddef.h>

struct policy_source {
	const char *name; /* in messages: the path as the user gave it */
	const char *text; /* with a zero behind it */
	size_t length;
};

/* The first line, from 1, of code that has this identifier; 0: none has it. */
unsigned source_line_of(const struct policy_source *s, const char *word);

/* The line, from 1, whose text without the blanks around it is this and no other line's; else 0. */
unsigned source_find_line(const struct policy_source *s, const char *line, size_t length);

/* "my.c:12", or "my.c" if the line is 0. Returns buf. */
#define SOURCE_PLACE 256
const char *source_place(char buf[SOURCE_PLACE], const struct policy_source *s, unsigned line);

#endif
