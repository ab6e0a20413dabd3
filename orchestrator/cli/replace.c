/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As the kernel's fs.protected_symlinks, which may be off, in world-writable folders. */
static bool is_planted(int directory, const struct stat *link)
{
	struct stat folder;

	return fstat(directory, &folder) < 0 ||
	       (link->st_uid != geteuid() && link->st_uid != folder.st_uid);
}

static int open_folder(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int r = fd < 0 ? -errno : fd;

	free(folder);
	*ret_name = slash ? slash + 1 : path;
	return r;
}

static int open_in_place(struct replacement *r, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : outstream_open(&r->out, fd);
}

static int make_new(struct replacement *r, const char *name)
{
	r->name = strdup(name);
	if (!r->name || asprintf(&r->made, ".%s.%d" OUTSTREAM_NEW, name, (int)getpid()) < 0) {
		r->made = NULL;
		return -ENOMEM;
	}
	return outstream_create(&r->out, r->directory, r->made);
}

static void release(struct replacement *r)
{
	if (r->directory >= 0)
		close(r->directory);
	free(r->name);
	free(r->made);
	*r = (struct replacement){.directory = -1};
}

int replace_open(struct replacement *r, const char *path)
{
	struct stat file;
	const char *name;
	bool stands;
	int error;

	*r = (struct replacement){.directory = open_folder(path, &name)};
	if (r->directory < 0)
		return r->directory;
	stands = *name && !fstatat(r->directory, name, &file, AT_SYMLINK_NOFOLLOW) &&
		 !S_ISREG(file.st_mode);
	if (stands && S_ISLNK(file.st_mode) && is_planted(r->directory, &file)) {
		error = -EACCES;
	} else if (stands || !*name) {
		close(r->directory);
		r->directory = -1;
		error = open_in_place(r, path);
	} else {
		error = make_new(r, name);
	}
	if (error < 0)
		release(r);
	return error;
}

static int end(struct replacement *r, bool keep)
{
	int error = outstream_close(&r->out);

	if (r->directory >= 0 && keep && error == 0 &&
		renameat(r->directory, r->made, r->directory, r->name) < 0)
		error = -errno;
	if (r->directory >= 0 && (!keep || error < 0))
		unlinkat(r->directory, r->made, 0);
	release(r);
	return error;
}

int replace_end(struct replacement *r)
{
	return end(r, true);
}

void replace_drop(struct replacement *r)
{
	end(r, false);
}
