/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_PORT_COUNTS_H
#define FABRICBED_PORT_COUNTS_H

/* What a port has counted since the start: of ports.csv, of `show ports`, and of series. */
#include "engine/engine.h"
#include "telemetry/recorder.h"

struct port_counts {
	uint64_t tx_frames, tx_bytes;
	uint64_t tx_control_bytes; /* of these, of frames that wait in no egress queue */
	uint64_t busy_ps;
	uint64_t rx_frames;
	uint64_t marked; /* of what left here: the far end's program marks it */
	uint64_t trimmed;
	uint64_t dropped;                                 /* for all reasons */
	uint64_t pauses_sent, pauses_received, paused_ps; /* of all classes */
	uint64_t held_bytes;                              /* in all egress queues */
	uint32_t depth_bytes, max_depth_bytes;            /* of the deepest: peaks don't add up */
};

struct port_counts port_counts(const struct engine *e, uint32_t port);

/*
 * Frames that ended for a reason, at the port where events.jsonl shows them: what was lost on a
 * cable at the port that had sent it.
 */
uint64_t port_dropped(const struct sw_tables *t, uint32_t port, enum drop_reason reason);

/* Share of the model time so far in which the line was busy, 0..1; 0: no time has passed. */
double port_utilisation(const struct engine *e, const struct port_counts *c);

/* Makes ports.csv.new in directory: a row a port, by series_params' names. 0 or -errno. */
int ports_write(int directory, const struct engine *e, uint32_t port_count,
	recorder_port_name port_name, const void *name_arg);

#endif
