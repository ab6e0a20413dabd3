/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_REPLACE_H
#define FABRICBED_REPLACE_H

/* A file that the user named: it is the old one or the new one, whatever happens. */
#include "base/outstream.h"

struct replacement {
	struct outstream out;
	int directory; /* -1: written where it stands */
	char *name, *made;
};

/*
 * What is there and no file (a device, a pipe, a link) is written in place; but not through a link
 * that somebody else has put into a folder that is not theirs: -EACCES. The struct must not move
 * while it is open. 0 or -errno.
 */
int replace_open(struct replacement *r, const char *path);

/* The new one takes the old one's place. 0, or -errno: the old one stays. */
int replace_end(struct replacement *r);

/* The old one stays. */
void replace_drop(struct replacement *r);

#endif
