/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_WIDTH 80 /* of a terminal of unknown width */

bool term_no_colour(void)
{
	const char *value = getenv("NO_COLOR");

	return value && *value;
}

static bool has_colour(void)
{
	const char *type = getenv("TERM");

	return isatty(STDOUT_FILENO) && !term_no_colour() && type && *type && strcmp(type, "dumb");
}

const char *term_red(void)
{
	return has_colour() ? "\033[1;31m" : "";
}

const char *term_plain(void)
{
	return has_colour() ? "\033[0m" : "";
}

int term_width(void)
{
	struct winsize size = {0};

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return USUAL_WIDTH;
	return size.ws_col;
}
