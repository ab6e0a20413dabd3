/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/outstream.h"
#include "base/series.h"
#include "session/folder_list.h"

#define NAME_SIZE 64 /* of a result, and what is put behind it */

/* In the order in which they appear: where there is a summary.json, all of the others are there. */
static const char *const results[] = {"scenario.yaml", "flows.csv", "ports.csv",
#define X(symbol, key, file) #file ".csv",
	SERIES(X)
#undef X
		"pauses.csv",
	"roles.csv", "events.jsonl", "compare.json", "summary.json"};
#define RESULTS (sizeof(results) / sizeof(results[0]))

/* What is only there while something is made. */
static const char *const unfinished[] = {"events.jsonl.part", "events.index.part", "flows.csv.part",
#define X(symbol, key, file) #file ".csv.part",
	SERIES(X)
#undef X
};
#define UNFINISHED (sizeof(unfinished) / sizeof(unfinished[0]))

struct folder {
	int fd;
	char *path;
	bool compares, made; /* the folder itself, by this run */
	bool begun, published;
	struct folder_list *list;
};

static const char *new_name(char buf[NAME_SIZE], const char *name)
{
	snprintf(buf, NAME_SIZE, "%s" OUTSTREAM_NEW, name);
	return buf;
}

/* ---- looking ---- */

static bool is_written_here(const struct folder *f, const char *name)
{
	return f->compares == !strcmp(name, "compare.json");
}

static bool is_input(const struct stat *file, const char *input)
{
	struct stat in;

	return input && !stat(input, &in) && in.st_dev == file->st_dev && in.st_ino == file->st_ino;
}

/* A result of that name is not there, or is an earlier run's as it wrote it. */
static int check_result(
	const struct folder *f, const char *name, const char *input, struct error *why)
{
	struct stat file, target;

	if (fstatat(f->fd, name, &file, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (fstatat(f->fd, name, &target, 0) == 0 && is_input(&target, input))
		return error_set(why, -EEXIST,
			"%s/%s is the scenario itself, and the results would take its place; --output names another folder",
			f->path, name);
	if (folder_list_has(f->list, name, &file) || !is_written_here(f, name))
		return 0;
	return error_set(why, -EEXIST,
		"%s/%s is in the way: %s; remove it, or --output names another folder", f->path,
		name,
		folder_list_knows(f->list, name) ? "it was changed since a run wrote it"
						 : "no run wrote it");
}

/* Files with this program's names that .fabricbed does not list belong to somebody else. */
static int check_unfinished(const struct folder *f, struct error *why)
{
	char name[NAME_SIZE];
	struct stat file;

	for (size_t i = 0; folder_list_is_new(f->list) && i < RESULTS + UNFINISHED; i++) {
		if (i < RESULTS)
			new_name(name, results[i]);
		else
			snprintf(name, sizeof(name), "%s", unfinished[i - RESULTS]);
		if (!fstatat(f->fd, name, &file, AT_SYMLINK_NOFOLLOW))
			return error_set(why, -EEXIST,
				"%s/%s is in the way: no run wrote it; remove it, or --output names another folder",
				f->path, name);
	}
	return 0;
}

static int check_results(const struct folder *f, const char *input, struct error *why)
{
	int r = check_unfinished(f, why);

	for (size_t i = 0; r == 0 && i < RESULTS; i++)
		r = check_result(f, results[i], input, why);
	return r;
}

/* ---- earlier variants ---- */

/* Claims the folder of an earlier run's variant, for its removal. 1: there is none. */
static int claim_variant(const struct folder *f, const char *name, const char *input,
	struct folder **ret, struct error *why)
{
	struct folder_params p = {.input = input};
	struct stat file;
	char *path;
	int r;

	if (fstatat(f->fd, name, &file, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(file.st_mode))
		return 1;
	if (asprintf(&path, "%s/%s", f->path, name) < 0)
		return -ENOMEM;
	p.path = path;
	r = folder_claim(ret, &p, why);
	free(path);
	return r;
}

static int check_variants(const struct folder *f, const char *input, struct error *why)
{
	struct folder *variant;
	const char *name;
	int r = 0;

	for (size_t i = 0; r >= 0 && (name = folder_list_variant(f->list, i)); i++) {
		r = claim_variant(f, name, input, &variant, why);
		if (r == 0)
			folder_close(variant);
	}
	return r < 0 ? r : 0;
}

/* What somebody else has put there stays. */
static int remove_variants(struct folder *f, struct error *why)
{
	struct folder *variant;
	const char *name;
	int r = 0;

	for (size_t i = 0; r >= 0 && (name = folder_list_variant(f->list, i)); i++) {
		r = claim_variant(f, name, NULL, &variant, why);
		if (r != 0)
			continue;
		variant->made = true;
		r = folder_begin(variant, why);
		folder_close(variant);
	}
	return r < 0 ? r : 0;
}

/* ---- claiming ---- */

static int open_folder(struct folder *f, const char *path, bool fresh, struct error *why)
{
	f->made = mkdir(path, 0777) == 0;
	if (!f->made && (fresh || errno != EEXIST))
		return error_set(why, -errno,
			"can't make the folder %s: %s; --output names another", path,
			strerror(errno));
	f->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0)
		return error_set(why, -errno,
			"can't write results in %s: %s; --output names another", path,
			strerror(errno));
	f->path = strdup(path);
	return f->path ? 0 : error_set(why, -ENOMEM, "out of memory");
}

int folder_claim(struct folder **ret, const struct folder_params *params, struct error *why)
{
	struct folder *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return error_set(why, -ENOMEM, "out of memory");
	f->fd = -1;
	f->compares = params->compares;
	r = open_folder(f, params->path, params->fresh, why);
	if (r == 0)
		r = folder_list_open(&f->list, f->fd, f->path, why);
	if (r == 0)
		r = check_results(f, params->input, why);
	if (r == 0)
		r = check_variants(f, params->input, why);
	if (r < 0) {
		folder_close(f);
		return r;
	}
	folder_clear(f);
	*ret = f;
	return 0;
}

/* ---- changing ---- */

void folder_clear(struct folder *f)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < RESULTS; i++)
		unlinkat(f->fd, new_name(name, results[i]), 0);
	for (size_t i = 0; !f->begun && i < UNFINISHED; i++)
		unlinkat(f->fd, unfinished[i], 0);
}

