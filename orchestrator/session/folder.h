/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FOLDER_H
#define FABRICBED_FOLDER_H

/*
 * The folder of a run's results: docs/results.md, "The folder". Its file .fabricbed lists what a
 * run wrote there, by size and mtime, and is locked during a run: nothing else is ever removed or
 * replaced. Results are made as NAME.new and appear together, summary.json last.
 */
#include <stdbool.h>
#include "base/error.h"

struct folder;

struct folder_params {
	const char *path; /* is made if its parent is there */
	const char
		*input; /* the scenario's file, which must not be one of the results; NULL: none */
	bool fresh;     /* it must not be there yet: -EEXIST */
	bool compares;  /* compare.json and folders of variants, instead of a run's own files */
};

/*
 * Checks that results can go there, and keeps others out. Changes nothing that was there. 0 or
 * -errno with why: -EEXIST, a file in the way is of no run; -EBUSY, a run or a live fabric writes
 * there.
 */
int folder_claim(struct folder **ret, const struct folder_params *params, struct error *why);

/* Removes an earlier run's files, which must not pass for this one's. 0 or -errno with why. */
int folder_begin(struct folder *f, struct error *why);

/* Notes a variant's folder in there, before that is claimed. 0 or -errno. */
int folder_note_variant(struct folder *f, const char *name);

/* All that was made as NAME.new takes its name. 0 or -errno with why. */
int folder_publish(struct folder *f, struct error *why);

/* Removes what was made and not published, for another try. */
void folder_clear(struct folder *f);

/* For what is made there: openat(2) and the like. -1 of NULL. */
int folder_fd(const struct folder *f);

/* That must stay open: folder_fd() and the one that holds the lock. */
void folder_fds(const struct folder *f, int ret[2]);

/* As it was claimed, or from the root. 0 or -errno. */
const char *folder_path(const struct folder *f);
int folder_be_absolute(struct folder *f);

/* Whether it has been removed, or is no longer where it was. */
bool folder_is_gone(const struct folder *f);

/*
 * Lets others in. Without results it removes what it made: true, the folder itself too. NULL is
 * fine. Kept: another process continues with it.
 */
bool folder_close(struct folder *f);
void folder_keep(struct folder *f);

#endif
