/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "build/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define EXITING   0x4u /* PF_EXITING of the kernel's include/linux/sched.h */
#define PATH_SIZE 320  /* "/proc/<pid>/task/<file name>/stat" */

struct process_stat {
	char state;
	unsigned flags;
	unsigned long long started;
};

static bool read_stat(const char *path, struct process_stat *ret)
{
	char text[1024], *end;
	size_t n;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	/* Field 2 is the program's name in parentheses, and may itself have any of them. */
	end = strrchr(text, ')');
	return end &&
	       sscanf(end + 1,
		       " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d"
		       " %*d %llu",
		       &ret->state, &ret->flags, &ret->started) == 3;
}

static bool is_dying(const struct process_stat *s)
{
	return s->state == 'Z' || s->state == 'X' || (s->flags & EXITING);
}

unsigned long long process_started(pid_t pid)
{
	struct process_stat s;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_stat(path, &s) ? s.started : 0;
}

bool process_is_dying(pid_t pid, unsigned long long started)
{
	char path[PATH_SIZE];
	struct process_stat s;
	struct dirent *task;
	bool dying = true;
	DIR *tasks;

	if (process_started(pid) != started)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return false;
	while (dying && (task = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, task->d_name);
		/* Gone since the directory was read, or no task at all ("."): as good as dead. */
		if (task->d_name[0] != '.' && read_stat(path, &s))
			dying = is_dying(&s);
	}
	closedir(tasks);
	return dying;
}
