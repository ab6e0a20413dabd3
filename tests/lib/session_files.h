/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_SESSION_FILES_H
#define FABRICBED_TEST_SESSION_FILES_H

/* What a session writes, whatever it ran on and however its time was cut. */
#include "base/error.h"
#include "lib/small_session.h"

#define CAPTURE_FILE "capture.pcapng"

/* How far a session goes at a time; else so many picoseconds. */
#define SLICE_WHOLE  0
#define SLICE_RANDOM 1

/*
 * Opens a session that writes all that it can into the directory, a capture too; runs it to the end
 * in slices; writes its files. The caller closes it.
 */
void files_record(struct small_session *s, const char *text, const char *const *sets,
	size_t set_count, const char *directory, bool kernel, uint64_t slice);

/* That both directories hold the same files with the same bytes. */
void files_assert_same(const char *a, const char *b);

/* That the packets of a capture are in the order of time, `least` of them at least. */
void files_assert_in_order(const char *directory, size_t least);

#endif
