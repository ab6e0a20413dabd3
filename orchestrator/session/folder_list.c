/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of text: "file NAME BYTES SECONDS.NANOSECONDS" and "variant NAME". It only grows, until the
 * next run, so that an interrupted one is valid as far as it goes.
 */
#include "session/folder_list.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/array.h"
#include "bringup/process.h"
#include "bringup/record.h"

#define HEADER      "fabricbed 1 process %d %llu"
#define HEADER_SIZE 64  /* with blanks, so that one can take another's place */
#define TRIES       100 /* with another that removes the file each time, or that dies */
#define WAIT_MS     50

struct entry {
	char *name;
	bool is_variant;
	long long bytes, seconds;
	long nanoseconds;
};

struct folder_list {
	int directory, fd;
	bool is_new;
	struct entry *entries;
	size_t count;
};

/* ---- opening ---- */

/* It says what may be removed: it must be one's own, or that of the folder's owner or root. */
static bool is_trusted(int directory, const struct stat *file)
{
	struct stat folder;

	return !fstat(directory, &folder) && S_ISREG(file->st_mode) && file->st_nlink == 1 &&
	       (file->st_uid == geteuid() || file->st_uid == folder.st_uid);
}

static int explain_busy(int fd, const char *path, struct error *why)
{
	char line[HEADER_SIZE + 1] = "", process[32] = "";
	unsigned long long started;
	int pid;

	if (pread(fd, line, HEADER_SIZE, 0) > 0 && sscanf(line, HEADER, &pid, &started) == 2) {
		snprintf(process, sizeof(process), " (process %d)", pid);
		/* a killed process holds its locks for a while, until its sockets are closed */
		if (process_is_dying(pid, started)) {
			poll(NULL, 0, WAIT_MS);
			return -EAGAIN;
		}
	}
	return error_set(why, -EBUSY,
		"a run or a living fabric%s writes its results in %s; --output names another folder",
		process, path);
}

