/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_TEST_SMALL_SESSION_H
#define FABRICBED_TEST_SMALL_SESSION_H

/* From a scenario's text to a session on the inline dataplane. An error fails the test. */
#include <jansson.h>
#include <stddef.h>
#include "session/folder.h"
#include "session/session.h"
#include "scenario/scenario.h"
#include "topology/fabric.h"

struct small_session {
	struct scenario *scenario;
	struct fabric *fabric;
	struct session *session; /* NULL after small_session_load() */
	struct folder *folder;   /* NULL: no files */
};

/* The scenario, with `key=value` overrides, and its fabric. */
void small_session_load(
	struct small_session *s, const char *text, const char *const *sets, size_t set_count);

/* That, and a session over it; its results go to directory, NULL: there are none. */
void small_session_open(struct small_session *s, const char *text, const char *const *sets,
	size_t set_count, const char *directory);
void small_session_close(struct small_session *s);

/* Runs to the end. */
void small_session_run(struct small_session *s);

/* The summary so far. */
json_t *small_session_summary(struct small_session *s, bool *ret_met);

/* A new directory below $TMPDIR or /tmp; path of at least SMALL_PATH. */
#define SMALL_PATH 256
void small_directory(char path[SMALL_PATH]);

/* Takes it away again, with the files in it. */
void small_directory_remove(const char *path);

/* The content of a file in it, to be freed. */
char *small_file(const char *directory, const char *name);

#endif
