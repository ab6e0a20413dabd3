/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LISTENER_H
#define FABRICBED_LISTENER_H

/* A control socket's file, and who may connect: root, and the user that this process runs as. */
#include <sys/types.h>
#include <sys/un.h>
#include "base/error.h"

struct listener {
	int fd;    /* polls as readable when somebody waits */
	int spare; /* given up for a moment when there are no more descriptors */
	struct sockaddr_un address;
	dev_t device; /* of the file */
	ino_t inode;
};

/* To be closed, and nothing happens. */
#define LISTENER_NONE                                                                              \
	{                                                                                          \
		.fd = -1, .spare = -1                                                              \
	}

/* 0 or -errno with why, as server_open() has it. */
int listener_open(struct listener *l, const char *path, struct error *why);
/* Removes the file, unless another process has made one anew at the same path. */
void listener_close(struct listener *l);

/* The next connection; -EAGAIN: none; -ECONNREFUSED: one was refused, and more may follow. */
int listener_accept(struct listener *l);

/* Tells a connection why it is not served (in words that JSON need not escape), and closes it. */
void listener_refuse(int fd, const char *why);

#endif
