/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SCENARIO_TEXT_H
#define FABRICBED_SCENARIO_TEXT_H

/* UTF-8 text from outside: what may be shown as it is and what must not. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the code point at *text, which is not its end, and moves *text behind it. False: the byte
 * there starts none (RFC 3629, section 4), and *text moves by that byte.
 */
bool text_next(const char **text, uint32_t *ret_code);

/* Neither a control character nor a line separator nor a noncharacter nor a byte order mark. */
bool text_code_printable(uint32_t code);

/* The whole of it is valid and printable; newline and tab count as such where `multiline`. */
bool text_printable(const char *text, bool multiline);

/* A copy for a terminal: unprintable bytes as \x.., a long one cut with "...". Returns buf. */
#define TEXT_SHOWN 64
const char *text_shown(char buf[TEXT_SHOWN], const char *text);

#endif
