/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_LOCK_H
#define FABRICBED_LOCK_H

/*
 * A lock for what lies in a folder below /run, on a file in it: the folder and the file are the owner's alone, since whoever
 * can open a file can hold up all who wait for its lock.
 */
#include <stdbool.h>
#include "base/error.h"

/* How to wait for it. */
struct lock_wait {
	const volatile bool *stop; /* gives up when it is set: -EINTR; NULL: nothing sets it */
	/* Is told once, after a moment, what is waited for; NULL: nobody is. */
	void (*tell)(void *arg, const char *text);
	void *arg;
};

struct lock {
	int folder; /* open, for openat(2) and the like */
	int file;
};

/* Makes the folder if it is not there, and waits. wait NULL: a few seconds (-EBUSY). 0 or -errno with why. */
int lock_take(struct lock *ret, const char *path, const struct lock_wait *wait, struct error *why);

/* Its folder is closed too. */
void lock_release(struct lock *l);

/* Makes a folder that is the caller's alone, or lets an older version's be so. 0 or -errno with why. */
int lock_make_folder(const char *path, struct error *why);

#endif