int folder_begin(struct folder *f, struct error *why)
{
	struct stat file;
	int r = remove_variants(f, why);

	/* the summary first: what is there without it is no whole result */
	for (size_t i = RESULTS; r == 0 && i-- > 0;) {
		if (fstatat(f->fd, results[i], &file, AT_SYMLINK_NOFOLLOW) < 0 ||
			!folder_list_has(f->list, results[i], &file))
			continue;
		if (unlinkat(f->fd, results[i], 0) < 0)
			r = error_set(why, -errno, "can't remove %s/%s: %s", f->path, results[i],
				strerror(errno));
	}
	if (r == 0 && folder_list_begin(f->list) < 0)
		r = error_set(why, -EIO, "can't write %s/" FOLDER_LIST, f->path);
	f->begun = r == 0;
	return r;
}

int folder_note_variant(struct folder *f, const char *name)
{
	return folder_list_add_variant(f->list, name);
}

/* Before they appear: if it is killed in between, their owner is known. */
static int note_results(struct folder *f)
{
	char name[NAME_SIZE];
	struct stat file;
	int r = 0;

	for (size_t i = 0; r == 0 && i < RESULTS; i++)
		if (!fstatat(f->fd, new_name(name, results[i]), &file, AT_SYMLINK_NOFOLLOW))
			r = folder_list_add(f->list, results[i], &file);
	return r;
}

/* What somebody else has put there since is not replaced; what an earlier try put there is. */
static int take_name(const struct folder *f, const char *made, const char *name)
{
	struct stat file;

	if (renameat2(f->fd, made, f->fd, name, RENAME_NOREPLACE) == 0 || errno == ENOENT)
		return 0;
	/* EINVAL: not every file system can do so */
	if (errno != EEXIST && errno != EINVAL)
		return -errno;
	if (!fstatat(f->fd, name, &file, AT_SYMLINK_NOFOLLOW) &&
		!folder_list_has(f->list, name, &file))
		return -EEXIST;
	return renameat(f->fd, made, f->fd, name) < 0 ? -errno : 0;
}

int folder_publish(struct folder *f, struct error *why)
{
	char name[NAME_SIZE];
	int r = note_results(f);

	for (size_t i = 0; r == 0 && i < RESULTS; i++)
		r = take_name(f, new_name(name, results[i]), results[i]);
	f->published |= r == 0;
	return r < 0 ? error_set(why, r, "can't write results in %s: %s", f->path, strerror(-r))
		     : 0;
}

int folder_fd(const struct folder *f)
{
	return f ? f->fd : -1;
}

void folder_fds(const struct folder *f, int ret[2])
{
	ret[0] = f->fd;
	ret[1] = folder_list_fd(f->list);
}

const char *folder_path(const struct folder *f)
{
	return f->path;
}

int folder_be_absolute(struct folder *f)
{
	char *path = realpath(f->path, NULL);

	if (!path)
		return -errno;
	free(f->path);
	f->path = path;
	return 0;
}

bool folder_is_gone(const struct folder *f)
{
	struct stat file;

	return fstat(f->fd, &file) < 0 || !file.st_nlink;
}

/* ---- closing ---- */

void folder_keep(struct folder *f)
{
	if (!f)
		return;
	folder_list_close(f->list);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f);
}

static bool has_variants(const struct folder *f)
{
	struct stat file;
	const char *name;

	for (size_t i = 0; (name = folder_list_variant(f->list, i)); i++)
		if (!fstatat(f->fd, name, &file, AT_SYMLINK_NOFOLLOW))
			return true;
	return false;
}

/* Whether no run has left anything there. */
static bool is_void(const struct folder *f)
{
	return !f->published && (f->begun || folder_list_is_new(f->list)) && !has_variants(f);
}

bool folder_close(struct folder *f)
{
	bool removed = false;

	if (!f)
		return false;
	if (f->list && !f->published)
		folder_clear(f);
	if (f->list && is_void(f))
		folder_list_remove(f->list);
	if (f->made && !f->published)
		removed = rmdir(f->path) == 0;
	folder_keep(f);
	return removed;
}
