/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_OUTSTREAM_H
#define FABRICBED_OUTSTREAM_H

/* A stream for writing that remembers why a write failed: of stdio's own only that one did can be asked later. */
#include <stdio.h>

/* What a result is called until it is whole, behind its own name. */
#define OUTSTREAM_NEW ".new"

/* It must stay where it is while it is open. */
struct outstream {
	FILE *file;
	int fd;
	int error; /* 0, or the -errno of the first write that failed; what is written later is lost */
};

/* Over a descriptor, which the stream takes even on failure. 0 or -ENOMEM. */
int outstream_open(struct outstream *o, int fd);

/*
 * Makes a file of that name in a folder that is open as dirfd, to be renamed when it is whole. One that is there already,
 * be it a link, is an error. 0 or -errno.
 */
int outstream_create(struct outstream *o, int dirfd, const char *name);

/* 0, or why not all of it was written: a full disk shows at any write, and some file systems tell it at the end. */
int outstream_close(struct outstream *o);

#endif
