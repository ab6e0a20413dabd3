/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SWEEP_BUNDLE_H
#define FABRICBED_SWEEP_BUNDLE_H

/* A folder of files as one string of bytes, to be sent to another machine. */
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct bundle {
	uint8_t *bytes;
	size_t length;
};

/*
 * All files of a folder with their names, contents and times of change (.fabricbed goes by these);
 * the same files are the same bytes. bundle_free() it. 0, or -errno with why: -EINVAL, there is
 * something in it that is no file.
 */
int bundle_pack(struct bundle *ret, const char *folder, struct error *why);

/*
 * Writes the files into a folder, which is made if its parent is there. 0, or -errno with why:
 * -EBADMSG, these are not the bytes of a bundle, or a name would lead out of the folder, and
 * nothing was written; -EEXIST, a file of that name is there. Files written before another error
 * stay.
 */
int bundle_unpack(const uint8_t *bytes, size_t length, const char *folder, struct error *why);

/* Makes it empty. */
void bundle_free(struct bundle *b);

#endif
