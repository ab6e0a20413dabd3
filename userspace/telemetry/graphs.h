/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_GRAPHS_H
#define FABRICBED_GRAPHS_H

/* How long graphs of operations took that files list. */
#include <jansson.h>
#include "engine/engine.h"
#include "telemetry/recorder.h"

struct graphs_params {
	const char *const *files; /* by entry of the workload; NULL: it is no such graph */
	uint32_t count;
	recorder_port_name host_name; /* by a host's number */
	const void *name_arg;
};

/*
 * What summary.json has under "goal". A graph begins with its first operation and ends when its
 * last message has been delivered and its last computation is over; it has no time before. NULL:
 * out of memory.
 */
json_t *graphs_report(const struct engine *e, const struct graphs_params *p);

#endif