/* The file, locked. -EAGAIN: it has been removed meanwhile. */
static int open_locked(int directory, const char *path, struct error *why)
{
	/* O_NONBLOCK: what is there may be a pipe */
	int fd = openat(directory, FOLDER_LIST,
		O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat file, now;
	int r = 0;

	if (fd < 0)
		return error_set(why, -errno, "can't write results in %s: " FOLDER_LIST ": %s",
			path, strerror(errno));
	if (fstat(fd, &file) < 0 || !is_trusted(directory, &file))
		r = error_set(why, -EEXIST,
			"%s/" FOLDER_LIST
			" is in the way: it is not yours; --output names another folder",
			path);
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = explain_busy(fd, path, why);
	else if (fstatat(directory, FOLDER_LIST, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
		 now.st_ino != file.st_ino || now.st_dev != file.st_dev)
		r = -EAGAIN;
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

static struct entry *add_entry(struct folder_list *l, const struct entry *e)
{
	struct entry copy = *e;

	copy.name = strdup(e->name);
	if (copy.name && ARRAY_ADD(l->entries, l->count, copy) == 0)
		return &l->entries[l->count - 1];
	free(copy.name);
	return NULL;
}

/* False: it is no line of ours. */
static bool read_line(char *line, struct entry *ret)
{
	int name = -1;

	if (sscanf(line, "file %*s%n %lld %lld.%ld", &name, &ret->bytes, &ret->seconds,
		    &ret->nanoseconds) == 3) {
		line[name] = '\0';
		ret->name = line + strlen("file ");
		return true;
	}
	if (strncmp(line, "variant ", strlen("variant ")))
		return false;
	ret->is_variant = true;
	ret->name = line + strlen("variant ");
	/* what is no name must not lead out of the folder */
	return claim_valid_name(ret->name, RECORD_NAME_MAX);
}

static int read_all(struct folder_list *l)
{
	FILE *in = fdopen(dup(l->fd), "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int r = 0;

	if (!in)
		return -ENOMEM;
	l->is_new = getline(&line, &size, in) < 0;
	while (r == 0 && (n = getline(&line, &size, in)) > 0) {
		struct entry e = {0};

		if (line[n - 1] != '\n') /* cut short */
			break;
		line[n - 1] = '\0';
		if (read_line(line, &e) && !add_entry(l, &e))
			r = -ENOMEM;
	}
	free(line);
	fclose(in);
	return r;
}

/* Who is at it. */
static int write_header(const struct folder_list *l)
{
	char process[HEADER_SIZE], header[HEADER_SIZE + 1];

	snprintf(process, sizeof(process), HEADER, (int)getpid(), process_started(getpid()));
	snprintf(header, sizeof(header), "%-*s\n", HEADER_SIZE - 1, process);
	errno = 0;
	if (pwrite(l->fd, header, HEADER_SIZE, 0) == HEADER_SIZE)
		return 0;
	return errno ? -errno : -ENOSPC;
}

int folder_list_open(struct folder_list **ret, int directory, const char *path, struct error *why)
{
	struct folder_list *l = calloc(1, sizeof(*l));
	int r = -EAGAIN;

	if (!l)
		return error_set(why, -ENOMEM, "out of memory");
	for (int i = 0; r == -EAGAIN && i < TRIES; i++)
		r = open_locked(directory, path, why);
	if (r == -EAGAIN)
		error_set(why, r, "can't write results in %s: others come and go there", path);
	l->directory = directory;
	l->fd = r;
	if (r >= 0) {
		r = read_all(l);
		if (r == 0)
			r = write_header(l);
		if (r < 0)
			error_set(why, r, "can't write results in %s: %s", path, strerror(-r));
	}
	if (r < 0) {
		if (l->is_new)
			folder_list_remove(l);
		folder_list_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

/* ---- looking ---- */

bool folder_list_is_new(const struct folder_list *l)
{
	return l->is_new;
}

bool folder_list_knows(const struct folder_list *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (!l->entries[i].is_variant && !strcmp(l->entries[i].name, name))
			return true;
	return false;
}

/* An archive may have kept the seconds alone. */
static bool is_same(const struct entry *e, const struct stat *file)
{
	return S_ISREG(file->st_mode) && e->bytes == (long long)file->st_size &&
	       e->seconds == (long long)file->st_mtim.tv_sec &&
	       (e->nanoseconds == file->st_mtim.tv_nsec || !file->st_mtim.tv_nsec);
}

bool folder_list_has(const struct folder_list *l, const char *name, const struct stat *file)
{
	for (size_t i = 0; i < l->count; i++)
		if (!l->entries[i].is_variant && !strcmp(l->entries[i].name, name) &&
			is_same(&l->entries[i], file))
			return true;
	return false;
}

const char *folder_list_variant(const struct folder_list *l, size_t i)
{
	for (size_t at = 0; at < l->count; at++)
		if (l->entries[at].is_variant && !i--)
			return l->entries[at].name;
	return NULL;
}

int folder_list_fd(const struct folder_list *l)
{
	return l->fd;
}

/* ---- changing ---- */

static void forget(struct folder_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->entries[i].name);
	free(l->entries);
	l->entries = NULL;
	l->count = 0;
}

int folder_list_begin(struct folder_list *l)
{
	forget(l);
	return ftruncate(l->fd, 0) < 0 ? -errno : write_header(l);
}

static int append(struct folder_list *l, const struct entry *e)
{
	char *line;
	int n = e->is_variant ? asprintf(&line, "variant %s\n", e->name)
			      : asprintf(&line, "file %s %lld %lld.%09ld\n", e->name, e->bytes,
					e->seconds, e->nanoseconds);
	ssize_t written;

	if (n < 0 || !add_entry(l, e))
		return -ENOMEM;
	errno = 0;
	lseek(l->fd, 0, SEEK_END);
	written = write(l->fd, line, (size_t)n);
	free(line);
	if (written == n)
		return 0;
	return errno ? -errno : -ENOSPC;
}

int folder_list_add(struct folder_list *l, const char *name, const struct stat *file)
{
	const struct entry e = {
		.name = (char *)name,
		.bytes = (long long)file->st_size,
		.seconds = (long long)file->st_mtim.tv_sec,
		.nanoseconds = file->st_mtim.tv_nsec,
	};

	return append(l, &e);
}

int folder_list_add_variant(struct folder_list *l, const char *name)
{
	const struct entry e = {.name = (char *)name, .is_variant = true};

	return append(l, &e);
}

/* ---- closing ---- */

void folder_list_remove(struct folder_list *l)
{
	unlinkat(l->directory, FOLDER_LIST, 0);
}

void folder_list_close(struct folder_list *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	forget(l);
	free(l);
}
