/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bringup/process.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#define EXITING   0x4u /* PF_EXITING of the kernel's include/linux/sched.h */
#define PATH_SIZE 320  /* "/proc/<pid>/task/<file name>/stat" */

#define PATIENCE_MS 2000 /* no system call that a builder makes takes so long */

enum fate { FATE_ALIVE, FATE_DOOMED, FATE_DYING };

struct process_stat {
	char state;
	int parent;
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
		       " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d"
		       " %*d %llu",
		       &ret->state, &ret->parent, &ret->flags, &ret->started) == 4;
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

pid_t process_parent(pid_t pid)
{
	struct process_stat s;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_stat(path, &s) ? s.parent : 0;
}

/* Whether SIGKILL is pending: nothing can stop it, but a long system call may end first. */
static bool is_doomed(const char *task)
{
	unsigned long long pending, doom = 0;
	char path[PATH_SIZE + 8], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/status", task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigPnd: %llx", &pending) == 1 ||
			sscanf(line, "ShdPnd: %llx", &pending) == 1)
			doom |= pending;
	if (f)
		fclose(f);
	return doom >> (SIGKILL - 1) & 1;
}

/* How far the task that is furthest from its end has come. */
static enum fate process_fate(pid_t pid, unsigned long long started)
{
	enum fate fate = FATE_DYING;
	char path[PATH_SIZE], stat[PATH_SIZE + 8];
	struct process_stat s;
	struct dirent *task;
	DIR *tasks;

	if (process_started(pid) != started)
		return FATE_ALIVE;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return FATE_ALIVE;
	while (fate != FATE_ALIVE && (task = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s", (int)pid, task->d_name);
		snprintf(stat, sizeof(stat), "%s/stat", path);
		/* Gone since the directory was read, or no task at all ("."): as good as dead. */
		if (task->d_name[0] != '.' && read_stat(stat, &s) && !is_dying(&s))
			fate = is_doomed(path) ? FATE_DOOMED : FATE_ALIVE;
	}
	closedir(tasks);
	return fate;
}

bool process_is_dying(pid_t pid, unsigned long long started)
{
	enum fate fate = process_fate(pid, started);

	for (int i = 0; fate == FATE_DOOMED && i < PATIENCE_MS; i++) {
		poll(NULL, 0, 1);
		fate = process_fate(pid, started);
		/* the last of it went, and was seen off by its parent, between two looks */
		if (fate == FATE_ALIVE && !process_started(pid))
			return true;
	}
	return fate == FATE_DYING;
}

bool process_owns(int fd, pid_t pid, unsigned long long started)
{
	if (!flock(fd, LOCK_SH | LOCK_NB)) {
		flock(fd, LOCK_UN);
		return false;
	}
	return !pid || !process_is_dying(pid, started);
}
