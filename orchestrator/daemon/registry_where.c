/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/registry.h"

#define USER_DIR "fabricbed"

/* A user's own: where the system gives them a directory that goes with their session, else in /tmp. A socket's path is short. */
static void user_dir(char buf[REGISTRY_DIR_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && *runtime == '/' &&
		strlen(runtime) + sizeof("/" USER_DIR) <= REGISTRY_DIR_MAX &&
		!access(runtime, W_OK | X_OK))
		snprintf(buf, REGISTRY_DIR_MAX, "%s/" USER_DIR, runtime);
	else
		snprintf(buf, REGISTRY_DIR_MAX, "/tmp/" USER_DIR "-%u", (unsigned)geteuid());
}

const char *registry_dir(char buf[REGISTRY_DIR_MAX])
{
	if (geteuid() == 0)
		snprintf(buf, REGISTRY_DIR_MAX, "%s", REGISTRY_DIR_ROOT);
	else
		user_dir(buf);
	return buf;
}

const char *registry_path(char buf[REGISTRY_PATH_MAX], const char *name, const char *file)
{
	snprintf(buf, REGISTRY_PATH_MAX, "%s/%s%s%s", REGISTRY_DIR, name, file ? "/" : "",
		file ? file : "");
	return buf;
}

int registry_trust(struct error *why)
{
	char path[REGISTRY_DIR_MAX];
	struct stat st;

	if (lstat(registry_dir(path), &st) < 0)
		return errno == ENOENT ? 0
				       : error_set(why, -errno, "cannot look at %s: %s", path,
						 strerror(errno));
	/* in /tmp somebody else may have made it before */
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		(geteuid() != 0 && (st.st_mode & 077)))
		return error_set(why, -EACCES,
			"%s is no directory that is yours alone; remedy: remove it, or set XDG_RUNTIME_DIR",
			path);
	return 0;
}
