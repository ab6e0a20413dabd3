/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bringup/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/clock.h"

#define LOCK_FILE ".lock"

#define NOTIFY_MS                                                                                  \
	300 /* others hold it for less: a claim, the removal of a dead fabric's namespaces */
#define PATIENCE_MS 5000 /* of who must not wait for ever */
#define LONGEST_MS  20   /* between two tries */

/* A folder that is open; it is nobody else's. */
static int close_to_others(int folder, const char *path, struct error *why)
{
	struct stat st;

	if (fstat(folder, &st) < 0)
		return error_set(why, -errno, "cannot look at %s: %s", path, strerror(errno));
	if (st.st_uid != geteuid())
		return error_set(why, -EACCES, "%s is another user's; run as root", path);
	if (st.st_mode & 077 && fchmod(folder, 0700) < 0)
		return error_set(
			why, -errno, "cannot close %s to others: %s", path, strerror(errno));
	return 0;
}

static int open_folder(const char *path, struct error *why)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;

	if (folder < 0)
		return error_set(why, -errno, "cannot open %s: %s%s", path, strerror(errno),
			errno == EACCES ? "; run as root" : "");
	r = close_to_others(folder, path, why);
	if (r < 0)
		close(folder);
	return r < 0 ? r : folder;
}

static int make(const char *path, struct error *why)
{
	if (!mkdir(path, 0700) || errno == EEXIST)
		return 0;
	return error_set(why, -errno, "cannot make %s: %s%s", path, strerror(errno),
		errno == EACCES || errno == EPERM ? "; run as root" : "");
}

int lock_make_folder(const char *path, struct error *why)
{
	int folder = make(path, why);

	if (!folder)
		folder = open_folder(path, why);
	if (folder < 0)
		return folder;
	close(folder);
	return 0;
}

/* Who waits reads it. */
static void write_holder(const struct lock *l)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%-10d\n", (int)getpid());
	ssize_t written = pwrite(l->file, text, (size_t)n, 0);

	(void)written; /* it is but for a message */
}

static void notify(const struct lock *l, const struct lock_wait *wait, const char *path)
{
	char text[32] = "", line[256];
	int pid = 0;

	if (pread(l->file, text, sizeof(text) - 1, 0) > 0 && sscanf(text, "%d", &pid) == 1)
		snprintf(line, sizeof(line),
			"waiting for process %d, which holds the lock %s/" LOCK_FILE, pid, path);
	else
		snprintf(line, sizeof(line), "waiting for the lock %s/" LOCK_FILE, path);
	wait->notify(wait->arg, line);
}

/* By trying: a signal that comes just before a wait would not end that. */
static int wait_for(
	const struct lock *l, const char *path, const struct lock_wait *wait, struct error *why)
{
	int64_t begun = clock_ms();
	bool notified = false;
	int pause_ms = 1;

	while (flock(l->file, LOCK_EX | LOCK_NB) < 0) {
		int64_t waited = clock_ms() - begun;

		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_set(why, -errno, "cannot lock %s/" LOCK_FILE ": %s", path,
				strerror(errno));
		if (wait && wait->stop && *wait->stop)
			return error_set(why, -EINTR,
				"interrupted; it waited for the lock %s/" LOCK_FILE, path);
		if (!wait && waited > PATIENCE_MS)
			return error_set(why, -EBUSY, "%s/" LOCK_FILE " is locked", path);
		if (wait && wait->notify && !notified && waited > NOTIFY_MS) {
			notify(l, wait, path);
			notified = true;
		}
		poll(NULL, 0, pause_ms);
		pause_ms = pause_ms < LONGEST_MS / 2 ? 2 * pause_ms : LONGEST_MS;
	}
	return 0;
}

int lock_take(struct lock *ret, const char *path, const struct lock_wait *wait, struct error *why)
{
	struct lock l = {.file = -1};
	int r = make(path, why);

	if (r < 0)
		return r;
	l.folder = open_folder(path, why);
	if (l.folder < 0)
		return l.folder;
	l.file = openat(l.folder, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = l.file < 0 ? error_set(why, -errno, "cannot open %s/" LOCK_FILE ": %s", path,
				 strerror(errno))
		       : wait_for(&l, path, wait, why);
	if (r < 0) {
		lock_release(&l);
		return r;
	}
	write_holder(&l);
	*ret = l;
	return 0;
}

void lock_release(struct lock *l)
{
	if (l->file >= 0)
		close(l->file);
	close(l->folder);
}

bool claim_valid_name(const char *name, size_t most)
{
	const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strlen(name);

	return n && n <= most && name[0] != '.' && name[0] != '-' && strspn(name, allowed) == n &&
	       strcmp(name, CLAIM_RESERVED);
}

int claim_check_name(const char *name, size_t most, const char *what, struct error *why)
{
	if (claim_valid_name(name, most))
		return 0;
	return error_set(why, -EINVAL,
		"\"%s\": %s's name has 1 to %zu letters, digits, '.', '_' and '-', "
		"begins with neither '.' nor '-', and is not \"" CLAIM_RESERVED "\"",
		name, what, most);
}

int claim_make(const struct lock *l, const char *name, enum claim_kind kind)
{
	bool folder = kind == CLAIM_FOLDER;
	int flags = folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT | O_EXCL, fd, r = 0;

	if (folder && mkdirat(l->folder, name, 0700) < 0)
		return -errno;
	fd = openat(l->folder, name, flags | O_CLOEXEC, 0600);
	/* it waits for none but those who just look whether it is locked */
	while (fd >= 0 && (r = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
		;
	if (fd >= 0 && r == 0)
		return fd;
	r = -errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || folder)
		unlinkat(l->folder, name, folder ? AT_REMOVEDIR : 0);
	return r;
}

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type != DT_DIR;
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

int claim_each(int folder, enum claim_kind kind,
	int (*visit)(void *arg, int folder, const char *name), void *arg)
{
	struct dirent **entries;
	int count = scandirat(
		folder, ".", &entries, kind == CLAIM_FOLDER ? is_folder : is_file, alphasort);
	int sum = 0, r = count < 0 ? -errno : 0;

	for (int i = 0; i < count; i++) {
		if (r >= 0)
			r = visit(arg, folder, entries[i]->d_name);
		sum += r;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return r < 0 ? r : sum;
}
