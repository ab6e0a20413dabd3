/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_SPOOL_H
#define FABRICBED_SPOOL_H

/*
 * A file of lines that grows during a run. Memory is bounded: what the disk does not take is held
 * for a while, so that nothing is lost if room is made in time, and counted as lost after that.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool {
	int fd;        /* -1: nothing is written */
	int directory; /* of the caller; and its name there */
	const char *name;
	char *bytes; /* not written yet */
	size_t used, capacity;
	uint64_t written; /* bytes */
	uint64_t lost;    /* lines */
	int error;        /* of the latest write: 0 or -errno */
	int why_lost;     /* -errno */
};

#define SPOOL_NONE                                                                                 \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Makes the file in a folder that is open; it must not be there. 0 or -errno. */
int spool_open(struct spool *s, int directory, const char *name);

/* Adds a line, or whatever is to be there as a whole or not at all. False: it is lost. */
bool spool_put(struct spool *s, const char *bytes, size_t count);

/* Hands what is held to the disk. 0, or -errno: it is still held. */
int spool_flush(struct spool *s);

/* Where the next line will be. */
uint64_t spool_end(const struct spool *s);

/* What was put at offset. False: it could not be read. */
bool spool_read(const struct spool *s, uint64_t offset, char *ret, size_t count);

/* Flushes, and links the file under another name, or copies it if it can't. 0 or -errno. */
int spool_copy(struct spool *s, int directory, const char *name);

/* Closes it, and removes the file. */
void spool_remove(struct spool *s);

#endif
