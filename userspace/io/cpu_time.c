/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/cpu_time.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include "io/clock.h"

static int open_in(const char *proc, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void cpu_time_open(struct cpu_time *ret, const char *proc)
{
	ret->schedstat = open_in(proc, "self/schedstat");
	ret->stat = open_in(proc, "stat");
}

void cpu_time_close(struct cpu_time *t)
{
	if (t->schedstat >= 0)
		close(t->schedstat);
	if (t->stat >= 0)
		close(t->stat);
}

/* The first bytes of it, as text. */
static const char *read_again(int fd, char *buf, size_t size)
{
	ssize_t n = fd >= 0 ? pread(fd, buf, size - 1, 0) : -1;

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

/* Time on the CPU, time in wait for it, slices (Documentation/scheduler/sched-stats.rst). */
static int64_t waited_ns(const struct cpu_time *t)
{
	char buf[128];
	int64_t waited;

	return sscanf(read_again(t->schedstat, buf, sizeof(buf)), "%*u %" SCNd64, &waited) == 1
		       ? waited
		       : 0;
}

/* The eighth figure of all CPUs' line, in ticks (Documentation/filesystems/proc.rst, "stolen"). */
static int64_t stolen_ns(const struct cpu_time *t)
{
	int64_t stolen, tick_ns = CLOCK_NS_PER_S / sysconf(_SC_CLK_TCK);
	char buf[256];

	if (sscanf(read_again(t->stat, buf, sizeof(buf)),
		    "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNd64, &stolen) != 1)
		return 0;
	return stolen * tick_ns / sysconf(_SC_NPROCESSORS_ONLN);
}

int64_t cpu_time_taken(const struct cpu_time *t)
{
	return waited_ns(t) + stolen_ns(t);
}
