/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sweep/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/outstream.h"

/* These letters, files in the order of their names, and the length 0 of a name: it is all there. */
#define MAGIC "FBb1"

/* Of a file; all numbers have 8 bytes, the most significant first. */
struct header {
	uint64_t name_length, size, seconds, nanoseconds;
};

/* ---- packing ---- */

static void put_number(FILE *f, uint64_t number)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		putc((int)(number >> shift & 0xff), f);
}

/* Its size is what is read of it, whatever becomes of the file meanwhile. */
static int put_content(FILE *f, FILE *in, uint64_t size)
{
	char block[65536];

	while (size) {
		size_t n = fread(block, 1, size < sizeof(block) ? size : sizeof(block), in);

		if (!n)
			return ferror(in) ? -EIO : -EBUSY;
		fwrite(block, 1, n, f);
		size -= n;
	}
	return 0;
}

static int put_file(FILE *f, int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), r = 0;
	struct stat file;
	FILE *in;

	if (fd < 0)
		return errno == ELOOP ? -EINVAL : -errno;
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return -ENOMEM;
	}
	if (fstat(fd, &file) < 0)
		r = -errno;
	else if (!S_ISREG(file.st_mode))
		r = -EINVAL;
	if (r == 0) {
		put_number(f, strlen(name));
		put_number(f, (uint64_t)file.st_size);
		put_number(f, (uint64_t)file.st_mtim.tv_sec);
		put_number(f, (uint64_t)file.st_mtim.tv_nsec);
		fputs(name, f);
		r = put_content(f, in, (uint64_t)file.st_size);
	}
	fclose(in);
	return r;
}

static int is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

/* As in all places, whatever the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int put_files(FILE *f, const char *folder, struct error *why)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = -1, r;
	struct dirent **entries = NULL;

	if (fd >= 0)
		count = scandirat(fd, ".", &entries, is_name, compare_names);
	r = count < 0 ? error_set(why, -errno, "can't read %s: %s", folder, strerror(errno)) : 0;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (r == 0)
			r = put_file(f, fd, name);
		if (r < 0)
			error_set(why, r, "can't send %s/%s: %s", folder, name,
				r == -EINVAL ? "it is no file" : strerror(-r));
		free(entries[i]);
		if (r < 0)
			for (i++; i < count; i++)
				free(entries[i]);
	}
	free(entries);
	if (fd >= 0)
		close(fd);
	return r;
}

int bundle_pack(struct bundle *ret, const char *folder, struct error *why)
{
	char *bytes = NULL;
	size_t length;
	FILE *f = open_memstream(&bytes, &length);
	bool failed;
	int r;

	if (!f)
		return error_set(why, -ENOMEM, "out of memory");
	fputs(MAGIC, f);
	r = put_files(f, folder, why);
	put_number(f, 0);
	failed = ferror(f);
	failed |= fclose(f) != 0;
	if (failed && r == 0)
		r = error_set(why, -ENOMEM, "out of memory for the files of %s", folder);
	if (r < 0) {
		free(bytes);
		return r;
	}
	*ret = (struct bundle){(uint8_t *)bytes, length};
	return 0;
}

void bundle_free(struct bundle *b)
{
	free(b->bytes);
	*b = (struct bundle){0};
}

/* ---- unpacking ---- */

struct reader {
	const uint8_t *at;
	size_t left;
};

struct file {
	char name[NAME_MAX + 1];
	struct header header;
	const uint8_t *content;
};

/* NULL: it is cut short. */
static const uint8_t *take(struct reader *r, uint64_t length)
{
	const uint8_t *at = r->at;

	if (length > r->left)
		return NULL;
	r->at += length;
	r->left -= length;
	return at;
}

static bool take_number(struct reader *r, uint64_t *ret)
{
	const uint8_t *at = take(r, 8);
	uint64_t number = 0;

	for (int i = 0; at && i < 8; i++)
		number = number << 8 | at[i];
	*ret = number;
	return at;
}

static bool is_safe(const char *name, uint64_t length)
{
	return strlen(name) == length && !strchr(name, '/') && strcmp(name, ".") &&
	       strcmp(name, "..");
}

/* 1; 0: there is no further one; -EBADMSG. */
static int next_file(struct reader *r, struct file *ret)
{
	struct header *h = &ret->header;
	const uint8_t *name;

	if (!take_number(r, &h->name_length))
		return -EBADMSG;
	if (!h->name_length)
		return r->left ? -EBADMSG : 0;
	if (h->name_length > NAME_MAX || !take_number(r, &h->size) ||
		!take_number(r, &h->seconds) || !take_number(r, &h->nanoseconds))
		return -EBADMSG;
	name = take(r, h->name_length);
	ret->content = name ? take(r, h->size) : NULL;
	if (!ret->content)
		return -EBADMSG;
	memcpy(ret->name, name, h->name_length);
	ret->name[h->name_length] = '\0';
	return is_safe(ret->name, h->name_length) && h->nanoseconds < 1000000000 ? 1 : -EBADMSG;
}

/* Behind the magic letters. Names ascend, so that none is there twice. */
static int check(struct reader *r)
{
	const uint8_t *magic = take(r, strlen(MAGIC));
	struct reader files = *r;
	char before[NAME_MAX + 1] = "";
	struct file file;
	int more;

	if (!magic || memcmp(magic, MAGIC, strlen(MAGIC)) != 0)
		return -EBADMSG;
	while ((more = next_file(&files, &file)) > 0) {
		if (strcmp(before, file.name) >= 0)
			return -EBADMSG;
		strcpy(before, file.name);
	}
	return more;
}

static int write_file(int folder, const struct file *file)
{
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
		{(time_t)file->header.seconds, (long)file->header.nanoseconds}};
	struct outstream o;
	int r = outstream_create(&o, folder, file->name), closed;

	if (r < 0)
		return r;
	fwrite(file->content, 1, file->header.size, o.file);
	fflush(o.file); /* what is written behind the times would change them */
	r = futimens(o.fd, times) < 0 ? -errno : 0;
	closed = outstream_close(&o);
	return closed < 0 ? closed : r;
}

int bundle_unpack(const uint8_t *bytes, size_t length, const char *folder, struct error *why)
{
	struct reader reader = {bytes, length};
	struct file file;
	int r = check(&reader), fd;

	if (r < 0)
		return error_set(why, r,
			"what arrived for %s is no folder of files, or not all of it", folder);
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return error_set(
			why, -errno, "can't make the folder %s: %s", folder, strerror(errno));
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(why, -errno, "can't write in %s: %s", folder, strerror(errno));
	while (r == 0 && next_file(&reader, &file) > 0) {
		r = write_file(fd, &file);
		if (r < 0)
			error_set(why, r, "can't write %s/%s: %s", folder, file.name, strerror(-r));
	}
	close(fd);
	return r;
}
