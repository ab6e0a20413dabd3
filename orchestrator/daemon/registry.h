/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_REGISTRY_H
#define FABRICBED_REGISTRY_H

/*
 * What is known of live fabrics from outside: a directory for each, /run/fabricbed/live/NAME, that
 * only root can enter; of other users', on the inline dataplane, $XDG_RUNTIME_DIR/fabricbed/NAME or
 * /tmp/fabricbed-UID/NAME. In it: state.json; control, the socket; hosts, an /etc/hosts of the
 * fabric; log, what its process printed. Its owner has claimed the directory (bringup/claim.h).
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "bringup/record.h"

struct fabric;

#define REGISTRY_DIR_ROOT RECORD_DIR "/live"
#define REGISTRY_DIR_MAX  34 /* that and */
#define REGISTRY_NAME_MAX 64 /* the socket's path must fit a struct sockaddr_un */
#define REGISTRY_PATH_MAX (REGISTRY_DIR_MAX + REGISTRY_NAME_MAX + 32)

/* The directory of the fabrics of the user that the process runs as; returns buf. */
const char *registry_dir(char buf[REGISTRY_DIR_MAX]);
#define REGISTRY_DIR registry_dir((char[REGISTRY_DIR_MAX]){0})

/* 0 if the directory is the user's own, or is not there; else -errno with why. */
int registry_trust(struct error *why);

enum registry_phase {
	REGISTRY_STARTING,
	REGISTRY_RUNNING,
	REGISTRY_ENDED, /* results are written, the rest is being taken down */
	REGISTRY_FAILED,
};

/* ---- for its owner ---- */

struct registry_entry;

/*
 * Makes the directory of a fabric of that name, and locks it; a fork of the process holds the lock
 * too. 0 or -errno with why: -EEXIST: one of that name is up; -ESTALE: one of that name died, and
 * its remains are still there; -EINVAL: no name.
 */
int registry_claim(struct registry_entry **ret, const char *name, const struct lock_wait *wait,
	struct error *why);

struct registry_about {
	const char *scenario;  /* the file's path */
	const char *directory; /* of the results, from the root */
	const struct fabric *fabric;
	bool wall;   /* its clock */
	bool kernel; /* its dataplane: nodes are network namespaces */
};

/* Writes the hosts file, and that the fabric is starting. 0 or -errno with why. */
int registry_begin(struct registry_entry *s, const struct registry_about *about, struct error *why);

/*
 * Writes the fabric's state, the calling process being its owner; running: its namespaces exist.
 * reason: NULL unless it failed. 0 or -errno with why.
 */
int registry_set(
	struct registry_entry *s, enum registry_phase phase, const char *reason, struct error *why);

const char *registry_name(const struct registry_entry *s);
int registry_fd(const struct registry_entry *s); /* of the directory: it holds the lock */
const json_t *registry_nodes(const struct registry_entry *s); /* as registry_info's */

/* The log, to be appended to: a descriptor or -errno. */
int registry_open_log(const struct registry_entry *s);

/* Takes the directory away; s remains to be freed. */
void registry_remove(struct registry_entry *s);

/* Whatever is in the directory stays there. NULL is fine. */
void registry_free(struct registry_entry *s);

/* ---- for all others ---- */

struct registry_info {
	char name[REGISTRY_NAME_MAX + 1];
	bool alive; /* its process */
	enum registry_phase phase;
	char reason[512];           /* why it failed or died, if it did */
	pid_t pid;                  /* 0: not known yet */
	unsigned long long started; /* as process_started() */
	int64_t since_s;            /* of the wall clock */
	uint32_t hosts, switches, links;
	/* NULL: not known yet */
	const char *scenario, *directory, *clock, *dataplane;
	const json_t *nodes; /* object: node -> inode of its namespace; 0: not known yet */
	json_t *json;        /* that the texts lie in */
};

/* Release it with registry_release(). 0; -ENOENT: there is none of that name; another -errno. */
int registry_read(struct registry_info *ret, const char *name);
void registry_release(struct registry_info *info);

/* All of them, by name. 0 or -errno. Free with registry_list_free(). */
int registry_list(struct registry_info **ret, size_t *ret_count);
void registry_list_free(struct registry_info *list, size_t count);

/* Removes a dead one's directory. 0 (also without one); -EBUSY: alive; another -errno; with why. */
int registry_clear(const char *name, const struct lock_wait *wait, struct error *why);

/* The path of a file of a fabric's; returns buf. */
const char *registry_path(char buf[REGISTRY_PATH_MAX], const char *name, const char *file);

#endif
