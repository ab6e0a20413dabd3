/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CLAIM_H
#define FABRICBED_CLAIM_H

/*
 * What processes own under a fabric's name: entries of a folder. The owner locks its entry (flock)
 * for as long as it lives, so that what a killed process left is known as such (process_owns()).
 * Whoever makes, lists or removes entries to act on them holds the folder's lock meanwhile, on a
 * file in it. The folder and that file are the owner's alone, since whoever can open a file can
 * block all who wait for its lock.
 */
#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

/* How to wait for it. */
struct lock_wait {
	const volatile bool *stop; /* gives up when it is set: -EINTR; NULL: nothing sets it */
	/* Called once, after a moment, with what is waited for; or NULL. */
	void (*notify)(void *arg, const char *text);
	void *arg;
};

struct lock {
	int folder; /* open, for openat(2) and the like */
	int file;
};

/* Makes a missing folder, and waits. wait NULL: a few seconds (-EBUSY). 0 or -errno with why. */
int lock_take(struct lock *ret, const char *path, const struct lock_wait *wait, struct error *why);

/* Its folder is closed too. */
void lock_release(struct lock *l);

/* Makes a private folder, or makes an older version's private. 0 or -errno with why. */
int lock_make_folder(const char *path, struct error *why);

#define CLAIM_RESERVED "live" /* a folder beside entries: no fabric's name */

/* Whether a fabric can have that name, which is to be a file's, of at most so many letters. */
bool claim_valid_name(const char *name, size_t most);

/* 0; -EINVAL with why, where what is "a fabric". */
int claim_check_name(const char *name, size_t most, const char *what, struct error *why);

enum claim_kind { CLAIM_FILE, CLAIM_FOLDER };

/* Makes an entry and locks it: a descriptor; -EEXIST: there is one of that name; another -errno. */
int claim_make(const struct lock *l, const char *name, enum claim_kind kind);

/* Visits the entries of a kind by name. Returns the first negative result, else their sum. */
int claim_each(int folder, enum claim_kind kind,
	int (*visit)(void *arg, int folder, const char *name), void *arg);

#endif
