/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "daemon/programs.h"

#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/numbers.h"
#include "bringup/process.h"
#include "io/clock.h"
#include "io/netns.h"

#define SPARE_FILES 256
#define TERM_MS     300
#define KILL_MS     1000
#define ROUNDS      4  /* a program that ends may just have begun another */
#define DEPTH_MAX   64 /* of ancestors */

/* ---- holding ---- */

static void allow_files(size_t count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= count + SPARE_FILES)
		return;
	limit.rlim_cur = count + SPARE_FILES;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void hold_one(struct programs *p, const char *fabric, const char *node, uint64_t inode)
{
	char name[NETNS_NAME_MAX + 1];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "%s-%s", fabric, node);
	fd = netns_open(name);
	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || st.st_ino != inode) {
		close(fd);
		return;
	}
	p->inodes[p->count] = inode;
	p->fds[p->count++] = fd;
}

void programs_hold(struct programs *p, const char *fabric, const json_t *nodes)
{
	size_t n = json_object_size(nodes);
	const char *node;
	json_t *inode;

	*p = (struct programs){
		.fds = calloc(n + 1, sizeof(*p->fds)),
		.inodes = calloc(n + 1, sizeof(*p->inodes)),
	};
	if (!p->fds || !p->inodes)
		return;
	allow_files(n);
	json_object_foreach((json_t *)nodes, node, inode)
	{
		if (json_integer_value(inode))
			hold_one(p, fabric, node, (uint64_t)json_integer_value(inode));
	}
	qsort(p->inodes, p->count, sizeof(*p->inodes), compare_u64);
}

void programs_release(struct programs *p)
{
	for (size_t i = 0; i < p->count; i++)
		close(p->fds[i]);
	free(p->fds);
	free(p->inodes);
	*p = (struct programs)PROGRAMS_INIT;
}

/* ---- finding ---- */

struct found {
	struct pollfd *fds; /* pidfds */
	size_t count;
};

static size_t own_line(pid_t ret[DEPTH_MAX])
{
	size_t n = 0;

	for (pid_t pid = getpid(); pid > 0 && n < DEPTH_MAX; pid = process_parent(pid))
		ret[n++] = pid;
	return n;
}

static bool is_inside(const struct programs *p, pid_t pid)
{
	char path[64];
	struct stat st;
	uint64_t inode;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	if (stat(path, &st) < 0)
		return false;
	inode = st.st_ino;
	return bsearch(&inode, p->inodes, p->count, sizeof(inode), compare_u64);
}

static void found_add(struct found *f, const struct programs *p, pid_t pid)
{
	int fd;

	if (!is_inside(p, pid))
		return;
	fd = pidfd_open(pid, 0);
	if (fd < 0)
		return;
	/* Again: another may have got the id before the descriptor was opened. */
	if (!is_inside(p, pid) ||
		ARRAY_ADD(f->fds, f->count, (struct pollfd){.fd = fd, .events = POLLIN}) < 0)
		close(fd);
}

static void find(struct found *ret, const struct programs *p, const pid_t *own, size_t own_count)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	while (proc && (entry = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		bool is_own = false;

		for (size_t i = 0; i < own_count; i++)
			is_own |= own[i] == pid;
		if (pid && !is_own)
			found_add(ret, p, pid);
	}
	if (proc)
		closedir(proc);
}

/* ---- ending ---- */

/* Signals those that still live, and waits for them. True if all have ended by then. */
static bool signal_all(struct found *f, int signal, int wait_ms)
{
	int64_t end = clock_ms() + wait_ms, left;
	size_t living = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (f->fds[i].fd < 0)
			continue;
		pidfd_send_signal(f->fds[i].fd, signal, NULL, 0);
		living++;
	}
	while (living && (left = end - clock_ms()) > 0) {
		if (poll(f->fds, f->count, (int)left) <= 0)
			continue;
		for (size_t i = 0; i < f->count; i++) {
			if (f->fds[i].fd < 0 || !f->fds[i].revents)
				continue;
			close(f->fds[i].fd);
			f->fds[i].fd = -1; /* which poll() passes over */
			living--;
		}
	}
	return !living;
}

static void found_release(struct found *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->fds[i].fd >= 0)
			close(f->fds[i].fd);
	free(f->fds);
}

unsigned programs_end(const struct programs *p)
{
	pid_t own[DEPTH_MAX];
	size_t own_count = own_line(own);
	unsigned ended = 0;

	for (int i = 0; p->count && i < ROUNDS; i++) {
		struct found f = {0};
		size_t count;

		find(&f, p, own, own_count);
		count = f.count;
		ended += (unsigned)count;
		if (!signal_all(&f, SIGTERM, TERM_MS))
			signal_all(&f, SIGKILL, KILL_MS);
		found_release(&f);
		if (!count)
			break;
	}
	return ended;
}
