/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind a comment or a text in quotes that begins at `at`; `at` where there is none. */
static const char *skip_quiet(const char *at, const char *end)
{
	const char *from = at;

	if (at + 1 < end && at[0] == '/' && at[1] == '/') {
		while (at < end && *at != '\n')
			at++;
	} else if (at + 1 < end && at[0] == '/' && at[1] == '*') {
		for (at += 2; at < end && !(at[0] == '/' && at[-1] == '*' && at > from + 2);)
			at++;
		at += at < end;
	} else if (*at == '"' || *at == '\'') {
		for (at++; at < end && *at != *from && *at != '\n'; at++)
			at += *at == '\\' && at + 1 < end;
		at += at < end;
	}
	return at;
}

unsigned source_line_of(const struct policy_source *s, const char *word)
{
	const char *at = s->text, *end = s->text + s->length, *behind;
	size_t length = strlen(word);
	unsigned line = 1;

	while (at < end) {
		const char *from = at;

		behind = skip_quiet(at, end);
		if (behind == at && is_word(*at)) {
			while (behind < end && is_word(*behind))
				behind++;
			if ((size_t)(behind - at) == length && !memcmp(at, word, length))
				return line;
		}
		at = behind == at ? at + 1 : behind;
		for (; from < at; from++)
			line += *from == '\n';
	}
	return 0;
}

static void trim(const char **text, size_t *length)
{
	while (*length && isspace((unsigned char)**text)) {
		(*text)++;
		(*length)--;
	}
	while (*length && isspace((unsigned char)(*text)[*length - 1]))
		(*length)--;
}

unsigned source_find_line(const struct policy_source *s, const char *line, size_t length)
{
	const char *at = s->text, *end = s->text + s->length;
	unsigned found = 0;

	trim(&line, &length);
	for (unsigned n = 1; at < end && length; n++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *text = at;
		size_t bytes = (size_t)((newline ? newline : end) - at);

		trim(&text, &bytes);
		if (bytes == length && !memcmp(text, line, length)) {
			if (found)
				return 0;
			found = n;
		}
		at = newline ? newline + 1 : end;
	}
	return found;
}

const char *source_place(char buf[SOURCE_PLACE], const struct policy_source *s, unsigned line)
{
	if (line)
		snprintf(buf, SOURCE_PLACE, "%s:%u", s->name, line);
	else
		snprintf(buf, SOURCE_PLACE, "%s", s->name);
	return buf;
}
