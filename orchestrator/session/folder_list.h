/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FOLDER_LIST_H
#define FABRICBED_FOLDER_LIST_H

/* A file in a folder that lists what a run wrote there, locked (flock) while it is open. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include "base/error.h"

#define FOLDER_LIST ".fabricbed"

struct folder_list;

/* In an open folder, called path in messages. 0 or -errno with why; -EBUSY: it is locked. */
int folder_list_open(struct folder_list **ret, int directory, const char *path, struct error *why);

/* Whether there was none before. */
bool folder_list_is_new(const struct folder_list *l);

/* Whether the file is there as it was written; whether one of that name was written at all. */
bool folder_list_has(const struct folder_list *l, const char *name, const struct stat *file);
bool folder_list_knows(const struct folder_list *l, const char *name);

/* The names of the folders of variants; NULL: there are no more. */
const char *folder_list_variant(const struct folder_list *l, size_t i);

/* Empties it. 0 or -errno. */
int folder_list_begin(struct folder_list *l);

/* 0 or -errno. */
int folder_list_add(struct folder_list *l, const char *name, const struct stat *file);
int folder_list_add_variant(struct folder_list *l, const char *name);

/* The descriptor that holds the lock. */
int folder_list_fd(const struct folder_list *l);

/* Removes the file; the lock stays until it is closed. */
void folder_list_remove(struct folder_list *l);

/* NULL is fine. */
void folder_list_close(struct folder_list *l);

#endif
