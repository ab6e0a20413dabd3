/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "scenario/text.h"

#include <stdio.h>
#include <string.h>

bool text_next(const char **text, uint32_t *ret_code)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)*text;
	unsigned more = p[0] < 0x80             ? 0
			: (p[0] & 0xe0) == 0xc0 ? 1
			: (p[0] & 0xf0) == 0xe0 ? 2
			: (p[0] & 0xf8) == 0xf0 ? 3
						: 4;
	uint32_t code;

	(*text)++;
	if (more == 4)
		return false;
	code = more ? p[0] & (0x3fu >> more) : p[0];
	for (unsigned i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return false;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return false;
	*text += more;
	*ret_code = code;
	return true;
}

bool text_code_printable(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return false;
	if (code == 0x2028 || code == 0x2029 || code == 0xfeff)
		return false;
	return (code & 0xfffe) != 0xfffe && !(code >= 0xfdd0 && code <= 0xfdef);
}

bool text_printable(const char *text, bool multiline)
{
	while (*text) {
		uint32_t code;

		if (!text_next(&text, &code))
			return false;
		if (multiline && (code == '\n' || code == '\t'))
			continue;
		if (!text_code_printable(code))
			return false;
	}
	return true;
}

const char *text_shown(char buf[TEXT_SHOWN], const char *text)
{
	size_t used = 0;

	while (*text) {
		const char *start = text;
		uint32_t code;
		bool plain = text_next(&text, &code) && text_code_printable(code);
		size_t length = (size_t)(text - start);
		/* the largest step is four bytes as \x.., and "..." must still fit behind it */
		if (used + (plain ? length : 4 * length) > TEXT_SHOWN - 4) {
			memcpy(buf + used, "...", 3);
			used += 3;
			break;
		}
		if (plain) {
			memcpy(buf + used, start, length);
			used += length;
			continue;
		}
		for (; start < text; start++)
			used += (size_t)sprintf(buf + used, "\\x%02x", (unsigned char)*start);
	}
	buf[used] = '\0';
	return buf;
}
