/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PROCESS_H
#define FABRICBED_PROCESS_H

/*
 * Whether a process that is known by its id and its time of birth is on its way out (proc(5),
 * /proc/pid/stat), and whether it still owns what it has locked.
 */
#include <stdbool.h>
#include <sys/types.h>

/* When it started, in clock ticks since boot; 0: there is no such process. */
unsigned long long process_started(pid_t pid);

/* Its parent; 0: there is no such process, or it has none that is to be seen. */
pid_t process_parent(pid_t pid);

/*
 * All its threads have exited or begun to, so that it makes nothing new. One that was killed inside
 * a system call is waited for, up to 2 s. False also if it is invisible, as in another PID
 * namespace.
 */
bool process_is_dying(pid_t pid, unsigned long long started);

/*
 * Whether the owner of a record (bringup/record.h) or of a live fabric's directory
 * (daemon/registry.h) lives: it holds a lock (flock) on what fd refers to, which also works across
 * PID namespaces. A killed process holds its locks until its sockets are closed, and each of those
 * takes a grace period: it counts as gone once it has begun to die. pid 0: the owner has not
 * written its id yet.
 */
bool process_owns(int fd, pid_t pid, unsigned long long started);

#endif
