/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PROBE_H
#define FABRICBED_PROBE_H

/*
 * What this machine allows, found out by doing it: each probe makes the thing that the kernel
 * dataplane will need, in a namespace of its own, and takes it away again. Of the host's nothing
 * changes, except that /run/netns becomes a mount as `ip netns add` would make it.
 */
#include <stdbool.h>
#include <stdint.h>

enum probe_kind {
	PROBE_PRIVILEGE,
	PROBE_RUN_DIR,
	PROBE_NAMESPACE,
	PROBE_VETH,
	PROBE_XDP,
	PROBE_AF_XDP,
	PROBE_TAP,
	PROBE_FILES,
	PROBE_MEMORY,
	PROBE_JIT,
	PROBE_KERNEL,
	PROBES
};

struct probe {
	const char *name;
	bool ok;
	bool required;      /* the kernel dataplane does not run without it */
	char detail[192];   /* what was found */
	const char *remedy; /* what to do, if not ok */
};

/*
 * Fills ret for a fabric of that many ports and nodes (0, 0: for the machine as such), in the order
 * of enum probe_kind. A probe that needs what an earlier one found missing is not ok.
 */
void probe_machine(struct probe ret[PROBES], uint32_t ports, uint32_t nodes);

/* The first that is required and missing, or NULL. */
const struct probe *probe_missing(const struct probe probes[PROBES]);

/* Open files that a fabric takes: one a port, one a node while it is built, and some to spare. */
uint64_t probe_files_needed(uint32_t ports, uint32_t nodes);

/* Memory that programs can still have, bytes; 0: the system does not say. */
uint64_t probe_memory_available(void);

#endif
