/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "policy/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/fnv.h"
#include "base/whole_file.h"

#define SUFFIX    ".policy"
#define WORK      "making."
#define BELOW     "/proc/self/fd/%d/" /* the folder that was checked, whatever its path is now */
#define VERIFIED  ".verified"
#define NAME_SIZE 64 /* of an entry: 16 digits and SUFFIX; with VERIFIED two times 16 */
#define DAY       86400

/* The head of an entry. The key's name and text, and the two objects, follow it. */
struct entry {
	char magic[8];
	uint64_t stamp;
	uint64_t name_bytes, text_bytes, bpf_bytes, native_bytes;
	uint64_t hash; /* of all that follows */
};

static const char magic[8] = "FBPOLCY1";

/* ---- the folder ---- */

#define BASE_SIZE (PATH_MAX - 64) /* so much that names have room behind it */

static int find_base(char path[BASE_SIZE], struct error *why)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bool root = geteuid() == 0;
	struct stat st;
	int n = -1;

	/* by sudo: a folder of root's would keep the home's owner from making one */
	if (root && home && (stat(home, &st) < 0 || st.st_uid != 0))
		home = NULL;

	if (cache && *cache == '/')
		n = snprintf(path, BASE_SIZE, "%s", cache);
	else if (home && *home == '/')
		n = snprintf(path, BASE_SIZE, "%s/.cache", home);
	else if (root)
		n = snprintf(path, BASE_SIZE, "/var/cache");
	if (n < 0)
		return error_set(why, -ENOENT,
			"there is no folder for compiled policies: neither HOME nor XDG_CACHE_HOME is set; set one");
	return n < BASE_SIZE ? 0 : error_set(why, -ENAMETOOLONG, "%.200s... is too long", path);
}

/* Who may write there may have the caller run anything. */
static int check_owner(int fd, const char *path, struct error *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set(why, -errno, "can't look at %s: %s", path, strerror(errno));
	if (st.st_uid != geteuid())
		return error_set(why, -EPERM,
			"%s belongs to user %u, and code from there would be run as user %u; set XDG_CACHE_HOME to a folder of your own",
			path, st.st_uid, geteuid());
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(why, -EPERM,
			"others may write to %s, and code from there is run; remedy: chmod go-w %s",
			path, path);
	return 0;
}

