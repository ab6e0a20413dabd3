/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_COLLECTIVES_H
#define FABRICBED_COLLECTIVES_H

/* How long collectives took: each round of each job, and each entry of the workload. */
#include <jansson.h>
#include "base/collective_facts.h"
#include "base/net.h"
#include "engine/engine.h"
#include "telemetry/recorder.h"

struct collectives_params {
	const struct collective_facts *entries;
	size_t count;
	const struct net *net;
	uint32_t mtu;
	/* of a data frame, Ethernet header to ICRC, by transport */
	uint32_t header_bytes[OPERATION_TRANSPORTS];
	/* A message of a round crosses the links between switches; what they need for the round. */
	void (*crosses)(void *cuts, const struct operation *message);
	uint64_t (*take_crossed_ps)(void *cuts);
	void *cuts;
	recorder_port_name host_name; /* by a host's number */
	const void *name_arg;
};

/*
 * What summary.json has under "collectives". A round begins with its first message and ends when
 * the last one has been delivered; it has no time before. NULL: out of memory.
 */
json_t *collectives_report(const struct engine *e, const struct collectives_params *p);

#endif
