/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PROGRAMS_H
#define FABRICBED_PROGRAMS_H

/* The programs that run in a fabric's network namespaces. */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Open namespaces: their inodes, by which programs are found, can't be reused meanwhile. */
struct programs {
	int *fds;
	uint64_t *inodes; /* ascending */
	size_t count;
};

#define PROGRAMS_INIT                                                                              \
	{                                                                                          \
		0                                                                                  \
	}

/*
 * Opens the namespaces "<fabric>-<node>" that have the inodes of `nodes` (see registry_info), as
 * many as the limit of open files allows, which it raises as far as it may. Those that are gone are
 * left out.
 */
void programs_hold(struct programs *p, const char *fabric, const json_t *nodes);
void programs_release(struct programs *p);

/*
 * Ends all programs in these namespaces but the calling process and its ancestors: SIGTERM, and
 * SIGKILL 300 ms later. Returns how many they were.
 */
unsigned programs_end(const struct programs *p);

#endif
