/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/parents.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void parents_make(const char *path)
{
	char *part = strdup(path), *slash;

	for (slash = part; slash && (slash = strchr(slash + 1, '/'));) {
		if (!slash[1 + strspn(slash + 1, "/")]) /* "one/two/" leads through one alone */
			break;
		*slash = '\0';
		mkdir(part, 0777);
		*slash = '/';
	}
	free(part);
}
