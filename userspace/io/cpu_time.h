/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_CPU_TIME_H
#define FABRICBED_CPU_TIME_H

/* The time that others took of a CPU which this process wanted. */
#include <stdint.h>

struct cpu_time {
	int schedstat, stat; /* files of /proc; -1: its values count as 0 */
};

/* proc: "/proc" */
void cpu_time_open(struct cpu_time *ret, const char *proc);
void cpu_time_close(struct cpu_time *t);

/*
 * Nanoseconds that the process's first thread waited for a CPU, and those that the hypervisor took,
 * averaged over all CPUs. Only differences mean anything.
 */
int64_t cpu_time_taken(const struct cpu_time *t);

#endif
