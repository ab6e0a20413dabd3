/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sweep_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/parents.h"
#include "cli/stop.h"
#include "io/clock.h"

#define MARK ".sweep"

static bool is_empty(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int count = 0;

	while (d && (e = readdir(d)))
		count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return !count;
}

#define LOCK_TRIES 30
#define LOCK_WAIT                                                                                  \
	{                                                                                          \
		0, 100 * 1000 * 1000                                                               \
	}

/*
 * Runs inherit the lock. Those of a sweep that was killed end a little later, and until then their
 * folders are not free.
 */
static int take_lock(int fd)
{
	const struct timespec wait = LOCK_WAIT;
	int tries = 0;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || ++tries == LOCK_TRIES || stop_asked)
			return -1;
		nanosleep(&wait, NULL);
	}
	return 0;
}

/* Its mark says that the folder is a sweep's; while it is locked another one writes there. */
int sweep_folder_claim(const char *folder, int *ret_lock)
{
	char *mark = NULL;
	int status = EXIT_INPUT;

	parents_make(folder);
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		cli_error("can't make the folder %s: %s; --output names another", folder,
			strerror(errno));
	else if (asprintf(&mark, "%s/" MARK, folder) < 0)
		cli_error("out of memory");
	else if (access(mark, F_OK) < 0 && !is_empty(folder))
		cli_error("%s holds files that are no sweep's; --output names another folder",
			folder);
	else if ((*ret_lock = open(mark, O_RDWR | O_CREAT, 0666)) < 0)
		cli_error("can't write in %s: %s; --output names another folder", folder,
			strerror(errno));
	else if (take_lock(*ret_lock) < 0)
		cli_error("another sweep writes in %s; --output names another folder", folder);
	else
		status = EXIT_WELL;
	free(mark);
	return status;
}
