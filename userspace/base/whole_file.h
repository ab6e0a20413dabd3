/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_WHOLE_FILE_H
#define FABRICBED_WHOLE_FILE_H

/* All bytes of a file that is open, whatever a call of the kernel's takes or gives at once. */
#include <stddef.h>
#include <stdint.h>

/*
 * From its position to its end, with a zero behind, allocated. 0; -EISDIR: it is no regular file;
 * -EFBIG: it has more than `most` bytes; another -errno.
 */
int whole_file_read(int fd, uint64_t most, char **ret, size_t *ret_length);

/* At its position. 0 or -errno. */
int whole_file_write(int fd, const void *bytes, size_t size);

#endif
