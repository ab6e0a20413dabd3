/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_OUTSTREAM_H
#define FABRICBED_OUTSTREAM_H

/* A stream for writing that remembers the error of a write: stdio keeps only that there was one. */
#include <stdio.h>

/* What a result is called until it is whole, behind its own name. */
#define OUTSTREAM_NEW ".new"

/* It must stay where it is while it is open. */
struct outstream {
	FILE *file;
	int fd;
	int error; /* 0, or -errno of the first failed write; later ones are lost */
};

/* Over a descriptor, which the stream takes even on failure. 0 or -ENOMEM. */
int outstream_open(struct outstream *o, int fd);

/*
 * Makes a file of that name in the open folder dirfd, to be renamed when complete. One that exists,
 * even as a link, is an error. 0 or -errno.
 */
int outstream_create(struct outstream *o, int dirfd, const char *name);

/* 0, or -errno of a write: a full disk shows at any write, on some file systems at the end. */
int outstream_close(struct outstream *o);

#endif
