/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/outstream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define BUFFER_BYTES 65536

/* All of it or, as fopencookie(3) has it, 0 for an error. */
static ssize_t write_all(void *cookie, const char *bytes, size_t count)
{
	struct outstream *o = cookie;
	size_t done = 0;

	while (done < count && !o->error) {
		ssize_t n = write(o->fd, bytes + done, count - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			o->error = -errno;
	}
	return o->error ? 0 : (ssize_t)count;
}

int outstream_open(struct outstream *o, int fd)
{
	const cookie_io_functions_t functions = {.write = write_all};

	*o = (struct outstream){.fd = fd};
	o->file = fopencookie(o, "w", functions);
	if (!o->file) {
		close(fd);
		return -ENOMEM;
	}
	setvbuf(o->file, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

int outstream_create(struct outstream *o, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : outstream_open(o, fd);
}

int outstream_close(struct outstream *o)
{
	/* its memory alone can be short otherwise */
	int r = fclose(o->file) && !o->error ? -EIO : o->error;

	o->file = NULL;
	if (close(o->fd) < 0 && r == 0)
		r = -errno;
	return r;
}
