/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PROCESS_H
#define FABRICBED_PROCESS_H

/*
 * Whether a process that is known by its id and its time of birth is on its way out (proc(5),
 * /proc/pid/stat).
 */
#include <stdbool.h>
#include <sys/types.h>

/* When it started, in clock ticks since boot; 0: there is no such process. */
unsigned long long process_started(pid_t pid);

/* Its parent; 0: there is no such process, or it has none that is to be seen. */
pid_t process_parent(pid_t pid);

/*
 * All its threads have exited or begun to, so that it makes nothing new. One that has been killed but is still
 * inside a system call is waited for, up to 2 s. False also if it is not to be seen, as in another PID namespace.
 */
bool process_is_dying(pid_t pid, unsigned long long started);

#endif
