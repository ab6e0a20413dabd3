/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include "cli/cli.h"

void cli_man_text(const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\n' && text[1] == '\n')
			fputs("\n.PP", stdout);
		else
			putchar(*text);
		line_start = *text == '\n';
	}
	putchar('\n');
}
