/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int whole_file_read(int fd, uint64_t most, char **ret, size_t *ret_length)
{
	struct stat st;
	size_t length = 0;
	ssize_t n = 1;
	char *text;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	if ((uint64_t)st.st_size > most)
		return -EFBIG;
	text = calloc((size_t)st.st_size + 1, 1);
	if (!text)
		return -ENOMEM;
	while (n && length < (size_t)st.st_size) {
		n = read(fd, text + length, (size_t)st.st_size - length);
		if (n < 0 && errno != EINTR) {
			int r = -errno;

			free(text);
			return r;
		}
		length += n > 0 ? (size_t)n : 0;
	}
	*ret = text;
	*ret_length = length;
	return 0;
}

int whole_file_write(int fd, const void *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = write(fd, (const char *)bytes + at, size - at);

		if (n == 0 || (n < 0 && errno != EINTR))
			return n ? -errno : -EIO;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
