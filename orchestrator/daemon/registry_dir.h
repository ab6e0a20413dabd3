/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_REGISTRY_DIR_H
#define FABRICBED_REGISTRY_DIR_H

/* What writes and what reads the directories of live fabrics has in common. */
#include "daemon/registry.h"

#define REGISTRY_FILE  "state.json"
#define REGISTRY_HOSTS "hosts"
#define REGISTRY_LOG   "log"

/* In the order of enum registry_phase. */
extern const char *const registry_words[4];

/* What the log has of a crash, at the beginning of its line. */
#define CRASH_WORDS "crashed by signal "

/* Reads from the directory that fd refers to. Never fails: what is not there is not known. */
void registry_read_at(struct registry_info *ret, int fd, const char *name);

#endif