/* The folder of that name in *fd, made if need be, in the place of *fd. */
static int enter(int *fd, const char *name, const char *path, struct error *why)
{
	int r = mkdirat(*fd, name, 0700) < 0 && errno != EEXIST ? -errno : 0;
	int next = r ? -1 : openat(*fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (!r && next < 0)
		r = -errno;
	close(*fd);
	*fd = next;
	if (r)
		return error_set(why, r,
			"can't make the folder of compiled policies, %s: %s; XDG_CACHE_HOME can name another place",
			path, strerror(-r));
	return check_owner(next, path, why);
}

int cache_open(struct policy_cache *ret, struct error *why)
{
	struct policy_cache c = {.fd = -1};
	char base[BASE_SIZE];
	int r = find_base(base, why);

	if (r < 0)
		return r;
	snprintf(c.path, sizeof(c.path), "%s/fabricbed/policies", base);
	mkdir(base, 0700);
	c.fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.fd < 0)
		return error_set(why, -errno,
			"can't make the folder of compiled policies, %s: %s; XDG_CACHE_HOME can name another place",
			c.path, strerror(errno));
	r = enter(&c.fd, "fabricbed", c.path, why);
	if (!r)
		r = enter(&c.fd, "policies", c.path, why);
	if (r < 0)
		cache_close(&c);
	else
		*ret = c;
	return r;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void cache_close(struct policy_cache *c)
{
	if (*c->work)
		remove_tree(c->work);
	if (c->fd >= 0)
		close(c->fd);
	*c->work = '\0';
	c->fd = -1;
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

/* Entries that nobody uses, and folders that a killed process left. */
static void remove_old(const struct policy_cache *c)
{
	int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = fd < 0 ? NULL : fdopendir(fd);
	char path[NAME_MAX + sizeof(c->work)];
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	while (all && (e = readdir(all))) {
		if (fstatat(c->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		snprintf(path, sizeof(path), BELOW "%s", c->fd, e->d_name);
		if (S_ISREG(st.st_mode) &&
			(ends_with(e->d_name, SUFFIX) || ends_with(e->d_name, VERIFIED)) &&
			now - st.st_mtime > CACHE_DAYS * DAY)
			unlinkat(c->fd, e->d_name, 0);
		else if (S_ISDIR(st.st_mode) && !strncmp(e->d_name, WORK, strlen(WORK)) &&
			 now - st.st_mtime > DAY)
			remove_tree(path);
	}
	if (all)
		closedir(all);
	else if (fd >= 0)
		close(fd);
}

int cache_note_failure(const struct policy_cache *c, int code, struct error *why)
{
	return code < 0 ? error_set(why, code,
				  "can't write to %s: %s; XDG_CACHE_HOME can name another place",
				  c->path, strerror(-code))
			: 0;
}

int cache_make_work(struct policy_cache *c, struct error *why)
{
	snprintf(c->work, sizeof(c->work), BELOW WORK "XXXXXX", c->fd);
	if (mkdtemp(c->work))
		return 0;
	*c->work = '\0';
	return cache_note_failure(c, -errno, why);
}

/* ---- entries ---- */

static unsigned long long entry_hash(const struct cache_key *key)
{
	return fnv_hash(key->text, key->length) ^ (fnv_hash(key->name, strlen(key->name)) * 3) ^
	       key->stamp;
}

static const char *entry_name(char buf[NAME_SIZE], const struct cache_key *key)
{
	snprintf(buf, NAME_SIZE, "%016llx" SUFFIX, entry_hash(key));
	return buf;
}

/* By the kernel's build: another verifier may see it otherwise. */
static const char *verified_name(char buf[NAME_SIZE], const struct cache_key *key)
{
	struct utsname kernel;
	unsigned long long version;

	uname(&kernel);
	version = fnv_hash(kernel.release, strlen(kernel.release)) * 3 +
		  fnv_hash(kernel.version, strlen(kernel.version));
	snprintf(buf, NAME_SIZE, "%016llx.%016llx" VERIFIED, entry_hash(key), version);
	return buf;
}

bool cache_is_verified(const struct policy_cache *c, const struct cache_key *key)
{
	char name[NAME_SIZE];

	return faccessat(c->fd, verified_name(name, key), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void cache_note_verified(const struct policy_cache *c, const struct cache_key *key)
{
	char name[NAME_SIZE];
	int fd = openat(c->fd, verified_name(name, key), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
}

void cache_objects_release(struct cache_objects *o)
{
	free(o->bpf);
	free(o->native);
	*o = (struct cache_objects){0};
}

static char *copy(const char *bytes, size_t n)
{
	char *p = malloc(n + 1);

	return p ? memcpy(p, bytes, n) : NULL;
}

/* Takes the objects out of an entry, if it is this key's and whole. */
static int take_entry(
	const char *bytes, size_t size, const struct cache_key *key, struct cache_objects *ret)
{
	size_t name_bytes = strlen(key->name), left = size - sizeof(struct entry);
	struct cache_objects o;
	struct entry e;

	if (size < sizeof(e))
		return -ENOENT;
	memcpy(&e, bytes, sizeof(e));
	bytes += sizeof(e);
	if (memcmp(e.magic, magic, sizeof(magic)) || e.stamp != key->stamp ||
		e.name_bytes != name_bytes || e.text_bytes != key->length || e.bpf_bytes > left ||
		e.native_bytes > left ||
		e.name_bytes + e.text_bytes + e.bpf_bytes + e.native_bytes != left ||
		memcmp(bytes, key->name, name_bytes) ||
		memcmp(bytes + name_bytes, key->text, key->length) ||
		fnv_hash(bytes, left) != e.hash)
		return -ENOENT;
	bytes += name_bytes + key->length;
	o = (struct cache_objects){copy(bytes, e.bpf_bytes),
		copy(bytes + e.bpf_bytes, e.native_bytes), e.bpf_bytes, e.native_bytes};
	if (!o.bpf || !o.native) {
		cache_objects_release(&o);
		return -ENOMEM;
	}
	*ret = o;
	return 0;
}

int cache_get(const struct policy_cache *c, const struct cache_key *key, struct cache_objects *ret)
{
	char name[NAME_SIZE], *bytes = NULL;
	int fd, r = -ENOENT;
	size_t size;

	fd = openat(c->fd, entry_name(name, key), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -ENOENT;
	if (!check_owner(fd, name, NULL) && !whole_file_read(fd, SIZE_MAX, &bytes, &size))
		r = take_entry(bytes, size, key, ret);
	if (r == 0)
		futimens(fd, NULL); /* it was used: it stays */
	free(bytes);
	close(fd);
	return r;
}

static void *append(char *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static int write_file(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), r;

	if (fd < 0)
		return -errno;
	r = whole_file_write(fd, bytes, size);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

int cache_put(struct policy_cache *c, const struct cache_key *key, const struct cache_objects *o,
	struct error *why)
{
	struct entry e = {.stamp = key->stamp,
		.name_bytes = strlen(key->name),
		.text_bytes = key->length,
		.bpf_bytes = o->bpf_bytes,
		.native_bytes = o->native_bytes};
	size_t size = sizeof(e) + e.name_bytes + e.text_bytes + e.bpf_bytes + e.native_bytes;
	char name[NAME_SIZE], path[sizeof(c->work) + 8], *bytes = malloc(size), *at;
	int r;

	if (!bytes)
		return error_set(why, -ENOMEM, "out of memory");
	memcpy(e.magic, magic, sizeof(magic));
	at = append(bytes + sizeof(e), key->name, e.name_bytes);
	at = append(at, key->text, key->length);
	at = append(at, o->bpf, o->bpf_bytes);
	append(at, o->native, o->native_bytes);
	e.hash = fnv_hash(bytes + sizeof(e), size - sizeof(e));
	memcpy(bytes, &e, sizeof(e));
	snprintf(path, sizeof(path), "%s/entry", c->work);
	r = write_file(path, bytes, size);
	free(bytes);
	if (r == 0 && renameat(AT_FDCWD, path, c->fd, entry_name(name, key)) < 0)
		r = -errno;
	if (r < 0)
		return cache_note_failure(c, r, why);
	remove_old(c);
	return 0;
}
