/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_RECORD_H
#define FABRICBED_RECORD_H

/*
 * Who owns which namespaces: one file per fabric under /run/fabricbed, with its name. It lists all
 * namespaces before the first is made, and an uplink (bringup/external.h) before it is made. Its
 * owner holds a lock on it (flock) for as long as it lives: what a killed process left is thus
 * known, whenever it died. Claims and sweeps take turns by a lock (bringup/claim.h). All of it is
 * root's alone.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "bringup/claim.h"

struct fabric;

#define RECORD_DIR      "/run/fabricbed"
#define RECORD_NAME_MAX 200 /* leaves room for "-<node>" in a file name */

struct record;

/*
 * Sweeps, then claims `wanted` for f, or the first of "<wanted>-2", "<wanted>-3", ... of which
 * neither the name nor any namespace is taken; exact: `wanted` or nothing. 0; -EINVAL: no name for
 * a file; -EEXIST: exact, and taken; another -errno; with why. End it with record_release().
 */
int record_claim(struct record **ret, const char *wanted, bool exact, const struct fabric *f,
	const struct lock_wait *wait, struct error *why);

/*
 * Adds a line that does not begin with a namespace's name: what else is to be removed, before it is
 * made. 0 or -errno.
 */
int record_note(struct record *r, const char *line);

/* Gives the name back; the namespaces must be gone. NULL is fine. */
void record_release(struct record *r);

const char *record_name(const struct record *r);

/* The name of the namespace of node i: "<name>-<node>". */
const char *record_netns(const struct record *r, uint32_t i);

/*
 * Removes the namespaces, uplinks and records of fabrics whose process is gone or going. How many,
 * or -errno with why.
 */
int record_sweep(const struct lock_wait *wait, struct error *why);

/* What dead processes left and nobody has removed yet. */
struct record_left {
	char name[256]; /* a file's */
	size_t namespaces;
};

struct record_list {
	struct record_left *items; /* to be freed */
	size_t count;
};

/* 0 or -errno with why. */
int record_list_left(struct record_list *ret, struct error *why);

#endif
