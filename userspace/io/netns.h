/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_NETNS_H
#define FABRICBED_NETNS_H

/*
 * Named network namespaces as `ip netns` keeps them: each held by a bind mount over an empty file
 * under /run/netns, so that `ip netns exec NAME` works on ours.
 */
#include <stdbool.h>
#include <sys/types.h>

#define NETNS_DIR      "/run/netns"
#define NETNS_NAME_MAX 255 /* a file name */

/* Makes /run/netns what `ip netns add` makes of it: a shared mount. 0 or -errno. */
int netns_prepare(void);

/*
 * Moves the calling thread into a new namespace and names it; the thread stays there, so use one
 * that may. *ret_fd (close it) refers to it. 0; -EEXIST: the name is taken; another -errno.
 */
int netns_create(const char *name, int *ret_fd);

/*
 * Moves the calling thread into a new namespace that has no name and ends with its last user. 0 or
 * -errno.
 */
int netns_enter_anonymous(void);

/* Moves the calling thread into the namespace that fd refers to. 0 or -errno. */
int netns_enter(int fd);

/* A descriptor of the namespace of that name, or -errno. */
int netns_open(const char *name);

/* The same where a process sees it: another mount namespace has names of its own. */
int netns_open_as_seen_by(pid_t pid, const char *name);

/* The same of the calling thread's. */
int netns_open_own(void);

bool netns_exists(const char *name);

/*
 * Takes the name away; the namespace ends with its last user. 0 (also if there is none) or -errno.
 */
int netns_delete(const char *name);

#endif
