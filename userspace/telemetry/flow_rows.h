/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FABRICBED_FLOW_ROWS_H
#define FABRICBED_FLOW_ROWS_H

/*
 * flows.csv, a row a flow, as it grows. A row is written when its flow is over, and after those of
 * all flows that ended before. So rows are in the order in which flows ended, by number at the same
 * time, however the run was sliced. Memory is for flows that wait for their turn. A message of an
 * open loop that has its row is forgotten by the engine; its part of the totals is here.
 */
#include "engine/engine.h"
#include "telemetry/flow_totals.h"
#include "telemetry/recorder.h"
#include "telemetry/spool.h"

struct flow_rows {
	struct spool spool;
	recorder_port_name host_name;
	const void *name_arg;
	struct flow_end *ends; /* of those that have no row yet, in order */
	size_t count, sorted;  /* all; those of windows that are over */
	uint64_t lost;         /* rows, for want of memory */
	struct flow_totals forgotten;
	bool whole; /* all flows have their rows */
};

/*
 * Makes flows.csv.part in an open folder; directory -1: nothing is written, but all else is done. 0
 * or -errno.
 */
int flow_rows_open(struct flow_rows *f, int directory);

/* What the engine's observer hears: a message has ended, and a window has. */
void flow_rows_ended(struct flow_rows *f, uint64_t now_ps, uint32_t flow);
void flow_rows_settled(struct flow_rows *f, struct engine *e);

/* The run has ended: the rest, first those that have ended, then the others by their numbers. */
void flow_rows_end(struct flow_rows *f, struct engine *e);

/* Closes and removes the file. How many rows were lost, and the totals, are still known. */
void flow_rows_remove(struct flow_rows *f);
void flow_rows_release(struct flow_rows *f);

#endif
