/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_NETNS "/proc/thread-self/ns/net"

static int netns_path(char *path, size_t size, const char *name)
{
	int n = snprintf(path, size, "%s/%s", NETNS_DIR, name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int netns_prepare(void)
{
	if (mkdir(NETNS_DIR, 0755) < 0 && errno != EEXIST)
		return -errno;
	/*
	 * Shared, so that a name taken away here is taken away in every mount namespace
	 * (ip-netns(8)).
	 */
	if (!mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL))
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* EINVAL: not a mount point yet. */
	if (mount(NETNS_DIR, NETNS_DIR, "none", MS_BIND | MS_REC, NULL) < 0)
		return -errno;
	return mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL) < 0 ? -errno : 0;
}

int netns_create(const char *name, int *ret_fd)
{
	char path[sizeof(NETNS_DIR) + 1 + NETNS_NAME_MAX];
	int fd, ns = -1, r;

	r = netns_path(path, sizeof(path), name);
	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	close(fd);

	if (unshare(CLONE_NEWNET) < 0)
		goto undo;
	ns = open(OWN_NETNS, O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		goto undo;
	if (mount(OWN_NETNS, path, "none", MS_BIND, NULL) < 0)
		goto undo;
	*ret_fd = ns;
	return 0;

undo:
	r = -errno;
	if (ns >= 0)
		close(ns);
	unlink(path);
	return r;
}

int netns_enter_anonymous(void)
{
	return unshare(CLONE_NEWNET) < 0 ? -errno : 0;
}

int netns_enter(int fd)
{
	return setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
}

static int open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int netns_open(const char *name)
{
	char path[sizeof(NETNS_DIR) + 1 + NETNS_NAME_MAX];
	int r = netns_path(path, sizeof(path), name);

	return r < 0 ? r : open_path(path);
}

int netns_open_as_seen_by(pid_t pid, const char *name)
{
	char path[sizeof(NETNS_DIR) + 1 + NETNS_NAME_MAX], whole[sizeof(path) + 32];
	int r = netns_path(path, sizeof(path), name);

	snprintf(whole, sizeof(whole), "/proc/%d/root%s", (int)pid, path);
	return r < 0 ? r : open_path(whole);
}

int netns_open_own(void)
{
	return open_path(OWN_NETNS);
}

bool netns_exists(const char *name)
{
	char path[sizeof(NETNS_DIR) + 1 + NETNS_NAME_MAX];
	struct stat st;

	/*
	 * lstat: a name whose owner died before the mount is an empty file, and taken all the same.
	 */
	return !netns_path(path, sizeof(path), name) && !lstat(path, &st);
}

int netns_delete(const char *name)
{
	char path[sizeof(NETNS_DIR) + 1 + NETNS_NAME_MAX];
	int r;

	r = netns_path(path, sizeof(path), name);
	if (r < 0)
		return r;
	/* EINVAL: nothing is mounted there, as after a death between the file and the mount. */
	if (umount2(path, MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
		return -errno;
	return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}
