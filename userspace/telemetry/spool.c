/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "telemetry/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define BUFFER_BYTES 65536u
#define HELD_BYTES   (64u * BUFFER_BYTES) /* the most that is held for a disk that takes nothing */

int spool_open(struct spool *s, int directory, const char *name)
{
	char *bytes = malloc(BUFFER_BYTES);
	int fd = bytes ? openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				 0666)
		       : -1;

	if (fd < 0) {
		int r = bytes ? -errno : -ENOMEM;

		free(bytes);
		return r;
	}
	*s = (struct spool){
		.fd = fd,
		.directory = directory,
		.name = name,
		.bytes = bytes,
		.capacity = BUFFER_BYTES,
	};
	return 0;
}

/* As much as the disk takes; the rest stays. */
static int write_held(struct spool *s)
{
	size_t done = 0;

	s->error = 0;
	while (done < s->used && !s->error) {
		ssize_t n = pwrite(s->fd, s->bytes + done, s->used - done, (off_t)s->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			s->error = n ? -errno : -EIO;
			break;
		}
		done += (size_t)n;
		s->written += (uint64_t)n;
	}
	memmove(s->bytes, s->bytes + done, s->used - done);
	s->used -= done;
	return s->error;
}

/* Twice the memory; false: there is none, or it is as much as may be. */
static bool hold_more(struct spool *s)
{
	char *bytes = s->capacity < HELD_BYTES ? realloc(s->bytes, 2 * s->capacity) : NULL;

	if (!bytes)
		return false;
	s->bytes = bytes;
	s->capacity *= 2;
	return true;
}

bool spool_put(struct spool *s, const char *bytes, size_t count)
{
	/* a disk that was full is asked again by spool_flush(), and not for each line */
	if (s->capacity - s->used < count && !s->error)
		write_held(s);
	while (s->capacity - s->used < count)
		if (!hold_more(s)) {
			s->lost++;
			s->why_lost = s->error ? s->error : -ENOMEM;
			return false;
		}
	memcpy(s->bytes + s->used, bytes, count);
	s->used += count;
	return true;
}

int spool_flush(struct spool *s)
{
	if (s->fd < 0)
		return 0;
	return write_held(s);
}

uint64_t spool_end(const struct spool *s)
{
	return s->written + s->used;
}

bool spool_read(const struct spool *s, uint64_t offset, char *ret, size_t count)
{
	while (count && offset < s->written) {
		uint64_t left = s->written - offset;
		ssize_t n = pread(s->fd, ret, count < left ? count : left, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		ret += n;
		offset += (uint64_t)n;
		count -= (size_t)n;
	}
	if (count)
		memcpy(ret, s->bytes + (offset - s->written), count);
	return true;
}

static int copy_bytes(const struct spool *s, int to)
{
	for (off_t at = 0; (uint64_t)at < s->written;) {
		ssize_t n = sendfile(to, s->fd, &at, s->written - (uint64_t)at);

		if (n == 0)
			return -EIO;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

int spool_copy(struct spool *s, int directory, const char *name)
{
	int r = spool_flush(s), to;

	if (r < 0)
		return r;
	/* another name for the same file: the spool loses its own in the end */
	if (linkat(s->directory, s->name, directory, name, 0) == 0)
		return 0;
	to = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (to < 0)
		return -errno;
	r = copy_bytes(s, to);
	if (close(to) < 0 && r == 0)
		r = -errno;
	return r;
}

void spool_remove(struct spool *s)
{
	if (s->fd < 0)
		return;
	unlinkat(s->directory, s->name, 0);
	close(s->fd);
	free(s->bytes);
	*s = (struct spool){.fd = -1, .lost = s->lost, .why_lost = s->why_lost};
}
