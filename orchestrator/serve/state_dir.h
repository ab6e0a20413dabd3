/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_STATE_DIR_H
#define FABRICBED_STATE_DIR_H

/* What writes and what reads the directories of live fabrics has in common. */
#include "serve/state.h"

#define STATE_FILE  "state.json"
#define STATE_HOSTS "hosts"
#define STATE_LOG   "log"

/* In the order of enum state_phase. */
extern const char *const state_words[4];

/* What the log has of a crash, at the beginning of its line. */
#define CRASH_WORDS "crashed by signal "

/* Reads from the directory that fd refers to. Never fails: what is not there is not known. */
void state_read_at(struct state_info *ret, int fd, const char *name);

#endif
